"""Methods of arrays within statements: ``((x - y) ** 2).sum(axis=0)``.

Where the value is an array, such a method is the function of the same name.  The general way calls
the method of whatever the value is.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, parts_of, rebuilt
from mooncake_py.compiler.statements.reductions import Along

__all__ = ["METHODS", "is_method", "of_array", "of_arrays"]

METHODS: dict[str, Any] = {
    "dot": np.dot,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "sum": np.sum,
}


def is_method(e: Expr) -> TypeGuard[Call]:
    """Return True for the call of a method."""
    return isinstance(e, Call) and type(e.function) is str


def of_arrays(e: Expr) -> Expr:
    """Return an expression with the functions of arrays in the place of methods."""
    parts = tuple(map(of_arrays, parts_of(e)))
    if is_method(e):
        return Call(METHODS[e.function], tuple(map(by_name, parts)), place=e.place)
    return rebuilt(e, parts) if parts else e


def of_array(let: Let) -> Let:
    """Return an operation with the function of arrays if it is the call of a method."""
    return Let(let.name, of_arrays(let.value), place=let.place) if is_method(let.value) else let


def by_name(e: Expr) -> Expr:
    """Return an argument; axes are passed by name."""
    if not (isinstance(e, Const) and isinstance(e.value, Along)):
        return e
    axes: Any = e.value._replace(is_named=True)
    return Const(axes)
