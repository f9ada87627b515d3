"""Distributions of `scipy.stats`, whose methods sort their arguments by code made by ``exec``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp

st: Any = pytest.importorskip("scipy.stats")
V = np.array([0.3, 0.7, 1.2])
K = np.array([1, 2, 3])


def sums(*numbers: float) -> Any:
    """Declare a function of some parameters, here with the point at which it is tested."""

    def declare(f: Any) -> Any:
        return pytest.param(f, np.array(numbers), id=f.__name__)

    return declare


@sums(0.2, 1.3)
def norm_logpdf(p: Any) -> Any:
    return np.sum(st.norm.logpdf(V, p[0], p[1]))


@sums(0.2, 1.3)
def norm_cdf_by_keyword(p: Any) -> Any:
    return np.sum(st.norm.cdf(V * p[0], loc=p[1], scale=2.0))


@sums(0.9, 1.3)
def norm_ppf(p: Any) -> Any:
    return np.sum(st.norm.ppf(np.array([0.2, 0.6]) * p[0], loc=p[1]))


@sums(0.9, 1.3)
def gamma_logpdf(p: Any) -> Any:
    return np.sum(st.gamma.logpdf(V * p[0], p[1], scale=2.0))


@sums(0.4, 1.3)
def beta_logpdf(p: Any) -> Any:
    return np.sum(st.beta.logpdf(V * p[0], p[1], 2.0))


@sums(0.9, 3.3)
def t_logpdf(p: Any) -> Any:
    return np.sum(st.t.logpdf(V * p[0], p[1]))


@sums(0.9, 3.3)
def chi2_logpdf(p: Any) -> Any:
    return np.sum(st.chi2.logpdf(V * p[0], p[1]))


@sums(0.9, 3.3)
def poisson_logpmf(p: Any) -> Any:
    return np.sum(st.poisson.logpmf(K, p[0] * p[1]))


@sums(0.9, 0.3)
def binom_logpmf(p: Any) -> Any:
    return np.sum(st.binom.logpmf(K, 5, p[0] * p[1]))


@sums(0.9, 3.3)
def frozen(p: Any) -> Any:
    return np.sum(st.norm(p[0], p[1]).logpdf(V))


@pytest.mark.parametrize(
    ("f", "p"),
    [norm_logpdf, norm_cdf_by_keyword, norm_ppf, gamma_logpdf, beta_logpdf, t_logpdf, chi2_logpdf,
     poisson_logpmf, binom_logpmf, frozen],
)  # fmt: skip
def test_derivatives_agree_with_differences(f: Any, p: Any) -> None:
    steps = 1e-6 * np.eye(p.size)
    expected = [(f(p + h) - f(p - h)) / 2e-6 for h in steps]
    gradient = grad(f)(p)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    tangents = [jvp(f, (p,), (h,))[1] for h in np.eye(p.size)]
    np.testing.assert_allclose(tangents, gradient, rtol=1e-12)


def test_wrong_arguments_raise_what_the_plain_call_raises() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'scales'"):
        grad(lambda s: st.norm.logpdf(0.0, scales=s))(1.0)


# Values of shape parameters for which SciPy takes a formula without the parameter.
LIMITS = [
    ("genpareto", (), 0.0), ("genextreme", (), 0.0), ("kappa4", (0.3,), 0.0), ("skewnorm", (), 0.0),
    ("pearson3", (), 0.0), ("tukeylambda", (), 0.0), ("ncx2", (3.0,), 0.0), ("vonmises", (), 0.0),
]  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit[0])
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
def test_shape_parameters_have_derivatives_where_a_limit_is_taken(limit: Any, method: str) -> None:
    name, before, at = limit
    distribution = getattr(st, name)
    quantiles = np.array([0.2, 0.6])
    points = quantiles if method in ("ppf", "isf") else distribution.ppf(quantiles, *before, at)

    def f(shape: Any) -> Any:
        return np.sum(np.array([1.0, 2.0]) * getattr(distribution, method)(points, *before, shape))

    h = 0.01
    if name in ("ncx2", "vonmises"):  # at the end of their domain
        weights = zip((-25 / 12, 4, -3, 4 / 3, -1 / 4), range(5), strict=True)
        expected = sum(w * f(k * h) for w, k in weights) / h
    else:
        wide, narrow = (f(2 * h) - f(-2 * h)) / (4 * h), (f(h) - f(-h)) / (2 * h)
        expected = (4 * narrow - wide) / 3
    np.testing.assert_allclose(grad(f)(at), expected, rtol=1e-5)
