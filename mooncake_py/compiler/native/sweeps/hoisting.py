"""Slow operations in their own names, so that the way back reads what they gave.

    y = a * x ** p                  w0 = x ** p
                                    y = a * w0

The way back wants ``x ** p`` for the derivative of ``a``, and of ``p``: it would compute it again,
where now its result is saved.  In a `ForAll` nothing is hoisted: that would take an array.
"""

from __future__ import annotations

from dataclasses import replace

from mooncake_py.compiler.native.regions.mentions import mentions, unused
from mooncake_py.compiler.native.regions.region import FLOAT, NativeRegion
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Const,
    Expr,
    ForAll,
    Name,
    Op,
    Select,
    Statement,
    parts_of,
    rebuilt,
    with_blocks,
    with_value,
)

__all__ = ["hoisted", "is_costly"]


def hoisted(region: NativeRegion) -> NativeRegion:
    """Return a region in which a slow operation is all that a statement computes."""
    hoisting = _Hoisting(region)
    return replace(region, body=hoisting.block(region.body), kinds=hoisting.kinds)


class _Hoisting:
    """Goes through a region."""

    def __init__(self, region: NativeRegion) -> None:
        self.kinds = dict(region.kinds)
        self.fresh = unused("w", (*mentions(region.body), *region.kinds))

    def block(self, block: Block) -> Block:
        """Return a block with what is slow in statements before those that read it."""
        result: list[Statement] = []
        for s in block:
            if isinstance(s, Assign):
                value = self.parts(s.value, s, result)
                result.append(
                    s if value is s.value else with_value(s, lambda _, value=value: value)
                )
            else:
                result.append(s if isinstance(s, ForAll) else with_blocks(s, self.block))
        return tuple(result)

    def parts(self, e: Expr, s: Assign, before: list[Statement]) -> Expr:
        """Return an expression whose parts are quick; the slow ones are computed before.

        A choice is left as it is: only one side of it is computed.
        """
        if isinstance(e, Select):
            return e
        return rebuilt(e, tuple([self.quick(part, s, before) for part in parts_of(e)]))

    def quick(self, e: Expr, s: Assign, before: list[Statement]) -> Expr:
        """Return a part of an expression, by name if it is slow."""
        e = self.parts(e, s, before)
        if not is_costly(e):
            return e
        name = self.fresh()
        self.kinds[name] = FLOAT
        before.append(Assign(Name(name, place=s.place), e, place=s.place))
        return Name(name, place=s.place)


def is_costly(e: Expr) -> bool:
    """Return True for an operation that takes longer than to save its result and to read it."""
    if isinstance(e, Op) and e.op == "pow":
        p = e.args[1]
        return not (isinstance(p, Const) and p.value in (1, 2, 3))
    return isinstance(e, Call)
