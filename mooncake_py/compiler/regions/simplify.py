"""Simplification: remove redundant arithmetic and unused names.

Before and after: the grammar of `ir`.  Values of expressions change only by rounding.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TypeGuard

from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Check,
    Const,
    Count,
    Expr,
    Finite,
    Let,
    Load,
    Name,
    Op,
    Places,
    Push,
    Reduce,
    Select,
    Statement,
    parts_of,
    rebuilt,
    substituted,
    with_value,
)

__all__ = ["added", "expressions_of", "inlined", "names_of", "negated", "product", "simplified"]

ONE = Const(1.0)


def is_number(e: Expr, value: float) -> bool:
    """Return True if an expression is a number that is written down."""
    return isinstance(e, Const) and e.value is not None and e.value == value


def simplified(e: Expr) -> Expr:
    """Return an expression without operations that do nothing."""
    parts = parts_of(e)
    if parts:
        e = rebuilt(e, tuple([simplified(part) for part in parts]))
    match e:
        case Op(op="add", args=(a, b)):
            return added(a, b)
        case Op(op="mul", args=(a, b)):
            return product(a, b)
        case Op(op="neg", args=(a,)):
            return negated(a)
        case Op(op="pow", args=(a, b)) if is_number(b, 1):
            return a
        case Select(a=a, b=b) if a == b:
            return a
    return e


def added(a: Expr, b: Expr) -> Expr:
    """Return a sum."""
    if isinstance(a, Const) and isinstance(b, Const):
        return folded("add", a, b)
    if is_number(a, 0):
        return b
    if is_number(b, 0):
        return a
    if is_negative(b):
        return negated(Op("add", (*a.args, *b.args))) if is_negative(a) else Op("sub", (a, *b.args))
    return Op("sub", (b, *a.args)) if is_negative(a) else Op("add", (a, b))


def is_negative(e: Expr) -> TypeGuard[Op]:
    """Return True for the negative of an expression."""
    return isinstance(e, Op) and e.op == "neg"


def folded(op: str, a: Const, b: Const) -> Expr:
    """Return the result of an operator on numbers that are written down."""
    if a.value is None or b.value is None:
        return Op(op, (a, b))
    try:
        return Const(getattr(operator, op)(a.value, b.value))
    except OverflowError:  # an int that no float represents
        return Op(op, (a, b))


def negated(a: Expr) -> Expr:
    """Return the negative of an expression."""
    if isinstance(a, Const) and a.value is not None:
        return Const(-a.value)
    return a.args[0] if isinstance(a, Op) and a.op == "neg" else Op("neg", (a,))


def product(a: Expr, b: Expr) -> Expr:
    """Return a product; with a choice of one or nothing it is a choice."""
    if a.__class__ is b.__class__ is Name:  # as mostly
        return Op("mul", (a, b))
    if isinstance(a, Const) and isinstance(b, Const):
        return folded("mul", a, b)
    for one, other in ((a, b), (b, a)):
        if is_number(one, 1):
            return other
        if is_number(one, -1):
            return negated(other)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Op) and one.op == "neg":
            return negated(product(one.args[0], other))
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Select) and is_number(one.a, 1) and is_number(one.b, 0):
            return Select(one.test, other, one.b)
        if isinstance(one, Select) and is_number(one.a, 0) and is_number(one.b, 1):
            return Select(one.test, one.a, other)
    if isinstance(b, Op) and b.op == "truediv" and is_number(b.args[0], 1):
        return Op("truediv", (a, b.args[1]))
    return Op("mul", (a, b))


# Names of ours.


def expressions_of(s: Statement) -> tuple[Expr, ...]:
    """Return the expressions of a statement other than a block, including those of its target."""
    match s:
        case Let() | Count() | Finite() | Push():
            return (s.value,)
        case Assign() | Bump():
            index = s.target.index if isinstance(s.target, Load) else ()
            old = (s.target,) if isinstance(s, Bump) else ()
            return *old, *index, s.value
        case Check():
            return (s.test,)
        case Reduce():
            index = s.target.index if isinstance(s.target, Load) else ()
            return *s.extents, *index, s.value
        case Places():
            return *s.extents, *s.index, s.test
    return ()


def names_of(expressions: Iterable[Expr]) -> list[str]:
    """Return the names that are read in expressions, one for each time."""
    found: list[str] = []
    todo = [*expressions][::-1]
    while todo:
        part = todo.pop()
        if part.__class__ is Name:
            found.append(part.name)  # type: ignore[union-attr]
        else:
            todo += reversed(parts_of(part))
    return found


def inlined(block: Block, own: set[str]) -> Block:
    """Return statements of one pass, no blocks, without names that are read at most once.

    What a name stands for is computed where it is read: nothing in between may write what it is
    computed from.

    Parameters
    ----------
    own : set of str
        Names that nothing else reads.
    """
    uses = dict.fromkeys(own, 0)
    kept: list[Statement] = []
    for s in reversed(block):
        if isinstance(s, Let) and uses.get(s.name) == 0:
            continue
        for name in names_of(expressions_of(s)):
            if name in uses:
                uses[name] += 1
        kept.append(s)
    values: dict[str, Expr] = {}
    result: list[Statement] = []
    for s in reversed(kept):
        if isinstance(s, Let):
            value = substituted(s.value, values)
            if uses.get(s.name) == 1 or (s.name in own and isinstance(value, Const)):
                values[s.name] = value
                continue
            s = s if value is s.value else Let(s.name, value, place=s.place)
        elif values:
            s = with_value(s, lambda e: substituted(e, values))
        result.append(s)
    return tuple(result)
