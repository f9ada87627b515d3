"""The entry for Pythons whose objects look otherwise: by ctypes, some microseconds more a call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from mooncake_py.compiler.native.llvm.signature import Signature, Slot
from mooncake_py.compiler.native.machine.descriptors import TYPES, words_of
from mooncake_py.compiler.native.machine.entry_text import FAILURE
from mooncake_py.compiler.native.machine.linking import Linked
from mooncake_py.compiler.native.machine.paying import Meter, Samples
from mooncake_py.compiler.native.machine.symbols import address_of
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["SlowEntry"]

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
NUMBERS = {FLOAT: float, FLOAT32: float, INT: index, BOOL: bool}


class Memory:
    """Memory of C, freed with the last array that looks into it."""

    def __init__(self, address: int, shape: Sequence[int], kind: str) -> None:
        self.address = address
        self.__array_interface__ = {
            "data": (address, False),
            "shape": tuple(shape),
            "typestr": np.dtype(TYPES[kind]).str,
            "version": 3,
        }

    def __del__(self) -> None:
        """Free it."""
        free(self.address)


def free(address: int) -> None:
    """Free memory of C."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address_of("mc_free") or 0)(address)


def own(found: Any) -> Any:
    """Return a result as an array for the program: it owns its memory, as NumPy's do."""
    held = isinstance(found, np.ndarray) and isinstance(found.base, Memory)
    return found.copy() if held else found


class SlowEntry:
    """A function that calls a kernel.

    Parameters
    ----------
    signature : Signature
    code : Linked
    tells : bool
        Whether the first of what it returns is whether it came to its end.
    """

    def __init__(self, signature: Signature, code: Linked, *, tells: bool) -> None:
        self.signature = signature
        self.tells = tells
        self.code: list[Linked] = []
        self.samples: Samples | None = None
        self._left = 0  # calls until one is timed
        self.call(code, signature.symbol)

    def call(self, code: Linked, symbol: str) -> None:
        """Call another kernel from now on."""
        self.code.append(code)
        self.kernel: Callable[..., int] = KERNEL(code.addresses[symbol])

    def time(self, meter: Meter) -> None:
        """Time some calls from now on."""
        self.samples, self._left = Samples(meter), 1

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Call the kernel."""
        self._left -= 1
        if self._left or self.samples is None:
            return self.enter(args)
        self._left = 1  # if it raises
        self.samples.begin()
        found = self.enter(args)
        self._left = self.samples.end()
        return found

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call the kernel, whose calls are counted elsewhere."""
        inputs, outputs = self.signature.inputs, self.signature.outputs
        if len(args) != len(inputs):
            raise TypeError("wrong number of arguments of a compiled function")
        taken = np.zeros(words_of(inputs), np.int64)
        for slot, value in zip(inputs, args, strict=True):
            self.take(slot, value, taken)
        given = np.zeros(words_of(outputs), np.int64)
        try:
            code = self.kernel(taken.ctypes.data, given.ctypes.data)
        except SystemError as error:  # it was left for a signal
            raise error.__cause__ or error from None
        if code == 0:
            found = [self.result(slot, given, args) for slot in outputs]
            if not self.tells:
                return tuple(map(own, found))
            return (True, found[0], *map(own, found[1:]))
        stack = self.result(outputs[0], given, args) if self.tells else None
        if code < 0:
            raise MemoryError
        if not self.tells:
            raise LeftOnTheWayBack(FAILURE)
        return (False, stack, code, *[None] * (len(outputs) - 2))

    def take(self, slot: Slot, value: Any, taken: np.ndarray) -> None:
        """Write a number or an array into its slots."""
        k = slot.place
        if slot.axes is None:
            number = NUMBERS[slot.kind](value)
            taken[k : k + 1].view(TYPES[slot.kind])[0] = number
            return
        if not isinstance(value, np.ndarray) or value.ndim != slot.axes:
            raise TypeError("a compiled function takes an array with another number of axes")
        taken[k : k + 1 + slot.axes] = value.ctypes.data, *value.shape

    def result(self, slot: Slot, given: np.ndarray, args: Sequence[Any]) -> Any:
        """Return the number or the array of an output."""
        k = slot.place
        if slot.axes is None:
            return given[k : k + 1].view(TYPES[slot.kind])[0].item()
        address, *shape = given[k : k + 1 + slot.axes].tolist()
        if address == 0:
            assert slot.source is not None
            return args[slot.source]
        return np.asarray(Memory(address, shape, slot.kind))
