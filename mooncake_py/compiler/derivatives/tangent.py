"""Turn a region into one that also computes tangents.

What comes out has the same grammar, so that it can be differentiated again::

    x[i] = a * x[i - 1]         t_x[i] = t_a * x[i - 1] + a * t_x[i - 1]
                                x[i] = a * x[i - 1]

The tangent of a name or an array has a separate name; it is bound before the value, because the
value may overwrite the operands of the tangent.
"""

from __future__ import annotations

from collections.abc import Callable

from mooncake_py.compiler.derivatives.activity import part_of, target_of
from mooncake_py.compiler.derivatives.partials import partials
from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Const,
    Expr,
    ForAll,
    Grow,
    Let,
    Load,
    Name,
    Reduce,
    Statement,
    Target,
    parts_of,
    substituted,
    with_blocks,
    with_value,
)
from mooncake_py.compiler.regions.simplify import added, inlined, product
from mooncake_py.compiler.regions.steps import Steps

__all__ = ["Pushforward"]

ZERO = Const(0.0)


class Pushforward:
    """Goes through the blocks of a region, once.

    Parameters
    ----------
    names : dict of str to str
        For each active name and array what its tangent is called.
    fresh : callable
        Returns a new name.
    times : callable
        Returns the product of a tangent and a partial derivative.
    """

    def __init__(
        self,
        names: dict[str, str],
        fresh: Callable[[], str],
        times: Callable[[Expr, Expr], Expr] = product,
    ) -> None:
        self.names = names
        self.fresh = fresh
        self.times = times

    def block(self, block: Block) -> Block:
        """Return a block with tangents."""
        result: list[Statement] = []
        for s in block:
            match s:
                case Assign() | Let():
                    result += self.assigned(s, target_of(s))
                case ForAll(body=(Assign() as inner,)):
                    result += self.for_all(s, inner)
                case Alloc(name=name):
                    result.append(s)
                    if name in self.names:
                        own = self.names[name]
                        result.append(Alloc(own, s.shape, s.kind, s.zero, place=s.place))
                case Grow(name=name):
                    result.append(s)
                    if name in self.names:
                        result.append(Grow(self.names[name], s.least, place=s.place))
                case Apply():
                    result += self.applied(s)
                case Reduce():
                    result += self.reduced(s)
                case _:
                    result.append(with_blocks(s, self.block))
        return tuple(result)

    def applied(self, s: Apply) -> Block:
        """Return code that computes an array, and its tangent."""
        raise NotImplementedError

    def reduced(self, s: Reduce) -> Block:
        """Return an operation along axes, and its tangent."""
        raise NotImplementedError

    def assigned(self, s: Assign | Let, target: Target) -> Block:
        """Return an assignment after that of its tangent."""
        if part_of(target) not in self.names:
            return (s,)
        steps = Steps(self.fresh, s.place)
        root = steps.of(s.value)
        t = self.of(steps, root)
        own = self.tangent_of(target)
        first = (
            Assign(own, ZERO if t is None else t, place=s.place)
            if isinstance(s, Assign)
            else (Let(part_of(own), ZERO if t is None else t, place=s.place))
        )
        own = {let.name for let in steps.lets}
        return inlined((*steps.lets, first, with_value(s, lambda _: root)), own)

    def for_all(self, s: ForAll, inner: Assign) -> Block:
        """Return a loop over all elements after that for the tangents, an assignment in each."""
        values: dict[str, Expr] = {}
        result: list[Statement] = []
        for part in self.assigned(inner, inner.target):
            part = with_value(part, lambda e: substituted(e, values))
            if isinstance(part, Let):
                values[part.name] = part.value
            else:
                result.append(ForAll(s.counters, s.extents, (part,), place=s.place))
        return tuple(result)

    def tangent_of(self, leaf: Target) -> Target:
        """Return the tangent of a name or an element."""
        if isinstance(leaf, Load):
            return Load(self.names[leaf.array], leaf.index, place=leaf.place)
        return Name(self.names[leaf.name], place=leaf.place)

    def of(self, steps: Steps, root: Expr) -> Expr | None:
        """Return the tangent of the value of some operations, or None if it is zero."""
        tangents: dict[str, Expr | None] = {}

        def of_operand(e: Expr) -> Expr | None:
            if not isinstance(e, Name):
                return None
            if e.name in tangents:
                return tangents[e.name]
            return self.tangent_of(e) if e.name in self.names else None

        for let in list(steps.lets):
            t = self.of_operation(let, of_operand)
            tangents[let.name] = None if t is None else steps.of(t)
        return of_operand(root)

    def of_operation(self, let: Let, of_operand: Callable[[Expr], Expr | None]) -> Expr | None:
        """Return the tangent of the value of one operation."""
        e = let.value
        if isinstance(e, Load):
            return self.tangent_of(e) if e.array in self.names else None
        if is_flat(e) or all(of_operand(part) is None for part in parts_of(e)):
            return None
        total: Expr = ZERO
        for a, p in partials(e, Name(let.name)):
            t = of_operand(a)
            if t is not None and p is not None:
                total = added(total, self.times(t, p))
        return None if total == ZERO else total
