"""``np.newaxis`` in indices of statements that are one entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp
from mooncake_py.modes.reverse.context import ReverseContext

X = np.array([0.5, -1.25, 2.0])
Y = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0]])


def differences(x: Any, y: Any) -> Any:
    apart = x[:, np.newaxis] - x[np.newaxis]
    y[:, np.newaxis][:, 0] += 0.5 * y
    z = apart * apart + y[0, :, np.newaxis] * 2.0
    return np.sum(z * z) + np.sum(y)


def test_an_expression_with_new_axes_is_one_entry() -> None:
    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(lambda x: x[:, np.newaxis] * 2.0 - x[np.newaxis] * x[None, :], x)
    assert len(ctx.tape) == 1


def test_derivatives_along_a_direction_to_second_order() -> None:
    v, w = np.array([1.0, 0.5, -2.0]), np.ones_like(Y)
    eps = 1e-6

    def at(t: float) -> Any:
        return X + t * v, Y + t * w

    _, slope = jvp(differences, (X, Y), (v, w))
    ends = [differences(*at(s * eps)) for s in (1, -1)]
    assert_allclose(slope, (ends[0] - ends[1]) / (2 * eps), rtol=1e-7)
    gradient = grad(differences, (0, 1))
    assert_allclose(sum(np.sum(g * d) for g, d in zip(gradient(X, Y), (v, w), strict=True)), slope)
    products = hvp(differences, (X, Y), (v, w), argnums=(0, 1))
    for k, product in enumerate(products):
        g, h = (gradient(*at(s * eps))[k] for s in (1, -1))
        assert_allclose(product, (g - h) / (2 * eps), rtol=1e-5, atol=1e-6)
