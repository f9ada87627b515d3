"""Arrays that compiled functions return to code that is not compiled are as NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.compiler.native import form
from tests.support.interpreted import QUICKLY

pytestmark = pytest.mark.plain


def grid(n):
    return np.zeros(n)


def doubled(x):
    y = x * 2.0
    return y  # noqa: RET504 - a local that is returned


def both(x):
    return np.linspace(0.0, 1.0, 3), x * x


class Sums:
    def __init__(self, n):
        self.h = np.zeros(n)

    def add(self, v):
        self.h[0] += v


def writes(x):
    seen, h, sums = {}, grid(3), Sums(2)
    seen["x"] = x
    h[0] = x[0]
    h[1:] *= x[1]
    h += x
    sums.add(x[2] * h[0])
    table, y = both(x)
    table[:] = table * y
    np.multiply(table, y, out=table)
    return np.sum(h * x) + sums.h[0] + np.sum(table)


def asks_for_the_base(x):
    names = [doubled(x), grid(3)]
    factor = 1.0 if all(a.base is None and a.flags.owndata for a in names) else 3.0
    return factor * np.sum(names[0] ** 2)


@pytest.fixture(autouse=True)
def by_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(form, "COMPILER", QUICKLY)


@pytest.mark.parametrize("f", [writes, asks_for_the_base])
def test_results_own_their_memory(f) -> None:
    x, v = np.array([0.5, -1.5, 2.0]), np.array([1.0, 0.5, -0.25])
    value, gradient = value_and_grad(f)(x)
    found, compiled = value_and_grad(f, compile=True)(x)
    assert found == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(compiled, gradient, rtol=1e-13)
    np.testing.assert_allclose(jvp(f, (x,), (v,), compile=True)[1], gradient @ v, rtol=1e-13)
    assert value == pytest.approx(f(x.copy()), rel=1e-14)
