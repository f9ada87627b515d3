"""From a region to one that computes tangents as well as values, which is a region again.

    for all j < n:                  for all j < n:
        y[j] = a * x[j]                 t1_y[j] = t1_a * x[j] + a * t1_x[j]
                                    for all j < n:
                                        y[j] = a * x[j]

A zero tangent stays zero next to an infinite partial: ``times(t, p)`` is zero where ``t`` is, and
has the derivative of ``t * p``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.derivatives.tangent import Pushforward
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import unused
from mooncake_py.compiler.native.regions.region import FLOAT, INT, REAL, NativeRegion
from mooncake_py.compiler.native.sweeps.applied import Derivatives
from mooncake_py.compiler.native.sweeps.finite import is_finite
from mooncake_py.compiler.native.sweeps.normal import normal
from mooncake_py.compiler.native.sweeps.reduced import pushed
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Block,
    Const,
    Expr,
    ForAll,
    Let,
    Op,
    Reduce,
    statements,
    substituted,
)
from mooncake_py.compiler.regions.simplify import negated, product
from mooncake_py.compiler.regions.steps import Steps
from mooncake_py.overriding import override

__all__ = ["tangent"]


def tangent(region: NativeRegion, active: set[str]) -> tuple[NativeRegion, dict[str, str]]:
    """Return the tangent of a region, and what the tangents of names and arrays are called.

    Parameters
    ----------
    region : NativeRegion
    active : set of str
        Names and arrays that are, somewhere in the region: see `activity.active_parts`.

    Returns
    -------
    NativeRegion
        Takes the inputs of the region, then the tangents of those that are active, in order; and
        gives back the results, then the tangents of those that are active.  Tangents of array
        inputs are written in place, as the inputs are.
    dict of str to str
        For each active name and array the name of its tangent.

    Raises
    ------
    NoPartial
        If the derivative of an operation is not known.
    """
    order = next_order(region.kinds)
    names = {name: f"t{order}_{name}" for name in active if region.kinds.get(name, FLOAT) in REAL}

    def times(t: Expr, p: Expr) -> Expr:
        if isinstance(p, Op) and p.op == "neg":
            return negated(times(t, p.args[0]))
        is_safe = isinstance(t, Const) or is_finite(p, {}, region.kinds)
        return product(t, p) if is_safe else Op("times", (t, p))

    pushforward = NativePushforward(names, unused(f"e{order}_", region.kinds), times)
    body = pushforward.block(normal(region))
    own = {t: region.kinds.get(name, FLOAT) for name, t in names.items()}
    kinds = with_names(body, region.kinds | own)
    made = {s.name: len(s.shape) for s in statements(body) if isinstance(s, Alloc)}
    return (
        NativeRegion(
            body,
            with_tangents(region.inputs, names),
            kinds,
            region.arrays | made | {names[a]: n for a, n in region.arrays.items() if a in names},
            with_tangents(region.results, names),
            region.complexes | {names[a] for a in region.complexes if a in names},
            region.lists | {names[a] for a in region.lists if a in names},
            region.private,
            region.contiguous,
            region.is_exact,
        ),
        names,
    )


class NativePushforward(Pushforward):
    """Goes through the blocks of a region that may compute arrays from whole arrays."""

    @override
    def applied(self, s: Apply) -> Block:
        return Derivatives(self.fresh).push(s, self.names)

    @override
    def reduced(self, s: Reduce) -> Block:
        return pushed(s, self.names, self.fresh, self.tangent_of, self.of_value)

    def of_value(self, e: Expr) -> Expr | None:
        """Return the tangent of an expression in one, None if it is zero."""
        steps = Steps(self.fresh, None)
        t = self.of(steps, steps.of(e))
        if t is None:
            return None
        values: dict[str, Expr] = {}
        for let in steps.lets:
            values[let.name] = substituted(let.value, values)
        return substituted(t, values)


def next_order(names: Iterable[str]) -> int:
    """Return a number that stands in no name of a tangent."""
    order = 1
    while any(name.startswith(f"t{order}_") for name in names):
        order += 1
    return order


def with_tangents(given: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return names and arrays, and then the tangents of those that are active."""
    return (*given, *(names[name] for name in given if name in names))


def with_names(body: Block, kinds: dict[str, str]) -> dict[str, str]:
    """Return kinds with those of names and arrays of ours."""
    kinds = dict(kinds)
    for s in statements(body):
        if isinstance(s, Let) and s.name not in kinds:
            kinds[s.name] = kind_of(s.value, kinds)
        elif isinstance(s, Alloc):
            kinds.setdefault(s.name, s.kind)
        elif isinstance(s, ForAll):
            kinds = dict.fromkeys(s.counters, INT) | kinds
        elif isinstance(s, Reduce):
            kinds.setdefault(part_of(s.target), FLOAT)
    return kinds
