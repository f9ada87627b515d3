"""Entropies of distributions by quadrature and by sums, where densities are zero in the tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp, value_and_grad

st: Any = pytest.importorskip("scipy.stats")

SLOW = pytest.param(lambda a: st.skewnorm.entropy(a), 0.4, marks=pytest.mark.slow, id="skewnorm")
ENTROPIES = {
    "exponnorm": (lambda k: st.exponnorm.entropy(k), 2.1),
    "foldnorm": (lambda c: st.foldnorm.entropy(c, scale=2.0), 2.1),
    "rice": (lambda b: st.rice.entropy(b), 0.8),
    "exponpow": (lambda b: st.exponpow.entropy(b), 2.7),
    "boltzmann": (lambda r: st.boltzmann.entropy(r, 4), 1.5),
    "within": (lambda c: st.truncexpon.entropy(c), 1.5),
}


@pytest.mark.parametrize(
    ("f", "x"), [SLOW, *[pytest.param(*case, id=name) for name, case in ENTROPIES.items()]]
)
def test_entropies(f: Any, x: float) -> None:
    value, slope = value_and_grad(f)(x)
    assert value == f(x)
    expected = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    assert_allclose(slope, expected, rtol=1e-5)
    assert_allclose(jvp(f, (x,), (1.0,))[1], slope, rtol=1e-8)


@pytest.mark.slow
def test_expectations_in_several_directions() -> None:
    def f(x: Any) -> Any:
        return st.gamma.expect(lambda t: t, args=(x[1],))

    value, slope = value_and_grad(f, mode="forward")(np.array([0.7, 2.1]))
    assert value == f(np.array([0.7, 2.1]))
    assert_allclose(slope, [0.0, 1.0], atol=1e-8)
