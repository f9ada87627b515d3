"""Code outside of a derivative finds plain numbers; numbers of other calls are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hook, ignore_derivatives, vjp
from tests.support.pairs import rotating

X = np.array([0.7, 1.3])
KEPT = [1.0]


def changes_outside(x: Any) -> Any:
    KEPT[0] = x[0]
    return KEPT[0] * x[1] + x @ x


CALLED = [
    (lambda x: np.sum(x * x), 2 * X),
    (lambda x: x @ x, 2 * X),
    (changes_outside, 2 * X + X[::-1]),
]


@pytest.mark.without_modes("a hook changes the cotangent alone")
@pytest.mark.parametrize(
    ("f", "expected", "debug"),
    [(*case, debug) for case, debug in rotating(CALLED, [False, True])],
)
def test_the_first_call_of_a_pullback_in_code_outside(f: Any, expected: Any, debug: bool) -> None:
    _, pullback = vjp(f, X, debug=debug)
    g = grad(lambda x: np.sum(hook(lambda g: g * pullback(1.0)[0], x)), debug=debug)(X)
    np.testing.assert_allclose(g, expected)
    _, pullback = vjp(f, X, debug=debug)
    held = {"pullbacks": [pullback]}

    def scaled(x: Any) -> Any:
        return ignore_derivatives(lambda: held["pullbacks"][0](1.0)[0][0]) * np.sum(x)

    np.testing.assert_allclose(grad(scaled, debug=debug)(X), [expected[0]] * 2)
    assert KEPT == [1.0]


@pytest.mark.without_modes("the derivative left out is none of the function", "inside")
def test_a_pullback_of_active_data_in_code_outside() -> None:
    def f(x: Any) -> Any:
        z = 2.0 * x[0]
        _, pullback = vjp(lambda t: t * z, x[1])
        return ignore_derivatives(lambda: pullback(1.0)[0]) * np.sum(x)

    np.testing.assert_allclose(grad(f)(X), [2 * X[0]] * 2)
