"""Elements of one array that are apart wherever the counters are: loops treat them as of several.

    for all i, j:                                    a row, a block next to it, and a column:
        v = d[k + 1 + i, k + 1 + j]                  three names while loops are chosen
        d[k, k + 1 + j] -= v * f[i]
        d[k + 1 + i, k] -= v * p[j]

Along some axis all indices of one are less than all of the other: there they differ by a constant,
and what counters, which are never negative, add to the greater and take from the less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mooncake_py.compiler.native.regions.linear import Linear, linear
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Expr,
    ForAll,
    Length,
    Let,
    Load,
    Name,
    parts_of,
    rebuilt,
    walk,
)

__all__ = ["rejoined", "told_apart"]

Simple = Assign | Bump | Let


def told_apart(
    body: Sequence[Simple], counters: Sequence[str], floats: set[str]
) -> tuple[list[Simple], dict[str, str]]:
    """Return statements with several names for arrays that they write, and what these stand for.

    Parameters
    ----------
    floats : set of str
        The arrays of float64 numbers: only these get other names, whose kind is known then.
    """
    targets = [Name(s.name) if isinstance(s, Let) else s.target for s in body]
    bound = {target.name for target in targets if isinstance(target, Name)}
    written = {target.array for target in targets if isinstance(target, Load)} & floats
    accesses = dict.fromkeys(access for s in body for access in loads_in(s))
    names: dict[Expr, str] = {}
    arrays: dict[str, str] = {}
    for array in sorted(written):
        own = [access for access in accesses if access.array == array]
        for k, group in enumerate(groups(own, counters, bound)[1:], 1):
            name = f"{array}|{k}"
            arrays[name] = array
            names |= dict.fromkeys(group, name)
    return [renamed(s, names) for s in body] if names else [*body], arrays


def loads_in(s: Simple) -> list[Load]:
    """Return the elements that a statement reads or writes."""
    roots = (s.value,) if isinstance(s, Let) else (s.target, s.value)
    return [part for e in roots for part in walk(e) if isinstance(part, Load)]


def groups(own: list[Load], counters: Sequence[str], bound: set[str]) -> list[list[Load]]:
    """Return elements of an array in groups that are apart from one another."""
    found: list[list[Load]] = []
    for access in own:
        near = [g for g in found if not all(are_apart(access, b, counters, bound) for b in g)]
        found = [g for g in found if g not in near]
        found.append([*(b for g in near for b in g), access])
    return found


def are_apart(a: Load, b: Load, counters: Sequence[str], bound: set[str]) -> bool:
    """Return True if no pass reaches as `a` what any pass reaches as `b`."""
    return any(
        is_less(i, j, counters, bound) or is_less(j, i, counters, bound)
        for i, j in zip(map(linear, a.index), map(linear, b.index), strict=True)
    )


def is_less(i: Linear, j: Linear, counters: Sequence[str], bound: set[str]) -> bool:
    """Return True if an index is less than another one, each with counters of its own pass."""
    own = [Name(counter) for counter in counters]
    fixed = [{p: n for p, n in e.parts.items() if p not in own} for e in (i, j)]
    return (
        i.constant < j.constant
        and fixed[0] == fixed[1]
        and all(
            isinstance(p, Length) or (isinstance(p, Name) and p.name not in bound) for p in fixed[0]
        )
        and all(i.parts.get(c, 0) <= 0 <= j.parts.get(c, 0) for c in own)
    )


# Other names for arrays.


def rejoined(block: Block, arrays: Mapping[str, str]) -> Block:
    """Return statements with the arrays that other names stand for."""
    if not arrays:
        return block
    found: list[Simple | ForAll] = []
    for s in block:
        if isinstance(s, ForAll):
            found.append(ForAll(s.counters, s.extents, rejoined(s.body, arrays), place=s.place))
        else:
            assert isinstance(s, Simple)
            found.append(renamed(s, {e: arrays[e.array] for e in loads_in(s) if e.array in arrays}))
    return tuple(found)


def renamed(s: Simple, names: Mapping[Expr, str]) -> Simple:
    """Return a statement with other arrays for some elements."""
    if isinstance(s, Let):
        return Let(s.name, with_arrays(s.value, names), place=s.place)
    target = with_arrays(s.target, names)
    assert isinstance(target, Name | Load)
    value = with_arrays(s.value, names)
    if isinstance(s, Bump):
        return Bump(target, value, place=s.place)
    return Assign(target, value, place=s.place)


def with_arrays(e: Expr, names: Mapping[Expr, str]) -> Expr:
    """Return an expression with other arrays for some elements."""
    parts = parts_of(e)
    changed = rebuilt(e, tuple([with_arrays(part, names) for part in parts])) if parts else e
    if isinstance(changed, Load) and e in names:
        return Load(names[e], changed.index, place=e.place)
    return changed
