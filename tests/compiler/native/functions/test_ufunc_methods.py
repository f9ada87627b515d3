"""Methods of ufuncs in compiled functions: ties, repeated indices, infinities."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.sum(np.add.outer(x, y) * np.multiply.outer(y, x[:5]) * A)",
    "np.sum(np.maximum.outer(x, A)[0] * B) + np.sum(np.subtract.outer(x[0], y) ** 2)",
    "np.add.reduce(x) * np.multiply.reduce(y) + np.sum(np.add.reduce(A) * x)",
    "np.sum(np.maximum.reduce(A) * x) + np.sum(np.minimum.reduce(T, axis=(0, 2)) * y)",
    "np.logaddexp.reduce(x) + np.sum(np.logaddexp.reduce(A, axis=1, keepdims=True) * B)",
    "np.sum(np.maximum.accumulate(x) * y) + np.sum(np.add.accumulate(A, axis=1) * B)",
    "np.sum(np.logaddexp.accumulate(A) * B) + np.sum(np.multiply.accumulate(x) * y)",
    "np.add.at(A, (I[0], I[1]), x); np.sum(A * B)",
    "np.add.at(A, I[0], B * x); np.subtract.at(x, I[1], x[0]); np.sum(A * A) + np.sum(x ** 3)",
    "np.multiply.at(x, I[2], y); np.maximum.at(y, [0, 0, 1], A[0, :3]); np.sum(x * y)",
    "z = np.zeros(5); np.add.at(z, I[:, 1], I[0]); np.sum(z * x)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp"])
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_ties_and_infinities(name: str, method: str, tried: list[bool]) -> None:
    f = function(f"np.sum(np.{name}.{method}(x) * 1.0)")
    for v in ([1.0, 1.0, 0.0, 1.0, 0.5], [-np.inf, 0.0, 2.0, -np.inf, 2.0]):
        args = np.array(v), *copies()[1:]
        with np.errstate(all="ignore"):
            ways = [value_and_grad(f, compile=way)(*args) for way in (False, True)]
        np.testing.assert_allclose(ways[1][0], ways[0][0])
        np.testing.assert_allclose(ways[1][1], ways[0][1])
