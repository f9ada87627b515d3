"""Programs whose callees change while they run, and what their derivatives are compared with."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py import checkpoint, grad, jvp, value_and_grad, vjp
from mooncake_py.errors import MooncakeError

AT, STEP = 1.3, 1e-5


class Programs(list[Any]):
    """Functions of a number, collected by decoration, to be parametrized over.

    Those that leave something changed are compared with debug mode only.
    """

    def __init__(self) -> None:
        self.changing: set[Any] = set()
        self.outermost: set[Any] = set()

    def __call__(self, f: Any) -> Any:
        self.append(f)
        return f

    def not_within(self, f: Any) -> Any:
        """Collect a function that is another one within a derivative, which holds variables."""
        self.outermost.add(f)
        return self(f)

    def changes(self, f: Any) -> Any:
        """Collect a function that leaves something changed."""
        self.changing.add(f)
        return self(f)


def outcome(run: Callable[[], Any]) -> tuple[str, Any]:
    """Return the result of a call, or the class and the text of its exception."""
    try:
        return "value", run()
    except MooncakeError as error:
        return type(error).__name__, error.what
    except Exception as error:
        return type(error).__name__, re.sub("0x[0-9a-f]+", "", str(error))


def same(found: Any, expected: Any) -> bool:
    """Return whether two outcomes are the same up to rounding."""
    if found[0] != expected[0] or found[0] != "value":
        return found == expected
    return np.allclose(found[1], expected[1], rtol=1e-13, atol=0.0)


def state_of(f: FunctionType) -> dict[str, Any]:
    """Return the contents of the globals of a function, to be compared."""
    return {
        name: described(value)
        for name, value in f.__globals__.items()
        if not name.startswith("_") and type(value) is not ModuleType
    }


def described(value: Any) -> Any:
    """Return the parts of a value that a change changes."""
    if type(value) is FunctionType:
        return value.__code__, value.__defaults__, repr(value.__kwdefaults__), repr(vars(value))
    if isinstance(value, type):
        return {name: id(part) for name, part in vars(value).items()}
    if type(value) in (list, dict):
        parts = value.items() if type(value) is dict else value
        return [described(part) if hasattr(part, "__dict__") else repr(part) for part in parts]
    return id(value), repr(getattr(value, "__dict__", value))


def check(programs: Programs, f: Any) -> None:
    """Compare the derivatives of a program with the plain run, debug mode and differences."""
    before = state_of(f)
    expected = outcome(lambda: value_and_grad(f, debug=True)(AT))
    for _ in range(2):
        assert same(outcome(lambda: value_and_grad(f)(AT)), expected), expected
    along = outcome(lambda: jvp(f, (AT,), (1.0,)))
    assert same(along, expected), (along, expected)
    pulled = outcome(lambda: vjp(f, AT)[1](1.0)[0])
    again = outcome(lambda: value_and_grad(lambda x: checkpoint(f, x))(AT))
    inner = outcome(lambda: grad(lambda x: x * value_and_grad(f)(x)[0])(AT))
    assert state_of(f) == before
    if expected[0] != "value":
        assert pulled == expected
        assert again[0] in (expected[0], "CheckpointError")
        return
    value, slope = expected[1]
    assert same(pulled, ("value", slope))
    assert again[0] == "CheckpointError" or same(again, expected), again
    if inner[0] != "NestedDerivativeError" and f not in programs.outermost:
        assert same(inner, ("value", value + AT * slope)), inner
    if f not in programs.changing:
        plain = outcome(lambda: f(AT))
        assert same(plain, ("value", value)), plain
        difference = (f(AT + STEP) - f(AT - STEP)) / (2 * STEP)
        np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-9)
