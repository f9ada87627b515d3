"""Reverse mode: operators on numbers and arrays.

The four arithmetic operators have fast paths for floats, whose slopes are known in the forward
pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.modes.reverse.recorder import Recorder
from mooncake_py.rules.kinds import ElementwiseRule
from mooncake_py.runtime import drops, pulls
from mooncake_py.runtime.active import REAL_SCALARS, Active, active_number, primal_of
from mooncake_py.runtime.operators import BINARY, BinaryOperator

__all__ = ["Arithmetic"]

_ADD, _SUB, _MUL, _DIV = BINARY["add"], BINARY["sub"], BINARY["mul"], BINARY["truediv"]
_SQUARE = BinaryOperator("mul", np.square, "*")  # of an array by itself
_MATMUL = BINARY["matmul"]
_FLOORDIV = BINARY["floordiv"]
FACTORS = REAL_SCALARS | {int, bool, np.int64, np.bool_}
"""Types of constants that arithmetic makes floats of, with those."""
_scalar_one, _scalar_two = pulls.pull_scalar_one, pulls.pull_scalar_two
_quotient = pulls.pull_quotient


def _sum(op: BinaryOperator, slope: float) -> Callable[[Any, Any, Any], Any]:
    """Return what runs ``a + b`` or ``a - b``; `slope` is the partial with respect to b."""
    compute = op.function

    def run(self: Arithmetic, a: Any, b: Any) -> Any:
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                y = compute(a.primal, b.primal)
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_scalar_two, y, a, 1.0, b, slope))
                    return y
            elif tb in FACTORS:
                y = compute(a.primal, b)
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_scalar_one, y, a, 1.0))
                    return y
        elif tb is Active and ta in FACTORS:
            y = compute(a, b.primal)
            if type(y) in REAL_SCALARS:
                y = active_number(y, self)
                self.record((_scalar_one, y, b, slope))
                return y
        elif ta in FACTORS and tb in FACTORS:
            return compute(a, b)
        return self.binary(op, a, b)

    return run


class Arithmetic(Recorder):
    """Operators that return a new value."""

    # The four operators of arithmetic, quick for floats.

    add = _sum(_ADD, 1.0)
    sub = _sum(_SUB, -1.0)

    def mul(self, a: Any, b: Any) -> Any:
        """Run ``a * b``."""
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                p, q = a.primal, b.primal
                y = p * q
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_scalar_two, y, a, q, b, p))
                    return y
            elif tb in FACTORS:
                y = a.primal * b
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_scalar_one, y, a, b))
                    return y
        elif tb is Active and ta in FACTORS:
            y = a * b.primal
            if type(y) in REAL_SCALARS:
                y = active_number(y, self)
                self.record((_scalar_one, y, b, a))
                return y
        elif ta in FACTORS and tb in FACTORS:
            return a * b
        return self.binary(_MUL, a, b)

    def truediv(self, a: Any, b: Any) -> Any:
        """Run ``a / b``."""
        ta, tb = type(a), type(b)
        if ta is Active:
            if tb is Active:
                y = a.primal / b.primal
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_quotient, y, a, b, b.primal))
                    return y
            elif tb in FACTORS:
                y = a.primal / b
                if type(y) in REAL_SCALARS:
                    y = active_number(y, self)
                    self.record((_quotient, y, a, None, b))
                    return y
        elif tb is Active and ta in FACTORS:
            y = a / b.primal
            if type(y) in REAL_SCALARS:
                y = active_number(y, self)
                self.record((_quotient, y, None, b, b.primal))
                return y
        elif ta in FACTORS and tb in FACTORS:
            return a / b
        return self.binary(_DIV, a, b)

    # Operators in general.

    def array_operator(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run an operator of which an operand is an array, the other one or a number."""
        na = nb = None
        if type(a) is ndarray:
            na = self.known.get(id(a))
            if na is None or na.ref() is not a:
                na = None if a.base is None else self.find(a)
        elif type(a) is Active:
            na, a = a, a.primal
        if type(b) is ndarray:
            nb = self.known.get(id(b))
            if nb is None or nb.ref() is not b:
                nb = None if b.base is None else self.find(b)
        elif type(b) is Active:
            nb, b = b, b.primal
        if na is None and nb is None:
            return drops.computed(self, op.function, (a, b), op.function(a, b))
        if op is _MUL and a is b:
            # Two products at a time would take twice the memory, and the time.
            return self.record_one(_SQUARE.array_rule, a * a, a, na)
        if op is _MATMUL:
            y = op.function(a, b)
            if type(a) is ndarray and type(b) is ndarray:
                return self.record_product(op.array_rule, op.function, y, a, b, na, nb)
            return self.record_bilinear(op.array_rule, y, a, b, (na, nb), (), {})
        if type(op.array_rule) is not ElementwiseRule:
            y = op.function(a, b)  # piecewise constant
            return drops.quotient(self, y, a, b) if op is _FLOORDIV else y
        return self.record_two(op.array_rule, op.function(a, b), a, b, na, nb)

    def unary_array(self, function: Any, ufunc: np.ufunc, a: ndarray) -> Any:
        """Run a unary operator on an array."""
        if self.find(a) is None:
            return drops.computed(self, function, (a,), function(a))
        return self.call_one(ufunc, a)

    def scalar_operation(
        self, rule: Any, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        """Run a function of numbers of which at least one is active."""
        y = function(*map(primal_of, args))
        if rule is None:
            return drops.quotient(self, y, *args) if function is _FLOORDIV.function else y
        nodes = tuple(a if type(a) is Active else None for a in args)
        return self.record_elementwise(rule, y, tuple(map(primal_of, args)), nodes)
