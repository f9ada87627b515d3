"""Values of two ways are the same to the last bit, derivatives up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MutableTangent, NoTangent
from mooncake_py.modes.reverse.agreement import agree

NEXT = float(np.nextafter(1.0, 2.0))
X = np.array([1.0, 2.0])


def nothing(g: Any) -> Any:
    return g


@pytest.mark.parametrize(("value", "other"), [
    (1.0, NEXT), (1.0, np.float64(1.0)), (0.0, -0.0), (X, X * NEXT), (X, X[:1]), ((1.0, X), (1.0,)),
    ((1.0, [X]), (1.0, [X * NEXT])), ({"a": 1.0}, {"b": 1.0}), (X, X.astype("f")), (1, 2),
])  # fmt: skip
def test_values_that_differ(value: Any, other: Any) -> None:
    assert not agree((value, 1.0), (other, 1.0))
    assert agree((value, 1.0), (value, 1.0))
    assert agree((other, nothing), (other, nothing))


@pytest.mark.parametrize(("g", "other"), [
    (1.0, NEXT), (X, X * NEXT), ((X, 0.0), (X * NEXT, 0.0)), (np.array([1e9, 0.0]),
    np.array([1e9, 1e-3])), (NoTangent(), NoTangent()), ([np.nan * X], [np.nan * X]),
    (MutableTangent(a=X, b=1.0), MutableTangent(a=X * NEXT, b=1.0)),
])  # fmt: skip
def test_derivatives_that_are_alike(g: Any, other: Any) -> None:
    assert agree((1.0, g), (1.0, other))


@pytest.mark.parametrize(("g", "other"), [
    (1.0, 1.001), (X, X + 0.001), ((X, 0.0), (X, 1.0)), (X, [1.0, 2.0]), (np.nan * X, X),
    (1.0, np.float64(1.0)), (NoTangent(), 0.0), (MutableTangent(a=X), MutableTangent(a=2 * X)),
    (MutableTangent(a=X), MutableTangent(b=X)), (np.array([1.0, 0.0]), np.array([1.0, 1e-3])),
])  # fmt: skip
def test_derivatives_that_differ(g: Any, other: Any) -> None:
    assert not agree((1.0, g), (1.0, other))
