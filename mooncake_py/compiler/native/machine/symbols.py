"""The addresses behind names in a module: functions of C, of BLAS and of LAPACK."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.regions.special import SPECIAL, special_capsule
from mooncake_py.optional import import_extension

__all__ = ["OWN", "address_of", "addresses", "capsule"]

OWN = "mc_"
"""The prefix of names other than those of C functions."""

MEMORY = {"mc_malloc": "malloc", "mc_free": "free"}


@cache
def libraries() -> tuple[Any, ...]:
    """Return where functions of C are."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase"), ctypes.CDLL("vcruntime140")
    return (ctypes.CDLL(None),)


@cache
def address_of(name: str) -> int | None:
    """Return the address of a function by its name; None if there is none."""
    if name in MEMORY:
        return of_c(MEMORY[name])
    return of_scipy(name.removeprefix(OWN)) if name.startswith(OWN) else of_c(name)


def of_c(name: str) -> int | None:
    """Return the address of a function of C, of its mathematics, or of Python's."""
    for library in (ctypes.pythonapi,) if name.startswith("Py") else libraries():
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            pass
    return None


def of_scipy(name: str) -> int | None:
    """Return the address of a function of BLAS or LAPACK, or of a number."""
    if f"{OWN}{name}".startswith(SPECIAL):
        special = special_capsule(f"{OWN}{name}")
        return None if special is None else capsule(special)
    for module in ("cython_blas", "cython_lapack"):
        try:
            found = import_extension("scipy.linalg", module).__pyx_capi__
        except (ImportError, AttributeError):
            return None
        if name in found:
            return capsule(found[name])
    return None


def capsule(found: Any) -> int:
    """Return the address that a capsule holds."""
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return get(("PyCapsule_GetPointer", api))(found, name_of(found))


def addresses(names: Iterable[str], others: dict[str, int]) -> dict[str, int]:
    """Return the addresses of names.

    Parameters
    ----------
    others : dict of str to int
        What stands for some of them.

    Raises
    ------
    CannotCompile
        Nothing has such a name: LLVM would end the process.
    """
    found: dict[str, int] = {}
    for name in names:
        address = others.get(name) or address_of(name)
        if address is None:
            raise CannotCompile(f"there is no function {name}")
        found[name] = address
    return found
