"""`jvp` and `hvp` with respect to numbers, next to objects that change from call to call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp
from mooncake_py.compiler.sites import choice
from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.runtime.compilation import is_installed
from tests.modes.reverse.test_whole_again import Body, Heavy, of_captured, same

pytestmark = pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite")
CALLS = 30
X = np.array([0.3, 0.7])


def of_objects(bodies, x):
    return bodies[0].energy(x) * bodies[1].mass * x + bodies[1].at[0]


def along(bodies, x, way):
    return jvp(of_objects, (bodies, x), (None, 0.5), compile=way)


def second(bodies, x, way):
    return hvp(of_objects, (bodies, x), 0.5, 1, compile=way)


@pytest.fixture(autouse=True)
def pays(monkeypatch):
    """Let compiled code be faster by the clock."""
    monkeypatch.setattr(choice.Choice, "way", lambda self, is_busy=False: choice.COMPILED)
    monkeypatch.setattr(choice.Choice, "ran", lambda self, seconds: setattr(self, "pays", True))


@pytest.mark.parametrize("kind", [along, second])
def test_changes_of_objects_are_noticed(kind, monkeypatch):
    quick: list[bool] = []
    original: Any = CalledAgain.__call__

    def noted(self, *given):
        y = original(self, *given)
        quick.append(y is not None)
        return y

    monkeypatch.setattr(CalledAgain, "__call__", noted)
    bodies = [Body(1.0, np.ones(2)), Heavy(2.0, np.ones(3))]

    def check(bodies, x):
        same(kind(bodies, x, True), kind(bodies, x, False))

    for _ in range(CALLS):
        kind(bodies, 0.5, True)
    assert quick[-1]
    bodies[0].mass = 3.0
    check(bodies, 0.5)
    assert quick[-1]
    bodies[0].other = 1.0
    check(bodies, 0.5)
    bodies[1].at = np.ones(5)
    check(bodies, 0.5)
    bodies[1].at = bodies[0].at
    check(bodies, 0.5)
    bodies[1] = bodies[0]
    check(bodies, 0.5)
    check([*bodies, bodies[0]], 0.5)
    check(tuple(bodies), np.float64(0.5))
    monkeypatch.setattr(Body, "energy", lambda self, x: x**3 * self.mass)
    check([Body(1.0, np.ones(2)), Heavy(2.0, np.ones(3))], 0.5)


def test_they_nest():
    def slope(x):
        return jvp(of_captured, (x,), (np.array([1.0, 0.0]),), compile=True)[1]

    for _ in range(CALLS):
        slope(X)
    same(grad(slope)(X), grad(lambda x: x[0] + x[1] * 1.5)(X))


def test_functions_of_one_code_keep_what_they_captured():
    def made(c):
        return lambda x: (x * x * c).sum()

    functions: list[Any] = [made(c) for c in (1.0, 2.0, np.array([3.0, 1.0]))]
    for _ in range(2 * CALLS):
        for f in functions:
            same(jvp(f, (X,), (X,), compile=True), jvp(f, (X,), (X,)))
            same(hvp(f, (X,), X, compile=True), hvp(f, (X,), X))
