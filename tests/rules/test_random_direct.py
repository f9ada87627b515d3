"""Draws move the generators as the originals do; pathwise derivatives match differences."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, RandomState
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import MissingRuleError, grad, value_and_grad, vjp
from mooncake_py.rules import random as rules
from mooncake_py.rules import registry, shuffling
from mooncake_py.rules.kinds import ZeroDerivativeRule
from tests.rules.equal_calls import assert_same_call
from tests.support.pairs import rotating

X = np.arange(24.0).reshape(4, 3, 2)


def generator() -> Generator:
    return np.random.default_rng(5)


def legacy() -> RandomState:
    return np.random.RandomState(5)


CALLS: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = [
    (shuffling.shuffle, Generator.shuffle, (generator(), X[:, 0, 0].copy()), {}),
    (shuffling.shuffle, Generator.shuffle, (generator(), X.astype(np.float32)), {}),
    (shuffling.shuffle, Generator.shuffle, (generator(), X), {"axis": 1}),
    (shuffling.shuffle, Generator.shuffle, (generator(), X[::-1, :, ::-1]), {"axis": -1}),
    (shuffling.shuffle, Generator.shuffle, (generator(), [1.0, 2, 3, "a"]), {}),
    (shuffling.shuffle, Generator.shuffle, (generator(), [1.0, 2, 3, "a"]), {"axis": 1}),
    (shuffling.shuffle, Generator.shuffle, (generator(), (1, 2)), {}),
    (shuffling.permutation, Generator.permutation, (generator(), 7), {}),
    (shuffling.permutation, Generator.permutation, (generator(), X), {}),
    (shuffling.permutation, Generator.permutation, (generator(), X[:, 0, 0].copy()), {}),
    (shuffling.permutation, Generator.permutation, (generator(), X), {"axis": 1}),
    (shuffling.permutation, Generator.permutation, (generator(), [1.5, 2.5, 3.5]), {}),
    (shuffling.permuted, Generator.permuted, (generator(), X), {}),
    (shuffling.permuted, Generator.permuted, (generator(), X), {"axis": 1}),
    (
        shuffling.permuted,
        Generator.permuted,
        (generator(), X),
        {"axis": 0, "out": np.zeros_like(X)},
    ),
    (shuffling.choice, Generator.choice, (generator(), 9), {}),
    (shuffling.choice, Generator.choice, (generator(), X), {}),
    (shuffling.choice, Generator.choice, (generator(), X, (2, 2)), {"axis": 1}),
    (shuffling.choice, Generator.choice, (generator(), X[:, 0, 0], 3, False), {"shuffle": False}),
    (shuffling.choice, Generator.choice, (generator(), X[:2, 0, 0], 3), {"p": [0.3, 0.7]}),
]


@pytest.mark.parametrize(("ours", "theirs", "args", "kwargs"), CALLS)
def test_order_equals_numpy_with_equal_seed(ours: Any, theirs: Any, args: Any, kwargs: Any) -> None:
    assert_same_call(ours, theirs, *args, **kwargs)


@pytest.mark.parametrize(
    ("ours", "theirs", "args"),
    [
        (shuffling.legacy_shuffle, RandomState.shuffle, (X,)),
        (shuffling.legacy_shuffle, RandomState.shuffle, (X[:, 0, 0].copy(),)),
        (shuffling.legacy_shuffle, RandomState.shuffle, ([1.0, 2.0, 3.0],)),
        (shuffling.legacy_permutation, RandomState.permutation, (X,)),
        (shuffling.legacy_permutation, RandomState.permutation, (5,)),
        (shuffling.legacy_choice, RandomState.choice, (X[:, 0, 0].copy(), 6)),
        (shuffling.legacy_choice, RandomState.choice, (5, 3, False)),
    ],
)
def test_legacy_order_equals_numpy(ours: Any, theirs: Any, args: tuple[Any, ...]) -> None:
    a, b = legacy(), legacy()
    x, y = ([v.copy() if hasattr(v, "copy") else v for v in args] for _ in range(2))
    got, expected = ours(a, *x), theirs(b, *y)
    assert_array_equal(got, expected)
    assert_array_equal(x[0], y[0])
    assert a.random_sample() == b.random_sample()


@pytest.mark.parametrize(
    ("ours", "theirs", "args"),
    [
        (shuffling.python_shuffle, random.Random.shuffle, ([1.0, 2.0, 3.0, 4.0],)),
        (shuffling.python_shuffle, random.Random.shuffle, (X[:, 0, 0].copy(),)),
        (rules.python_uniform, random.Random.uniform, (2.0, 5.0)),
        (rules.python_gauss, random.Random.gauss, (2.0, 5.0)),
        (rules.python_normalvariate, random.Random.normalvariate, (2.0, 5.0)),
        (shuffling.python_choice, random.Random.choice, ([1.0, 2.0, 3.0],)),
        (shuffling.python_choices, random.Random.choices, ([1.0, 2.0, 3.0], [1, 2, 3])),
    ],
)
def test_python_draws_equal_the_originals(ours: Any, theirs: Any, args: tuple[Any, ...]) -> None:
    a, b = random.Random(3), random.Random(3)
    x, y = ([v.copy() if hasattr(v, "copy") else v for v in args] for _ in range(2))
    got, expected = ours(a, *x), theirs(b, *y)
    assert got == expected
    assert_array_equal(x[0], y[0])
    assert a.random() == b.random()


FAMILIES: list[tuple[str, tuple[Any, ...]]] = [
    ("normal", (1.5, 0.7)), ("normal", (np.array([1.0, 2.0]), 0.7)), ("laplace", (1.5, 0.7)),
    ("logistic", (1.5, 0.7)), ("gumbel", (1.5, 0.7)), ("uniform", (1.5, 2.7)),
    ("exponential", (0.7,)), ("weibull", (1.7,)), ("power", (1.7,)), ("pareto", (1.7,)),
    ("triangular", (0.5, 0.7, 2.0)),
    ("rayleigh", (0.7,)), ("lognormal", (0.5, 0.7)), ("normal", (1.5, np.array([0.7, 0.8]))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameters", "make"),
    [(*given, make) for given, make in rotating(FAMILIES, [generator, legacy])],
)
def test_pathwise_derivatives_match_differences(name: str, parameters: Any, make: Any) -> None:
    def draw(*values: Any) -> Any:
        return getattr(make(), name)(*values, size=(3, 2))

    rule = registry.find(getattr(type(make()), name)).rule  # type: ignore[union-attr]
    y, pullback = rule(make(), *parameters, size=(3, 2))
    assert_array_equal(y, draw(*parameters))
    dy = np.random.default_rng(0).standard_normal((3, 2))
    given = pullback(dy)
    assert given[0] is None
    for i, parameter in enumerate(parameters):
        g = given[i + 1]() if callable(given[i + 1]) else given[i + 1]
        h = 1e-6 * np.ones(np.shape(parameter))
        others = [list(parameters), list(parameters)]
        others[0][i], others[1][i] = parameter + h, parameter - h
        expected = np.vdot(dy, draw(*others[0]) - draw(*others[1])) / 2e-6
        assert_allclose(np.sum(g), expected, rtol=1e-7)


ZERO = np.array([0.0, 0.7])
ZERO_SCALES: list[tuple[str, tuple[Any, ...], int]] = [
    *((name, (1.5, 0.0), 1) for name in ("normal", "laplace", "logistic", "gumbel", "lognormal")),
    *((name, (1.5, ZERO), 1) for name in ("normal", "lognormal")),
    ("exponential", (0.0,), 0), ("rayleigh", (0.0,), 0), ("gamma", (1.7, 0.0), 1),
    ("gamma", (1.7, ZERO), 1), ("uniform", (1.5, 1.5), 1), ("uniform", (1.5, 1.5 + ZERO), 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameters", "i", "make"),
    [(*given, make) for given, make in rotating(ZERO_SCALES, [generator, legacy])],
)
def test_scales_of_zero_have_the_derivative_of_others(
    name: str, parameters: Any, i: int, make: Any
) -> None:
    rule = registry.find(getattr(type(make()), name)).rule  # type: ignore[union-attr]
    ours, theirs = make(), make()
    y, pullback = rule(ours, *parameters, size=(3, 2))
    assert_array_equal(y, getattr(theirs, name)(*parameters, size=(3, 2)))
    assert ours.standard_normal() == theirs.standard_normal()
    dy = np.random.default_rng(0).standard_normal((3, 2))
    given = pullback(dy)
    h, others = 1e-7, list(parameters)
    others[i] = others[i] + h
    expected = dy * (getattr(make(), name)(*others, size=(3, 2)) - y) / h
    assert_allclose(given[i + 1]() if callable(given[i + 1]) else given[i + 1], expected, rtol=1e-5)


def test_spreads_of_zero_in_programs() -> None:
    def f(x):
        return np.sum(generator().normal(x, 0 * x, size=3) * WEIGHTS)

    z = generator().standard_normal(3)
    assert grad(f)(2.0) == pytest.approx(np.sum(WEIGHTS))
    assert grad(lambda s: np.sum(generator().normal(1.0, s, size=3) * WEIGHTS))(
        0.0
    ) == pytest.approx(z @ WEIGHTS)


WEIGHTS = np.array([1.0, -2.0, 0.5])


def test_every_method_of_the_generators_is_declared() -> None:
    for owner in (Generator, RandomState):
        for name, method in vars(owner).items():
            if not name.startswith("_") and callable(method):
                assert registry.find(method) is not None, name
    assert isinstance(registry.find(Generator.integers), ZeroDerivativeRule)


@pytest.mark.parametrize(
    ("name", "args"),
    [("random", ()), ("standard_normal", ()), ("standard_exponential", ()),
     ("standard_gamma", (2.5,))],
)  # fmt: skip
def test_draws_overwrite_the_active_array_that_is_given(name: str, args: tuple[Any, ...]) -> None:
    def refilled(x: Any) -> Any:
        y = x * x
        total = y.sum()
        got = getattr(generator(), name)(*args, out=y)
        assert got is y
        return total + (y * x).sum()

    x = np.array([1.0, 2.0, 3.0])
    filling = getattr(generator(), name)(*args, size=3)
    assert_allclose(grad(refilled)(x), 2 * x + filling)


@pytest.mark.parametrize(
    ("name", "make"), rotating(sorted(rules.CONSTANT_PARAMETERS), [generator, legacy])
)
def test_parameters_of_draws_of_integers_are_refused(name: str, make: Any) -> None:
    method = getattr(type(make()), name, None)
    if method is None:
        pytest.skip("the old generators lack it")

    def draws(x: float) -> Any:
        return x * np.sum(method(make(), x, x))

    with pytest.raises(MissingRuleError, match=f"{name} cannot be differentiated"):
        grad(draws)(2.0)


@pytest.mark.plain
def test_kappa_is_refused_and_mu_is_not() -> None:
    with pytest.raises(MissingRuleError, match="argument 2 is not implemented") as caught:
        grad(lambda kappa: generator().vonmises(0.5, kappa))(2.0)
    assert "it is the parameter 'kappa'; argument 0 is the generator" in caught.value.why
    assert caught.value.__notes__ == ["mooncake_py: debug=True names the line"]
    with pytest.raises(MissingRuleError) as caught:
        grad(lambda kappa: generator().vonmises(0.5, kappa), debug=True)(2.0)
    assert caught.value.where is not None
    assert not hasattr(caught.value, "__notes__")
    assert_allclose(grad(lambda mu: generator().vonmises(mu, 2.0))(0.5), 1.0)


@pytest.mark.parametrize("make", [generator, legacy], ids=["Generator", "RandomState"])
@pytest.mark.parametrize("size", [None, (4, 2)])
def test_multivariate_normal_draws_what_numpy_draws(make: Any, size: Any) -> None:
    mean, cov = np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    ours, theirs = make(), make()
    (y, following), pullback = vjp(
        lambda m: (ours.multivariate_normal(m, cov, size), ours.normal(m)), mean
    )
    assert_allclose(y, theirs.multivariate_normal(mean, cov, size), rtol=1e-14)
    assert_array_equal(following, theirs.normal(mean))
    (dmean,) = pullback((np.ones_like(y), np.zeros(2)))
    assert_allclose(dmean, np.full(2, y.size / 2))


@pytest.mark.parametrize("make", [generator, legacy], ids=["Generator", "RandomState"])
def test_normal_draws_of_equal_variances(make: Any) -> None:
    """E of exp(a y) is exp(a m + a S a / 2), at a covariance whose eigenvectors are free."""
    a, mean, cov = np.array([0.3, -0.4, 0.2]), np.array([0.1, 0.2, 0.0]), 0.7 * np.eye(3)

    def estimate(mean: Any, cov: Any) -> Any:
        return np.mean(np.exp(make().multivariate_normal(mean, cov, 4000) @ a))

    def exact(mean: Any, cov: Any) -> Any:
        return np.exp(a @ mean + a @ cov @ a / 2)

    value, gradients = value_and_grad(estimate, argnums=(0, 1))(mean, cov)
    assert_allclose(value, estimate(mean, cov), rtol=1e-14)
    for found, expected in zip(gradients, grad(exact, argnums=(0, 1))(mean, cov), strict=True):
        assert_allclose(found, expected, atol=0.03)

    def along(t: Any) -> Any:
        return estimate(mean, cov + t * np.diag([1.0, 2.0, 0.5]))

    def exact_along(t: Any) -> Any:
        return exact(mean, cov + t * np.diag([1.0, 2.0, 0.5]))

    assert_allclose(grad(grad(along))(0.0), grad(grad(exact_along))(0.0), atol=0.02)
    y, pullback = vjp(lambda s: make().multivariate_normal(mean[:2], s * np.eye(2)), 2.0)
    assert_allclose(pullback(np.ones(2))[0], np.sum(y - mean[:2]) / 4)


@pytest.mark.parametrize("generator", [generator, legacy])
def test_von_mises_draws_of_a_tiny_kappa_leave_the_mean_out(generator: Any) -> None:
    kappa = np.array([0.0, 1e-9, 1e-8, 1.0, 1e7])

    def f(mu: Any) -> Any:
        return generator().vonmises(mu, kappa)

    slopes = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert_allclose(slopes, [0, 0, 1, 1, 1], atol=1e-6)
    assert_array_equal([vjp(f, 0.7)[1](e)[0] for e in np.eye(5)], [0, 0, 1, 1, 1])
    assert grad(lambda mu: generator().vonmises(mu, 0.0))(0.7) == 0.0
