"""`forwarddiff` of functions that change something: the changes stay, with their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import forwarddiff, value_and_grad, vjp

X = np.array([0.7, 1.3])


def captured_array(x: Any) -> Any:
    c = np.ones(2)

    def h(p: Any) -> Any:
        c[:] = p * p
        return np.sum(c * p)

    return forwarddiff(h, x) + c[1]


def captured_list(x: Any) -> Any:
    seen: list[Any] = []

    def h(p: Any) -> Any:
        seen.append(p[0])
        return np.sum(p * p)

    return forwarddiff(h, x) * len(seen)


def argument(x: Any) -> Any:
    def h(p: Any) -> Any:
        p *= 2
        return np.sum(p * p)

    return forwarddiff(h, x) + x[0]


class Held:
    k: Any = 1.0


def attribute_of_a_class(x: Any) -> Any:
    def h(p: Any) -> Any:
        Held.k = Held.k * p
        return p * Held.k

    return forwarddiff(h, x[0]) * Held.k * x[1]


def random_numbers(x: Any) -> Any:
    rng, seen = np.random.default_rng(1), []

    def h(p: Any) -> Any:
        seen.append(rng.random())
        return p * seen[0]

    return np.sum(forwarddiff(h, x)) / seen[0] * len(seen) + rng.random() * 0.0


@pytest.mark.parametrize(
    ("f", "value", "slope"),
    [
        (captured_array, 4.23, [1.47, 7.67]),
        (captured_list, 2.18, [1.4, 2.6]),
        (argument, 10.12, [7.6, 10.4]),
        (attribute_of_a_class, 0.4459, [1.911, 0.343]),
        (random_numbers, 2.0, [1.0, 1.0]),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_changes_stay(f: Any, value: float, slope: Any, debug: bool) -> None:
    y, g = value_and_grad(f, debug=debug)(X)
    np.testing.assert_allclose(y, value)
    np.testing.assert_allclose(g, slope)
    np.testing.assert_allclose(vjp(f, X)[1](1.0)[0], slope)
    assert Held.k == 1.0
    assert X.tolist() == [0.7, 1.3]
