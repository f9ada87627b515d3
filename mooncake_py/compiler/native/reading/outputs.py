"""How results are given back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.values import Number, Tuple, Value

__all__ = ["Output", "as_python", "leaves_of", "names_in"]


class Output(NamedTuple):
    """How a result is given back: numbers and arrays by their names in the region.

    Attributes
    ----------
    kind : str
        "number", "complex", "array", "floats" for a list of numbers, "tuple", "list", "dict" or
        "known".
    name : str
        In the region.
    type : str
        Of a number, or of those in a list.
    rank : str
        The name of what tells its type, where that varies.
    items : tuple of Output
    value : object
        What is known; the keys of a dict.
    """

    kind: str
    name: str = ""
    type: str = ""
    rank: str = ""
    items: tuple[Output, ...] = ()
    value: Any = None


def leaves_of(output: Output) -> Iterator[Output]:
    """Yield the leaves of a result: of its tuples, lists and dicts, at any depth."""
    if output.kind in ("tuple", "list", "dict"):
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


PYTHON_TYPES = {"float64": "float", "int64": "int", "bool_": "bool"}


def as_python(value: Value) -> Value:
    """Return a result as what Numba compiled gives it back: with numbers of Python."""
    match value:
        case Number(e=e, type=type_):
            return Number(e, PYTHON_TYPES.get(type_, type_))
        case Tuple(items=items):
            return replace(value, items=tuple(map(as_python, items)))
    return value
