"""Compiled gradients called again: by one printed function, which notices what has changed."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, local_rules, value_and_grad
from mooncake_py.compiler.sites import choice
from mooncake_py.modes.reverse import whole_again
from mooncake_py.runtime.allowance import Allowance, allowing
from mooncake_py.runtime.compilation import is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite")
CALLS = 30


class Body:
    def __init__(self, mass, at):
        self.mass = mass
        self.at = at

    def energy(self, x):
        return 0.5 * self.mass * x * x + (self.at * x).sum()


class Heavy(Body):
    pass


FACTOR = 2.0
ARRAY = np.array([0.5, 1.5])


def of_array(x, n):
    total = 0.0
    for i in range(n):
        total += (x * x).sum() * FACTOR + i
    return total


def of_objects(bodies, x):
    return bodies[0].energy(x) * bodies[1].mass + bodies[1].at[0]


def of_captured(x):
    return (x * ARRAY).sum() * x[0]


def with_aux(x, y):
    return (x * y).sum(), x * 2.0


def writes(x):
    x[0] = x[0] * x[1]
    return x.sum()


@pytest.fixture(autouse=True)
def pays(monkeypatch):
    """Let compiled code be faster by the clock."""
    monkeypatch.setattr(choice.Choice, "way", lambda self, is_busy=False: choice.COMPILED)
    monkeypatch.setattr(choice.Choice, "ran", lambda self, seconds: setattr(self, "pays", True))


@pytest.fixture
def quick(monkeypatch):
    """Whether the printed function took each call that it was asked about."""
    found: list[bool] = []
    original = whole_again.GradientAgain.__call__

    def noted(self, args):
        y = original(self, args)
        found.append(y is not None)
        return y

    monkeypatch.setattr(whole_again.GradientAgain, "__call__", noted)
    return found


def same(found, expected):
    if isinstance(expected, list | tuple):
        assert type(found) is type(expected)
        for p, q in zip(found, expected, strict=True):
            same(p, q)
    elif isinstance(expected, float | np.ndarray):
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert type(found) is type(expected)
        same([*found._fields.values()], [*expected._fields.values()])
        assert [*found._fields] == [*expected._fields]


CASES = [
    (of_array, 0, False, (np.array([0.3, 0.7]), 3)),
    (of_array, (0,), False, (np.array([0.3, 0.7]), 3)),
    (of_captured, 0, False, (np.array([0.3, 0.7]),)),
    (with_aux, (1, 0), True, (np.array([0.3, 0.7]), 0.5)),
    (writes, 0, False, (np.array([0.3, 0.7]),)),
    (Body(2.0, np.array([0.2])).energy, 0, False, (0.3,)),
    (of_objects, (0, 1), False, ([Body(1.0, np.ones(2)), Heavy(2.0, np.ones(3))], 0.5)),
]


@pytest.mark.parametrize(("f", "argnums", "has_aux", "args"), CASES)
def test_it_gives_what_the_general_way_gives(quick, f, argnums, has_aux, args):
    derivative: Any = value_and_grad(f, argnums, has_aux, compile=True)
    expected = value_and_grad(f, argnums, has_aux, compile=False)(*args)
    before = pickle.dumps(args)
    for _ in range(CALLS):
        same(derivative(*args), expected)
    assert sum(quick) >= CALLS // 2
    assert pickle.dumps(args) == before
    g = grad(f, argnums, has_aux, compile=True)
    for _ in range(CALLS):
        g(*args)
    same(g(*args), (expected[1], expected[0][1]) if has_aux else expected[1])


def test_changes_between_calls_are_noticed(quick, monkeypatch):
    derivative: Any = value_and_grad(of_objects, 0, compile=True)
    plain: Any = value_and_grad(of_objects, 0, compile=False)
    bodies = [Body(1.0, np.ones(2)), Heavy(2.0, np.ones(3))]
    for _ in range(CALLS):
        derivative(bodies, 0.5)
    assert quick[-1]

    def check(*args):
        same(derivative(*args), plain(*args))

    bodies[0].mass = 3.0
    check(bodies, 0.5)
    assert quick[-1]
    check(bodies, np.float64(0.5))
    check(bodies, 2)
    bodies[0].other = 1.0
    check(bodies, 0.5)
    del bodies[0].other
    bodies[1].at = np.ones(5)
    check(bodies, 0.5)
    bodies[1].at = bodies[0].at
    check(bodies, 0.5)
    bodies[1].at = np.ones((3, 2))[:, 0]
    check(bodies, 0.5)
    bodies[1] = bodies[0]
    check(bodies, 0.5)
    bodies[1] = Body(1.5, np.array([1.0, 2.0], np.float32))
    check(bodies, 0.5)
    check([*bodies, bodies[0]], 0.5)
    check(tuple(bodies), 0.5)
    same(derivative(bodies, x=0.25), plain(bodies, x=0.25))
    monkeypatch.setattr(Body, "energy", lambda self, x: x**3 * self.mass)
    check([Body(1.0, np.ones(2)), Heavy(2.0, np.ones(3))], 0.5)


def test_other_sizes_and_ints_and_globals(quick, monkeypatch):
    derivative: Any = value_and_grad(of_array, compile=True)
    plain: Any = value_and_grad(of_array, compile=False)
    x = np.array([0.3, 0.7])
    for _ in range(CALLS):
        derivative(x, 3)
    for args in ((x, 0), (x, 5), (np.ones(3000), 3), (x[::2], 3), (x, True), (x[:1], 3)):
        same(derivative(*args), plain(*args))
    monkeypatch.setattr(__import__(__name__, fromlist=["x"]), "FACTOR", -1.0)
    same(derivative(x, 3), plain(x, 3))
    with pytest.raises(TypeError):
        derivative(x)
    with pytest.raises(TypeError):
        derivative(x, 3, 4)


def test_who_looks_on_sees_the_general_way(quick):
    derivative: Any = value_and_grad(writes, compile=True)
    x = np.array([0.3, 0.7])
    for _ in range(CALLS):
        derivative(x)
    expected = derivative(x)
    del quick[:]
    with debug_mode():
        same(derivative(x), expected)
    with local_rules():
        same(derivative(x), expected)
    with np.errstate(all="raise"):
        same(derivative(x), expected)
    with allowing(Allowance(10**6, None)):
        same(derivative(x), expected)
    assert not any(quick)

    def outer(x):
        return derivative(x)[0] * x[0]

    same(grad(outer)(x), grad(lambda x: x[0] * (x[0] * x[1] + x[1]))(x))
    with np.errstate(invalid="ignore", over="ignore"):
        value, g = derivative(np.array([np.inf, 2.0]))
    assert value == np.inf
    same(g, np.array([2.0, np.inf]))
    same(derivative(x), expected)


def test_results_are_new_memory_in_each_thread():
    derivative: Any = value_and_grad(of_captured, compile=True)
    points = [np.array([k, 1.0]) for k in range(4)]
    expected = [value_and_grad(of_captured, compile=False)(x) for x in points]
    for _ in range(CALLS):
        derivative(points[0])
    wrong: list[BaseException] = []

    def run(k):
        try:
            for _ in range(200):
                same(derivative(points[k]), expected[k])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    first, second = derivative(points[1])[1], derivative(points[1])[1]
    assert not np.may_share_memory(first, second)
