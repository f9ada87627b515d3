"""Quotients of floats are rounded, or else the region is left: nothing is rounded in large ones.

Before: any block.  After::

    y = x // 2.0        y = quotient(x, 2.0)
    k = i // 2          k = i // 2               of ints, which have no derivative
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from mooncake_py.compiler.regions.ir import (
    Block,
    Const,
    Expr,
    Length,
    Name,
    Op,
    parts_of,
    rebuilt,
    with_blocks,
    with_test,
    with_value,
)

__all__ = ["with_quotients"]

OF_INTS = frozenset({"add", "sub", "mul", "floordiv", "mod", "neg", "pos"})


def with_quotients(block: Block, ints: AbstractSet[str]) -> Block:
    """Return a block in which operators of floats are marked; `ints` are names of ints."""

    def marked(e: Expr) -> Expr:
        parts = parts_of(e)
        if parts:
            e = rebuilt(e, tuple(map(marked, parts)))
        if isinstance(e, Op) and e.op == "floordiv" and not is_int(e, ints):
            return Op("quotient", e.args, place=e.place)
        return e

    def mark(block: Block) -> Block:
        return tuple([with_test(with_value(with_blocks(s, mark), marked), marked) for s in block])

    return mark(block)


def is_int(e: Expr, ints: AbstractSet[str]) -> bool:
    """Return whether an expression is seen to be an int."""
    match e:
        case Const(value=value):
            return type(value) is int
        case Name(name=name):
            return name in ints
        case Length():
            return True
        case Op(op=op, args=args):
            return op in OF_INTS and all(is_int(part, ints) for part in args)
    return False
