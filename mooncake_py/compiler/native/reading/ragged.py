"""Lists of lists of numbers that a loop makes: all numbers in one vector, and where each list ends.

    for i in range(n):                  values = [...], ends = [0]
        pairs.append([j for ...])       values += the new list, ends += [len(values)]
    pairs[i]                            values[ends[i] : ends[i + 1]]

An item is a copy here, where it is the very list in Python: neither may be changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import (
    KINDS,
    Array,
    Cells,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import growing
from mooncake_py.compiler.native.reading.merging import Before, bases_in
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.linear import LARGE, ONE, ZERO, minus, plus, size_of, times
from mooncake_py.compiler.regions.ir import (
    Assign,
    Const,
    Count,
    Expr,
    Grow,
    Load,
    Name,
    Statement,
)

__all__ = ["item", "put", "refilled", "started"]


def started(b: Builder, ends: str) -> None:
    """Begin a list of lists, of which there is none yet."""
    growing.put(b, Array((ZERO,), b.kinds[ends], lambda at: Load(ends, at), ends), ZERO, ZERO)


def put(b: Builder, values: str, ends: str, n: Expr, made: Cells) -> None:
    """Put a list at the end."""
    if made.ranks is not None:
        raise Unfit("a list of floats of Python and of NumPy in a list that a loop makes", b.place)
    start = natural(b, Load(ends, (n,)))
    count = b.natural(b.steady(made.shape[0]))
    end = plus(start, count)
    b.add(Grow(values, end, place=b.place))
    b.for_all(
        (count,),
        lambda at: Assign(Load(values, (plus(start, at[0]),)), made.array.at(at), place=b.place),
    )
    b.add(Grow(ends, plus(n, Const(2)), place=b.place))
    b.add(Assign(Load(ends, (plus(n, ONE),)), end, place=b.place))


def item(b: Builder, values: str, ends: str, place: Expr, type_: str) -> Cells:
    """Return a list that is there, not to be changed."""
    start = natural(b, Load(ends, (place,)))
    count = natural(b, minus(Load(ends, (plus(place, ONE),)), start))
    array = Array(
        (count,),
        KINDS[type_],
        lambda at: Load(values, (plus(start, at[0]),)),
        values,
        frozen=True,
    )
    return Cells(array, type_)


def lists_in(value: Value) -> Iterator[Cells]:
    """Yield the lists of numbers that an item is, or that are in it."""
    if isinstance(value, Cells):
        yield value
    elif isinstance(value, Tuple):
        for part in value.items:
            yield from lists_in(part)


def natural(b: Builder, e: Expr) -> Name:
    """Return an int that is a length, or a place in memory, under a name."""
    found = b.counted(e)
    b.ranges.natural.add(found.name)
    b.ranges.sizes[found.name] = LARGE
    return found


# Lists of the same kind that take the place of one another.


def refilled(
    b: Builder,
    slot: Slot,
    known: Before,
    blocks: Sequence[list[Statement]],
    sides: Sequence[dict[Slot, Value]],
) -> Stack | None:
    """Return the list from before a branch, which then holds what either side binds a slot to.

    None where other names would see it change, or where it is of another kind.
    """
    values = [side.get(slot) for side in sides]
    stacks = [v for v in values if isinstance(v, Stack) and v.count and not v.is_turned]
    if len(stacks) < 2 or stacks[0].form != stacks[1].form:
        return None
    k = next((k for k, v in enumerate(stacks) if known.arrays.issuperset(v.bases)), None)
    if k is None or not all(is_alone(slot, v, side) for v, side in zip(stacks, sides, strict=True)):
        return None
    old, new = stacks[k], stacks[1 - k]
    if [*old.shapes.values()] != [*new.shapes.values()]:
        return None
    with b.within() as block:
        refill(b, old, new)
    blocks[1 - k].extend(block)
    return old


def pairs_in(form: tuple[Any, ...], bases: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield the memory of the numbers of lists, and of where each ends."""
    if form[0] == "cells":
        yield next(bases), next(bases)
    elif form[0] in ("tuple", "list"):
        for part in form[2]:
            yield from pairs_in(part, bases)
    elif form[0] != "known":
        next(bases)


def is_alone(slot: Slot, value: Stack, side: dict[Slot, Value]) -> bool:
    """Return True for a list that no other slot refers to, nor to a part of it."""
    others = bases_in([v for other, v in side.items() if other != slot])
    return not {*value.bases, value.count}.intersection(others)


def refill(b: Builder, old: Stack, new: Stack) -> None:
    """Let a list hold what another one does."""
    n = natural(b, Name(new.count))
    sizes: dict[str, Expr] = {}
    for base in new.bases:
        sizes[base] = times(n, size_of(new.shapes[base])) if base in new.shapes else n
    for values, ends in pairs_in(new.form, iter(new.bases)):
        sizes[ends] = plus(n, ONE)
        sizes[values] = natural(b, Load(ends, (n,)))
    for own, other in zip(old.bases, new.bases, strict=True):
        b.add(Grow(own, sizes[other], place=b.place))
        b.for_all(
            (sizes[other],),
            lambda at, own=own, other=other: Assign(Load(own, at), Load(other, at), place=b.place),
        )
    b.add(Count(old.count, n, place=b.place))
    b.frozen = {}
