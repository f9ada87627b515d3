"""Sums, means and extrema along axes within statements: ``out[i] = np.sum(x * y, axis=(0, 1))``.

In a statement that has some, operands are arrays of any shapes, and each cotangent is fitted to
the shape of what it belongs to.  The adjoint of a sum or a mean reads the shape of what was
reduced, that of an extremum what was reduced and the extremum.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.compiler.regions.ir import Call, Const, Expr, Op, parts_of
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.rules.extrema import extremum_cotangent
from mooncake_py.rules.kinds import LinearRule

__all__ = [
    "ALL_AXES",
    "REDUCTIONS",
    "Along",
    "adjoint_of_reduction",
    "axes_of",
    "is_extremum",
    "is_reduction",
    "is_spread",
    "read_axes",
    "reduced",
    "tangent_by_ties",
]

EXTREMA = (np.max, np.min)
REDUCTIONS = (np.sum, np.mean, *EXTREMA)
"""Functions of an array and axes whose result is a new array."""


class Along(NamedTuple):
    """Along which axes is reduced; it is printed as the arguments of a call.

    Attributes
    ----------
    axis : int, tuple of int or None
    keepdims : bool
    is_named : bool
        Whether the axes are passed by name.
    """

    axis: int | tuple[int, ...] | None
    keepdims: bool
    is_named: bool = True

    @override
    def __repr__(self) -> str:
        axis = f"axis={self.axis}" if self.is_named else f"{self.axis}"
        return f"{axis}, keepdims=True" if self.keepdims else axis


ALL_AXES = Const(Along(None, False))  # type: ignore[arg-type]


def is_reduction(e: Expr) -> bool:
    """Return True for a sum, a mean or an extremum along axes."""
    return isinstance(e, Call) and isinstance(axes_of(e), Along)


def is_extremum(e: Expr) -> bool:
    """Return True for a maximum or a minimum along axes."""
    return is_reduction(e) and isinstance(e, Call) and any(e.function is f for f in EXTREMA)


def is_spread(e: Expr) -> bool:
    """Return True for the adjoint of a sum, if it is that of this package."""
    rule = registry.find(np.sum)
    if not (is_reduction(e) and isinstance(e, Call) and isinstance(rule, LinearRule)):
        return False
    return rule.built_in and e.function is first_of(rule.adjoint)


def axes_of(e: Expr) -> Any:
    """Return the last argument of a call, if it is a literal."""
    assert isinstance(e, Call)
    last = e.args[-1]
    return last.value if isinstance(last, Const) else None


def read_axes(node: ast.Call, args: list[ast.expr]) -> Along | None:
    """Return the axes that are written in a call of such a function, None if there are none.

    Parameters
    ----------
    node : ast.Call
    args : list of expr
        The positional arguments after the array.
    """
    given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
    is_named = "axis" in given
    if len(args) == 1:
        given.setdefault("axis", args[0])
    if not {"axis"} <= given.keys() <= {"axis", "keepdims"}:
        return None
    if len(given) != len(node.keywords) + len(args):
        return None
    try:
        axis, keepdims = (
            ast.literal_eval(given[name]) if name in given else False
            for name in ("axis", "keepdims")
        )
    except ValueError:
        return None
    axes = axis if type(axis) is tuple else (axis,)
    if type(keepdims) is not bool or not axes or any(type(k) is not int for k in axes):
        return None
    return Along(axis, keepdims, is_named)


def reduced(e: Expr, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of what an array of a given shape is reduced to.

    Raises
    ------
    ValueError
        If there is no such axis.
    """
    along = axes_of(e)
    return np.add.reduce(np.broadcast_to(0.0, shape), along.axis, keepdims=along.keepdims).shape


@lru_cache(maxsize=64)
def first_of(adjoint: Callable[..., Any]) -> Callable[..., Any]:
    """Return an adjoint that is for the first argument only."""

    def of_first(*args: Any, **kwargs: Any) -> Any:
        found = adjoint(*args, **kwargs)
        return found[0] if isinstance(found, tuple) else found

    return of_first


def adjoint_of_reduction(e: Expr) -> Callable[..., Any] | None:
    """Return the declared adjoint of a reduction, or None if it has none."""
    assert isinstance(e, Call)
    rule = registry.find(e.function)
    if is_extremum(e):
        return extremum_cotangent if rule is not None and rule.built_in else None
    return first_of(rule.adjoint) if isinstance(rule, LinearRule) and rule.wrt[0] == 0 else None


def tangent_by_ties(e: Expr, t: Expr) -> Expr:
    """Return the tangent of an extremum in operations that have their own derivatives.

    It is the mean of the tangents of what ties, which is not finite for an extremum that is nan.
    """
    assert isinstance(e, Call)
    array, axes = parts_of(e)
    peaks = Call(e.function, (array, Const(Along(axes_of(e).axis, True))))  # type: ignore[arg-type]
    tied = Op("eq", (array, peaks))
    total, number = [
        Call(np.sum, (Call(np.where, (tied, value, Const(0.0))), axes)) for value in (t, Const(1.0))
    ]
    return Op("truediv", (total, number))
