"""Quick ways to call functions that choose among numbers, or make arrays and sums of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules import registry
from mooncake_py.rules.creation import convert
from mooncake_py.runtime.active import REAL_SCALARS, Active
from mooncake_py.runtime.sites import DECLINED, MOST
from mooncake_py.runtime.values import FLOAT64

__all__ = ["OF_LANGUAGE", "PLAIN", "serve_array", "serve_sum", "served_by"]

Serve = Callable[..., Any]
PLAIN = REAL_SCALARS | {int, bool}
DEEP = 4
OF_LANGUAGE = sum, min, max
"""Functions that have no rules, but are part of the language."""
FEW = 1000.0


def served_by(f: Any) -> dict[Any, Serve]:
    """Return the handlers of one of these functions, by the number of arguments."""
    if f is min or f is max:
        return {1: choosing_of(f), 2: choosing(f), **dict.fromkeys(range(3, MOST + 1), among(f))}
    return dict(SERVED.get(f, {}))


# Choices: one of the arguments, which keeps its derivative.


def choosing(f: Any) -> Serve:
    """Return the handler of `min` or `max` of two numbers."""
    least = f is min

    def serve(C: Any, a: Any, b: Any) -> Any:
        p = a
        while type(p) is Active:  # at any level
            p = p.primal
        q = b
        while type(q) is Active:
            q = q.primal
        if type(p) not in PLAIN or type(q) not in PLAIN:
            return DECLINED
        return b if (q < p if least else q > p) else a

    return serve


def among(f: Any) -> Serve:
    """Return the handler of `min` or `max` of several numbers."""

    def serve(C: Any, *items: Any) -> Any:
        values = []
        for v in items:
            while type(v) is Active:
                v = v.primal
            if type(v) not in PLAIN:
                return DECLINED
            values.append(v)
        return items[f(range(len(values)), key=values.__getitem__)]

    return serve


def choosing_of(f: Any) -> Serve:
    """Return the handler of `min` or `max` of a list or tuple of numbers."""
    choose = among(f)

    def serve(C: Any, items: Any) -> Any:
        if (type(items) is not list and type(items) is not tuple) or not items:
            return DECLINED
        return choose(C, *items)

    return serve


# Numbers that become sums and arrays.


def collected(C: Any, items: Any, primals: list[Any], nodes: list[Any], depth: int) -> bool:
    """Collect nested sequences of numbers, and these with None for constants; tell if it can."""
    for v in items:
        t = type(v)
        if t is Active:
            if v.context is not C or type(v.primal) not in REAL_SCALARS:
                return False
            primals.append(v.primal)
            nodes.append(v)
        elif t in PLAIN:
            primals.append(v)
            nodes.append(None)
        elif depth and (t is list or t is tuple):
            inner: list[Any] = []
            if not collected(C, v, inner, nodes, depth - 1):
                return False
            primals.append(inner)
        else:
            return False
    return True


def serve_sum(C: Any, items: Any, start: Any = 0) -> Any:
    """Compute `sum` of a list or tuple of numbers."""
    if type(items) is not list and type(items) is not tuple:
        return DECLINED
    primals: list[Any] = []
    nodes: list[Any] = []
    if not collected(C, (start, *items), primals, nodes, 0):
        return DECLINED
    y = sum(primals[1:], primals[0])
    nodes = [node for node in nodes if node is not None]
    if not nodes:
        return y
    return C.record_sum(y, nodes) if type(y) in REAL_SCALARS else DECLINED


def serve_array(C: Any, items: Any, dtype: Any = None) -> Any:
    """Compute `np.array` of nested lists and tuples of numbers."""
    if dtype is not None and dtype is not float and dtype is not np.float64:
        return DECLINED
    primals: list[Any] = []
    nodes: list[Any] = []
    if type(items) is Active:
        if not collected(C, (items,), primals, nodes, 0):
            return DECLINED
        return C.record_array(np.array(*primals), nodes)
    if type(items) is not list and type(items) is not tuple:
        return DECLINED
    if not collected(C, items, primals, nodes, DEEP):
        return DECLINED
    try:
        y = np.array(primals, dtype)
    except ValueError:  # of lists of several lengths
        return DECLINED
    if nodes.count(None) == len(nodes):
        return DECLINED if y.dtype.hasobject else y
    return C.record_array(y, nodes) if y.dtype is FLOAT64 and y.size == len(nodes) else DECLINED


def serve_named_array(C: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute the same with a dtype by name."""
    if len(args) != 1 or len(kwargs) != 1 or "dtype" not in kwargs:
        return DECLINED
    return serve_array(C, *args, **kwargs)


def serve_copy(C: Any, items: Any) -> Any:
    """Compute `np.array` of one argument, also of an array."""
    if type(items) is not ndarray:
        return serve_array(C, items)
    if items.dtype is not FLOAT64:
        return DECLINED
    y = np.array(items)
    node = C.find(items)
    if node is None:
        return y
    return C.record_linear(registry.find(convert), convert, y, node, (items,), {})


def serve_where(C: Any, condition: Any, x: Any, y: Any) -> Any:
    """Compute `np.where` of numbers, which makes an array without axes of one of them."""
    if type(condition) is not bool and type(condition) is not np.bool_:
        return DECLINED
    for v in (x, y):
        if type(v) is Active:
            if v.context is not C or type(v.primal) not in REAL_SCALARS:
                return DECLINED
        elif type(v) not in REAL_SCALARS:
            return DECLINED
    chosen = x if condition else y
    if type(x) is not Active and type(y) is not Active:
        return np.array(chosen)
    is_active = type(chosen) is Active
    made = np.array(chosen.primal if is_active else chosen)
    return C.record_array(made, [chosen if is_active else None])


# Numbers without a derivative, and of another type.


def serve_rounding(C: Any, x: Any, digits: Any = None) -> Any:
    """Compute `round` of a number."""
    if type(x) is Active and type(digits) in (int, type(None)):
        x = x.primal
        if type(x) in REAL_SCALARS and -FEW < x < FEW:
            return round(x, digits)
    return DECLINED


SERVED: dict[Any, dict[Any, Serve]] = {
    sum: {1: serve_sum, 2: serve_sum},
    np.array: {1: serve_copy, 2: serve_array, "named": serve_named_array},
    np.asarray: {1: serve_array, 2: serve_array, "named": serve_named_array},
    np.where: {3: serve_where},
    round: {1: serve_rounding, 2: serve_rounding},
}
