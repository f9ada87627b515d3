"""The tangent of an expression: from operands and their tangents to that of the value.

v0 * np.sin(v1)      d0 * np.sin(v1) + v0 * (d1 * np.cos(v1))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooncake_py.compiler.cotangents import atom
from mooncake_py.compiler.ir import Const, Expr, Let, Name, parts_of, rebuilt
from mooncake_py.compiler.partials import called
from mooncake_py.compiler.simplify import added
from mooncake_py.compiler.statements.array_adjoint import along, quotient_first
from mooncake_py.compiler.statements.array_partials import (
    evaluated_at_once,
    is_int,
    partials_on_arrays,
)
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.steps import Steps
from mooncake_py.compiler.trace import Untraceable, trace

__all__ = ["tangent_of"]


def tangent_of(core: Core, moving: frozenset[int], steps: Steps) -> Expr | None:
    """Return the tangent of the value of a statement, None where it is zero.

    Parameters
    ----------
    core : Core
    moving : frozenset of int
        The operands that have a tangent; that of operand k is called ``d{k}``.
    steps : Steps
        Takes what is computed; it may read the results of the operations.
    """
    tangents: dict[str, Expr | None] = {f"v{k}": Name(f"d{k}") for k in moving}

    def of_operand(e: Expr) -> Expr | None:
        return tangents.get(e.name) if isinstance(e, Name) else None

    for let in core.lets:
        found = of_operation(let, of_operand)
        tangents[let.name] = None if found is None else atom(steps, found)
    return of_operand(core.root)


def of_operation(let: Let, of_operand: Callable[[Expr], Expr | None]) -> Expr | None:
    """Return the tangent of the result of one operation."""
    e = let.value
    parts = parts_of(e)
    moving = [of_operand(part) for part in parts]
    if is_int(e) or all(t is None for t in moving):
        return None
    if is_sum(e) or is_contraction(e):
        total: Expr = Const(0.0)
        for k, t in enumerate(moving):
            if t is not None:
                total = added(total, along(lambda t, k=k: with_part(e, k, t), t))
        return total
    total = Const(0.0)
    pairs = partials_on_arrays(e, Name(let.name), evaluated_at_once, traced)
    for a, p in pairs:
        t = of_operand(a)
        if t is not None and p is not None:
            total = added(total, quotient_first(t, p))
    return None if total == Const(0.0) else total


def with_part(e: Expr, k: int, t: Expr) -> Expr:
    """Return an operation with another operand."""
    parts = parts_of(e)
    return rebuilt(e, (*parts[:k], t, *parts[k + 1 :]))


def traced(partial: Any, args: list[Expr]) -> Expr:
    """Return a partial derivative in operations that have derivatives of their own, or its call."""
    try:
        return trace(partial, args, of_arrays=True)
    except Untraceable:
        return called(partial, args)
