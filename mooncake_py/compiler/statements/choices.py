"""Choices by comparisons within statements: ``np.where(x > 0.0, a * x, b)``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from mooncake_py.compiler.ir import Call, Const, Expr
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import LinearRule

__all__ = [
    "COMPARISONS",
    "adjoint_of_choice",
    "adjoints_of_choice",
    "is_choice",
    "tangent_of_choice",
]

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


FIRST, SECOND = itemgetter(0), itemgetter(1)


def is_choice(e: Expr) -> bool:
    """Return True for a choice between two operands by a test."""
    return isinstance(e, Call) and e.function is np.where


def adjoint_of_choice() -> Callable[..., Any] | None:
    """Return the declared adjoint, which reads the test alone; None if another one is declared."""
    rule = registry.find(np.where)
    return rule.adjoint if isinstance(rule, LinearRule) and rule.built_in else None


def adjoints_of_choice(e: Expr, d: Expr) -> tuple[Expr, Expr]:
    """Return what both operands of a choice receive."""
    assert isinstance(e, Call)
    both = Call(adjoint_of_choice(), (d, e.args[0], Const(None), Const(None)))
    return Call(FIRST, (both,)), Call(SECOND, (both,))


def tangent_of_choice(e: Expr, a: Expr | None, b: Expr | None) -> Expr:
    """Return the tangent of a choice, given those of both operands; None for zero."""
    assert isinstance(e, Call)
    return Call(e.function, (e.args[0], a or Const(0.0), b or Const(0.0)))
