"""Cotangents that a pullback returns as functions are computed only where they are wanted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mooncake_py import from_vjp, grad, jvp, local_rules

A, B = np.arange(4.0).reshape(2, 2), np.ones((2, 2))


def product(a, b):
    return a @ b


@pytest.fixture
def computed() -> Iterator[list[str]]:
    """Declare a rule for `product`, and list which cotangents it computes."""
    made: list[str] = []

    def noted(name, value):
        made.append(name)
        return value

    with local_rules():

        @from_vjp(product)
        def product_rule(a, b):
            def product_pullback(dy):
                return lambda: noted("a", dy @ b.T), lambda: noted("b", a.T @ dy)

            return a @ b, product_pullback

        yield made


def test_only_the_cotangent_of_the_active_argument_is_computed(computed: list[str]) -> None:
    np.testing.assert_array_equal(grad(lambda b: np.sum(product(A, b)))(B), A.T @ np.ones((2, 2)))
    assert computed == ["b"]


def test_none_is_computed_if_nothing_depends_on_the_output(computed: list[str]) -> None:
    assert grad(lambda x: (product(A * x, B), x)[1])(1.0) == 1.0
    assert computed == []


def test_forward_mode_too(computed: list[str]) -> None:
    _, dy = jvp(lambda a: product(a, B), (A,), (B,))
    np.testing.assert_array_equal(dy, B @ B)
    assert "b" not in computed
