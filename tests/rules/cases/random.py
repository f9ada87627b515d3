"""Cases for draws of random numbers: programs that make a generator, draw and compute."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    x, scale = draw(4), np.array([0.5, 1.5])
    return [
        Case(shuffled, (x,)),
        Case(shuffled_rows, (draw(3, 4),)),
        Case(permuted, (draw(3, 4),)),
        Case(chosen, (x,)),
        Case(shuffled_list, (x,)),
        Case(noisy, (x,)),
        Case(refilled, (x,)),
        *(
            Case(drawn, (name, 0.25, scale), label=name)
            for name in ("normal", "laplace", "logistic", "gumbel", "lognormal")
        ),
        *(Case(drawn, (name, scale), label=name) for name in ("exponential", "rayleigh")),
        *(Case(drawn, (name, 1 + scale), label=name) for name in ("weibull", "power", "pareto")),
        Case(drawn, ("uniform", scale, 2.5), label="uniform"),
        Case(drawn, ("gamma", 2, scale), label="gamma"),
        Case(drawn, ("triangular", scale, scale + 0.5, 4.5), label="triangular"),
        Case(drawn, ("vonmises", 0.25, 2), label="vonmises"),
        *(
            Case(drawn_together, (x[:3], draw(3, 3), method), label=method)
            for method in ("svd", "eigh", "cholesky")
        ),
        Case(drawn_by_python, (0.5, 1.5)),
    ]


def shuffled(x: np.ndarray) -> Any:
    """Shuffle in place between two uses."""
    before = x * x[0]
    np.random.default_rng(1).shuffle(x)
    return before * x


def shuffled_rows(x: np.ndarray) -> Any:
    """Shuffle along both axes, with the old and the new generators."""
    np.random.default_rng(1).shuffle(x, axis=1)
    np.random.RandomState(1).shuffle(x)
    return x * np.arange(12.0).reshape(3, 4)


def permuted(x: np.ndarray) -> Any:
    rng = np.random.default_rng(1)
    return rng.permuted(x, axis=1) * rng.permutation(x) * rng.permutation(x, axis=1)


def chosen(x: np.ndarray) -> Any:
    rng = np.random.default_rng(1)
    return rng.choice(x, 3) * rng.choice(x, 3, replace=False) * random.Random(1).choice(x)


def shuffled_list(x: np.ndarray) -> Any:
    """Shuffle a list of numbers with three generators."""
    items = list(x)
    np.random.default_rng(1).shuffle(items)
    np.random.RandomState(1).shuffle(items)
    random.Random(1).shuffle(items)
    return sum(i * item * item for i, item in enumerate(items))


def noisy(x: np.ndarray) -> Any:
    """Add noise that does not depend on the argument."""
    rng = np.random.default_rng(1)
    return x * rng.standard_normal(x.shape) + rng.normal(0.0, 0.1, x.shape)


def refilled(x: np.ndarray) -> Any:
    """Use one buffer for several draws."""
    rng, noise = np.random.default_rng(1), np.empty(x.shape)
    rng.random(out=noise)
    y = x * noise
    rng.standard_normal(out=noise)
    return y * x * noise


def drawn(name: str, *parameters: Any) -> Any:
    """Draw with active parameters from both kinds of generators."""
    new = getattr(np.random.default_rng(1), name)(*parameters, size=(3, 2))
    return new + 0.5 * getattr(np.random.RandomState(1), name)(*parameters, (3, 2))


def drawn_together(mean: np.ndarray, a: np.ndarray, method: Any) -> Any:
    """Draw several numbers with a covariance, by each factorization and by the old generator."""
    cov = a @ a.T + np.diag(np.arange(1.0, len(a) + 1))
    new = np.random.default_rng(1).multivariate_normal(mean, cov, (2, 2), method=method)
    return new + 0.5 * np.random.RandomState(1).multivariate_normal(mean, cov, (2, 2))


def drawn_by_python(a: float, b: float) -> float:
    generator = random.Random(1)
    return generator.uniform(a, b) * generator.gauss(a, b) + generator.normalvariate(a, b)
