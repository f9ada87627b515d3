"""``np.linalg.norm`` by order and axis in compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.linalg.norm(x, 1) * np.linalg.norm(y, np.inf) + np.linalg.norm(x, -np.inf)",
    "np.linalg.norm(x, ord=3) + np.linalg.norm(A, 'fro') * np.linalg.norm(x, 2)",
    "np.sum(A / np.linalg.norm(A, axis=1, keepdims=True) * B) + np.linalg.norm(T[0], axis=-1) @ x",
    "np.sum(np.linalg.norm(T, 1, axis=2) * A) + np.sum(np.linalg.norm(T, axis=(0, 2)) * x)",
]


@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize("order", ["1", "2", "3", "np.inf", "-np.inf"])
@pytest.mark.parametrize("x", [[0.0] * 5, [0.0, 2.0, -2.0, 1.0, 0.0]], ids=["zero", "ties"])
def test_kinks(order: str, x: list[float], tried: list[bool]) -> None:
    f = function(f"np.linalg.norm(x, {order})")
    args = np.array(x), *copies()[1:]
    ways = [value_and_grad(f, compile=way)(*args) for way in (False, True)]
    np.testing.assert_allclose(ways[1][0], ways[0][0])
    np.testing.assert_allclose(ways[1][1], ways[0][1])
