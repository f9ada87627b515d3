"""Options of functions that hold active numbers: they are passed on, or the error is clear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, from_vjp, grad, jvp
from tests.support.directions import check_jvp

X = np.array([[0.7, -1.2], [0.4, 2.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.std(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)),
        lambda x: np.nanvar(x, axis=1, mean=x[:, :1]),
        lambda x: x.var(mean=x[0, 0], keepdims=True),
        lambda x: np.linalg.norm(x, keepdims=x[0, 0]),
        lambda x: np.linalg.norm(x, 1, axis=(0, 1), keepdims=x[0, 0] > 0),
        lambda x: np.linalg.norm(x, axis=x[0, 0]),
        lambda x: np.median(x, axis=0, keepdims=x[0, 0]),
        lambda x: np.nanmedian(x, axis=0, keepdims=x[0, 0]),
    ],
)
def test_options_that_are_active(f: Callable[..., Any]) -> None:
    check_jvp(f, X)
    w = np.random.default_rng(0).normal(size=np.shape(f(X)))
    slopes = [jvp(f, (X,), (v.reshape(2, 2),))[1] for v in np.eye(4)]
    expected = np.reshape([np.sum(w * slope) for slope in slopes], (2, 2))
    np.testing.assert_allclose(grad(lambda x: np.sum(w * f(x)))(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.std(x, None, None, None, x[0, 0]),
        lambda x: np.var(x, ddof=x[0, 0]),
        lambda x: np.nanstd(x, correction=x[0, 0]),
    ],
)
def test_degrees_of_freedom_have_no_derivative(f: Callable[..., Any]) -> None:
    for derivative in (grad(f), grad(f, mode="forward")):
        with pytest.raises(MissingRuleError, match="is not implemented"):
            derivative(X)


def test_an_active_argument_by_keyword_only() -> None:
    def product(a: Any, *, b: Any) -> Any:
        return a * b

    @from_vjp(product, jvp=lambda t, y, a, b: a * t[1])
    def product_rule(a: Any, b: Any) -> Any:
        return a * b, lambda dy: (dy * b, dy * a)

    assert product_rule(2.0, 3.0)[0] == product(2.0, b=3.0)
    check_jvp(lambda x: product(2.0, b=x), X)
