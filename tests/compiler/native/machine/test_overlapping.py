"""Statements that read elements of the array they write: passes of their loops are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.machine.background import WORKER

pytest.importorskip("llvmlite")


def forwards(x: Any) -> Any:
    x[1:] += 0.5 * x[:-1]
    return (x * x).sum()


def turned(x: Any) -> Any:
    x += 0.3 * x[::-1]
    x[:] = x * x[0]
    return (x * x).sum()


def rows(x: Any) -> Any:
    y = x.reshape(10, -1).copy()
    for i in range(10):
        for j in range(10):
            y[i] += 0.01 * y[j] * y[i]
    for k in range(3):
        y[k + 1 :] -= 0.1 * y[: -k - 1]
        y[:, 2:] += 0.1 * y[:, :-2]
    return (y * y).sum()


def at_indices(x: Any) -> Any:
    backwards = np.arange(x.size)[::-1]
    x[backwards] += 0.2 * x
    return (x * x).sum()


def windows(x: Any) -> Any:
    y = np.zeros(x.size)
    n = x.size // 2
    for k in range(4):
        y[k:] += 0.1 * k * x[: x.size - k]
        x[k : k + n] = 0.5 * x[2 * k : 2 * k + n] + x[k + n // 2 - 1] * 0.1
    return (x * y).sum()


@pytest.mark.parametrize("f", [forwards, turned, at_indices, rows, windows])
def test_overlapping_parts(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "COMPILER", form.LLVM)
    x = np.random.default_rng(0).normal(size=130)
    value, gradient = value_and_grad(f)(np.array(x))
    compiled = value_and_grad(f, compile=True)
    quick = compiled(np.array(x))
    WORKER.wait()
    best = compiled(np.array(x))
    assert quick[0] == best[0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_array_equal(quick[1], best[1])
    np.testing.assert_allclose(best[1], gradient, rtol=1e-11, atol=1e-12)
