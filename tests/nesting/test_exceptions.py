"""Exceptions that leave derivatives of all kinds hold what those of the plain call hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.runtime.active import Active
from tests.support.pairs import pairwise, rotating

X = np.array([0.7, -1.3])


def fails(x):
    """Raise an exception that holds numbers and arrays, and so do its cause and its notes."""
    try:
        raise KeyError(x[0] * 3.0)
    except KeyError as cause:
        error: Any = ValueError(x[0] * 2.0, [x[1]], x * 2.0, {x[1]: x})
        error.number = x[1]
        error.parts = {"a": (x[0] * x[1],)}
        error.add_note(f"at {x[0]}")
        raise error from cause


def held(value):
    """Yield all numbers and arrays in a value."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from held(part)
    else:
        yield value


def numbers_held(error):
    values = held((error.args, [vars(error)[name] for name in sorted(vars(error))]))
    return [part for part in values if not isinstance(part, str)]


def failure_of(run):
    with pytest.raises(ValueError) as caught:
        run()
    return caught.value


DERIVATIVES = {
    "grad": lambda f: grad(f)(X),
    "value_and_grad": lambda f: value_and_grad(f)(X),
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacobian": lambda f: jacobian(f)(X),
    "jacobian, forward": lambda f: jacobian(f, mode="forward")(X),
    "hvp": lambda f: hvp(f, (X,), X),
    "hessian": lambda f: hessian(f)(X),
    "grad in grad": lambda f: grad(lambda x: grad(f)(x)[0])(X),
    "grad of a constant in grad": lambda f: grad(lambda x: x[0] * grad(f)(X)[0])(X),
    "vjp in grad": lambda f: grad(lambda x: vjp(f, x)[0])(X),
    "jvp in grad": lambda f: grad(lambda x: jvp(f, (x,), (x,))[1])(X),
    "jvp in jvp": lambda f: jvp(lambda x: jvp(f, (x,), (x,))[1], (X,), (X,)),
    "grad in jvp": lambda f: jvp(grad(f), (X,), (X,)),
    "grad in grad in jvp": lambda f: jvp(grad(lambda x: grad(f)(x)[0]), (X,), (X,)),
    "hvp in grad": lambda f: grad(lambda x: hvp(f, (x,), X)[0])(X),
    "pullback": lambda f: vjp(lambda x: grad(f)(x), X),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("debug", "name"), rotating([False, True], DERIVATIVES))
def test_an_exception_holds_what_that_of_the_plain_call_holds(name, debug):
    plain: Any = failure_of(lambda: fails(X))
    if debug:
        with debug_mode():
            error: Any = failure_of(lambda: DERIVATIVES[name](fails))
    else:
        error = failure_of(lambda: DERIVATIVES[name](fails))
    for a, b in ((error, plain), (error.__cause__, plain.__cause__)):
        assert type(a) is type(b)
        got, expected = numbers_held(a), numbers_held(b)
        assert not any(type(part) is Active for part in got)
        assert [type(part) for part in got] == [type(part) for part in expected]
        for part, like in zip(got, expected, strict=True):
            np.testing.assert_array_equal(part, like)
    assert error.__notes__[0] == plain.__notes__[0]


MODES = {"grad": lambda f: grad(f)(X), "jvp": lambda f: jvp(f, (X,), (X,))}


@pytest.mark.parametrize(
    ("inner", "raises", "mode"),
    pairwise(
        [
            lambda f: grad(f)(1.0),
            lambda f: vjp(f, 1.0),
            lambda f: jvp(f, (1.0,), (1.0,)),
        ],
        [
            lambda x: ValueError(x[0]),
            lambda x: ValueError(x * 2.0),
            lambda x: ValueError([x]),
            lambda x: ValueError({x[0]: 1}),
            lambda x: ValueError(lambda: x[0] * 2.0),
        ],
        MODES,
    ),
)
def test_to_catch_an_exception_that_holds_active_data_is_an_error(mode, raises, inner):
    def catches(x):
        def fails(z):
            raise raises(x)

        try:
            inner(fails)
        except ValueError:
            return x[0]

    with pytest.raises(NestedDerivativeError, match="carries active data out"):
        MODES[mode](catches)


@pytest.mark.parametrize("mode", MODES)
def test_an_exception_without_active_data_may_be_caught(mode):
    def catches(x):
        def fails(z):
            x[0] * z
            raise ValueError("a text", 2.0)

        try:
            return grad(fails)(1.0)
        except ValueError as error:
            return x[0] * error.args[1]

    assert np.all(np.isfinite(MODES[mode](catches)[0]))


def test_an_exception_of_a_constant_inner_derivative_may_be_caught():
    def catches(x):
        def fails(z):
            raise ValueError(z)

        try:
            return grad(fails)(1.0)
        except ValueError as error:
            return x[0] * error.args[0]

    np.testing.assert_array_equal(grad(catches)(X), [1.0, 0.0])
    assert jvp(catches, (X,), (X,)) == (X[0], X[0])
