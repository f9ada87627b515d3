"""Gradients of objects that hold functions can be used as tangents of such objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad


class Node:
    v: float
    cb: Callable[[], Any]


def around_itself() -> Node:
    """Return an object with a function that captures it."""
    a = Node()
    a.v = 1.3
    a.cb = lambda: a.v
    return a


def around_another() -> Node:
    a, b = Node(), Node()
    a.v, b.v = 1.3, 1.3
    a.cb = lambda: b.v
    return a


def f(a: Node) -> Any:
    return a.v**2 * a.cb()


@pytest.mark.parametrize("make", [around_itself, around_another])
def test_a_gradient_is_a_tangent(make: Callable[[], Node]) -> None:
    g: Any = grad(f)(make())
    v = 1.3
    both = make is around_itself
    np.testing.assert_allclose(g.v, 3 * v**2 if both else 2 * v**2)
    _, dy = jvp(f, (make(),), (g,))
    np.testing.assert_allclose(dy, 9 * v**4 if both else 4 * v**4 + v**4)
    h: Any = hvp(f, (make(),), g)
    np.testing.assert_allclose(h.v, 6 * v * 3 * v**2 if both else 2 * v * 2 * v**2 + 2 * v * v**2)


@pytest.mark.parametrize("make", [around_itself, around_another])
def test_inside_a_derivative(make: Callable[[], Node]) -> None:
    def outer(x: Any) -> Any:
        g: Any = grad(lambda a: f(a) * x)(make())
        return g.v

    y, dy = value_and_grad(outer)(2.0)
    np.testing.assert_allclose((y, dy), (2 * dy, dy))
