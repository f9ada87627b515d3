"""Results of compiled functions that are arguments: their elements are in the caller's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad, vjp
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain


def itself(m: Any) -> Any:
    return m


def written(m: Any) -> Any:
    m[0, 0] = m[1, 1] * 2
    return m


def twice(m: Any) -> Any:
    return [m, m * 2.0]


def with_sum(m: Any) -> Any:
    m[1] *= 3.0
    return np.sum(m), m


ORDERS: dict[str, Callable[[], Any]] = {
    "columns": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "rows": lambda: np.arange(12.0).reshape(3, 4),
    "some rows": lambda: np.arange(24.0).reshape(6, 4)[::2],
    "turned round": lambda: np.arange(12.0).reshape(3, 4)[::-1].T,
    "complex": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4) * (1 + 2j)),
}


def layouts(y: Any) -> list[Any]:
    return [a.strides for a in y] if isinstance(y, list | tuple) else [y.strides]


@pytest.mark.parametrize("f", [itself, written, twice])
@pytest.mark.parametrize("order", ORDERS)
def test_arguments_as_results(f: Callable[[Any], Any], order: str) -> None:
    make = ORDERS[order]
    expected, _ = vjp(f, make())
    y, pullback = vjp(f, make(), compile=True)
    np.testing.assert_array_equal(y, expected)
    assert layouts(y) == layouts(expected)
    pullback(y)
    outputs = [jvp(f, (make(),), (make(),), compile=compile) for compile in (False, True)]
    for a, b in zip(*outputs, strict=True):
        np.testing.assert_array_equal(b, a)
        assert layouts(b) == layouts(a)
    assert report(f)[0].found == "compiled"


def test_what_is_beside_the_value() -> None:
    for compile in (False, True):
        m = ORDERS["columns"]()
        (_, aux), g = value_and_grad(with_sum, has_aux=True, compile=compile)(m)
        assert layouts(aux) == [(8, 24)]
        np.testing.assert_array_equal(g[:, 0], [1.0, 3.0, 1.0])
