"""Orders and parameters of special functions at which SciPy computes something else than usual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp

sp = pytest.importorskip("scipy.special")

CASES: list[tuple[Callable[[Any], Any], float]] = [
    *[(lambda x, n=n: sp.kn(n, x), 0.8) for n in (2.7, 0.3, 3.0, -1.5)],
    *[(lambda x, n=n: sp.yn(n, x), 1.7) for n in (1.5, -2.7, 2.0)],
    *[(lambda x, n=n: sp.expn(n, x), 0.8) for n in (1.9, 0.3, 2.0)],
    (lambda x: sp.kn(np.arange(4) / 2, x).sum(), 0.8),
    *[(lambda x, k=k: sp.tklmbda(x, k), x) for k in (1.3, 0.4, 2.7) for x in (2.7, -2.7)],
    *[(lambda k, x=x: sp.tklmbda(x, k), k) for k in (1.3, 2.7) for x in (0.9, -0.9)],
    (lambda x: sp.tklmbda(x, 1.3), 0.5),
    *[(lambda x, n=n: sp.hyp1f1(-n, -n, x), 0.3) for n in (1, 2)],
    (lambda x: sp.hyp1f1(-1, -2, x), 0.3),
    *[(lambda x, n=n: sp.eval_legendre(n, x), 0.3) for n in (-1, -2, -3, 2)],
    (lambda x: sp.eval_sh_legendre(-3, x), 0.3),
    *[(lambda x, n=n: sp.eval_chebyu(n, x), 0.3) for n in (-2, -3, -4, 3)],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_orders_and_parameters(case: tuple[Callable[[Any], Any], float]) -> None:
    f, x = case
    h = 1e-5
    expected = (f(x + h) - f(x - h)) / (2 * h)
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-9)
    y, dy = jvp(f, (x,), (1.0,))
    assert y == f(x)
    np.testing.assert_allclose(dy, expected, rtol=1e-6, atol=1e-9)
