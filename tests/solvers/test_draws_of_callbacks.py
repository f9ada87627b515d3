"""Callbacks of solvers that draw random numbers: the derivative draws no others."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, checkpoint, hessian, jvp, value_and_grad
from tests.support.pairs import rotating
from tests.support.values_and_slopes import check_values_and_slopes

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
stats = pytest.importorskip("scipy.stats")

SOURCES: dict[str, Any] = {
    "Generator": lambda: np.random.default_rng(1).random,
    "RandomState": lambda: np.random.RandomState(1).random_sample,
    "Random": lambda: random.Random(1).random,
    "module of NumPy": lambda: (np.random.seed(1), np.random.random_sample)[1],  # noqa: NPY002
    "module": lambda: (random.seed(1), random.random)[1],
}
SOLVERS: dict[str, Any] = {
    "quad": lambda g: integrate.quad(g, 0, 1)[0],
    "brentq": lambda g: optimize.brentq(lambda t: g(t) - 0.7, -3, 3),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("source", SOURCES)
def test_numbers_drawn_are_those_of_the_plain_call(source: str, solver: str) -> None:
    def f(x, draw):
        def g(t):
            return x * t + 0.0 * draw()

        return SOLVERS[solver](g) * draw()

    draw = SOURCES[source]()
    expected, after = f(1.5, draw), draw()
    slope = expected / 1.5 * (1 if solver == "quad" else -1)
    for derive in (
        lambda f: value_and_grad(f)(1.5),
        lambda f: jvp(f, (1.5,), (1.0,)),
        lambda f: value_and_grad(lambda x: checkpoint(f, x))(1.5),
        lambda f: value_and_grad(f, debug=True)(1.5),
    ):
        draw = SOURCES[source]()
        value, found = derive(lambda x, draw=draw: f(x, draw))
        assert value == expected
        assert found == pytest.approx(slope)
        assert draw() == after


# A sample that is drawn in the first call, and kept: common random numbers.


class Expected:
    def __init__(self, p: Any, draw: Any) -> None:
        self.p, self.draw = p, draw
        self.sample: Any = None

    def spread(self, x: Any) -> Any:
        if self.sample is None:
            self.sample = np.array([self.draw() for _ in range(5)])
        return x - self.p[1] - self.p[0] * self.sample

    def cost(self, x: Any) -> Any:
        return np.mean(self.spread(x) ** 2)


TIGHT: Any = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
SAMPLED: dict[str, Any] = {
    "minimize_scalar": lambda f: optimize.minimize_scalar(f.cost, bracket=(0, 1)).fun,
    "minimize": lambda f: optimize.minimize(lambda x: f.cost(x[0]), [0.0]).fun,
    "least_squares": lambda f: (
        optimize.least_squares(lambda x: f.spread(x[0]), [0.0], **TIGHT).cost
    ),
    "x of least_squares": lambda f: optimize.least_squares(
        lambda x: f.spread(x[0]), [0.0], **TIGHT
    ).x[0],
    "curve_fit": lambda f: optimize.curve_fit(
        lambda t, a: f.spread(a * t), np.ones(5), np.zeros(5), p0=[0.0]
    )[0][0],
    "brentq": lambda f: optimize.brentq(lambda x: np.sum(f.spread(x)), -9, 9, xtol=1e-14),
    "quad": lambda f: integrate.quad(lambda x: f.cost(x), 0, 1)[0],
}
P = np.array([1.0, 0.5])


def differences(f: Any) -> np.ndarray:
    return np.array([(f(P + 1e-4 * e) - f(P - 1e-4 * e)) / 2e-4 for e in np.eye(2)])


@pytest.mark.parametrize(("source", "name"), rotating(SOURCES, SAMPLED, times=2))
def test_a_sample_that_the_first_call_keeps(source: str, name: str) -> None:
    def f(p):
        draw = SOURCES[source]()
        return SAMPLED[name](Expected(p, draw)) * (1 + draw())

    check_values_and_slopes(f, P, differences(f), atol=1e-6)


def test_second_derivatives_have_the_same_sample() -> None:
    def f(p):
        return SAMPLED["minimize_scalar"](Expected(p, SOURCES["Generator"]()))

    draw = SOURCES["Generator"]()
    sample = np.array([draw() for _ in range(5)])
    np.testing.assert_allclose(hessian(f)(P), np.diag([2 * np.var(sample), 0.0]), atol=1e-8)


def test_a_sample_of_a_minimum_in_many_variables() -> None:
    n = 200

    def f(p):
        rng = np.random.default_rng(3)
        kept = []

        def cost(x):
            if not kept:
                kept.append(rng.random(n))
            return np.sum((x - p[0]) ** 2 * (1 + kept[0])) + np.sum((x - p[1]) ** 4)

        found = optimize.minimize(
            cost, np.zeros(n), method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-9}
        )
        return found.x.sum() * rng.random()

    value, g = value_and_grad(f)(P)
    assert value == f(P)
    rng = np.random.default_rng(3)
    weights = 2 * (1 + rng.random(n))
    x = optimize.minimize(  # of each variable by itself
        lambda x: np.sum((x - P[0]) ** 2 * weights / 2) + np.sum((x - P[1]) ** 4),
        np.ones(n), method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-9},
    ).x  # fmt: skip
    share = weights / (weights + 12 * (x - P[1]) ** 2)
    np.testing.assert_allclose(g[0], np.sum(share) * rng.random(), rtol=1e-4)


NAMED: dict[str, Any] = {
    "np.random": lambda: np.random.random(),  # noqa: NPY002
    "random": lambda: random.random(),
    "a distribution": lambda: stats.norm.rvs(),
    "a frozen distribution": lambda: stats.gamma(2.0).rvs(),
}


@pytest.mark.parametrize("name", NAMED)
def test_generators_that_nothing_refers_to(name: str) -> None:
    def f(p):
        np.random.seed(4)  # noqa: NPY002
        random.seed(4)
        return SAMPLED["minimize_scalar"](Expected(p, NAMED[name])) + NAMED[name]()

    value, g = value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(g, differences(f), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("source", "name"), rotating(SOURCES, ["minimize_scalar", "minimize", "least_squares", "quad"])
)
def test_numbers_drawn_in_each_evaluation_are_refused(source: str, name: str) -> None:
    class Noisy(Expected):
        def spread(self, x: Any) -> Any:
            return x - self.p[1] - self.p[0] * self.draw() * np.ones(1)

    def f(p):
        return SAMPLED[name](Noisy(p, SOURCES[source]()))

    for derive in (lambda: value_and_grad(f)(P), lambda: jvp(f, (P,), (P,))):
        with pytest.raises(SolverError, match="depends on where it was called before"):
            derive()


# Children of generators, which only those that they come from count.


PARENTS: dict[str, Any] = {
    "SeedSequence": lambda: np.random.SeedSequence(5),
    "BitGenerator": lambda: np.random.Philox(5),
    "Generator": lambda: np.random.default_rng(5),
}


@pytest.mark.parametrize("name", PARENTS)
def test_children_are_those_of_the_plain_call(name: str) -> None:
    def f(x):
        parent = PARENTS[name]()

        def residual(p):
            parent.spawn(1)
            return p**3 + p - x

        root = optimize.brentq(residual, 0.0, 5.0)
        child = parent.spawn(1)[0]
        return root * np.random.default_rng(child).random()

    value = f(2.0)
    for derivative in (
        lambda: value_and_grad(f)(2.0),
        lambda: jvp(f, (2.0,), (1.0,)),
        lambda: value_and_grad(lambda x: checkpoint(f, x))(2.0),
    ):
        found, slope = derivative()
        assert found == value
        assert slope == pytest.approx(value / 4)
