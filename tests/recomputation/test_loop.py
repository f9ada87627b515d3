"""Loops with checkpoints: the schedule, the derivatives, and the number of steps that are run."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpointed_loop, checkpointed_while, from_vjp, grad, value_and_grad
from mooncake_py.recomputation.loop import split
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.5, -0.25, 1.5])


@cache
def fewest(count: int, slots: int) -> float:
    """Return the fewest steps that a schedule runs without record."""
    if count <= 1:
        return 0
    if slots == 0:
        return float("inf")
    return min(m + fewest(count - m, slots - 1) + fewest(m, slots) for m in range(1, count))


@cache
def scheduled(count: int, slots: int) -> int:
    """Return the steps that our schedule runs without record."""
    if count <= 1:
        return 0
    m = split(count, slots)
    return m + scheduled(count - m, slots - 1) + scheduled(m, slots)


@pytest.mark.parametrize("slots", range(1, 7))
def test_schedule_is_the_best(slots: int) -> None:
    for count in range(1, 60):
        assert scheduled(count, slots) == fewest(count, slots)


RUNS: list[Any] = []


def run(x: Any) -> Any:
    """Return a number, in sight of nobody."""
    return x * 1.0


@from_vjp(run)
def run_rule(x: Any) -> Any:
    RUNS.append(x)
    return x * 1.0, lambda dy: (dy,)


def runs_of(f: Any) -> int:
    """Return how often a function calls `run`."""
    RUNS.clear()
    f()
    return len(RUNS)


@pytest.mark.parametrize(("count", "slots"), [(1, 3), (7, 1), (30, 3), (100, 4), (20, 50)])
def test_steps_run_as_often_as_scheduled(
    count: int, slots: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def step(x, k):
        print(k)
        return run(x) * (1.0 + 0.001 * k)

    def derive():
        slope = grad(lambda x: checkpointed_loop(step, x, range(count), slots))(2.0)
        assert slope == pytest.approx(np.prod([1.0 + 0.001 * k for k in range(count)]), rel=1e-13)

    assert runs_of(derive) == scheduled(count, slots) + count
    assert capsys.readouterr().out.split() == [str(k) for k in range(count)]


@programs(X, 0.3)
def in_place(u, c):
    def step(u, k):
        u[1:] += c * np.sin(u[:-1])
        u[0] *= c + 0.1 * np.tanh(u[2])
        return u

    return np.sum(checkpointed_loop(step, u, range(17), slots=3) ** 2)


@programs(X, 0.3)
def state_of_several_parts(u, t):
    def step(state, dt):
        u, t, history = state
        history.append(np.sum(u) * t)
        return u + dt * np.cos(u) * t, t + dt, history

    u, t, history = checkpointed_loop(step, (u, t, []), [0.1, 0.2, 0.05, 0.1, 0.3], slots=2)
    return np.sum(u * t) + sum(history)


@programs(X.copy(), X.copy())
def active_items(u, forces):
    u = checkpointed_loop(lambda u, f: np.tanh(u) * f, u, forces, slots=2)
    return np.sum(checkpointed_loop(lambda u, f: u * f, u, [forces[0], 2.0, forces[1]], slots=1))


@programs(X)
def in_a_list_of_states(u):
    states = []

    def step(_, k):
        states.append(np.sin(states[-1] if states else u) * u)

    checkpointed_loop(step, None, range(6), slots=2)
    return sum(np.sum(s * k) for k, s in enumerate(states))


@programs(2.0)
def until_it_converges(a):
    def step(x):
        return 0.5 * (x + a / x)

    return checkpointed_while(step, a, lambda x: abs(x * x - a) > 1e-10) ** 3


@programs(X)
def unknown_number_of_steps_in_place(u):
    count = np.zeros(1)

    def more(u):
        count[0] += 1
        return count[0] < 40

    def step(u):
        u *= 1.0 + 0.01 * np.cos(u[::-1])
        return u

    return np.sum(checkpointed_while(step, u, more, slots=2)) * count[0]


@programs(0.5)
def loops_in_loops(x):
    def inner(y, k):
        return y * x + k

    def outer(y, k):
        return np.sin(checkpointed_loop(inner, y, range(k), slots=2))

    return checkpointed_loop(outer, x, range(6), slots=2)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_outside_of_derivatives_it_is_a_loop() -> None:
    assert checkpointed_loop(lambda s, k: s + k, 0, iter([1, 2, 3])) == 6
    assert checkpointed_while(lambda s: s * 2, 1, lambda s: s < 100) == 128


def test_no_steps() -> None:
    def f(x: Any) -> Any:
        x = checkpointed_loop(lambda s, k: s * k, x, [])
        return checkpointed_while(lambda s: s * 2, x, lambda s: False) * x

    assert value_and_grad(f)(3.0) == (9.0, 6.0)
