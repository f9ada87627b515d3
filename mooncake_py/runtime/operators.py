"""Python's operators, with one object for each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule

__all__ = ["BINARY", "DIVMOD", "UNARY", "BinaryOperator"]


class BinaryOperator:
    """A binary operator: how to run it on values, and which rules differentiate it."""

    __slots__ = (
        "_array_rule", "_scalar_rule", "function", "inplace", "inplace_method", "inplace_symbol",
        "method", "name", "reflected", "symbol", "ufunc",
    )  # fmt: skip

    def __init__(self, name: str, ufunc: np.ufunc, symbol: str) -> None:
        stem = name.rstrip("_")
        self.name = name
        self.symbol = "** or pow()" if symbol == "**" else symbol  # as errors of Python call it
        self.inplace_symbol = f"{symbol}="
        self.function: Callable[[Any, Any], Any] = getattr(operator, name, divmod)
        self.inplace: Callable[[Any, Any], Any] = getattr(operator, f"i{stem}", divmod)
        self.ufunc = ufunc
        self.method = f"__{stem}__"
        self.reflected = f"__r{stem}__"
        self.inplace_method = f"__i{stem}__"
        self._array_rule: Any = None
        self._scalar_rule: Any = None

    @property
    def array_rule(self) -> Any:
        """Rule of the ufunc."""
        if self._array_rule is None:
            self._array_rule = registry.find(self.ufunc)
        return self._array_rule

    @property
    def scalar_rule(self) -> ElementwiseRule | None:
        """Rule of the operator on scalars, or None if it has no derivative."""
        if self._scalar_rule is None:
            rule = registry.find(self.function)
            self._scalar_rule = rule if isinstance(rule, ElementwiseRule) else None
        return self._scalar_rule


_UFUNCS = {
    "add": (np.add, "+"), "sub": (np.subtract, "-"), "mul": (np.multiply, "*"),
    "truediv": (np.true_divide, "/"), "floordiv": (np.floor_divide, "//"),
    "mod": (np.remainder, "%"), "pow": (np.power, "**"), "matmul": (np.matmul, "@"),
    "lshift": (np.left_shift, "<<"), "rshift": (np.right_shift, ">>"),
    "and_": (np.bitwise_and, "&"), "or_": (np.bitwise_or, "|"), "xor": (np.bitwise_xor, "^"),
}  # fmt: skip

BINARY = {name: BinaryOperator(name, *found) for name, found in _UFUNCS.items()}

DIVMOD = BinaryOperator("divmod", np.divmod, "divmod()")
"""Not written as an operator, and not in place, but with methods like one."""

UNARY = {
    "neg": (operator.neg, np.negative, "__neg__"),
    "pos": (operator.pos, np.positive, "__pos__"),
    "invert": (operator.invert, np.invert, "__invert__"),
}
