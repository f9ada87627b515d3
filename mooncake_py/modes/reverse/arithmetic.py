"""Reverse mode: operators on numbers and arrays.

The four arithmetic operators have fast paths for floats, whose slopes are known in the forward
pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.printing.text import define
from mooncake_py.modes.reverse.recorder import Recorder
from mooncake_py.rules.kinds import ElementwiseRule
from mooncake_py.runtime import drops, pulls
from mooncake_py.runtime.active import REAL_SCALARS, Active, primal_of
from mooncake_py.runtime.operators import BINARY, BinaryOperator

__all__ = ["Arithmetic"]

_ADD, _SUB, _MUL, _DIV = BINARY["add"], BINARY["sub"], BINARY["mul"], BINARY["truediv"]
_SQUARE = BinaryOperator("mul", np.square, "*")  # of an array by itself
_MATMUL = BINARY["matmul"]
_FLOORDIV = BINARY["floordiv"]
FACTORS = REAL_SCALARS | {int, bool, np.int64, np.bool_}
"""Types of constants that arithmetic makes floats of, with those."""

_OPERATOR = """
def run(self, a, b):
    ta, tb = type(a), type(b)
    if ta is Active:
        if tb is Active:
            p, q = a.primal, b.primal
            v = p {symbol} q
            if type(v) in REAL_SCALARS:
                y = Active()
                y.primal = v
                y.grad = 0.0
                y.context = self
                self.record(({both}))
                return y
            return self.recorded(op, v, a, b)
        elif tb in FACTORS:
            v = a.primal {symbol} b
            if type(v) in REAL_SCALARS:
                y = Active()
                y.primal = v
                y.grad = 0.0
                y.context = self
                self.record(({first}))
                return y
            return self.recorded(op, v, a, b)
    elif tb is Active and ta in FACTORS:
        q = b.primal
        v = a {symbol} q
        if type(v) in REAL_SCALARS:
            y = Active()
            y.primal = v
            y.grad = 0.0
            y.context = self
            self.record(({second}))
            return y
        return self.recorded(op, v, a, b)
    elif ta in FACTORS and tb in FACTORS:
        return a {symbol} b
    return self.binary(op, a, b)
"""
"""An operator, with `active_number` written out: one of the commonest calls."""


def _operator(
    op: BinaryOperator, both: str, first: str, second: str
) -> Callable[[Any, Any, Any], Any]:
    """Return a function that runs an operator, with the entries for the active operands."""
    scope = {
        "Active": Active, "FACTORS": FACTORS, "REAL_SCALARS": REAL_SCALARS, "op": op,
        "scalar_one": pulls.pull_scalar_one, "scalar_two": pulls.pull_scalar_two,
        "quotient": pulls.pull_quotient, "added": pulls.pull_added,
    }  # fmt: skip
    text = _OPERATOR.format(symbol=op.symbol, both=both, first=first, second=second)
    return define(text, scope)["run"]


class Arithmetic(Recorder):
    """Operators that return a new value."""

    # The four operators of arithmetic, quick for floats.

    add = _operator(_ADD, "added, y, a, b", "scalar_one, y, a, 1.0", "scalar_one, y, b, 1.0")
    sub = _operator(
        _SUB, "scalar_two, y, a, 1.0, b, -1.0", "scalar_one, y, a, 1.0", "scalar_one, y, b, -1.0"
    )
    mul = _operator(_MUL, "scalar_two, y, a, q, b, p", "scalar_one, y, a, b", "scalar_one, y, b, a")
    truediv = _operator(
        _DIV, "quotient, y, a, b, q", "quotient, y, a, None, b", "quotient, y, None, b, q"
    )

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
        return self.record_numbers(rule, y, args)

    def recorded(self, op: BinaryOperator, y: Any, a: Any, b: Any) -> Any:
        """Return the result of an operator of numbers, if it is not a float."""
        return self.record_numbers(op.scalar_rule, y, (a, b))

    def record_numbers(self, rule: Any, y: Any, args: tuple[Any, ...]) -> Any:
        """Record a function of numbers of which at least one is active, by its output."""
        nodes = tuple(a if type(a) is Active else None for a in args)
        return self.record_elementwise(rule, y, tuple(map(primal_of, args)), nodes)
