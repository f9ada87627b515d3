"""Fuses loops over the same counters in code that runs forward only: a value and its tangent.

    for all i < n:                          for all i < n:
        t_y[i] = t_x[i] * exp(x[i])             f0 = exp(x[i])
    for all i < n:                              t_y[i] = t_x[i] * f0
        y[i] = exp(x[i])                        y[i] = f0

Slow operations are done once.  Where there are none one loop reads less, but machine code takes
several passes at once only if it can tell that few arrays do not overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.linear import linear, minus
from mooncake_py.compiler.native.regions.mentions import bound_by, mentions, unused, values_in
from mooncake_py.compiler.native.regions.region import INT, NativeRegion
from mooncake_py.compiler.native.sweeps.hoisting import is_costly
from mooncake_py.compiler.native.sweeps.normal import normal
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Expr,
    ForAll,
    Let,
    Load,
    Name,
    Op,
    Select,
    Statement,
    parts_of,
    rebuilt,
    statements,
    substituted,
    walk,
    with_blocks,
)

__all__ = ["forward_only"]

CHECKS = 8
"""Pairs of rows that machine code compares at most, to find out whether they overlap."""


def forward_only(region: NativeRegion) -> NativeRegion:
    """Return a region that computes the same, of which nothing is active: it has no way back."""
    body = normal(region)
    kinds = dict(region.kinds)
    for s in statements(body):  # names that the normal form has made, and counters
        kinds = dict.fromkeys(bound_by(s), INT) | kinds
    fusing = _Fusing(kinds, (*mentions(body), *kinds))
    return replace(region, body=fusing.block(body), kinds=fusing.kinds)


class _Fusing:
    """Goes through the blocks of a region."""

    def __init__(self, kinds: dict[str, str], taken: Sequence[str]) -> None:
        self.kinds = kinds
        self.fresh = unused("f", taken)

    def block(self, block: Block) -> Block:
        """Return a block with loops in one."""
        found: list[Statement] = []
        for s in block:
            if not isinstance(s, ForAll):
                found.append(with_blocks(s, self.block))
                continue
            last = found[-1] if found else None
            both = fused(last, s) if isinstance(last, ForAll) else None
            if both is None:
                found.append(s)
            else:
                found[-1] = both
        return tuple([self.shared(s) if isinstance(s, ForAll) else s for s in found])

    def shared(self, s: ForAll) -> ForAll:
        """Return a loop that does slow operations once."""
        body = [inner for inner in s.body if isinstance(inner, Assign)]
        if len(body) < len(s.body):
            return s
        names: dict[Expr, Expr] = {}
        lets: list[Statement] = []
        for e in repeated(body):
            value = replaced(e, names)
            let = Let(self.fresh(), value, place=s.place)
            self.kinds[let.name] = kind_of(value, self.kinds)
            lets.append(let)
            names[e] = Name(let.name)
        changed = [
            Assign(inner.target, replaced(inner.value, names), place=inner.place) for inner in body
        ]
        return ForAll(s.counters, s.extents, (*lets, *changed), place=s.place)


# Slow operations that are done more than once.


def repeated(body: Sequence[Assign]) -> list[Expr]:
    """Return the slow operations that may be done once, before the statements: the least first.

    What stands in a choice only may not be done: an index may be out of range.
    """
    written = {part_of(s.target) for s in body[:-1]}
    counts = Counter(e for s in body for e in walk(s.value) if is_slow(e))
    always = {e for s in body for e in done_always(s.value)}
    found = [
        e for e, n in counts.items() if n > 1 and e in always and not values_in((e,)) & written
    ]
    return sorted(found, key=lambda e: len(walk(e)))


def is_slow(e: Expr) -> bool:
    """Return True for an operation that takes longer than to read a number."""
    return is_costly(e) or (isinstance(e, Op) and e.op == "truediv")


def done_always(e: Expr) -> Iterator[Expr]:
    """Yield the parts that are computed whenever an expression is."""
    yield e
    parts = parts_of(e)
    if isinstance(e, Select) or (isinstance(e, Op) and e.op in ("and", "or")):
        parts = parts[:1]
    for part in parts:
        yield from done_always(part)


def replaced(e: Expr, names: Mapping[Expr, Expr]) -> Expr:
    """Return an expression with names in the place of parts."""
    if e in names:
        return names[e]
    parts = parts_of(e)
    return rebuilt(e, tuple([replaced(part, names) for part in parts])) if parts else e


# Two loops.


def fused(first: ForAll, second: ForAll) -> ForAll | None:
    """Return two loops as one, None if that computes something else, or takes longer."""
    if first.extents != second.extents:
        return None
    renamed: dict[str, Expr] = dict(zip(second.counters, map(Name, first.counters), strict=True))
    before = [s for s in first.body if isinstance(s, Assign)]
    after = [with_names(s, renamed) for s in second.body if isinstance(s, Assign)]
    if len(before) < len(first.body) or len(after) < len(second.body):
        return None
    body = [*before, *after]
    if not all(are_apart(a, b, first.counters) for a in before for b in after) or not pays(body):
        return None
    return ForAll(first.counters, first.extents, tuple(body), place=first.place)


def with_names(s: Assign, names: dict[str, Expr]) -> Assign:
    """Return a statement with other counters."""
    target = substituted(s.target, names)
    assert isinstance(target, Name | Load)
    return Assign(target, substituted(s.value, names), place=s.place)


def are_apart(a: Assign, b: Assign, counters: Sequence[str]) -> bool:
    """Return True if no pass of one statement needs, or undoes, another pass of the other one."""
    for own, other in ((a, b), (b, a)):
        target = own.target
        met = [e for e in (*walk(other.value), *walk(other.target)) if is_part(e, target)]
        if isinstance(target, Name):
            if met:
                return False
        elif any(e != target for e in met) or (met and not is_one_pass(target, counters)):
            return False
    return True


def is_part(e: Expr, target: Name | Load) -> bool:
    """Return True for the name, or an element of the array, that is written."""
    return isinstance(e, Name | Load) and part_of(e) == part_of(target)


def is_one_pass(e: Load, counters: Sequence[str]) -> bool:
    """Return True if no two passes have the same element."""
    free = set(counters)
    for i in e.index:
        own = free & values_in((i,))
        if len(own) == 1 and not own & values_in((minus(i, Name(*own)),)):
            free -= own
    return not free


def pays(body: Sequence[Assign]) -> bool:
    """Return True if one loop takes less time than one for each statement."""
    if repeated(body) or any(
        isinstance(e, Call) and is_costly(e) for s in body for e in walk(s.value)
    ):
        return True
    written = {row(s.target) for s in body if isinstance(s.target, Load)}
    read = {row(e) for s in body for e in walk(s.value) if isinstance(e, Load)} - written
    pairs = len(written) * len(read) + len(written) * (len(written) - 1) // 2
    return pairs <= CHECKS


def row(e: Load) -> tuple[str, tuple[Expr, ...], object]:
    """Return a key that elements of one array share at known distances in one row."""
    last = linear(e.index[-1]).parts if e.index else {}
    return e.array, e.index[:-1], frozenset(last.items())
