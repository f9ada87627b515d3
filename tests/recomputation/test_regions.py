"""Loops that run as one entry in parts that run twice: the same, whichever run takes which way."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, checkpointed, checkpointed_loop, grad, value_and_grad
from mooncake_py.compiler.native.printed_loop import PrintedLoop
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.recomputation.replay import Replay
from tests.support.gradients import Program, Programs
from tests.support.pairs import rotating

programs = Programs()
X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
SHARED = np.linspace(0.1, 0.5, 5)


def sweep(u):
    for i in range(1, len(u)):
        u[i] += 0.5 * u[i - 1] * u[i]
    return u[-1]


@programs(X)
def elements_of_an_argument(x):
    s = checkpoint(sweep, x)
    return s * checkpoint(sweep, x) + x[2]


@programs(X)
def elements_of_a_view(x):
    s = checkpoint(sweep, x[1:])
    checkpoint(sweep, x[::-1])
    return s * np.sum(x * x)


def sweep_of_two(u, v):
    for i in range(4):
        u[i] += v[i] * v[i]
        v[i] = 0.5 * v[i] + u[i]


@programs(X)
def views_that_overlap(x):
    checkpoint(sweep_of_two, x[1:], x[:-1])
    checkpoint(sweep_of_two, x[:-1], x[1:])
    return np.sum(x * x)


def in_a_new_array(x):
    y = x.copy()
    z = np.zeros(5)
    for _ in range(3):
        for i in range(1, 5):
            y[i] *= y[i - 1] + 1.5
            z[i] = y[i] * z[i - 1] + 1.0
    return np.sum(z), y


@programs(X)
def an_array_made_within(x):
    s, y = checkpoint(in_a_new_array, x)
    return s * y[3]


@programs(X)
def an_array_of_outside(x):
    def part(x):
        for i in range(1, 5):
            SHARED[i] += SHARED[i - 1] * x[i]
        return SHARED[4]

    s = checkpoint(part, x) + checkpoint(part, x)
    return s * SHARED[2]


def of_items(q, x):
    for i in range(1, 5):
        q[i] = 0.5 * q[i] + x[i] * q[i - 1]
    return q[2]


@programs(X)
def items_of_a_list(x):
    q = [x[0], x[1], 1.0 * x[2], x[3] * x[3], x[4]]
    s = sum([checkpoint(of_items, q, x) for _ in range(5)])
    return s * q[4]


@programs(X)
def attributes(x):
    o = SimpleNamespace(v=x[0], w=0.5)

    def part(x):
        for i in range(5):
            o.v = o.v * o.w + x[i] * x[i]

    checkpoint(part, x)
    checkpoint(part, x)
    return o.v


@programs(X)
def a_loop_with_states(x):
    def step(u, k):
        for i in range(1, 5):
            u[i] = 0.5 * u[i] + 0.1 * k * u[i - 1]
        return u

    u = checkpointed_loop(step, x * 1.0, range(12), slots=3)
    s = 0.0
    for k in checkpointed(range(9), 2):
        for i in range(5):
            s = s * 0.9 + u[i] * k
    return s


KEPT = SHARED.copy()


def outcome(f: Any) -> Any:
    """Return value, gradient, and what is left of the memory outside."""
    SHARED[:] = KEPT
    found = value_and_grad(f)(X.copy())
    assert_array_equal(SHARED, KEPT)
    return found


def ways(monkeypatch: pytest.MonkeyPatch, take: Any) -> Any:
    """Let the loops run as one entry if `take()` says so."""
    run = PrintedLoop.run
    monkeypatch.setattr(PrintedLoop, "run", lambda *args: run(*args) if take() else Elsewhere)


PARITIES = {
    "both runs": [True],
    "none": [False],
    "every other loop": [True, False],
    "two of three": [True, True, False],
}


@pytest.mark.sampled(3)
@pytest.mark.without_modes("regions run in some of the runs")
@pytest.mark.parametrize(("program", "parity"), rotating(programs, PARITIES.values(), times=2))
def test_each_run_may_take_its_own_way(
    program: Program, parity: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    value, gradient = outcome(program.f)
    ways(monkeypatch, itertools.cycle(parity).__next__)
    expected, other = outcome(program.f)
    assert value == expected
    assert type(value) is type(expected)
    assert_allclose(gradient, other, rtol=1e-12)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("program", programs, ids=str)
def test_the_second_run_may_take_the_other_way(
    program: Program, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, gradient = outcome(program.f)
    again = Replay.again
    replaying = [False]

    def noted(self: Replay) -> None:
        replaying[0] = True
        again(self)

    monkeypatch.setattr(Replay, "again", noted)
    ways(monkeypatch, lambda: replaying[0] != first)
    expected, other = outcome(program.f)
    assert value == expected
    assert_allclose(gradient, other, rtol=1e-12)


def test_a_number_that_does_not_depend_on_anything_in_the_end() -> None:
    """A region takes it for active; so does the second run."""

    def part(x):
        t = 1.0
        for i in range(5):
            if x[i] > 10.0:
                t = t * x[i]
        return t

    assert_array_equal(grad(lambda x: checkpoint(part, x) * x[1])(X), [0, 1, 0, 0, 0])


def test_a_loop_that_missed_in_between_is_run_again_as_it_was() -> None:
    """Where a branch is not taken, only a region takes its result for active."""

    def part(x):
        t = 1.0
        for i in range(5):
            if x[i] < 0.0:
                t = t * x[1]
            t = t * 2.0
        return t

    def f(x):
        s = checkpoint(part, x * x)
        for _ in range(4):
            part(x * np.inf)  # no region runs on nan or inf
        return s * x[0]

    with np.errstate(all="ignore"):
        g = grad(f)(X)
    assert_array_equal(g, [32, 0, 0, 0, 0])


@pytest.mark.plain
def test_undoing_a_long_run_takes_each_item_of_a_list_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    again = Replay.again
    monkeypatch.setattr(Replay, "again", lambda self: kept.append(self.undoing) or again(self))

    def part(q):
        for _ in range(50):
            of_items(q, X)

    def f(x):
        q = [x[0], x[1], x[2], x[3], x[4]]
        checkpoint(part, q)
        return q[4]

    grad(f)(X)
    assert kept == [4]  # items that are written


def test_the_values_before_the_first_of_many_writes_come_back() -> None:
    def part(x):
        for k in range(6):
            for i in range(1, 5):
                x[i] += x[i - 1] * k
            x[1:] *= 0.5
            for i in range(3):
                x[i] -= 0.1

    def f(x):
        y = x * 2.0
        s = np.sum(y * y)
        checkpoint(part, y)
        return s + y[4]

    def plainly(x):
        y = x * 2.0
        s = np.sum(y * y)
        part(y)
        return s + y[4]

    assert_allclose(grad(f)(X), grad(plainly)(X), rtol=1e-14)


def scaled(v):
    return v


def of_a_function(x):
    s = 0.0
    for i in range(5):
        s += scaled(x[i])
    return s


def test_captured_variables_of_functions_that_stand_in_a_region() -> None:
    """The function that they are local to rebinds them, and nobody is told."""

    def f(x):
        global scaled
        factor = 2.0

        def by_factor(v):
            return v * v * factor

        scaled = by_factor
        s = checkpoint(of_a_function, x)
        factor = 3.0
        return s + checkpoint(of_a_function, x)

    assert_allclose(grad(f)(X), 10 * X, rtol=1e-14)


def test_captured_variables_of_such_functions_in_an_inner_derivative() -> None:
    def f(x):
        global scaled
        factor = 2.0

        def by_factor(v):
            return v * v * factor

        scaled = by_factor
        g = grad(of_a_function)(x)
        factor = 3.0
        return np.sum(g * g) * factor

    assert_allclose(grad(f)(X), 3 * 2 * 16 * X, rtol=1e-14)


@pytest.mark.plain
def test_a_part_of_an_array_is_kept_once_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    again = Replay.again
    monkeypatch.setattr(Replay, "again", lambda self: kept.append(self.undoing) or again(self))

    def f(x):
        y = np.concatenate([x, x, x])
        checkpoint(sweep, y[:5])
        return y[4]

    grad(f)(X)
    assert kept == [1]
