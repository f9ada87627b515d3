"""Chosen arguments of functions that are compiled whole: numbers, arrays, lists and tuples of them.

Each is described as results are (`Output`), with the names that its numbers and arrays have as
inputs of the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.building.types import (
    DEEP,
    ArrayType,
    BoundType,
    DictType,
    ListType,
    ObjectType,
    Path,
    SameType,
    TupleType,
    Type,
    is_one,
    width,
)
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.regions.region import REAL
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.native.site import FunctionSite
from mooncake_py.modes.reverse.whole_structures import Structure

__all__ = [
    "are_apart", "are_captured", "arguments_of", "array_of", "leaves_in", "names_in",
    "parts_of_one", "stand_once",
]  # fmt: skip

KINDS: Mapping[str, type] = {"list": list, "tuple": tuple}


def arguments_of(
    site: FunctionSite,
    reading: Reread,
    chosen: Sequence[int | str],
    structures: dict[int, Structure] | None = None,
) -> list[Output] | None:
    """Return the chosen arguments; None if one holds anything but real numbers and arrays.

    None also if another argument, or a captured or global name, leads to a list, a dict or an
    object of one: by that name it is constant, and a region has no other name for it.

    Parameters
    ----------
    structures : dict of int to Structure, optional
        Takes by its place among the chosen ones what makes the gradient of an object or a dict.
    """
    region = reading.site.region
    found: list[Output] = []
    positions = [k if isinstance(k, int) else site.parameters.index(k) for k in chosen]
    types = [*reading.types, *(c.type for c in reading.captured)]
    pairs = ((k, path[0]) for k, t in enumerate(types) for path in elsewhere(t))
    if any(k != first and (k in positions or first in positions) for k, first in pairs):
        return None
    if any(path[0] in positions for path in reading.long_lists):
        return None
    for position in positions:
        if structures is not None and is_structure(reading.types[position]):
            parts = structured(reading, position)
            if parts is None:
                return None
            structures[len(found)] = parts[1]
            found.append(parts[0])
            continue
        first = sum(map(width, reading.types[:position]))
        names = iter(region.inputs[first : first + width(reading.types[position])])
        argument = described(reading.types[position], names)
        if argument is None or not REAL.issuperset(region.kinds[n] for n in names_in([argument])):
            return None
        found.append(argument)
    return found if names_in(found) else None


def is_structure(type_: Type) -> bool:
    """Return True for an argument whose gradient is made by a `Structure`."""
    if isinstance(type_, TupleType) and type_.cls is None:
        return any(map(is_structure, type_.items))
    return isinstance(type_, TupleType | DictType | ObjectType | BoundType)


def structured(reading: Reread, position: int) -> tuple[Output, Structure] | None:
    """Return the leaves of an argument, and a function that builds its gradient from theirs.

    None where something is complex.
    """
    region = reading.site.region
    if region.complexes:
        return None
    pairs = zip(region.inputs, reading.places, strict=False)  # others are made, last of all
    own = [(name, path) for name, path in pairs if path[0] == position]
    own = [(name, path) for name, path in own if region.kinds[name] in REAL]
    if not own or any(path[-1] in ("real", "imag") for _, path in own):
        return None
    if any("__self__" in path for _, path in own):  # of an object that a method is bound to
        return None
    items = [Output("array" if name in region.arrays else "number", name=name) for name, _ in own]
    places = {path[1:]: k for k, (_, path) in enumerate(own)}
    return Output("tuple", items=tuple(items)), Structure(places)


def elsewhere(type_: Type) -> Iterator[Path]:
    """Yield where what is in an argument, or is captured, was met before."""
    if isinstance(type_, TupleType | DictType):
        for item in type_.items:
            yield from elsewhere(item)
    elif isinstance(type_, ObjectType):
        for _, part in type_.attributes:
            yield from elsewhere(part)
    elif isinstance(type_, BoundType):
        yield from elsewhere(type_.owner)
    elif isinstance(type_, SameType):
        yield type_.path


def described(type_: Type, names: Iterator[str]) -> Output | None:
    """Return an argument, or a part of one, whose inputs have the next names.

    None of a named tuple, whose gradient is one too.
    """
    if isinstance(type_, TupleType):
        if type_.cls is not None:
            return None
        items = [described(item, names) for item in type_.items]
        kind = "list" if type_.is_list else "tuple"
        return None if None in items else Output(kind, items=tuple(items))  # type: ignore[arg-type]
    if isinstance(type_, ListType):
        return Output("floats", name=next(names), type=type_.item.name)
    if not is_one(type_):
        return None
    return Output("array" if isinstance(type_, ArrayType) else "number", name=next(names))


def names_in(arguments: Iterable[Output]) -> list[str]:
    """Return the names of all numbers and arrays, in order."""
    found: list[str] = []
    for argument in arguments:
        found += names_in(argument.items) if argument.kind in KINDS else [argument.name]
    return found


def parts_of_one(arguments: Iterable[Output]) -> list[list[str]]:
    """Return of each argument that has several parts their names."""
    return [names_in([argument]) for argument in arguments if argument.kind in KINDS]


def are_captured(reading: Reread, arguments: Iterable[Output], inputs: Mapping[str, Any]) -> bool:
    """Return whether an array of a chosen list, tuple, dict or object may be captured too.

    By some names it is constant then: by which the general way knows.
    """
    if not reading.captured:
        return False
    first, pairs = len(reading.types), zip(inputs.items(), reading.places, strict=False)
    captured = [a for (_, a), path in pairs if path[0] >= first and type(a) is ndarray]
    parts = [inputs[name] for names in parts_of_one(arguments) for name in names]
    return any(
        type(a) is ndarray and np.may_share_memory(a, other) for a in parts for other in captured
    )


def are_apart(values: Iterable[Any]) -> bool:
    """Return True for parts of one argument that share no memory for certain.

    Otherwise they have one derivative together, of which the general way takes care.
    """
    arrays = [a for a in values if type(a) is ndarray]
    return len(set(map(id, arrays))) == len(arrays) and all(a.flags.owndata for a in arrays)


def stand_once(value: Any, met: set[int], depth: int = 0) -> bool:
    """Return True if no list stands twice in an argument: there it has one derivative.

    False also where it is too deep to be read.

    Parameters
    ----------
    met : set of int
        The ids of the lists met so far, to which those of the argument are added.
    """
    if type(value) is list:
        if id(value) in met:
            return False
        met.add(id(value))
    elif type(value) is not tuple:
        return True
    return depth < DEEP and all(stand_once(part, met, depth + 1) for part in value)


def array_of(value: Any) -> ndarray | None:
    """Return an array of a list of floats of Python, None for anything else."""
    if type(value) is not list or not {float}.issuperset(map(type, value)):
        return None
    return np.array(value, float)


def leaves_in(argument: Output, value: Any) -> list[Any] | None:
    """Return the parts of a direction, None if it is not built like the argument."""
    if argument.kind == "floats":
        t = array_of(value)
        return None if t is None else [t]
    if argument.kind not in KINDS:
        return [value]
    if type(value) is not KINDS[argument.kind] or len(value) != len(argument.items):
        return None
    found: list[Any] = []
    for item, part in zip(argument.items, value, strict=True):
        leaves = leaves_in(item, part)
        if leaves is None:
            return None
        found += leaves
    return found
