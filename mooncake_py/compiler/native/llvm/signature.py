"""The arguments and results of a kernel: numbers and arrays in slots of eight bytes.

in    a number has one slot; an array its address, and a slot for each length
out   the same; the address of an array is null where it is that of an input
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mooncake_py.compiler.native.regions.region import FLOAT

__all__ = ["Foreign", "Signature", "Slot", "slots"]

Shaped = tuple[str, int | None]
"""A kind, and the number of axes; None for a number."""


@dataclass(frozen=True)
class Slot:
    """A number or an array that is passed.

    Attributes
    ----------
    name, kind : str
    axes : int or None
        The number of axes; None for a number.
    place : int
        Of the first slot.
    source : int or None
        The place among the inputs of the array that it is, if its address is null.
    """

    name: str
    kind: str
    axes: int | None
    place: int
    source: int | None = None


@dataclass(frozen=True)
class Signature:
    """A kernel: ``i32 symbol(in, out)``.

    It returns 0 if all went well, the number of the check that failed, counted from 1, or -1
    where there is no memory.
    """

    symbol: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]


@dataclass(frozen=True)
class Foreign:
    """A function of Python that a text calls by its address.

    Arrays are passed as their addresses and lengths: ``i8 symbol(ptr, i64, ptr, i64, i64, ...)``.
    Where there are none the function gives back a number, which is written behind the last
    argument: ``i8 symbol(double, i64, ..., ptr)``.  It returns 1 if all went well, 0 if not, and -1
    where there is no memory.

    Attributes
    ----------
    function : callable
    kinds : tuple of (str, int or None)
    result : str
        A kind.
    """

    function: Any
    kinds: tuple[Shaped, ...]
    result: str


def slots(
    names: Sequence[str],
    kinds: Mapping[str, str],
    arrays: Mapping[str, int],
    inputs: Sequence[str] = (),
) -> tuple[Slot, ...]:
    """Return where names are passed, one after another.

    Parameters
    ----------
    inputs : sequence of str
        Of a function that gives names back.
    """
    found: list[Slot] = []
    place = 0
    for name in names:
        axes = arrays.get(name)
        source = inputs.index(name) if axes is not None and name in inputs else None
        found.append(Slot(name, kinds.get(name, FLOAT), axes, place, source))
        place += 1 if axes is None else 1 + axes
    return tuple(found)
