"""A forward pass of reverse mode that records refusals, and continues without derivatives."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MooncakeError
from mooncake_py.language import callbacks
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped

__all__ = ["SurveyContext"]

CALLBACKS = (FunctionType, MethodType, functools.partial)
CALLS = ("call", "call_one")
PLAIN: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in (
        "getitem", "setitem", "delitem", "truth", "eq", "lt", "le", "ne", "gt", "ge", "add", "sub",
        "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "iadd", "isub", "imul",
        "itruediv", "ifloordiv", "imod", "ipow", "imatmul",
    )
}  # fmt: skip
PLAIN |= {
    "call": lambda f, *args, **keywords: f(*args, **keywords),
    "call_one": lambda f, x: f(x),
    "method": lambda o, name, *args, **keywords: getattr(o, name)(*args, **keywords),
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "len": len,
    "iter": lambda value, pattern=None: iter(value),
    "items": iter,
    "contained": lambda item, container: item in container,
}
"""Stand-ins for refused operations of rewritten code, without derivatives."""


class SurveyContext(ReverseContext):
    """A forward pass in which a refused operation is noted and runs as plain Python runs it.

    What such an operation returns is active if an operand was, so that what is refused later is
    met too.  There is no way back: derivatives of refused operations are not known.

    Attributes
    ----------
    refusals : dict
        The errors, by their messages, in the order in which they were met.
    anchor : Active
        An active zero, on which results of refused operations depend.
    """

    fuses = False
    tries_loops = False
    has_gate = False

    def __init__(self) -> None:
        super().__init__()
        self.refusals: dict[str, MooncakeError] = {}
        self.anchor: Active | None = None

    @override
    def failed(self, error: Any) -> Any:
        """Return an error to be raised; the call goes on, and so does not remember it."""
        error = super().failed(error)
        self.failure = None
        return error

    @override
    def unsupported(self, refusal: Callable[[], MooncakeError]) -> None:
        """Record a refusal; the code runs as it was written."""
        error = self.failed(refusal())
        self.refusals.setdefault(str(error), error)

    def refused(self, error: MooncakeError, name: str, operands: Any, keywords: Any) -> Any:
        """Record an error, and return the result of the operation without derivatives.

        If there is no such thing the error is raised on, and a larger operation is tried.
        """
        self.refusals.setdefault(str(error), error)
        is_active = any(map(self.contains_active, (*operands, keywords)))
        called = operands[:1] if name in CALLS else ()
        others = map(self.plain, operands[len(called) :])
        try:
            plain = {key: self.plain(value) for key, value in keywords.items()}
            result = PLAIN[name](*called, *others, **plain)
        except MooncakeError:
            raise error from None
        if is_active and not any(result is operand for operand in operands):
            return self.depending(result)
        return result

    def plain(self, value: Any) -> Any:
        """Return an operand for a refused operation: numbers, and callbacks that return some."""
        if type(value) in CALLBACKS and self.contains_active(value):
            return callbacks.plain(self, value)
        return unwrapped(value)

    def depending(self, value: Any) -> Any:
        """Return a value, active where it has numbers."""
        t = type(value)
        if t is tuple or t is list:
            return t([self.depending(part) for part in value])
        if t is dict:
            return {key: self.depending(part) for key, part in value.items()}
        if t is ndarray and value.dtype.kind == "O":
            try:
                value = value.astype(float)  # which can be active
            except (TypeError, ValueError):
                return value
        is_array = t is ndarray and value.dtype.kind in "fc" and self.find(value) is None
        if is_array or isinstance(value, float | complex | np.inexact):
            return ReverseContext.call(self, np.add, value, self.anchor)
        return value


def surveyed(name: str) -> Callable[..., Any]:
    """Return an operation that goes on after a refusal."""
    general = getattr(ReverseContext, name)

    def operation(self: SurveyContext, /, *operands: Any, **keywords: Any) -> Any:
        try:
            return general(self, *operands, **keywords)
        except MooncakeError as error:
            return self.refused(error, name, operands, keywords)

    operation.__name__ = name
    return operation


for _name in PLAIN:
    setattr(SurveyContext, _name, surveyed(_name))
