"""Ints of arguments that decide structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])
NAMES = ("sin", "cos", "id")


class Model:
    def __init__(self, n, order):
        self.n, self.order = n, order


def chosen(x, n):
    name = NAMES[n - 1]
    if name == "sin":
        return np.sin(x[0] * x[1])
    return np.cos(x[1]) * n if name == "cos" else x[2] ** 2


def by_text(x, n, params):
    s = x[0]
    for i in range(n):
        s = s * params[f"w{i}"] + x[1] * x[i]
    return s


def of_attributes(x, o):
    s = 0.0
    for k in range(o.n):
        if NAMES[k] != "cos":
            s += x[k] ** o.order
    return s


def with_draws(x, n, seed):
    z = np.random.default_rng(seed).random(len(x))
    return np.sum(z * x**2) * len(NAMES[n])


PARAMS = {"w0": 1.0, "w1": 2.0, "w2": 0.5}
CALLS = [
    (chosen, [(1,), (2,), (3,), (1,), (0,)]),
    (by_text, [(2, PARAMS), (1, PARAMS), (3, PARAMS), (2, PARAMS | {"w0": 4.0})]),
    (of_attributes, [(Model(2, 2),), (Model(3, 2),), (Model(3, 3),), (Model(2, 2),)]),
    (with_draws, [(1, 3), (0, 3), (1, 4), (2, 3)]),
]


@pytest.mark.parametrize(("f", "calls"), CALLS)
def test_ints_are_compared_in_each_call(f: Any, calls: Any, tried: list[bool]) -> None:
    for args in calls:
        agrees_compiled(f, tried, X, *args)


def test_many_values_run_plainly_at_last(tried: list[bool]) -> None:
    for n in (1, 2, 3, 0, -1, -2, True, 1):
        agrees(chosen, X, n)
    with pytest.raises(IndexError):
        value_and_grad(chosen, compile=True)(X, 9)
    prepared = value_and_grad(with_draws, compile=True)
    for n, seed in ((1, 3), (2, 3), (1, 5)):
        expected = value_and_grad(with_draws, compile=False)(X, n, seed)
        np.testing.assert_allclose(prepared(X, n, seed)[1], expected[1])
