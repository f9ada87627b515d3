"""Powers whose exponent is zero are constant, also where the base is tiny or no number."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, hessian

BASES = [1e-310, 1.0, 0.0, -2.0, np.nan, np.inf]


@pytest.mark.parametrize("x", BASES)
def test_of_numbers(x: float) -> None:
    assert grad(lambda v: v**0)(x) == 0.0
    assert grad(lambda v, n: v**n)(x, 0) == 0.0
    assert hessian(lambda v: v**0)(x) == 0.0


@pytest.mark.parametrize("compile", [False, True])
def test_of_arrays(compile: bool) -> None:
    a, zero = np.array(BASES), np.zeros(len(BASES))
    if compile:
        pytest.importorskip("numba")
    np.testing.assert_array_equal(grad(lambda a: np.sum(a**0), compile=compile)(a), zero)
    np.testing.assert_array_equal(grad(lambda a, n: np.sum(a**n), compile=compile)(a, 0), zero)
    powers = np.zeros(len(BASES), int)
    np.testing.assert_array_equal(grad(lambda a: np.sum(a**powers), compile=compile)(a), zero)
