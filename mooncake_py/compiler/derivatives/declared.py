"""The declared derivatives of elementwise functions in code that is one entry."""

from __future__ import annotations

from inspect import CO_VARARGS
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from mooncake_py.remembered import remembered
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import AtOnce, ElementwiseRule, read_arguments

__all__ = ["OPERATORS", "SMALL", "partial_for_one", "partials_of"]

SERVED = (FunctionType, AtOnce, int, float, NoneType)
SMALL = range(2, 9)  # exponents

OPERATORS: dict[Any, str] = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv",
    np.negative: "neg", np.positive: "pos",
}  # fmt: skip
"""Ufuncs whose adjoint is that of an operator."""


def partials_of(f: Any, count: int) -> tuple[Any, ...] | None:
    """Return the partial derivatives of an elementwise function of `count` arguments, or None.

    Each is a function, a number, an `AtOnce`, or None where there is no derivative.
    """
    rule = registry.find(f)
    if not isinstance(rule, ElementwiseRule):
        return None
    partials = rule.partials
    if count == 1 and len(partials) > 1:
        partials = (partial_for_one(rule),)
        if partials == (None,):
            return None
    served = len(partials) == count and all(type(p) in SERVED for p in partials)
    return partials if served else None


def partial_for_one(rule: ElementwiseRule) -> Any:
    """Return the partial derivative of a rule where there is one argument, or None."""
    partial = rule.partials[0]
    if type(partial) is not FunctionType:
        return None
    serves = len(rule.partials) == 1 or partial.__code__.co_flags & CO_VARARGS
    return partial if serves else None


@remembered
def reads_of(partial: Any) -> frozenset[int]:
    return read_arguments(partial)
