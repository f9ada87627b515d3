"""Choices within statements: ``np.where(x > 0.0, a * x, b)``, and maxima of two operands."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.comparisons import ORDERINGS
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Op, parts_of
from mooncake_py.compiler.regions.simplify import added, product
from mooncake_py.compiler.statements.array_partials import declared
from mooncake_py.rules import registry
from mooncake_py.rules.exact_zeros import pushed
from mooncake_py.rules.kinds import AtOnce, LinearRule

__all__ = [
    "adjoint_of_choice",
    "adjoints_of_choice",
    "by_order",
    "is_choice",
    "is_comparison",
    "is_selection",
    "order_of",
    "tangent_by_comparisons",
    "tangent_of_choice",
    "tangent_of_selection",
]

FIRST, SECOND = itemgetter(0), itemgetter(1)


def is_choice(e: Expr) -> bool:
    """Return True for a choice between two operands by a test."""
    return isinstance(e, Call) and e.function is np.where


def is_comparison(e: Expr) -> bool:
    """Return True for a comparison of two operands."""
    return isinstance(e, Op) and e.op in ORDERINGS.values()


def adjoint_of_choice() -> Callable[..., Any] | None:
    """Return the declared adjoint, which reads the test alone; None if another one is declared."""
    rule = registry.find(np.where)
    return rule.adjoint if isinstance(rule, LinearRule) and rule.built_in else None


def adjoints_of_choice(e: Expr, d: Expr) -> tuple[Expr, Expr]:
    """Return the cotangents of both operands of a choice."""
    assert isinstance(e, Call)
    both = Call(adjoint_of_choice(), (d, e.args[0], Const(None), Const(None)))
    return Call(FIRST, (both,)), Call(SECOND, (both,))


def tangent_of_choice(e: Expr, a: Expr | None, b: Expr | None) -> Expr:
    """Return the tangent of a choice, given those of both operands; None for zero."""
    assert isinstance(e, Call)
    return Call(e.function, (e.args[0], a or Const(0.0), b or Const(0.0)))


# Maxima and minima of two operands.

ORDERS = {np.maximum: ("gt", "lt"), np.minimum: ("lt", "gt")}
"""How the first operand compares where it is chosen, and where the second one is."""


def is_selection(e: Expr) -> bool:
    """Return True for a maximum or a minimum of two operands, by the declared derivatives."""
    return shares_of(e) is not None and isinstance(e, Call) and e.function in ORDERS


def shares_of(e: Expr) -> Callable[..., Any] | None:
    """Return a function of both partial derivatives of a selection, None for other expressions."""
    partials = declared(e)
    first = partials[0] if partials else None
    return first.both if type(first) is AtOnce else None


def tangent_of_selection(e: Expr, a: Expr | None, b: Expr | None) -> Expr:
    """Return the tangent of a selection, given those of both operands; None for zero."""
    assert isinstance(e, Call)
    return Call(selected_by(shares_of(e)), (a or Const(0.0), b or Const(0.0), *e.args))


@lru_cache(maxsize=64)
def selected_by(shares: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that chooses between two tangents as between operands; ties share."""

    def selected(ta: Any, tb: Any, a: Any, b: Any) -> Any:
        share, rest = shares(a, b)
        if rest is not None:
            return pushed(ta, share) + pushed(tb, rest)
        t = np.where(share, ta, tb)
        return t if t.ndim else t[()]

    return selected


def order_of(e: Expr) -> tuple[Expr, ...] | None:
    """Return the parts of a tangent by comparisons, None for other expressions.

    They are the tests for the two orders, what is chosen by each, and what is elsewhere.
    """
    if not (is_choice(e) and is_choice(parts_of(e)[2])):
        return None
    first, x, other = parts_of(e)
    second, y, rest = parts_of(other)
    if not (isinstance(first, Op) and isinstance(second, Op) and first.args == second.args):
        return None
    is_ordered = (first.op, second.op) in ORDERS.values() and rest == of_ties(first.args, x, y)
    return (first, second, x, y, rest) if is_ordered else None


def by_order(first: Any, second: Any, x: Any, y: Any, rest: Callable[[], Any]) -> Any:
    """Return ``where(first, x, where(second, y, rest()))``, of which one of both tests is true.

    It takes half of the time, as operands hardly ever tie.
    """
    if np.count_nonzero(first) + np.count_nonzero(second) == np.size(first):
        return np.where(first, x, y)
    return np.where(first, x, np.where(second, y, rest()))


def tangent_by_comparisons(e: Expr, a: Expr | None, b: Expr | None) -> Expr:
    """Return the tangent of a selection in operations that have their own derivatives."""
    assert isinstance(e, Call)
    ta, tb = a or Const(0.0), b or Const(0.0)
    first, second = ORDERS[e.function]
    rest = Call(np.where, (Op(second, e.args), tb, of_ties(e.args, ta, tb)))
    return Call(np.where, (Op(first, e.args), ta, rest))


def of_ties(operands: tuple[Expr, ...], ta: Expr, tb: Expr) -> Expr:
    """Return the tangent where two operands tie, and zero where they do not."""
    return Call(np.where, (Op("eq", operands), product(added(ta, tb), Const(0.5)), Const(0.0)))
