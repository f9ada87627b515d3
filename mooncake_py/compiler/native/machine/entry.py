"""Functions of Python that call kernels without Python in between."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mooncake_py.compiler.native.llvm.signature import Signature
from mooncake_py.compiler.native.machine import objects
from mooncake_py.compiler.native.machine.descriptors import packed
from mooncake_py.compiler.native.machine.entry_text import ENTRY, LEFT, entry_text
from mooncake_py.compiler.native.machine.levels import QUICK, object_code
from mooncake_py.compiler.native.machine.library import LOCK
from mooncake_py.compiler.native.machine.linking import Linked, linked
from mooncake_py.compiler.native.machine.paying import Meter, Samples
from mooncake_py.compiler.native.machine.symbols import addresses, capsule
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack

__all__ = ["Descriptor", "quick_entry"]

FASTCALL = 0x80
WORD = 8
"""Bytes of a word of a descriptor."""
NEW, NEW_COPY, SET_BASE = 93, 85, 282
"""Places of `PyArray_New` and the like in NumPy's table of functions."""


class MethodDef(ctypes.Structure):
    """Python's definition of a function of C."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int), ("text", ctypes.c_char_p),
    )  # fmt: skip


class Descriptor(bytearray):
    """The instructions for the entry.

    Attributes
    ----------
    code : list of Linked
        All that was ever called: another thread may be within it.
    samples : Samples or None
        The calls that are timed.
    """

    code: list[Linked]
    samples: Samples | None = None

    def call(self, code: Linked, symbol: str) -> None:
        """Call another kernel from now on."""
        self.code.append(code)
        struct.pack_into("=q", self, 0, code.addresses[symbol])

    def time(self, meter: Meter) -> None:
        """Time some calls from now on."""
        self.samples = Samples(meter)
        self._time_after(1)

    def __call__(self, found: tuple[Any, ...] | None) -> None:
        """Note that a call that is timed begins, or what it has found."""
        if self.samples is None:
            return
        if found is None:
            self.samples.begin()
        else:
            self._time_after(self.samples.end())

    def _time_after(self, calls: int) -> None:
        struct.pack_into("=q", self, WORD * LEFT, calls)


def quick_entry(signature: Signature, code: Linked, *, tells: bool) -> tuple[Any, Descriptor]:
    """Return a function that calls a kernel without Python in between, and its descriptor.

    Parameters
    ----------
    tells : bool
        Whether the first of what it returns is whether it came to its end.
    """
    found = Descriptor(packed(signature, code.addresses[signature.symbol], tells=tells))
    found.code = [code]
    with LOCK:
        return new_function()(ctypes.byref(method()), found, None), found


@cache
def method() -> MethodDef:
    """Return the definition that all functions share."""
    return immortal(MethodDef(b"kernel", entry().addresses[ENTRY], FASTCALL, None))


@cache
def new_function() -> Callable[..., Any]:
    """Return a maker of functions of C."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))


@cache
def entry() -> Linked:
    """Return the entry, compiled."""
    text = entry_text()
    key = objects.key_of(text, QUICK)
    ready = objects.kept(key)
    if ready is None:
        ready = object_code(text, QUICK)
        objects.keep(key, ready)
    code, named = ready
    table = ctypes.cast(capsule(array_api()), ctypes.POINTER(ctypes.c_void_p))
    found = {
        "mc_PyArray_New": table[NEW] or 0,
        "mc_PyArray_NewCopy": table[NEW_COPY] or 0,
        "mc_PyArray_SetBaseObject": table[SET_BASE] or 0,
        "mc_ndarray": id(np.ndarray),
        "mc_None": id(None),
        "mc_TypeError": id(TypeError),
        "mc_failure": id(LeftOnTheWayBack),
    }
    for name in named:
        if name.startswith("Py"):
            f = getattr(ctypes.pythonapi, name)
            found[name] = ctypes.cast(f, ctypes.c_void_p).value or 0
    return immortal(linked(code, [ENTRY], addresses(named, found)))


def immortal(o: Any) -> Any:
    """Return an object that is never freed.

    When the interpreter ends, functions and arrays may be freed after everything else; they need
    objects that they do not hold.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(o))
    return o


def array_api() -> Any:
    """Return the capsule with NumPy's functions of C."""
    core: Any = getattr(np, "_core", None) or np.core  # before NumPy 2
    return core._multiarray_umath._ARRAY_API
