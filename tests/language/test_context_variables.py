"""Context variables that hold active numbers and arrays; afterwards they hold what they held."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hessian, jvp, vjp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.5, 0.7])
SCALE: ContextVar[Any] = ContextVar("scale", default=1.0)
EMPTY: ContextVar[Any] = ContextVar("empty")
WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "compiled": lambda f: grad(f, compile=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
    "vjp": lambda f: vjp(f, X)[1](1.0)[0],
    "jvp": lambda f: np.array([jvp(f, (X,), (v,))[1] for v in np.eye(2)]),
}


@programs(X)
def set_and_reset(x):
    token = SCALE.set(x[0] * 2)
    y = SCALE.get() * x[1]
    SCALE.reset(token)
    return y * SCALE.get()


@programs(X)
def set_twice(x):
    tokens = [SCALE.set(x[0])]
    tokens.append(SCALE.set(SCALE.get() * x[1]))
    y = SCALE.get() ** 2
    SCALE.reset(tokens.pop())
    y += SCALE.get() * tokens[0].var.get()
    SCALE.reset(tokens.pop())
    return y * SCALE.get()


@programs(X)
def an_array(x):
    token = EMPTY.set(x * x)
    EMPTY.get()[0] *= x[1]
    y = np.sum(EMPTY.get())
    EMPTY.reset(token)
    return y


@programs(X)
def in_a_container(x):
    token = SCALE.set({"by": [x[0] * x[1]]})
    SCALE.get()["by"].append(x[0])
    y = sum(SCALE.get()["by"])
    SCALE.reset(token)
    return y


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def set_only(x: Any) -> Any:
    SCALE.set(SCALE.get() * x[0])
    return SCALE.get() * x[1]


@pytest.mark.parametrize("way", WAYS)
def test_the_value_of_before_is_restored(way: str) -> None:
    token = SCALE.set(3.0)
    try:
        np.testing.assert_allclose(WAYS[way](set_only), [2.1, 4.5])
        assert SCALE.get() == 3.0
    finally:
        SCALE.reset(token)


@pytest.mark.parametrize("way", WAYS)
def test_one_without_a_value_has_none_again(way: str) -> None:
    def f(x: Any) -> Any:
        EMPTY.set(x[0])
        EMPTY.set(EMPTY.get() * x[1])
        return EMPTY.get() * 2.0

    np.testing.assert_allclose(WAYS[way](f), [1.4, 3.0])
    assert EMPTY.get(None) is None


def test_a_token_from_before_the_call_is_used_for_its_time_only() -> None:
    token = SCALE.set(5.0)

    def f(x: Any) -> Any:
        SCALE.reset(token)
        return SCALE.get() * x[0]

    np.testing.assert_allclose(grad(f)(X), [1.0, 0.0])
    assert SCALE.get() == 5.0
    SCALE.set(1.0)


def test_second_derivatives() -> None:
    np.testing.assert_allclose(hessian(set_only)(X), [[0.0, 1.0], [1.0, 0.0]])
    assert SCALE.get() == 1.0


def test_an_inner_derivative_reads_what_the_outer_one_set() -> None:
    def f(x: Any) -> Any:
        token = SCALE.set(x[0])
        y = grad(lambda v: SCALE.get() * v**2)(x[1])
        SCALE.reset(token)
        return y

    np.testing.assert_allclose(grad(f)(X), [1.4, 3.0])
