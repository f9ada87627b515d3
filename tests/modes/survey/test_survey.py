"""A survey meets all that a derivative would refuse, and leaves everything as it was."""

from __future__ import annotations

import functools
import struct

import numpy as np
import pytest

from mooncake_py.coverage import refusals
from mooncake_py.errors import MissingRuleError, UnsupportedSyntaxError

X = np.array([1.0, -2.0, 3.0])
first, second, third = (np.frompyfunc(abs, 1, 1) for _ in range(3))


def floats(x):
    return np.asarray(x, float)


def lines(errors):
    """Return the lines of the program at which something is refused."""
    return [error.where.excerpt()[0] for error in errors]


def test_nothing():
    assert refusals(lambda x: np.sum(x**2), X) == []
    assert refusals(lambda x: x[1:] * 2, X) == []  # it need not return a number


def test_all_of_them_in_order():
    def f(x):
        y = floats(first(x))
        z = floats(second(y * x))
        y[1:] += z[:-1]
        return np.sum(third(y))

    found = refusals(f, X)
    assert [type(error) for error in found] == [MissingRuleError] * 3
    assert lines(found) == [
        "y = floats(first(x))",
        "z = floats(second(y * x))",
        "return np.sum(third(y))",
    ]


def test_each_once():
    def f(x):
        for _ in range(5):
            x = floats(first(x))
        return np.sum(x)

    assert len(refusals(f, X)) == 1


def test_what_does_not_depend_on_the_arguments_is_not_refused():
    assert refusals(lambda x, y: np.sum(x) + np.sum(floats(first(y))), X, X) == []
    assert len(refusals(lambda x, y: np.sum(x) + np.sum(first(y)), X, X, argnums=(0, 1))) == 1
    assert len(refusals(lambda x, *, y: np.sum(x) + np.sum(first(y)), X, y=X, argnums="y")) == 1


def test_results_stay_active():
    """In tuples, lists and dicts as well, numbers and arrays."""
    made = np.frompyfunc(lambda x: (x, [x], {"a": x}), 1, 1)

    def f(x):
        a, (b,), c = made(x[0])
        return first(a) + second(b) + third(c["a"])

    assert len(refusals(f, X)) == 4


def test_callbacks_are_looked_at():
    integrate = pytest.importorskip("scipy.optimize").linprog

    def f(x):
        def inner(t):
            return t + float(first(x[0]))

        integrate([1.0, 1.0], callback=None)
        return functools.reduce(lambda s, t: s + inner(t), [1.0, 2.0])

    assert any("first(x[0])" in line for line in lines(refusals(f, X)))


def test_operations_that_drop_a_derivative():
    def f(x):
        packed = struct.unpack("d", struct.pack("d", x[0]))
        return np.sum(first(x)) + packed[0]

    found = refusals(f, X)
    assert lines(found) == [
        'packed = struct.unpack("d", struct.pack("d", x[0]))',
        "return np.sum(first(x)) + packed[0]",
    ]


def test_syntax():
    def parts(x):
        exec("y = 1")
        return x

    found = refusals(lambda x: np.sum(first(parts(x))), X)
    assert [type(error) for error in found] == [UnsupportedSyntaxError, MissingRuleError]


def test_arguments_that_have_no_derivative():
    (error,) = refusals(lambda n: n, 3)
    assert "3" in str(error) or "int" in str(error)


def test_what_the_function_raises_is_raised():
    def f(x):
        first(x)
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        refusals(f, X)


def test_state_is_put_back():
    x, state = X.copy(), [1.0]

    def f(x):
        x *= 2
        state.append(x[0])
        return np.sum(first(x))

    assert len(refusals(f, x)) == 1
    np.testing.assert_array_equal(x, X)
    assert state == [1.0]
