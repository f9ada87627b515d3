"""Evaluation of int expressions before their region runs."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import Const, Expr, For, Length, Name, Op

__all__ = ["evaluated", "passes"]

FUNCTIONS: dict[str, Any] = {
    "range": range, "int": int, "abs": abs, "float": float, "round": round,
    "backwards": lambda steps: steps[::-1],
    "item": lambda number: number.item() if isinstance(number, np.generic) else number,
}  # fmt: skip


def evaluated(e: Expr, scope: Mapping[str, Any]) -> Any:
    """Return the value of ints, lengths, arithmetic on them and ranges; others raise LookupError.

    Parameters
    ----------
    scope : mapping
        Numbers and arrays by name.
    """
    match e:
        case Const(value=value):
            return value
        case Name(name=name):
            return scope[name]
        case Length(array=array, axis=axis):
            found = scope[array]  # a list has a length too
            return len(found) if axis == 0 else found.shape[axis]
        case Op(op=op, args=args):
            f = FUNCTIONS.get(op) or getattr(operator, op, None)
            if f is None:
                raise LookupError(e)
            return f(*[evaluated(a, scope) for a in args])
    raise LookupError(e)


def passes(loop: For, found: range, scope: dict[str, Any]) -> int:
    """Estimate how often the innermost loop runs, from the middle of each range.

    `scope` has the values of names, and is written.
    """
    if not found:
        return 0
    scope[loop.name] = found[len(found) // 2]
    each = 1
    for s in loop.body:
        if isinstance(s, For):
            with suppress(Exception):  # where it depends on what is computed within
                each += passes(s, evaluated(s.range, scope), scope)
    return len(found) * each
