"""Distributions of `scipy.stats`, whose methods sort their arguments by code made by ``exec``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp
from mooncake_py.application import seen_calls
from tests.support.pairs import rotating

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


@pytest.mark.sampled(3)
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


@pytest.mark.sampled(2)
@pytest.mark.without_modes("second derivatives at a limit are refused")
@pytest.mark.parametrize(
    ("method", "limit"),
    rotating(["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"], LIMITS, times=2),
)
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


PLANE = np.array([[0.3, 0.7, 1.2], [0.1, 2.0, 0.4]])
CALLS = {
    "numbers": ("norm", (0.3, 0.2, 1.3)),
    "ints": ("gamma", (2, 3, 0, 2)),
    "plane and vector": ("norm", (PLANE, PLANE[0], 1.5)),
    "plane of scales": ("norm", (0.4, 0.1, PLANE)),
    "shapes across": ("gamma", (PLANE[:1], PLANE[:, :1], 0.0, 2.0)),
    "shapes larger than points": ("beta", (0.4, PLANE, 2.0, 0.0, 1.5)),
    "beyond the support": ("beta", (np.array([-0.4, 0.3, 1.4]), 1.3, 2.0)),
    "all beyond": ("expon", (np.array([-0.4, -0.3]), 0.0, 2.0)),
    "on the edge": ("expon", (np.array([0.0, 0.5]),)),
    "not a number": ("norm", (np.array([np.nan, 0.5]), 0.1, 1.0)),
    "infinite": ("norm", (np.array([np.inf, 0.5]), 0.1, 1.0)),
    "invalid scale": ("norm", (V, 0.1, -1.0)),
    "some invalid shapes": ("gamma", (V, np.array([1.3, -1.0, 2.0]))),
    "single precision": ("norm", (V.astype(np.float32), np.float32(0.1), 1.3)),
    "no points": ("norm", (V[:0], 0.1, 1.3)),
}


@pytest.mark.without_modes("values are compared: slopes at infinity are not numbers")
@pytest.mark.parametrize(
    ("method", "call"),
    rotating(["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"], CALLS, times=2),
)
def test_methods_return_what_plain_calls_return(call: str, method: str) -> None:
    name, args = CALLS[call]

    def f(*args: Any) -> Any:
        y = getattr(getattr(st, name), method)(*args)
        return np.sum(np.where(np.isfinite(y), y, 0.0)), y

    active = tuple(i for i, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    if not active:
        args, active = (*args[:-1], float(args[-1])), (len(args) - 1,)
    with np.errstate(all="ignore"):
        plain = f(*args)[1]
        _, derived = grad(f, argnums=active, has_aux=True)(*args)
    assert type(plain) is type(derived)
    np.testing.assert_allclose(np.asarray(derived), plain, rtol=1e-14, strict=True)


@pytest.mark.parametrize(
    ("method", "call"),
    rotating(["pdf", "logpdf", "cdf", "sf", "logsf", "ppf", "isf"], list(CALLS)[:7], times=2),
)
def test_derivatives_of_arrays_agree_with_differences(call: str, method: str) -> None:
    name, args = CALLS[call]
    args = tuple(np.asarray(a, float) for a in args)
    if method in ("ppf", "isf"):
        args = (np.clip(args[0], 0.1, 0.9), *args[1:])

    def f(*args: Any) -> Any:
        y = getattr(getattr(st, name), method)(*args)
        y = np.where(np.isfinite(y), y, 0.0)
        return np.sum(y * np.linspace(1, 2, y.size).reshape(y.shape))

    gradients = grad(f, argnums=tuple(range(len(args))))(*args)
    rng, h = np.random.default_rng(0), 1e-5
    for i, (gradient, a) in enumerate(zip(gradients, args, strict=True)):
        step = h * rng.uniform(0.5, 1.0, np.shape(a))
        ahead, behind = (f(*args[:i], a + s, *args[i + 1 :]) for s in (step, -step))
        np.testing.assert_allclose(np.sum(gradient * step), (ahead - behind) / 2, rtol=1e-6)


@pytest.mark.parametrize("name", ["irwinhall", "ksone", "kstwo"])
def test_a_count_has_no_derivative(name: str) -> None:
    distribution = getattr(st, name)
    q = 0.6 if name == "kstwo" else 0.4
    with pytest.raises(MooncakeError, match=r"not implemented|nditer|vectorize"):
        grad(lambda n: distribution.ppf(q, n))(5.0)
    with pytest.raises(MooncakeError, match=r"not implemented|nditer|rule"):
        grad(lambda n: distribution.cdf(q, n))(5.0)


@pytest.mark.without_modes("values are compared: slopes at the end are infinite")
@pytest.mark.parametrize(("name", "shapes"), [("genpareto", (-1.0,)), ("kappa4", (1.0, 1.0))])
def test_densities_at_the_end_of_the_support_are_those_of_the_plain_call(
    name: str, shapes: Any
) -> None:
    def f(x: Any) -> Any:
        y = getattr(st, name).logpdf(x, *shapes)
        return np.sum(y), y

    x = np.array([0.4, 1.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(grad(f, has_aux=True)(x)[1], f(x)[1])


def of_several(p: Any) -> Any:
    found = st.norm.logpdf(V, p[0], p[1]), st.gamma.cdf(V, p[1]), st.beta.ppf(V / 2, p[1], 2.0)
    return np.sum(found)


@pytest.mark.plain
def test_distributions_of_scipy_are_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[Any] = []
    monkeypatch.setattr(seen_calls, "State", lambda *args: watched.append(args))
    grad(of_several)(np.array([0.2, 1.3]))
    assert watched == []


def test_distributions_that_were_given_a_method_are_those_of_the_plain_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p = np.array([0.2, 1.3])
    for own in (st.norm, st.gamma, st.beta):
        monkeypatch.setattr(own, "_argcheck", lambda *args: np.asarray(True), raising=False)
    h = 1e-6
    steps = h * np.eye(2)
    expected = [(of_several(p + step) - of_several(p - step)) / (2 * h) for step in steps]
    np.testing.assert_allclose(grad(of_several)(p), expected, rtol=1e-7)


class Narrow(st.rv_continuous):
    """A distribution of the program."""

    def _pdf(self, x: Any) -> Any:
        return 1.5 * x**2


def test_distributions_of_the_program_with_a_name_of_scipys_are_their_own() -> None:
    own = Narrow(a=-1.0, b=1.0, name="norm")
    x = np.array([0.3, -0.7])
    np.testing.assert_allclose(grad(lambda x: np.sum(own.pdf(x)))(x), 3.0 * x, rtol=1e-12)
