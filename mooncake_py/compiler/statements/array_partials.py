"""The declared partial derivatives of operations on arrays, as expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import OPERATORS, SMALL, partials_of
from mooncake_py.compiler.derivatives.partials import called, partials
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Op, parts_of
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.reductions import is_reduction
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import AtOnce

__all__ = ["declared", "evaluated_at_once", "is_conjugate", "is_int", "partials_on_arrays"]


def is_int(e: Expr) -> bool:
    """Return True for a conversion to an int, which has no derivative."""
    return isinstance(e, Op) and e.op == "int"


def is_conjugate(e: Expr) -> bool:
    """Return True for a conjugate, whose derivative is that of this package."""
    if not isinstance(e, Call) or e.function is not np.conjugate:
        return False
    rule = registry.find(np.conjugate)
    return rule is not None and rule.built_in


def declared(e: Expr) -> tuple[Any, ...] | None:
    """Return the declared partial derivatives of an elementwise function, or None."""
    if not isinstance(e, Call) or is_contraction(e) or is_sum(e) or is_reduction(e):
        return None
    return partials_of(e.function, len(e.args))


def as_operator(e: Call) -> Op | None:
    """Return the operator whose derivatives a call of a function has, applied to the same."""
    if e.function is np.power and isinstance(e.args[1], Const):
        n = e.args[1].value
        return Op("pow", e.args) if type(n) is int and n in SMALL else None
    op = OPERATORS.get(e.function)
    return None if op is None else Op(op, e.args)


def as_power(e: Op) -> Call | None:
    """Return the function whose derivatives on arrays a power has that is not a small one."""
    if e.op != "pow" or (isinstance(e.args[1], Const) and e.args[1].value in SMALL):
        return None
    return Call(np.power, e.args)


def partials_on_arrays(
    e: Expr,
    y: Expr,
    at_once: Callable[[AtOnce, int, list[Expr]], Expr],
    call: Callable[[Any, list[Expr]], Expr] = called,
) -> list[tuple[Expr, Expr | None]]:
    """Return the operands of an operation with its partial derivatives; None for zero.

    Parameters
    ----------
    e, y : Expr
        An elementwise operation, and its value.
    at_once : callable
        What stands for a partial derivative that is kept in place of operands: given it, the
        number of its operand, and the operands.
    call : callable
        What stands for a function of operands and value.
    """
    if isinstance(e, Call):
        e = as_operator(e) or e
    if isinstance(e, Op):
        power = as_power(e)
        if power is None:
            return [] if is_int(e) else partials(e, y)
        e = power
    found = declared(e)
    assert found is not None
    args = list(parts_of(e))

    def partial(k: int, p: Any) -> Expr | None:
        if type(p) is AtOnce:
            return at_once(p, k, args)
        return call(p, [*args, y]) if callable(p) else p if p is None else Const(float(p))

    return [(a, partial(k, p)) for k, (a, p) in enumerate(zip(args, found, strict=True))]


def evaluated_at_once(p: AtOnce, k: int, args: list[Expr]) -> Expr:
    """Return the value of a partial derivative that does not read the result."""
    return Call(p.partial, (*args, Const(None)))
