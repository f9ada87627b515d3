"""Cached functions that are called for equal numbers which other operations have made."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import ndarray

from mooncake_py import checkpoint, grad, hessian, hvp, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language import caches

pytestmark = pytest.mark.without_modes("the modes are those of the test")

X = np.array([0.7, 1.3])
MODES: dict[str, Callable[..., Any]] = {
    "reverse": lambda f: value_and_grad(f)(X),
    "forward": lambda f: value_and_grad(f, mode="forward")(X),
    "debug": lambda f: value_and_grad(f, debug=True)(X),
    "vjp": lambda f: (lambda y, pullback: (y, pullback(1.0)[0]))(*vjp(f, X)),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(X),
}
ALL = pytest.mark.parametrize("mode", MODES)


def twice(g: Callable[[Any], Any], x: Any) -> Any:
    """Return a sum of results for numbers that are equal and made differently."""
    return g(x[0] * 2.0) + g(x[0] + x[0])


@ALL
def test_what_another_run_writes_is_taken_back(mode: str) -> None:
    log: list[float] = []
    count = [0]
    table = np.zeros(2)

    class Counter:
        calls = 0

    def f(x: Any) -> Any:
        total = 0
        fresh = np.zeros(2)

        @functools.lru_cache
        def g(v: Any) -> Any:
            nonlocal total
            total += 1
            count[0] += 1
            log.append(v)
            table[1] += 1.0
            fresh[0] += 1.0
            Counter.calls += 1
            return v * v

        return twice(g, x) * (total + count[0] + len(log) + table[1] + Counter.calls + fresh[0])

    value, gradient = MODES[mode](f)
    np.testing.assert_allclose(value, 6 * 8 * 0.7**2)
    np.testing.assert_allclose(gradient, [6 * 16 * 0.7, 0.0])
    assert (log, count, Counter.calls) == ([], [0], 0)
    assert not table.any()


@ALL
def test_what_another_run_draws_is_put_back(mode: str) -> None:
    def f(x: Any) -> Any:
        rng = np.random.default_rng(1)

        @functools.lru_cache
        def g(v: Any) -> Any:
            rng.random()
            return v * v

        return twice(g, x) * rng.random()

    value, gradient = MODES[mode](f)
    draw = np.random.default_rng(1).random(2)[1]
    np.testing.assert_allclose(value, 8 * 0.7**2 * draw)
    np.testing.assert_allclose(gradient, [16 * 0.7 * draw, 0.0])


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "list": (lambda v: [v], "an object of type list"),
    "tuple": (lambda v: (v, {}), "an object of type tuple"),
    "object": (lambda v: functools.partial(max, v), "an object of type partial"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_results_with_an_identity_are_refused(name: str) -> None:
    make, match = REFUSED[name]

    def f(x: Any) -> Any:
        g = functools.lru_cache(make)
        g(x[0] * 2.0)
        return x[1] * (g(x[0] + x[0]) is not None)

    with pytest.raises(DerivativeDropError, match=match):
        grad(f)(X)


def test_an_active_array_that_another_run_writes_is_refused() -> None:
    def f(x: Any) -> Any:
        held = x * 2.0

        @functools.lru_cache
        def g(v: Any) -> Any:
            held[0] += v
            return v * v

        return twice(g, x) + held[0]

    with pytest.raises(DerivativeDropError, match="which is active"):
        grad(f)(X)


def test_an_iterator_that_another_run_moves_is_refused() -> None:
    def f(x: Any) -> Any:
        numbers = itertools.count()

        @functools.lru_cache
        def g(v: Any) -> Any:
            next(numbers)
            return v * v

        return twice(g, x) * next(numbers)

    with pytest.raises(DerivativeDropError, match="an iterator or a stream"):
        grad(f)(X)


def test_a_run_that_raises_only_the_second_time_is_refused() -> None:
    def f(x: Any) -> Any:
        runs: list[int] = []

        @functools.lru_cache
        def g(v: Any) -> Any:
            runs.append(1)
            if len(runs) > 1:
                raise ValueError
            return v * v

        try:
            return twice(g, x)
        except ValueError:
            return x[1]

    with pytest.raises(DerivativeDropError, match="raises ValueError this time"):
        grad(f)(X)


@ALL
def test_arrays_of_two_runs_may_be_read(mode: str) -> None:
    def f(x: Any) -> Any:
        rotation = functools.cache(
            lambda v: (np.array([[np.cos(v), -np.sin(v)], [np.sin(v), np.cos(v)]]), "ccw", v)
        )
        a, b = x[0] * 1.3, 0.7 * x[1]
        return (rotation(a)[0] @ rotation(b)[0])[1, 0] * rotation(a)[2]

    y, dy = MODES[mode](f)
    a = 0.7 * 1.3
    np.testing.assert_allclose(y, np.sin(2 * a) * a)
    slope = np.cos(2 * a) * a
    np.testing.assert_allclose(dy, [1.3 * (slope + np.sin(2 * a)), 0.7 * slope])


@pytest.mark.parametrize("early", [False, True])
def test_arrays_of_two_runs_that_are_written_are_refused(early: bool) -> None:
    def f(x: Any) -> Any:
        make = functools.cache(lambda v: np.zeros(2) + v)
        a, b = x[0] * 1.3, 0.7 * x[1]
        first = make(a)
        if early:
            first[0] = 1.0
        second = make(b)
        first[1] = second[1] * 2.0
        return second.sum()

    match = "another result for an equal argument" if early else "has changed since"
    with pytest.raises(DerivativeDropError, match=match):
        grad(f)(X)


STEPS: dict[str, Callable[[Any], Any]] = {
    "sine": lambda v: np.sin(v),
    "square": lambda v: v * v + 0.1,
    "power": lambda v: v**2,
    "quotient": lambda v: 1 / (1 + v),
    "long": lambda v: np.sin(v * 2 + 1) * np.cos(v) + v / (1 + v * v),
}
ORDERS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "hvp": lambda f: hvp(f, (X,), X),
    "hessian": lambda f: hessian(f)(X),
    "outer": lambda f: grad(lambda x: grad(f)(x)[0])(X),
    "over_forward": lambda f: grad(lambda x: grad(f, mode="forward")(x)[0])(X),
    "third": lambda f: grad(lambda x: grad(lambda x: grad(f)(x)[0])(x)[0])(X),
}


@pytest.mark.plain
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", STEPS)
def test_memoised_recursion_is_linear_in_each_order(
    step: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "run_again", None)  # not needed: it would run 2 ** 9 times
    next_of = STEPS[step]

    def f(x: Any) -> Any:
        @functools.cache
        def g(n: int, v: Any) -> Any:
            return v if n == 0 else g(n - 1, next_of(v)) * np.sin(g(n - 1, next_of(v)))

        return g(9, x[0])

    def plain(x: Any) -> Any:
        def g(n: int, v: Any) -> Any:
            if n == 0:
                return v
            y = g(n - 1, next_of(v))
            return y * np.sin(y)

        return g(9, x[0])

    np.testing.assert_allclose(ORDERS[order](f), ORDERS[order](plain), rtol=1e-10)


NEAR_ONE: tuple[Callable[[ndarray], Any], ...] = (
    lambda x: x[0] * 1.0, lambda x: x[1] * 1.0, lambda x: x[0] * x[0], lambda x: 2 * x[0] - 1,
    lambda x: x[0] * x[1], lambda x: np.exp(x[0] - 1), lambda x: np.cos(x[0] - 1),
    lambda x: (x[0] + 1) * 0.5, lambda x: (x[0] + 3) * 0.25, lambda x: x[0] / x[1],
    lambda x: (x[0] + 1) * (x[1] + 1) / 4, lambda x: np.sin(x[0] - 1) + 1,
)  # fmt: skip


@pytest.mark.parametrize("order", ["grad", "debug", "hvp", "outer", "over_forward"])
def test_numbers_that_are_equal_by_chance_have_derivatives_of_their_own(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "X", np.ones(2))
    for one, other in list(itertools.combinations(NEAR_ONE, 2))[::2]:

        def f(x: Any, one: Any = one, other: Any = other) -> Any:
            g = functools.lru_cache(lambda v: np.exp(v) * v)
            return g(one(x)) + 3 * g(other(x)) ** 2

        def plain(x: Any, one: Any = one, other: Any = other) -> Any:
            a, b = one(x), other(x)
            return np.exp(a) * a + 3 * (np.exp(b) * b) ** 2

        np.testing.assert_allclose(ORDERS[order](f), ORDERS[order](plain), rtol=1e-10)
