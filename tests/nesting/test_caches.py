"""Cached functions in derivatives inside others: the derivatives are those without the cache."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, jvp, value_and_grad, vjp
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are tried here")

Decorator = Callable[[Any], Any]


class Held:
    a: Any = 1.0


def read_again(cached: Decorator, x: Any) -> Any:
    k = cached(lambda v: v * v)
    return grad(lambda z: z * k(x) * k(z))(1.5) * k(x)


def read_before(cached: Decorator, x: Any) -> Any:
    k = cached(lambda v: np.sin(v) * x)
    return k(x) * grad(grad(lambda z: z * z * k(x) * k(z)))(1.5)


def of_what_is_held(cached: Decorator, x: Any) -> Any:
    held = Held()
    k = cached(lambda: held.a * 2.0)

    def f(z: Any) -> Any:
        held.a = z * x
        return k() * k()

    return grad(f)(1.0) + x


def equal_numbers(cached: Decorator, x: Any) -> Any:
    k = cached(lambda v: v * v)
    return jvp(lambda z: k(z) * k(x), (x,), (1.0,))[1] * k(x)


def in_a_pullback(cached: Decorator, x: Any) -> Any:
    k = cached(lambda v: v * v)
    y, pullback = vjp(lambda z: k(z) * k(x), x)
    return y * pullback(1.0)[0] * k(x)


def in_a_part(cached: Decorator, x: Any) -> Any:
    k = cached(lambda v: v * v)
    return checkpoint(lambda x: grad(lambda z: z * k(x) * k(z))(2.0), x) * k(x)


PROGRAMS = [read_again, read_before, of_what_is_held, equal_numbers, in_a_pullback, in_a_part]
DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "gradient": lambda f: value_and_grad(f)(1.3)[1],
    "forward": lambda f: jvp(f, (1.3,), (1.0,))[1],
    "product": lambda f: hvp(f, (1.3,), 1.0),
    "second": lambda f: grad(grad(f))(1.3),
}


@pytest.mark.parametrize(
    ("program", "derivative"), rotating(PROGRAMS, DERIVATIVES.values(), times=2)
)
def test_derivatives_of_cached_functions(program: Any, derivative: Any) -> None:
    expected = derivative(functools.partial(program, lambda f: f))
    for cached in (functools.cache, functools.lru_cache(maxsize=1)):
        found = derivative(functools.partial(program, cached))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
