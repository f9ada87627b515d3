"""Derivatives of operations along axes, which stay whole.

    y = sum x                   d_x += d_y                      t_y = sum t_x
    y = max x                   w = x == y                      t_y = sum t_x where x == y
                                c = sum w, if there are ties    t_y = t_y / sum x == y
                                d_x += d_y / c where w
    y = cumsum x                w = cumsum d_y, backwards       t_y = cumsum t_x
                                d_x += w, backwards

Elements that are equally large share what they receive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.derivatives.cotangents import cotangent
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.regions.linear import minus, times
from mooncake_py.compiler.native.regions.mentions import values_in
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT
from mooncake_py.compiler.native.sweeps.pull import NOTHING, Pull, Puller
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Block,
    Bump,
    Compare,
    Const,
    Expr,
    ForAll,
    If,
    Load,
    Name,
    Op,
    Reduce,
    Select,
    Statement,
    Target,
    substituted,
)
from mooncake_py.compiler.regions.wholes import SUMS

__all__ = ["pulled", "pushed"]

ZERO, ONE, NULL = Const(0.0), Const(1.0), Const(0)


def pulled(s: Reduce, puller: Puller, clears: bool) -> Pull:
    """Return the adjoint.

    Parameters
    ----------
    clears : bool
        Whether the cotangent of what is computed must be zero afterwards.
    """
    if part_of(s.target) not in puller.active:
        return NOTHING
    if s.op in SUMS:
        back, reads, reuses = pulled_sum(s, puller), None, False
    elif s.op in ("max", "min"):
        back, reuses = pulled_extremum(s, puller), True
        reads = values_in((s.value,))
    elif s.op == "cumsum":
        back, reads, reuses = pulled_cumulative(s, puller), None, False
    else:
        raise NoPartial
    own = {*s.counters, part_of(s.target)}
    if reads is None:
        reads = puller.of(Assign(s.target, Op("add", (s.target, s.value))), together=True).reads
    reads = (set(reads) | values_in(s.extents)) - own
    if clears:
        back.append(cleared(s))
    return Pull(tuple(back), frozenset(reads), reuses)


def for_all(s: Reduce, counters: tuple[str, ...], *body: Statement) -> Statement:
    """Return statements for some of the counters."""
    sizes = dict(zip(s.counters, s.extents, strict=True))
    if not counters and len(body) == 1:
        return body[0]
    return ForAll(counters, tuple([sizes[k] for k in counters]), body, place=s.place)


def kept_in(s: Reduce) -> tuple[str, ...]:
    """Return the counters that are not reduced."""
    return tuple([k for k in s.counters if k not in s.along])


def cleared(s: Reduce) -> Statement:
    """Return a statement that sets the cotangent of the result to zero."""
    counters = s.counters if s.op == "cumsum" else kept_in(s)
    return for_all(s, counters, Assign(cotangent(s.target), ZERO, place=s.place))


def pulled_sum(s: Reduce, puller: Puller) -> list[Statement]:
    """Return the adjoint of a sum: each number receives what the sum does."""
    one = Assign(s.target, Op("add", (s.target, s.value)), place=s.place)
    body = puller.of(one, together=True).back
    return [for_all(s, s.counters, *body)] if body else []


def pulled_extremum(s: Reduce, puller: Puller) -> list[Statement]:
    """Return the adjoint of an extremum."""
    if not isinstance(s.value, Load):
        raise NoPartial
    kept, sizes = kept_in(s), dict(zip(s.counters, s.extents, strict=True))
    (share, made), (ties, also_made) = new(s, puller.fresh), new(s, puller.fresh)
    tied = Load(puller.fresh(), tuple(map(Name, s.counters)), place=s.place)
    count = Name(puller.fresh(), place=s.place)
    return [
        Alloc(tied.array, s.extents, BOOL, False, place=s.place),
        for_all(s, s.counters, Assign(tied, is_extreme(s), place=s.place)),
        *made,
        for_all(s, kept, Assign(share, cotangent(s.target), place=s.place)),
        Reduce("count", count, s.counters, s.extents, s.counters, tied, place=s.place),
        If(  # as many as there are extrema: each has one
            Compare(("ne",), (count, product([sizes[k] for k in kept]))),
            (
                *also_made,
                with_numbers(s, "sum", ties, Select(tied, ONE, ZERO)),
                for_all(s, kept, Assign(share, Op("truediv", (share, ties)), place=s.place)),
            ),
            (),
        ),
        for_all(s, s.counters, Bump(cotangent(s.value), Select(tied, share, ZERO))),
    ]


def pulled_cumulative(s: Reduce, puller: Puller) -> list[Statement]:
    """Return the adjoint of sums up to each element: those from the end on."""
    (along,) = s.along or (None,)
    sizes = dict(zip(s.counters, s.extents, strict=True))
    made = puller.fresh()
    whole = Load(made, tuple(map(Name, s.counters)))
    turned = {along: minus(minus(sizes[along], Const(1)), Name(along))} if along else {}
    puller.active.add(made)  # whose cotangent is what is added up from the end
    one = puller.of(Assign(whole, s.value, place=s.place), together=True)
    puller.active.discard(made)
    if one.reuses:
        raise NoPartial
    sums = cotangent(whole)
    from_end = substituted(cotangent(s.target), turned)
    body = [b for b in one.back if not (isinstance(b, Assign) and b.target == sums)]
    target = substituted(sums, turned)
    assert isinstance(target, Load)
    return [
        Alloc(target.array, s.extents, FLOAT, False, place=s.place),
        Reduce("cumsum", target, s.counters, s.extents, s.along, from_end, place=s.place),
        for_all(s, s.counters, *body),
    ]


def new(s: Reduce, fresh: Callable[[], str]) -> tuple[Target, list[Statement]]:
    """Return a number, or an element of a new array, for the counters that are not reduced."""
    kept, name = kept_in(s), fresh()
    if not kept:
        return Name(name, place=s.place), []
    sizes = dict(zip(s.counters, s.extents, strict=True))
    made = Alloc(name, tuple([sizes[k] for k in kept]), FLOAT, True, place=s.place)
    return Load(name, tuple(map(Name, kept)), place=s.place), [made]


def product(sizes: Sequence[Expr]) -> Expr:
    """Return how many elements there are."""
    return reduce(times, sizes, Const(1))


def is_extreme(s: Reduce) -> Expr:
    """Return whether a number is the largest or the smallest."""
    return Compare(("eq",), (s.value, s.target))


def count_of_ties(s: Reduce, target: Target) -> Statement:
    """Return a statement that counts the numbers that are equal to an extremum."""
    return with_numbers(s, "sum", target, Select(is_extreme(s), ONE, ZERO))


def with_numbers(s: Reduce, op: str, target: Target, value: Expr) -> Reduce:
    """Return an operation along the same axes."""
    assert isinstance(target, Name | Load)
    return Reduce(op, target, s.counters, s.extents, s.along, value, place=s.place)


# Tangents.


def pushed(
    s: Reduce,
    names: Mapping[str, str],
    fresh: Callable[[], str],
    tangent_of: Callable[[Target], Target],
    of: Callable[[Expr], Expr | None],
) -> Block:
    """Return the statement, and what computes its tangent.

    Parameters
    ----------
    names : mapping of str to str
        What the tangents of active names and arrays are called.
    tangent_of : callable
        Returns the tangent of a name or an element.
    of : callable
        Returns that of an expression, None for zero.
    """
    if part_of(s.target) not in names:
        return (s,)
    target, t = tangent_of(s.target), of(s.value)
    if t is None:
        return (s, for_all(s, kept_in(s), Assign(target, ZERO, place=s.place)))
    if s.op in SUMS or s.op == "cumsum":
        return with_numbers(s, s.op, target, t), s
    if s.op not in ("max", "min"):
        raise NoPartial
    (ties, made), (total, also_made) = new(s, fresh), new(s, fresh)
    return (
        s,
        *made,
        *also_made,
        with_numbers(s, "sum", total, Select(is_extreme(s), t, ZERO)),
        count_of_ties(s, ties),
        for_all(s, kept_in(s), Assign(target, Op("truediv", (total, ties)), place=s.place)),
    )
