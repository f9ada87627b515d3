"""The order in which the statements of a block may run, from their reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from mooncake_py.compiler.native.regions.linear import plus
from mooncake_py.compiler.native.regions.mentions import expressions_in, names_in
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Check,
    Const,
    Expr,
    For,
    Length,
    Load,
    Name,
    Op,
    Statement,
    walk,
)

__all__ = ["adds_to_elements", "arrays_read", "asked_always", "passes_in_any_order"]


def asked_always(block: Block) -> Iterator[Check]:
    """Yield the checks in a block and in the loops in it, but not those in branches."""
    for s in block:
        if isinstance(s, Check):
            yield s
        elif isinstance(s, For):
            yield from asked_always(s.body)


def adds_to_elements(body: Block) -> bool:
    """Return True for one statement that adds what reads nothing of the array.

    NumPy computes functions and powers of numbers in another way than those of arrays.
    """
    s = body[0] if len(body) == 1 else None
    return (
        isinstance(s, Assign)
        and isinstance(s.target, Load)
        and isinstance(s.value, Op)
        and s.value.op in ("add", "sub")
        and s.value.args[0] == s.target
        and all(is_arithmetic(part) for part in walk(s.value.args[1]))
        and s.target.array not in names_in((*s.target.index, s.value.args[1]))
    )


def is_arithmetic(e: Expr) -> bool:
    """Return True for numbers, and what is added, multiplied and divided."""
    return isinstance(e, Const | Name | Load | Length) or (
        isinstance(e, Op) and e.op in ("add", "sub", "mul", "truediv", "neg", "float")
    )


def arrays_read(s: Statement) -> set[str]:
    """Return the arrays that a statement reads, except the one to which it adds."""
    match s:
        case Assign(target=target, value=Op(op="add" | "sub", args=(first, other))) if (
            first == target
        ):
            parts: tuple[Expr, ...] = (other,)
        case Assign(value=value) | Bump(value=value):
            parts = (value,)
        case _:
            return names_in(expressions_in(s))
    return names_in((*parts, *(s.target.index if isinstance(s.target, Load) else ())))


def passes_in_any_order(s: For) -> Expr | None:
    """Return how many passes a loop has over all ints below, from either end; else None."""
    assert isinstance(s.range, Op)
    first, last, step = s.range.args
    if first == Const(0) and step == Const(1):
        return last
    if last == Const(-1) and step == Const(-1):
        return plus(first, Const(1))
    return None
