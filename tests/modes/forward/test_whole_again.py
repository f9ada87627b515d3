"""Compiled `jvp`, `hvp` and `vjp` called again: by a printed function, which notices changes."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, hvp, jvp, local_rules, vjp
from mooncake_py.compiler.sites import choice
from mooncake_py.errors import InvalidTangentError
from mooncake_py.modes.reverse.called_again import CalledAgain
from mooncake_py.runtime.compilation import is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite")
CALLS = 30
X = np.array([0.3, 0.7])
FACTOR = 2.0
ARRAY = np.array([0.5, 1.5])


def of_array(x, n, y):
    total = 0.0
    for i in range(n):
        total += (x * x).sum() * FACTOR + i * y**3
    return total


def writes(x, n, y):
    x[0] = x[0] * x[1] * y + n
    return (x * ARRAY).sum() * y


def along(f, args, **options):
    return jvp(f, args, (np.array([1.0, 2.0]), None, 0.5), **options)


def product(f, args, **options):
    return hvp(f, args, np.array([1.0, 2.0]), **options)


def products(f, args, **options):
    return hvp(f, args, (np.array([1.0, 2.0]), 0.5), argnums=(0, 2), **options)


def pullback(f, args, **options):
    y, back = vjp(f, *args, **options)
    return y, back(2.0), back(-1.0)


WAYS = [along, product, products, pullback]


@pytest.fixture(autouse=True)
def pays(monkeypatch):
    """Let compiled code be faster by the clock."""
    monkeypatch.setattr(choice.Choice, "way", lambda self, is_busy=False: choice.COMPILED)
    monkeypatch.setattr(choice.Choice, "ran", lambda self, seconds: setattr(self, "pays", True))


@pytest.fixture
def quick(monkeypatch):
    """Whether the printed function took each call that it was asked about."""
    found: list[bool] = []
    original: Any = CalledAgain.__call__

    def noted(self, *args):
        y = original(self, *args)
        found.append(y is not None)
        return y

    monkeypatch.setattr(CalledAgain, "__call__", noted)
    return found


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for p, q in zip(found, expected, strict=True):
            same(p, q)
    elif isinstance(expected, float | np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("f", [of_array, writes])
@pytest.mark.parametrize("way", WAYS)
def test_it_gives_what_the_general_way_gives_and_notices_changes(quick, monkeypatch, way, f):
    x = X.copy()
    found: Any = None
    for _ in range(CALLS):
        found = way(f, (x, 3, 0.5), compile=True)
    assert quick[-1]
    same(found, way(f, (x, 3, 0.5), compile=False))
    assert np.array_equal(x, X)
    for args in (
        (np.array([2.0, -1.0]), 3, 0.5),
        (x, 5, 0.5),
        (x[::-1], 3, 0.5),
        (x, True, 0.5),
        (x, 3, np.float64(0.25)),
        (np.array([np.inf, 2.0]), 3, 0.5),
    ):
        with np.errstate(all="ignore"):
            same(way(f, args, compile=True), way(f, args, compile=False))
    module = __import__(__name__, fromlist=["x"])
    monkeypatch.setattr(module, "FACTOR", -1.0)
    monkeypatch.setattr(module, "ARRAY", np.array([3.0, 1.0]))
    same(way(f, (x, 3, 0.5), compile=True), way(f, (x, 3, 0.5), compile=False))
    monkeypatch.setattr(module, "ARRAY", x)
    same(way(of_array, (x, 3, 0.5), compile=True), way(of_array, (x, 3, 0.5), compile=False))


@pytest.mark.parametrize("way", WAYS)
def test_who_looks_on_sees_the_general_way(quick, way):
    expected = way(writes, (X, 3, 0.5), compile=False)
    for _ in range(CALLS):
        way(writes, (X, 3, 0.5), compile=True)
    del quick[:]
    with debug_mode():
        same(way(writes, (X, 3, 0.5), compile=True), expected)
    with local_rules():
        same(way(writes, (X, 3, 0.5), compile=True), expected)
    with np.errstate(all="raise"):
        same(way(writes, (X, 3, 0.5), compile=True), expected)
    assert not any(quick)

    def outer(x, **options):
        found = way(writes, (x, 3, 0.5), **options)
        found = found[1] if isinstance(found, tuple) else found
        found = found[0] if isinstance(found, tuple) else found
        return found * 2.0 if np.ndim(found) == 0 else (found * found).sum()

    same(grad(lambda x: outer(x, compile=True))(X), grad(lambda x: outer(x, compile=False))(X))


def test_directions_of_other_structure_take_the_general_way(quick):
    args = (X, 3, 0.5)
    for _ in range(CALLS):
        along(of_array, args, compile=True)
        product(of_array, args, compile=True)
    assert quick[-2:] == [True, True]
    for tangents in ((None, None, 1.0), (X, None, None), (X, None, np.float64(1.0))):
        same(
            jvp(of_array, args, tangents, compile=True),
            jvp(of_array, args, tangents, compile=False),
        )
    several: Any = [(X, None, 1.0), (X, None, None)]
    found: Any = jvp(of_array, args, several, compile=True)
    expected: Any = jvp(of_array, args, several, compile=False)
    same((found[0], *found[1]), (expected[0], *expected[1]))
    wrong: Any = (X, None), (np.ones(3), None, 1.0), ("a", None, 1.0)
    for tangents in wrong:
        with pytest.raises(InvalidTangentError):
            jvp(of_array, args, tangents, compile=True)
    for v in (np.ones(3), [1.0, 2.0, 3.0]):
        with pytest.raises(InvalidTangentError):
            hvp(of_array, args, v, compile=True)
    unhashable: Any = ([0],)
    with pytest.raises(Exception, match="argnums"):
        hvp(of_array, args, (X,), argnums=unhashable, compile=True)


def test_results_are_new_memory_and_functions_are_freed(quick):
    def run():
        def own(x):
            return (x * x * ARRAY).sum()

        results = [jvp(own, (X,), (X,), compile=True) for _ in range(CALLS)]
        assert quick[-1]
        pullbacks = [vjp(own, k * X, compile=True)[1] for k in range(CALLS)]
        assert quick[-1]
        products = [hvp(own, (X,), k * X, compile=True) for k in range(CALLS)]
        assert quick[-1]
        for k, back in enumerate(pullbacks):
            same(back(1.0), (2.0 * k * X * ARRAY,))
            same(products[k], 2.0 * k * X * ARRAY)
            same(results[k], results[0])
        return weakref.ref(own)

    function = run()
    gc.collect()
    assert function() is None
