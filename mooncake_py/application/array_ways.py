"""Quick ways to call functions that are linear in arrays, and the extrema of arrays.

Arrays of float64 only; what else is given must be inert, such as the number of an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.apply import without_derivative
from mooncake_py.application.out_argument import WITHOUT_KEYWORDS, out_position
from mooncake_py.diagnostics.warned import may_be_caught
from mooncake_py.rules.kinds import BilinearRule, LinearRule, Rule, ZeroDerivativeRule
from mooncake_py.runtime import drops
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.sites import DECLINED, MOST
from mooncake_py.runtime.values import FLOAT64

__all__ = ["PLACES", "served_by"]

Serve = Callable[..., Any]
PLACES = frozenset({
    "axes", "axis", "axis1", "axis2", "copy", "destination", "dtype", "indices", "k", "keepdims",
    "n", "newshape", "offset", "order", "repeats", "reps", "shape", "shift", "source", "subok",
})  # fmt: skip
"""Names of parameters that say where numbers go, or how they are stored."""

SUMS = frozenset({np.sum, ndarray.sum})
MEANS = frozenset({np.mean, ndarray.mean})
EXTREMA: dict[Any, np.ufunc] = {
    **dict.fromkeys((np.max, np.amax, ndarray.max), np.maximum),
    **dict.fromkeys((np.min, np.amin, ndarray.min), np.minimum),
}


def served_by(rule: Rule, f: Any) -> dict[int | str, Serve]:
    """Return the handlers of a function with a rule of ours, by the number of arguments."""
    if isinstance(rule, LinearRule) and rule.wrt[0] == 0 and f not in WITHOUT_KEYWORDS:
        serve = linear(rule, f)
        serving: dict[int | str, Serve] = dict.fromkeys((*range(1, MOST + 1), "named"), serve)
        if f in SUMS or f in MEANS:
            serving[1] = total(rule, f)
        return serving
    if isinstance(rule, BilinearRule):
        return {2: product(rule, f)}
    if isinstance(rule, ZeroDerivativeRule):
        return dict.fromkeys((*range(1, MOST + 1), "named"), zero(f))
    return {1: extremum(rule, EXTREMA[f])} if f in EXTREMA else {}


def linear(rule: LinearRule, f: Any) -> Serve:
    """Return the handler of a function of one array, with inert arguments."""
    position = out_position(f)
    most = MOST if position is None else position - 1
    adds: dict[Any, bool] = {}

    def serve(C: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
        if type(a) is not ndarray or a.dtype is not FLOAT64:
            return DECLINED
        args = (a, *rest)
        if rest or kwargs:
            if len(rest) > most or C.numerals is not None or "out" in kwargs:
                return DECLINED
            if not INERT.issuperset(map(type, rest)):
                return DECLINED
            if kwargs and not INERT.issuperset(map(type, kwargs.values())):
                return DECLINED
            if C.is_linear_only:
                key = (len(rest), *kwargs)
                nothing = adds.get(key)
                if nothing is None:
                    nothing = adds[key] = adds_nothing(rule.adjoint, len(args), kwargs)
                if not nothing:
                    return DECLINED
        try:
            y = f(*args, **kwargs)
        except (TypeError, ValueError):  # raised again, in the general way
            return DECLINED
        node = C.find(a)
        if node is None:
            return drops.constant(C, f, args, y)
        return C.record_linear(rule, f, y, node, args, kwargs)

    return serve


def adds_nothing(adjoint: Any, count: int, kwargs: Any) -> bool:
    """Return True if arguments but the first say where numbers go, and none is added."""
    if count > 1:
        code = getattr(adjoint, "__code__", None)
        if code is None or code.co_argcount <= count:
            return False
        if not PLACES.issuperset(code.co_varnames[2 : count + 1]):
            return False
    return not kwargs or PLACES.issuperset(kwargs)


def zero(f: Any) -> Serve:
    """Return the handler of a function without a derivative, of numbers, arrays and shapes."""
    position = out_position(f)
    most = MOST if position is None else position

    def serve(C: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > most or (
            kwargs and ("out" in kwargs or not INERT.issuperset(map(type, kwargs.values())))
        ):
            return DECLINED
        primals = []
        for a in args:
            t = type(a)
            if t is Active:
                while type(a) is Active:  # at any level
                    a = a.primal
            elif t is ndarray:
                if a.dtype.hasobject:
                    return DECLINED
            elif t not in INERT and not (t is tuple and INERT.issuperset(map(type, a))):
                return DECLINED
            primals.append(a)
        try:
            y = f(*primals, **kwargs)
        except (TypeError, ValueError):  # raised again, in the general way
            return DECLINED
        return without_derivative(C, f, y, args, kwargs)

    return serve


def total(rule: LinearRule, f: Any) -> Serve:
    """Return the handler of the sum or the mean of all elements.

    The ufunc that NumPy calls in the end gives the same bits, in a third of the time.
    """
    add, is_mean = np.add.reduce, f in MEANS

    def serve(C: Any, a: Any) -> Any:
        if type(a) is not ndarray or a.dtype is not FLOAT64 or not a.size:
            return DECLINED
        if may_be_caught():  # warnings name the lines of NumPy's own function
            return DECLINED
        y = add(a, axis=None)
        if is_mean:
            y = y / a.size
        node = C.find(a)
        return y if node is None else C.record_total(rule, f, y, a, node, a.size if is_mean else 1)

    return serve


def extremum(rule: Rule, choose: np.ufunc) -> Serve:
    """Return the handler of the largest or the smallest of all elements."""
    reduce = choose.reduce

    def serve(C: Any, a: Any) -> Any:
        if type(a) is not ndarray or a.dtype is not FLOAT64 or not a.size:
            return DECLINED
        y = reduce(a, axis=None)
        node = C.find(a)
        return y if node is None else C.record_extremum(rule, y, a, node)

    return serve


def product(rule: BilinearRule, f: Any) -> Serve:
    """Return the handler of a product of two arrays."""

    def serve(C: Any, a: Any, b: Any) -> Any:
        if type(a) is not ndarray or type(b) is not ndarray:
            return DECLINED
        if a.dtype is not FLOAT64 or b.dtype is not FLOAT64:
            return DECLINED
        try:
            y = f(a, b)
        except (TypeError, ValueError):  # raised again, in the general way
            return DECLINED
        na, nb = C.find(a), C.find(b)
        return y if na is None and nb is None else C.record_product(rule, f, y, a, b, na, nb)

    return serve
