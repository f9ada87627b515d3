"""The hyperbolic tangent of compiled functions: as accurate as that of the C library."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from tests.compiler.native.writing import written
from tests.support.interpreted import QUICKLY

pytestmark = pytest.mark.plain


@cache
def compiled(kind: str) -> Any:
    """Return a function that applies it to an array."""
    pytest.importorskip("llvmlite")
    printer = Printer({"x": kind, "y": kind, "i": "int"}, {"x": 1, "y": 1})
    body = written("for i in all(len(x)):\n    y[i] = np.tanh(x[i])")
    printer.forward(body, ["x", "y"], [])
    forward = QUICKLY.built(printer)["forward"]
    return lambda x, y: forward(np.empty(0), x, y)


def test_accuracy() -> None:
    rng = np.random.default_rng(0)
    scales = (1e-300, 1e-9, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0)
    x = np.concatenate(
        [rng.standard_normal(20_000) * scale for scale in scales]
        + [np.linspace(0.62, 0.63, 20_000)]
    )
    y = np.empty_like(x)
    compiled("float")(x, y)
    exact = np.tanh(x.astype(np.longdouble))
    assert np.max(np.abs(y - exact) / np.spacing(np.abs(exact).astype(float))) < 2


def test_special_numbers() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308, -1e308, 22.0, -22.0])
    y = np.empty_like(x)
    compiled("float")(x, y)
    assert np.array_equal(y, np.tanh(x), equal_nan=True)
    assert np.array_equal(np.signbit(y), np.signbit(x))


def test_float32() -> None:
    x = np.linspace(-10.0, 10.0, 1000, dtype=np.float32)
    y = np.empty_like(x)
    compiled("float32")(x, y)
    assert np.max(np.abs(y - np.tanh(x))) <= 2**-24
