"""How results are given back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Output", "leaves_of", "names_in"]


class Output(NamedTuple):
    """How a result is given back: numbers and arrays by their names in the region.

    Attributes
    ----------
    kind : str
        "number", "complex", "array", "floats" for a list of numbers, "tuple", "list" or "known".
    name : str
        In the region.
    type : str
        Of a number, or of those in a list.
    rank : str
        The name of what tells its type, where that varies.
    items : tuple of Output
    value : object
    """

    kind: str
    name: str = ""
    type: str = ""
    rank: str = ""
    items: tuple[Output, ...] = ()
    value: Any = None


def leaves_of(output: Output) -> Iterator[Output]:
    """Yield what a result consists of: tuples and lists of it, of these, and so on."""
    if output.kind in ("tuple", "list"):
        for item in output.items:
            yield from leaves_of(item)
    else:
        yield output


def names_in(output: Output) -> tuple[str, ...]:
    """Return the names of what is given back, each once."""
    names = [n for n in (output.name, output.rank) if n]
    for item in output.items:
        names += names_in(item)
    return tuple(dict.fromkeys(names))
