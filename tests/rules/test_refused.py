"""Functions through which a derivative would be lost run on constants and refuse the rest."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad

X = np.array([[0.5, -1.5], [2.5, 1.0]])
STORING: dict[str, Any] = {"ndarray.dumps": lambda file, x: x.dumps()}


@pytest.mark.parametrize("name", STORING)
def test_storing_is_refused_for_active_arrays(name: str) -> None:
    store = STORING[name]

    def stores(x: Any, y: Any) -> Any:
        store(io.BytesIO(), y)
        return np.sum(x * x)

    def stores_active(x: Any) -> Any:
        return stores(x, 2 * x)

    np.testing.assert_array_equal(grad(stores)(X, X.copy()), 2 * X)
    with pytest.raises(MissingRuleError, match=rf"{name} cannot be differentiated") as caught:
        grad(stores_active)(X)
    assert caught.value.where is not None
    assert "has_aux=True" in str(caught.value)


@pytest.mark.parametrize("ufunc", [np.arctan2, np.power])
@pytest.mark.parametrize("method", ["reduce", "reduceat"])
def test_reductions_that_numpy_computes_out_of_order_are_refused(ufunc: Any, method: str) -> None:
    """A derivative of another value than NumPy's must not come out."""
    x = np.linspace(0.5, 1.5, 9)
    options = ([0],) if method == "reduceat" else ()

    def reduced(x: Any) -> Any:
        return np.sum(getattr(ufunc, method)(x, *options))

    in_order = x[0]
    for v in x[1:]:
        in_order = ufunc(in_order, v)
    if np.isclose(reduced(x), in_order, rtol=1e-12):
        pytest.skip("this processor combines the elements in order")
    with pytest.raises(MissingRuleError, match=f"{method} cannot be differentiated here"):
        grad(reduced)(x)
