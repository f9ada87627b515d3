"""Check that the operands of a tape entry are unchanged when it is reversed.

The tape keeps operands by reference, and the reverse pass undoes every write to them before it
reverses their entry.  This check detects a write that the engine did not see: the operand differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.application.codual_call import pull_codual
from mooncake_py.runtime import pulls
from mooncake_py.runtime.activity import CONTAINERS, elements
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import owner

__all__ = ["Operand", "arrays_in", "arrays_read", "changed", "operands_of"]

WHOLE = 1 << 20  # bytes; of a larger array a sample is compared

Operand = tuple[ndarray, int]
"""An array and the digest of its contents when it was recorded."""


def operands_of(entry: tuple[Any, ...]) -> list[Operand]:
    """Return the arrays that an adjoint reads, with digests."""
    return [(a, digest(a)) for a in arrays_read(entry) if a.dtype.kind != "O"]


def changed(operands: list[Operand]) -> ndarray | None:
    """Return the first array that is not as it was, or None."""
    return next((a for a, known in operands if digest(a) != known), None)


def digest(a: ndarray) -> int:
    """Return a number that tells the contents of an array."""
    if a.nbytes > WHOLE:
        a = a.reshape(-1)[:: a.nbytes // WHOLE] if a.flags.c_contiguous else a.flat[::8]
    return hash(bits_of(a))


def arrays_read(entry: tuple[Any, ...]) -> list[ndarray]:
    """Return the arrays that the reverse of an entry reads."""
    pull = entry[0]
    if pull in pulls.RESTORES:
        return []  # what was overwritten is held by nobody else
    if pull is pull_codual:
        return list(arrays_in(entry[4], set()))
    found = list(arrays_in(entry[1:], set()))
    if pull is pulls.pull_elementwise_out:  # recorded after the write, reversed before it
        memory = getattr(entry[1], "memory", None)
        return [a for a in found if memory is None or owner(a) is not memory.ref()]
    return found


def arrays_in(value: Any, seen: set[int]) -> Iterator[ndarray]:
    """Yield the arrays in containers, and those that functions have captured."""
    if issubclass(type(value), ndarray):
        yield value
        return
    if issubclass(type(value), CONTAINERS):
        parts: Any = elements(value)
    elif issubclass(type(value), FunctionType):
        parts = captured(value)
    else:
        return
    if id(value) not in seen:
        seen.add(id(value))
        for part in parts:
            yield from arrays_in(part, seen)


def captured(f: FunctionType) -> list[Any]:
    """Return the values of the variables that a function has captured."""
    found = []
    for cell in f.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue  # not assigned yet
    return found
