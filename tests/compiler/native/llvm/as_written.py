"""Have regions printed as they are written, so that they give the bits that interpreting gives.

Sums are added up in order, loops run in the order of their counters, and functions are those of the
C library on both sides; what is left out of the printer has tests of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py.compiler.native.llvm import calls, loops, powers
from mooncake_py.compiler.native.llvm.called import instead
from mooncake_py.compiler.native.llvm.numbers import constant
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Call, Op
from tests.support import interpreted
from tests.support.interpreter import Interpreter, Run

__all__ = ["print_as_written"]

whole_power = powers.whole_power


def print_as_written(patch: pytest.MonkeyPatch) -> None:
    """Have regions printed as they are written, and interpreted with the same functions."""
    patch.setattr(loops, "nested", lambda s, kind: (s,))
    patch.setattr(loops, "totals_of", lambda s, kind: ())
    patch.setattr(powers, "HALVES", frozenset())
    patch.setattr(powers, "whole_power", whole_power_of_c)
    patch.setitem(calls.OF_FLOATS, helpers.tanh, lambda to, x: to.writer.of_c("tanh", FLOAT, x))
    patch.setattr(interpreted, "Interpreter", OfC)


def whole_power_of_c(to: Any, kind: str, x: str, n: int) -> str:
    """Return a power of a float by the C library, of an int as ever."""
    if kind != FLOAT:
        return whole_power(to, kind, x, n)
    return to.writer.intrinsic("pow", kind, x, constant(float(n), kind))


class OfC(Interpreter):
    """Calls what compiled code does in the place of functions of NumPy."""

    def called(self, e: Call) -> Run:
        own = instead(e.function)
        if own is e.function or self.kind(e) != FLOAT:
            return super().called(e)
        if own in calls.OPERATORS:
            return self.operation(Op(calls.OPERATORS[own], e.args))
        return super().called(Call(own, e.args))
