"""Views that must not be written, which functions give to those that write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad

pytestmark = pytest.mark.plain

X = np.array([0.5, -1.5, 2.5])


def rows(x):
    return np.broadcast_to(2.0 * x, (3, 3))


def on_the_diagonal(x):
    return np.diag(np.outer(x, x))


def inside(x):
    return {"more": [x * 1.0, np.broadcast_to(x[1], (3,))]}["more"]


def in_a_branch(x):
    if x[0] > 0.0:
        return np.broadcast_to(x * 2.0, (3,))
    return x * 3.0


def within_a_loop(x):
    for k in range(3):
        if x[k] > 2.0:
            return np.broadcast_to(x * k, (3,))
    return x * 3.0


class Held:
    def __init__(self, x):
        self.v = x

    def spread(self, x):
        self.v = np.broadcast_to(x * 2.0, (3,))


def of_an_object(x):
    held = Held(x)
    held.spread(x)
    return held.v


@pytest.mark.parametrize(
    "make", [rows, on_the_diagonal, inside, in_a_branch, within_a_loop, of_an_object]
)
def test_writes_to_what_functions_give_back_raise(make: Any, tried: list[bool]) -> None:
    def f(x: Any) -> Any:
        found = {0}  # a set is left to Python: `make` is read by itself
        made = make(x * len(found))
        a = made[-1] if type(made) is list else made
        try:
            a[0] = 1.0
        except ValueError:
            return x[1] * np.sum(a)
        return np.sum(a)

    agree(f)


def filled_on_the_diagonal(a):
    np.fill_diagonal(np.broadcast_to(a, (3, 3)), 1.0)


def bound_by_a_loop(a):
    b = np.zeros(3)
    for _ in range(3):
        b = np.broadcast_to(a[1] * b[0] + 1.0, (3,))
    b += 1.0


def copied_to_a_list(a):
    np.copyto([1.0, 2.0, 3.0], a)


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (filled_on_the_diagonal, ValueError),
        (bound_by_a_loop, ValueError),
        (copied_to_a_list, TypeError),
    ],
)
def test_writes_within_functions_raise(write: Any, error: Any, tried: list[bool]) -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        try:
            write(a)
        except error:
            return np.sum(a * x) * x[0]
        return np.sum(a)

    agree(f)


def agree(f: Any) -> None:
    value, g = value_and_grad(f, compile=True)(X.copy())
    expected, h = value_and_grad(f)(X.copy())
    assert_allclose([value, expected], f(X.copy()), rtol=1e-12)
    assert_allclose(g, h, rtol=1e-12)
