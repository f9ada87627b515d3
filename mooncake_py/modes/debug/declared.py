"""Checks of declared rules: shapes, dtypes and numbers of partials and cotangents."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.own_pullbacks import Checked
from mooncake_py.modes.debug.broken import broken
from mooncake_py.modes.debug.outside import leaving_outside
from mooncake_py.modes.debug.summaries import summary
from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.rules.kinds import (
    AtOnce,
    BilinearRule,
    ElementwiseRule,
    Like,
    LinearRule,
    NotImplementedDerivative,
    Rule,
    VjpRule,
)
from mooncake_py.runtime.rule_pulls import THUNKS
from mooncake_py.runtime.values import is_of_math

__all__ = ["checked_bilinear", "checked_elementwise", "checked_linear", "checked_vjp"]

NUMERIC = "fciub"


# Elementwise.


def checked_elementwise(rule: ElementwiseRule) -> ElementwiseRule:
    """Return the rule with partials that check their results."""
    partials = tuple(checked_partial(rule, i, p) for i, p in enumerate(rule.partials))
    new = ElementwiseRule(rule.functions, rule.origin, partials)
    new._reads = rule.reads
    return new


def checked_partial(rule: Rule, position: int, partial: Any) -> Any:
    """Return a partial derivative that checks its result, if it is a function."""
    if not callable(partial) or isinstance(partial, NotImplementedDerivative):
        return partial
    compact = type(partial) is AtOnce  # made to be kept: masks, in few bytes
    compute: Any = partial.partial if isinstance(partial, AtOnce) else partial

    @functools.wraps(compute)
    def run(*args: Any) -> Any:
        with leaving_outside(rule):
            p = compute(*args)
        for part in (p.dz, p.dzbar) if type(p) is Wirtinger else (p,):
            check_partial(rule, position, part, args, compact)
        return p

    return AtOnce(run) if compact else run


def check_partial(rule: Rule, position: int, p: Any, args: tuple[Any, ...], compact: bool) -> None:
    """Raise if a partial derivative does not fit the operands that it was computed from."""
    what = f"returned a partial derivative for argument {position} that does not fit"
    fix = "return an array of the shape and precision of the operands, or a number"
    operands = [a for a in args if a is not None]
    if not is_numeric(p):
        raise broken(rule, what, "a number or an array of numbers", summary(p), fix)
    if not operands:
        return
    shape = np.broadcast_shapes(*map(np.shape, operands))
    if not broadcasts(np.shape(p), shape):
        raise broken(rule, what, f"shape {shape}, or one that broadcasts to it", summary(p), fix)
    expected = 1 if compact else min(precision(a) for a in operands)
    if any(map(is_of_math, rule.functions)):
        expected = min(expected, precision(0.0))  # computed with Python's floats
    if precision(p) < expected and not is_exact(p):
        raise broken(rule, what, f"{expected} bytes for each real number", summary(p), fix)


# Linear, bilinear, by output and pullback.


class CheckedAdjoint:
    """An adjoint of a linear map that checks the cotangents it returns.

    Parameters
    ----------
    rule : Rule
    adjoint : callable
        ``adjoint(dy, *args, **kwargs)``.
    wrt : tuple of int
        The arguments whose cotangents it returns.
    """

    def __init__(self, rule: Rule, adjoint: Callable[..., Any], wrt: tuple[int, ...]) -> None:
        self.rule = rule
        self.adjoint = adjoint
        self.wrt = wrt
        self.__code__ = getattr(adjoint, "__code__", None)  # with the names of the parameters
        self.__defaults__ = getattr(adjoint, "__defaults__", None)

    def __call__(self, dy: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the adjoint."""
        with leaving_outside(self.rule):
            result = self.adjoint(dy, *args, **kwargs)
        wrt = [i for i in self.wrt if i < len(args)]
        is_one = len(wrt) == 1 and type(result) is not tuple
        parts = (result,) if is_one else result
        check_count(self.rule, parts, len(wrt), len(self.wrt))
        checked = tuple(
            checked_cotangent(self.rule, i, c, args[i], dy)
            for i, c in zip(wrt, parts, strict=False)
        )
        return checked[0] if is_one else checked


def checked_linear(rule: LinearRule) -> LinearRule:
    """Return the rule with an adjoint that checks its result."""
    adjoint = CheckedAdjoint(rule, rule.adjoint, rule.wrt)
    return LinearRule(rule.functions, rule.origin, adjoint, rule.wrt, rule.stepwise)


def checked_bilinear(rule: BilinearRule) -> BilinearRule:
    """Return the rule with adjoints that check their results."""

    def one(position: int, adjoint: Any) -> Any:
        if isinstance(adjoint, NotImplementedDerivative):
            return adjoint
        return CheckedAdjoint(rule, adjoint, (position,))

    left, right = rule.adjoints
    return BilinearRule(rule.functions, rule.origin, (one(0, left), one(1, right)))


def checked_vjp(rule: VjpRule) -> VjpRule:
    """Return the rule with checks of its results and those of its pullback."""
    code = getattr(inspect.unwrap(rule.rule), "__code__", None)
    positional = 0 if code is None else code.co_argcount

    @functools.wraps(rule.rule)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = rule.rule(*args, **kwargs)
        if type(result) is not tuple or len(result) != 2 or not callable(result[1]):
            raise broken(
                rule,
                "did not return an output and a pullback",
                "a tuple (output, pullback)",
                summary(result),
                "return the output, and a function of its cotangent",
            )
        y, pullback = result

        def checked_pullback(dy: Any) -> Any:
            with leaving_outside(rule):
                found = pullback(dy)
            is_one = type(found) is not tuple and (
                type(found) is not list or isinstance(args[0], (list, tuple))
            )
            parts = (found,) if is_one else found
            check_count(rule, parts, 1, max(len(args), positional))
            return tuple(
                checked_cotangent(rule, i, c, a, dy)
                for i, (c, a) in enumerate(zip(parts, args, strict=False))
            )

        return y, Checked(pullback, checked_pullback)

    return VjpRule(rule.functions, rule.origin, run, rule.permits)


def check_count(rule: Rule, parts: Any, least: int, most: int) -> None:
    """Raise if there is not one cotangent for each argument, in a tuple."""
    what = "returned the wrong number of cotangents"
    fix = "return a tuple with one cotangent for each argument, None for zero"
    count = f"{most}" if least == most else f"{least} to {most}"
    if type(parts) is not tuple:
        raise broken(
            rule, "returned no tuple of cotangents", f"a tuple of {count}", summary(parts), fix
        )
    if not least <= len(parts) <= most:
        raise broken(rule, what, count, len(parts), fix)


def checked_cotangent(rule: Rule, position: int, c: Any, primal: Any, dy: Any) -> Any:
    """Return a cotangent after a check; one that is computed on demand is checked then."""
    if c is None or isinstance(c, NotImplementedDerivative):
        return c
    if type(c) in THUNKS or (callable(c) and is_numeric(primal)):

        def checked_on_demand() -> Any:
            with leaving_outside(rule):
                found = c()
            return checked_cotangent(rule, position, found, primal, dy)

        return checked_on_demand
    if isinstance(primal, (list, tuple)) and isinstance(c, (list, tuple)):
        if len(c) != len(primal):
            raise broken(
                rule,
                f"returned the wrong number of cotangents for the parts of argument {position}",
                len(primal),
                len(c),
                "return one for each part, None for zero",
            )
        return [
            checked_cotangent(rule, position, part, p, dy)
            for part, p in zip(c, primal, strict=True)
        ]
    if is_numeric(primal) or isinstance(primal, Like):  # the engine looks at those of objects
        check_cotangent(rule, position, c, primal, dy)
    return c


def check_cotangent(rule: Rule, position: int, c: Any, primal: Any, dy: Any) -> None:
    """Raise if a cotangent does not fit its argument."""
    what = f"returned a cotangent for argument {position} that does not fit"
    fix = "return an array of the argument's shape and precision"
    if rule.built_in and isinstance(c, ndarray) and c.dtype.kind == "O":
        return  # numbers of a class of the program, such as fractions, which become floats
    if not is_numeric(c):
        raise broken(rule, what, "a number or an array of numbers", summary(c), fix)
    shape = primal.shape if isinstance(primal, Like) else np.shape(primal)
    small = np.size(c) == 1 == int(np.prod(shape))
    if not small and not broadcasts(shape, np.shape(c)):
        raise broken(rule, what, f"shape {shape}, or one that it broadcasts to", summary(c), fix)
    expected = min(precision(primal), *(precision(d) for d in (dy if type(dy) is tuple else (dy,))))
    if precision(c) < expected:
        raise broken(rule, what, f"{expected} bytes for each real number", summary(c), fix)


def is_numeric(value: Any) -> bool:
    """Return whether a value is a number or an array of numbers."""
    if isinstance(value, (ndarray, np.generic)):
        return value.dtype.kind in NUMERIC
    return isinstance(value, (float, int, complex))


def broadcasts(shape: tuple[int, ...], full: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another one."""
    try:
        return np.broadcast_shapes(shape, full) == full
    except ValueError:
        return False


def is_exact(value: Any) -> bool:
    """Return whether a value holds integers or booleans, which are exact in any precision."""
    dtype = getattr(value, "dtype", None)
    return type(value) in (int, bool) if dtype is None else dtype.kind in "biu"


def precision(value: Any) -> int:
    """Return the bytes of a real number of an inexact array or scalar; 8 for all others."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return 8
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)
