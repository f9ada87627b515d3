"""The reads and writes of an operation along axes, by its counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Index
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus
from mooncake_py.compiler.native.regions.region import REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Count,
    Expr,
    For,
    Load,
    Name,
    Op,
    Reduce,
    Statement,
    substituted,
)

__all__ = ["Operands"]


class Operands:
    """The parts of an operation.

    Parameters
    ----------
    s : Reduce
    kinds : mapping of str to str

    Attributes
    ----------
    s : Reduce
    kind : str
        Of what it gives.
    sizes : dict of str to Expr
        How far the counters go.
    outer : tuple of str
        The counters that are not reduced.
    extents : tuple of Expr
        Of those that are.
    """

    def __init__(self, s: Reduce, kinds: Mapping[str, str]) -> None:
        self.s = s
        self.kind = kinds[part_of(s.target)]
        self.sizes = dict(zip(s.counters, s.extents, strict=True))
        self.outer = tuple([k for k in s.counters if k not in s.along])
        self.extents = tuple([self.sizes[k] for k in s.along])

    def at(self, index: Index) -> Expr:
        """Return one of the numbers, at an index along the axes that are reduced."""
        return substituted(self.s.value, dict(zip(self.s.along, index, strict=True)))

    def target_at(self, index: Index) -> Load:
        """Return an element of what is cumulative, at an index along its axis."""
        found = substituted(self.s.target, dict(zip(self.s.along, index, strict=True)))
        assert isinstance(found, Load)
        return found

    def stored(self, e: Expr) -> Statement:
        """Return a statement that binds the result, or stores it."""
        target, place = self.s.target, self.s.place
        if isinstance(target, Name) and self.kind not in REAL:
            return Count(target.name, e, place=place)
        return Assign(target, e, place=place)

    def for_each(self, b: Builder, one: Callable[[], None]) -> None:
        """Add what a function adds, for all counters that are not reduced, one after another."""
        self.nested(b, one, self.outer)

    def nested(self, b: Builder, one: Callable[[], None], counters: tuple[str, ...]) -> None:
        """Add what a function adds, for some counters."""
        if not counters:
            one()
            return
        name, *rest = counters
        n = self.sizes[name]
        with b.loop(name, ZERO, minus(n, ONE)) as block:
            self.nested(b, one, tuple(rest))
        b.add(For(name, Op("range", (ZERO, n, ONE)), tuple(block), place=b.place))
