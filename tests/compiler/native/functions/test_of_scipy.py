"""Functions of SciPy in compiled functions: special functions, densities, sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

stats = pytest.importorskip("scipy.stats")
pytestmark = pytest.mark.plain

IMPORTS = "from scipy import special, stats"
COMPILED = [
    "np.sum(special.erf(x) * special.expit(y)) + special.gammaln(2 + x[0] ** 2)",
    "np.sum(special.xlogy(x, 1 + y * y)) + special.xlog1py(0.0, x[0]) + special.ndtr(x[1])",
    "np.sum(special.i0e(x) * special.xlogy(2.0, 1 + y * y)) + special.jv(2, x[0])",
    "special.logsumexp(x) + np.sum(special.logsumexp(A, axis=1) * y)",
    "np.sum(special.softmax(A, axis=0) * B) + np.sum(special.log_softmax(x) * y)",
    "np.sum(special.logsumexp(T, axis=(0, 2), keepdims=True) * A)",
    "np.sum(stats.norm.logpdf(x, y, 1 + y[0] ** 2)) + stats.norm.cdf(x[0]) * stats.norm.pdf(y[0])",
    "np.sum(stats.norm.logcdf(A, loc=x)) + stats.expon.logpdf(x[0] ** 2, scale=2.0)",
    "stats.gamma.logpdf(x[0] ** 2, 1 + y[0] ** 2) + stats.beta.logpdf(0.3, 2, 1 + y[0] ** 2)",
    "np.sum(stats.t.logpdf(x, 3.0)) + stats.poisson.logpmf(2, np.exp(x[0]))",
    "np.sum(stats.cauchy.logpdf(x) + stats.laplace.pdf(y)) + stats.lognorm.logpdf(x[0] ** 2, 0.5)",
    "np.sum(stats.halfnorm.logpdf(np.abs(x), scale=3.0)) + stats.halfcauchy.logpdf(y[0] ** 2)",
    "np.sum(stats.binom.logpmf(I[0], 4, special.expit(x))) + stats.bernoulli.logpmf(1, 0.5)",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text, IMPORTS)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("special.xlogy(x[0], x[1])", [0.0, 0.0]),
        ("special.logsumexp(x)", [-np.inf, 1.0, 1.0, -np.inf, 800.0]),
        ("np.sum(special.softmax(x) * y)", [700.0, 800.0, -900.0, 800.0, 0.0]),
        ("np.sum(stats.uniform.pdf(x) * y)", [-1.0, 0.0, 0.5, 1.0, 2.0]),
        ("np.sum(stats.expon.pdf(x) * y)", [-1.0, 0.0, 0.5, 1e3, 2.0]),
        ("np.sum(special.expit(x))", [-800.0, 800.0, 0.0, -40.0, 40.0]),
    ],
)
def test_edges(text: str, x: Any, tried: list[bool]) -> None:
    f = function(text, IMPORTS)
    args = np.array(x), *copies()[1:]
    with np.errstate(all="ignore"):
        ways = [value_and_grad(f, compile=way)(*args) for way in (False, True)]
    np.testing.assert_allclose(ways[1][0], ways[0][0], rtol=1e-12)
    np.testing.assert_allclose(ways[1][1], ways[0][1], rtol=1e-12)


def test_scales_that_are_not_positive_are_left_to_scipy(tried: list[bool]) -> None:
    f = function("stats.norm.pdf(1.0, 0.0, x[0])", IMPORTS)
    value, _ = value_and_grad(f, compile=True)(np.full(5, -1.0), *copies()[1:])
    assert np.isnan(value)
    assert True not in tried


def test_compiled_by_llvm() -> None:
    pytest.importorskip("llvmlite")
    f = function("np.sum(special.erf(A) * special.xlogy(x, x * x)) + stats.norm.cdf(y[0])", IMPORTS)
    ways = [value_and_grad(f, (0, 1, 2), compile=way)(*copies()) for way in (False, True)]
    np.testing.assert_allclose(ways[1][0], ways[0][0], rtol=1e-12)
    for p, c in zip(ways[0][1], ways[1][1], strict=True):
        np.testing.assert_allclose(c, p, rtol=1e-10, atol=1e-12)


def test_a_density_that_underflows_has_the_logarithm_of_zero() -> None:
    def f(x):
        return np.sum(stats.laplace.logpdf(x))

    with np.errstate(all="ignore"):
        (y, g), (z, h) = (
            value_and_grad(f, compile=way)(np.array([800.0, 1.0])) for way in (False, True)
        )
    assert y == z == -np.inf
    np.testing.assert_array_equal(g, h)
