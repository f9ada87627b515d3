"""Draws are differentiated in their shapes as quantiles of a probability that is held fixed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import MissingRuleError, checkpoint, grad, hvp, jvp, value_and_grad, vjp
from tests.support.pairs import rotating

stats: Any = pytest.importorskip("scipy.stats")
pytestmark = pytest.mark.without_modes("differences of draws are not their slopes", "inside")

FAMILIES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "standard_gamma": (lambda a: stats.gamma(a), (2.3,)),
    "gamma": (lambda a, scale: stats.gamma(a, scale=scale), (0.4, 1.7)),
    "chisquare": (lambda df: stats.chi2(df), (3.2,)),
    "beta": (lambda a, b: stats.beta(a, b), (0.6, 2.3)),
    "f": (lambda n, d: stats.f(n, d), (3.5, 5.2)),
    "standard_t": (lambda df: stats.t(df), (4.5,)),
    "wald": (lambda m, s: stats.invgauss(m / s, scale=s), (1.3, 2.1)),
    "noncentral_chisquare": (lambda df, nc: stats.ncx2(df, nc), (2.5, 1.4)),
    "noncentral_f": (lambda n, d, nc: stats.ncf(n, d, nc), (3.5, 6.2, 1.4)),
}
GENERATORS = {"Generator": np.random.default_rng, "RandomState": np.random.RandomState}


def draws(make: Any, name: str, size: int = 40) -> Any:
    """Return the function of parameters that draws from a generator with a seed."""
    return lambda *parameters: getattr(make(3), name)(*parameters, size)


def at_fixed_probability(name: str, y: Any, *parameters: float) -> Any:
    """Return the function of parameters that is the quantile of draws' probability."""
    family = FAMILIES[name][0]
    below, above = family(*parameters).cdf(y), family(*parameters).sf(y)

    def quantile(*moved: float) -> Any:
        there = family(*moved)
        return np.where(below < above, there.ppf(below), there.isf(above))

    return quantile


def slope(f: Any, i: int, parameters: tuple[float, ...], h: float) -> Any:
    """Return a difference of fourth order."""

    def at(step: float) -> Any:
        return f(*parameters[:i], parameters[i] + step, *parameters[i + 1 :])

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


@pytest.mark.parametrize(("name", "kind"), rotating(sorted(FAMILIES), GENERATORS))
def test_the_probability_of_a_draw_is_held(name: str, kind: str) -> None:
    f, parameters = draws(GENERATORS[kind], name), FAMILIES[name][1]
    y, pullback = vjp(f, *parameters)
    assert_array_equal(y, f(*parameters))
    weights = 1.0 / (1.0 + y**2)
    quantile = at_fixed_probability(name, y, *parameters)
    for i, cotangent in enumerate(pullback(weights)):
        expected = slope(quantile, i, parameters, 1e-3)
        assert_allclose(cotangent, weights @ expected, rtol=1e-6)
        direction = tuple(float(i == j) for j in range(len(parameters)))
        value, tangent = jvp(f, parameters, direction)
        assert_array_equal(value, y)
        assert_allclose(tangent, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["standard_gamma", "beta", "wald", "standard_t"])
def test_second_derivatives_hold_it_too(name: str) -> None:
    f, parameters = draws(np.random.default_rng, name, 12), FAMILIES[name][1]
    quantile = at_fixed_probability(name, f(*parameters), *parameters)
    rest = parameters[1:]

    def loss(a: Any) -> Any:
        return np.sum(np.sin(f(a, *rest)))

    h, a = 1e-2, parameters[0]
    values = [np.sum(np.sin(quantile(a + k * h, *rest))) for k in (-2, -1, 0, 1, 2)]
    second = np.array([-1, 16, -30, 16, -1]) @ values / (12 * h * h)
    assert_allclose(hvp(loss, (a,), 1.0), second, rtol=1e-4)


def test_gradients_of_means_of_dirichlet_draws() -> None:
    alpha = np.array([0.7, 2.0, 1.3, 0.4])

    def product(alpha: Any) -> Any:
        y = np.random.default_rng(0).dirichlet(alpha, 2_000)
        return np.mean(y[:, 0] * y[:, 2]), np.mean(y[:, 3])

    def exact(alpha: Any) -> Any:
        total = np.sum(alpha)
        return alpha[0] * alpha[2] / (total * (total + 1)), alpha[3] / total

    for i in range(2):
        value, gradient = value_and_grad(lambda a, i=i: product(a)[i])(alpha)
        assert value == product(alpha)[i]
        assert_allclose(gradient, grad(lambda a, i=i: exact(a)[i])(alpha), atol=2e-2)


@pytest.mark.parametrize("seed", [0, 1])
def test_dirichlet_draws_sum_to_one(seed: int) -> None:
    alpha, size = (np.array([0.02, 0.05, 0.03]), np.array([3.0, 0.5, 9.0]))[seed], (3, 2)
    _, pullback = vjp(lambda a: np.random.RandomState(seed).dirichlet(a, size), alpha)
    assert_allclose(pullback(np.ones((3, 2, 3)))[0], np.zeros(3), atol=1e-10)
    _, tangent = jvp(lambda a: np.random.default_rng(seed).dirichlet(a), (alpha,), (alpha,))
    assert_allclose(np.sum(tangent), 0.0, atol=1e-10)


def test_parameters_of_several_shapes() -> None:
    a, b = np.array([[0.5], [3.0]]), np.array([1.0, 2.0, 40.0])

    def f(a: Any, b: Any) -> Any:
        rng = np.random.default_rng(1)
        return np.sum(rng.beta(a, b) * rng.gamma(a, b, (4, 2, 3)))

    da, db = grad(f, argnums=(0, 1))(a, b)
    assert (da.shape, db.shape) == (a.shape, b.shape)
    parts = [
        grad(lambda v, i=i, j=j: f(a + v * (np.arange(2)[:, None] == i), b))(0.0)
        for i in range(2) for j in (0,)
    ]  # fmt: skip
    assert_allclose(da[:, 0], parts, rtol=1e-12)


def test_draws_at_the_ends_of_their_range() -> None:
    def f(a: Any) -> Any:
        rng = np.random.default_rng(2)
        return np.sum(rng.standard_gamma(a, 200)), np.sum(rng.beta(a, a, 200)), rng

    y, pullback = vjp(lambda a: f(a)[:2], 1e-4)  # most of these underflow, or round to one
    assert np.all(np.isfinite([*y, *pullback((1.0, 1.0))]))
    assert grad(lambda a: f(a)[0])(1e-4) > 0


def test_single_precision_and_out() -> None:
    def f(a: Any) -> Any:
        rng, into = np.random.default_rng(1), np.empty(3, np.float32)
        rng.standard_gamma(a, dtype=np.float32, out=into)
        return into.sum() + rng.standard_gamma(a, 3, np.float32).sum()

    value, gradient = value_and_grad(f)(2.5)
    assert value == f(2.5)
    values = np.random.default_rng(1).standard_gamma(2.5, 6, np.float32).astype(float)
    quantile = at_fixed_probability("standard_gamma", values, 2.5)
    assert_allclose(gradient, np.sum(slope(quantile, 0, (2.5,), 1e-3)), rtol=1e-5)


def test_checkpoints_loops_and_compiled_code() -> None:
    def walk(a: Any) -> Any:
        rng, x = np.random.default_rng(4), np.zeros(3)
        for _ in range(5):
            x += rng.gamma(a, 0.5, 3) * np.cos(x) + rng.standard_gamma(a)
        return np.sum(x**2)

    value, gradient = value_and_grad(walk)(1.4)
    assert value_and_grad(lambda a: checkpoint(walk, a))(1.4) == (value, gradient)
    assert_allclose(value_and_grad(walk, compile=True)(1.4), (value, gradient), rtol=1e-12)
    assert_allclose(grad(lambda a: grad(walk)(a) * a)(1.4), gradient + 1.4 * hvp(walk, (1.4,), 1.0))


@pytest.mark.parametrize("name", ["gamma", "beta", "chi2", "t", "f", "invgauss", "dirichlet"])
def test_rvs_of_scipy(name: str) -> None:
    family = getattr(stats, name)
    count = {"beta": 2, "f": 2}.get(name, 1)

    def mean(p: Any) -> Any:
        rng = np.random.default_rng(5)
        if name == "dirichlet":
            return np.mean(family(p).rvs(1000, random_state=rng)[:, 0])
        return np.mean(family.rvs(*p[:count], loc=0.1, scale=1.5, size=1000, random_state=rng))

    def exact(p: Any) -> Any:
        return family(p).mean()[0] if name == "dirichlet" else family.mean(*p[:count], 0.1, 1.5)

    p = np.array([4.3, 6.7])
    steps = 1e-5 * np.eye(2)
    expected = [(exact(p + h) - exact(p - h)) / 2e-5 for h in steps]
    value, gradient = value_and_grad(mean)(p)
    assert value == mean(p)
    assert_allclose(gradient, expected, atol=0.1)


def test_integers_jump() -> None:
    for make in GENERATORS.values():
        with pytest.raises(MissingRuleError, match="poisson cannot be differentiated") as caught:
            grad(lambda rate, make=make: make(0).poisson(rate) * rate)(3.0)
        assert "integers" in caught.value.why
    with pytest.raises(MissingRuleError, match="poisson"):
        grad(lambda rate: stats.poisson.rvs(rate, random_state=0) * rate)(3.0)


def test_draws_of_python() -> None:
    def means(a: Any) -> Any:
        rng = random.Random(3)
        draws = [(rng.gammavariate(a, 2.0), rng.betavariate(a, 2.0)) for _ in range(400)]
        return np.mean(np.array(draws), axis=0)

    assert_array_equal(vjp(means, 2.5)[0], means(2.5))
    slopes = [grad(lambda a, i=i: means(a)[i])(2.5) for i in range(2)]
    assert_allclose(slopes, [2.0, 2.0 / 4.5**2], atol=0.06)
    quantile = at_fixed_probability("gamma", random.Random(1).gammavariate(1.7, 0.4), 1.7, 0.4)
    found = grad(lambda a, b: random.Random(1).gammavariate(a, b), argnums=(0, 1))(1.7, 0.4)
    assert_allclose(found, [slope(quantile, i, (1.7, 0.4), 1e-3) for i in range(2)], rtol=1e-6)
    second = hvp(lambda a: random.Random(1).gammavariate(a, 0.4), (1.7,), 1.0)
    expected = [slope(quantile, 0, (1.7 + h, 0.4), 1e-3) for h in (-1e-3, 1e-3)]
    assert_allclose(second, (expected[1] - expected[0]) / 2e-3, rtol=1e-4)
    assert grad(lambda mu: random.Random(1).vonmisesvariate(mu, 2.0) ** 2 / 2)(0.3) == (
        random.Random(1).vonmisesvariate(0.3, 2.0)
    )
    with pytest.raises(MissingRuleError, match="argument 2 is not implemented"):
        grad(lambda kappa: random.Random(1).vonmisesvariate(0.3, kappa))(2.0)


def test_a_generator_from_outside_in_a_part_that_runs_again() -> None:
    def f(a: Any, rng: Any, part: Any) -> Any:
        return part(lambda: np.sum(rng.standard_gamma(a, 3) * rng.beta(a, 2.0, 3))) * rng.normal()

    def derivative(part: Any) -> Any:
        rng = np.random.default_rng(1)
        return value_and_grad(lambda a: f(a, rng, part))(1.4)

    assert derivative(checkpoint) == derivative(lambda g: g())
