"""Exceptions of user code pass with a note, and user code cannot hide errors of the engine."""
# ruff: noqa: E722, SIM105

from __future__ import annotations

import struct

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from mooncake_py.errors import MissingRuleError

X = np.array([0.3, -1.2, 0.7])


def swallows(x):
    try:
        return struct.pack("d", x)[0] * x
    except Exception:
        return x


def swallows_everything(x):
    try:
        y = struct.unpack("d", struct.pack("d", x))[0]
    except:
        y = 1.0
    return y * x


def swallows_and_raises(x):
    try:
        struct.pack("d", x)
    except Exception:
        pass
    raise KeyError("other")


@pytest.mark.parametrize("f", [swallows, swallows_everything, swallows_and_raises])
def test_error_of_the_engine_surfaces_though_caught(f):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(2.0)
    assert caught.type is MissingRuleError


# Exceptions of user code.


def divides(x):
    y = x * 2
    return y / (x - x)


def raises_own(x):
    x *= 2
    raise LookupError("no such element")


def calls_divides(x):
    return divides(x)


def test_exception_of_user_code_passes_with_a_note():
    with pytest.raises(ZeroDivisionError) as caught:
        value_and_grad(calls_divides)(2.0)
    line = divides.__code__.co_firstlineno + 2
    (note,) = caught.value.__notes__
    assert note.startswith(f"mooncake_py: while differentiating, at {__file__}:{line} in divides\n")
    assert caught.value.args == ("float division by zero",)


def test_exception_of_user_code_is_the_same_object_type_and_arguments_are_restored():
    x = X.copy()
    with pytest.raises(LookupError, match="no such element") as caught:
        grad(raises_own)(x)
    assert type(caught.value) is LookupError
    np.testing.assert_array_equal(x, X)
    assert len(caught.value.__notes__) == 1


def test_exception_inside_numpy_is_noted_at_the_users_line():
    def f(x):
        return np.sum(np.stack([x, x[:2]]))

    with pytest.raises(ValueError, match="same shape") as caught:
        grad(f)(X.copy())
    assert f"{__file__}:{f.__code__.co_firstlineno + 1}" in caught.value.__notes__[0]


def test_base_exceptions_pass():
    def f(x):
        x[0] = 5.0
        raise KeyboardInterrupt

    x = X.copy()
    with pytest.raises(KeyboardInterrupt):
        grad(f)(x)
    np.testing.assert_array_equal(x, X)
