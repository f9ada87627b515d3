"""What callbacks store where classes in C keep it has derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, implicit, jvp, value_and_grad
from tests.support.pairs import rotating

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


def in_an_exception(x: Any) -> Any:
    error = ValueError(0.0)

    def put(t):
        error.args = (x * x,)

    return put, lambda: error.args[0]


def in_a_cause(x: Any) -> Any:
    error = ValueError(0.0)

    def put(t):
        error.__cause__ = KeyError(x * x)

    return put, lambda: error.__cause__.args[0]


def in_a_default(x: Any) -> Any:
    def read(n=0.0):
        return n

    def put(t):
        read.__defaults__ = (x * x,)

    return put, read


def in_a_method(x: Any) -> Any:
    class C:
        pass

    def square(self):
        return x * x

    def put(t):
        setattr(C, "__neg__", square)  # noqa: B010

    return put, lambda: -C()


def in_another_shape(x: Any) -> Any:
    a = np.zeros(4)

    def put(t):
        a.shape = (2, 2)
        a[1, 1] = x * x

    return put, lambda: a[-1, -1]


def in_a_locked_array(x: Any) -> Any:
    a = np.ones(4) * x

    def put(t):
        if a.flags.writeable:
            a[0] = x * x
            a.flags.writeable = False

    return put, lambda: a[0]


def at_the_point(x: Any) -> Any:
    error = ValueError(0.0)

    def put(t):
        error.args = (x * t,)

    return put, lambda: error.args[0] * x * x / 0.7


def by_newton(g: Any) -> Any:
    def solve():
        z = 0.1
        for _ in range(30):
            z -= (g(z) - 0.7) / 1.5
        return z

    return implicit(solve, lambda z: g(z) - 0.7)()


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda g: integrate.quad(g, 0, 1)[0],
    "brentq": lambda g: optimize.brentq(lambda t: g(t) - 0.7, -3, 3),
}


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize(
    ("make", "solver"),
    rotating(
        [
            in_an_exception,
            in_a_cause,
            in_a_default,
            in_a_method,
            in_another_shape,
            in_a_locked_array,
            at_the_point,
        ],
        [*SOLVERS.values(), by_newton],
    ),
)
def test_it_has_derivatives(make: Any, solver: Any) -> None:
    if make is at_the_point and solver is not by_newton:
        return

    def f(x):
        put, read = make(x)

        def g(t):
            put(t)
            return x * t

        return solver(g) * read()

    slope = 1.5 * 1.5**2 if solver is SOLVERS["quad"] else 0.7
    value = f(1.5)
    for derive in (
        lambda f: value_and_grad(f)(1.5),
        lambda f: jvp(f, (1.5,), (1.0,)),
        lambda f: value_and_grad(lambda x: checkpoint(f, x))(1.5),
    ):
        found = derive(f)
        assert found[0] == value
        assert found[1] == pytest.approx(slope, rel=1e-6)
