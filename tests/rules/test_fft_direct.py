"""Fourier transforms against their matrices and identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, vjp
from mooncake_py.rules import registry
from tests.rules.cases.drawing import draw
from tests.support.pairs import pairwise

NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
NORMS = ("backward", "ortho", "forward")


def real_inner(a: Any, b: Any) -> float:
    return float(np.vdot(a, b).real)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "n", "norm"), pairwise(NAMES, [1, 2, 4, 5, 7, 8], NORMS))
def test_pullback_is_the_adjoint_for_all_lengths(name: str, n: int, norm: str) -> None:
    """<dy, F x> = <F* dy, x> to rounding, for 5 elements cropped or padded to n."""
    function = getattr(np.fft, name)
    x = draw(5) if name in ("rfft", "ihfft") else draw(5, dtype=complex)
    y, pullback = vjp(lambda x: function(x, n, norm=norm), x)
    dy = draw(*y.shape, dtype=y.dtype.type, seed=1)
    (dx,) = pullback(dy)
    assert dx.dtype == x.dtype
    for seed in range(3):
        v = draw(5, dtype=x.dtype.type, seed=seed)
        assert_allclose(
            real_inner(dx, v), real_inner(dy, function(v, n, norm=norm)), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize(
    ("function", "factor"), [(np.fft.fft, 6), (np.fft.ifft, 1 / 6), (np.fft.fftn, 6)]
)
def test_power_of_a_spectrum(function: Any, factor: float) -> None:
    """Parseval: sum abs(F x)^2 = n sum abs(x)^2."""
    x = draw(6, dtype=complex)
    assert_allclose(grad(lambda x: np.sum(np.abs(function(x)) ** 2))(x), 2 * factor * x, rtol=1e-12)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_single_precision_stays_single(name: str) -> None:
    function = getattr(np.fft, name)
    real = name in ("rfft", "ihfft")
    x = draw(6).astype(np.float32) if real else draw(6, dtype=complex).astype(np.complex64)
    y = function(x)
    rule: Any = registry.find(getattr(np.fft, {"hfft": "irfft", "ihfft": "rfft"}.get(name, name)))
    dx = rule.adjoint(np.ones_like(y), x)
    assert dx.dtype == np.result_type(x, np.float32)
    (through,) = vjp(function, x)[1](np.ones_like(y))
    assert through.dtype == x.dtype


def test_into_a_single_precision_buffer() -> None:
    def f(x: np.ndarray) -> Any:
        out = np.empty(4, np.complex64)
        np.fft.fft(x.astype(np.float32), out=out)
        return np.sum(np.abs(out) ** 2)

    x = draw(4)
    assert_allclose(grad(f)(x), 8 * x, rtol=1e-5)


def test_frequencies_are_constants() -> None:
    x = draw(4)
    assert_allclose(grad(lambda x: np.sum(np.fft.fftfreq(4, 0.5) * x))(x), np.fft.fftfreq(4, 0.5))
    assert_allclose(grad(lambda x: np.sum(np.fft.rfftfreq(6) * x))(x), np.fft.rfftfreq(6))
