"""Callbacks of solvers that draw random numbers: the derivative draws no others."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")

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
