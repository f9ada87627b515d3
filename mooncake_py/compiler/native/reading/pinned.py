"""Ints and lengths of arguments that decide structure: they are known, and compared in each call.

names[order]        which item that is depends on `order`: the function is read for order == 2
[Node(h) for h in heights]      how many objects there are: it is read for len(heights) == 5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.findings import Again, Findings
from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import (
    MOST_ITEMS,
    ROWS,
    THERE,
    ArrayType,
    DictType,
    KnownType,
    ListType,
    ObjectType,
    Path,
    TupleType,
    Type,
)
from mooncake_py.compiler.native.building.values import Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.reading import stacks
from mooncake_py.compiler.regions.ir import Expr, Length, Name, walk
from mooncake_py.syntax.nodes import Place

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader

__all__ = ["know_ints", "note_ints", "pin", "with_pinned"]

MOST = 1 << 10  # an int that decides structure is a small one
UNKNOWN = "an int of an argument that decides structure"


def pin(r: CallReader, e: Expr, most: int = MOST) -> None:
    """Find out that ints and lengths of arguments must be known, on which an expression depends.

    Parameters
    ----------
    most : int
        The largest int that helps.
    """
    parts = [*walk(e)]
    names = {part.name for part in parts if isinstance(part, Name)}
    for loop in r.running:  # how often it runs decides whether it is read pass by pass
        if loop.counter in names:
            more = [part for step in loop.steps[:2] for part in walk(step)]
            names |= {part.name for part in more if isinstance(part, Name)}
            parts += more
    paths = {r.places[name] for name in names if name in r.places and r.types.get(name) == "int"}
    paths = {path for path in paths if is_passed(r, path)} - r.findings.pinned
    lengths = {
        (r.places[part.array], part.axis)
        for part in parts
        if isinstance(part, Length) and part.array in r.places
    }
    lengths = {pair for pair in lengths if is_passed(r, pair[0])} - r.findings.lengths
    if (paths or lengths) and are_small(r.passed_values, paths, lengths, most):
        r.findings.pinned |= paths
        r.findings.lengths |= lengths
        raise Again


def note_ints(r: CallReader, value: Value, place: Place | None) -> None:
    """Note that a loop makes a list of such items, which may be indices."""
    items = value.items if isinstance(value, Tuple) else [value]
    if items and all(isinstance(v, Number) and v.type == "int" for v in items):
        r.of_ints.add(place)


def know_ints(r: CallReader) -> None:
    """Find out that loops that make lists of ints must be read pass by pass."""
    found = r.findings
    if r.of_ints:  # what they append to is a list of known items then
        is_known = {place: stacks.has_only_ints(f) for place, f in found.stacked.items()}
        found.stacked = {p: f for p, f in found.stacked.items() if not is_known[p]}
        found.growing = {p: t for p, t in found.growing.items() if t != "int"}
    for place in r.of_ints:
        r.unroll_at(place)


def is_passed(r: CallReader, path: Path) -> bool:
    """Return True for what is in an argument, and neither captured nor made before."""
    return 0 <= path[0] < r.passed_first and ROWS not in path and THERE not in path


def are_small(
    given: Sequence[Any] | None, paths: set[Path], lengths: set[tuple[Path, int]], most: int
) -> bool:
    """Return True for ints and lengths small enough to help, or that are not given."""
    if given is None:
        return not lengths
    ints = [found_at(given, path) for path in paths]
    ints += [length_at(given, *pair) for pair in lengths]
    few = min(most, MOST_ITEMS) if lengths else most
    return all(type(value) is int and -most < value <= few for value in ints)


def length_at(given: Sequence[Any], path: Path, axis: int) -> int:
    """Return the length of an array or a list that is passed."""
    found = found_at(given, path)
    return len(found) if type(found) is list else found.shape[axis]


def with_pinned(
    types: Sequence[Type], findings: Findings, given: Sequence[Any] | None
) -> Sequence[Type]:
    """Return types in which ints and lengths at some paths are known.

    Raises
    ------
    Unfit
        Where no such arguments are given, or they are not small ints.
    """
    found = [*types]
    for path in findings.pinned:
        value = None if given is None else found_at(given, path)
        if type(value) is not int or not -MOST < value < MOST:
            raise Unfit(UNKNOWN)
        found[path[0]] = put(found[path[0]], path[1:], KnownType.of(value))
    for path, axis in findings.lengths:
        assert given is not None
        length = length_at(given, path, axis)
        found[path[0]] = put(found[path[0]], path[1:], (axis, length))
    return found


def put(type_: Type, path: Path, part: Type | tuple[int, int]) -> Type:
    """Return a type with another part at a path, or with the length of an axis there."""
    if not path:
        if isinstance(part, Type):
            return part
        if isinstance(type_, ArrayType):
            return type_._replace(pinned=tuple(sorted({*type_.pinned, part})))
        assert isinstance(type_, ListType)
        return TupleType((type_.item,) * part[1], True)
    first, *rest = path
    match type_:
        case TupleType(items=items):
            keys: Sequence[Any] = range(len(items))
        case DictType(keys=keys, items=items):
            pass
        case ObjectType(attributes=attributes):
            keys, items = zip(*attributes, strict=True)
        case _:
            raise Unfit(UNKNOWN)
    at = [*keys].index(first)
    changed = (*items[:at], put(items[at], tuple(rest), part), *items[at + 1 :])
    if isinstance(type_, ObjectType):
        return type_._replace(attributes=tuple(zip(keys, changed, strict=True)))
    return type_._replace(items=changed)  # type: ignore[union-attr]
