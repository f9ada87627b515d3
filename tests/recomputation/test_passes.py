"""Gradients within a budget of memory: loops run again by themselves, and nothing else changes."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    InvalidModeError,
    MemoryBudgetError,
    MooncakeError,
    checkpoint,
    grad,
    progress,
    value_and_grad,
    vjp,
)
from mooncake_py.runtime.allowance import Allowance

SIZE = 500
X = np.linspace(0.1, 1.0, SIZE)


def in_place(u, n=100):
    v = np.zeros_like(u)
    for _ in range(n):
        v[1:-1] += 0.1 * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
        u += 0.1 * v
    return np.sum(u * u)


def by_names(u, n=100):
    v = None
    for k in range(n):
        w = np.sin(u) + (0.0 if v is None else 0.1 * v)
        v, u = u, w * (1.0 + 0.001 * k)
    return np.sum(u * w) + k


def with_jumps(u):
    total = 0.0
    for k in range(200):
        if k % 3 == 0:
            continue
        u = np.sin(u) * 1.1
        if k > 150:
            break
        total = total + np.sum(u)
    else:
        total = total + 1000.0
    for _ in range(60):
        u = np.cos(u)
    else:
        total = total + np.sum(u)
    return total


def returning(u):
    for k in range(200):
        u = np.sin(u) * 1.1
        if k > 150:
            return np.sum(u) + k
    return 0.0


def until(u):
    steps = 0
    while np.max(u) > 0.15:
        u = np.sin(u)
        steps += 1
    else:
        u = u * 2.0
    return np.sum(u) * steps


def forever(u):
    k = 0
    while True:
        k += 1
        u *= 1.0 + 0.01 * np.cos(u)
        if k == 90:
            break
    return np.sum(u)


def over_a_list_that_changes(u):
    steps = [0.1] * 60
    for step in steps[:3]:
        u = u + step * np.sin(u)
    for step in steps:
        u = u + step * np.sin(u)
        if len(steps) < 90:
            steps.append(step * 0.9)
    return np.sum(u) + len(steps)


def enumerated(u):
    weights = [0.1] * 70
    for k, weight in enumerate(weights, 3):
        u = u + weight * np.sin(u)
        weights[(k + 5) % 70] = 0.001 * k
    for k, weight in enumerate(range(70)):
        u = u + 0.001 * (weight - k + 1) * np.sin(u)
    return np.sum(u)


def over_rows(u):
    rows = np.outer(np.ones(120), u) * u[0]
    y = np.zeros_like(u)
    for row in rows:
        y = np.sin(y + row)
    return np.sum(y)


def nested(u):
    total = 0.0
    for shot in range(4):
        y = u * (1.0 + shot)
        for _ in range(60):
            y = np.sin(y) * 1.05
        total = total + np.sum(y)
    return total


def from_a_generator(u):
    total = 0.0
    for shot in (k + 1.0 for k in range(3)):
        y = u * shot
        for _ in range(60):
            y = np.sin(y) * 1.05
        total = total + np.sum(y)
    return total


def one_after_the_other(u):
    for _ in range(60):
        u = np.sin(u) * 1.05
    for _ in range(60):
        u = np.cos(u) * 1.05
    for _ in range(60):
        u = np.tanh(u) * 1.05
    return np.sum(u)


@dataclass
class Body:
    x: Any
    v: Any


def of_objects(u):
    bodies = [Body(float(k), u[k] * 0.1) for k in range(5)]
    trace = []
    for _ in range(150):
        for a in bodies:
            force = 0.0
            for b in bodies:
                if a is not b:
                    r = a.x - b.x
                    force = force - r / (1.0 + r * r)
            a.v = a.v + 0.01 * force
        for a in bodies:
            a.x += 0.01 * a.v
        trace.append(bodies[0].x)
    return sum(trace) + bodies[1].x ** 2


def of_numbers(u):
    s, t = 0.0, 0.0
    for _ in range(4000):
        s += 0.001 * (u[0] - s * s) / (1.0 + t)
        t += 0.001 * s
    return s + t


def with_functions(u):
    def step(y, k):
        z = np.empty_like(y)
        for i in range(2):
            z[i::2] = np.sin(y[i::2]) * (1.0 + 0.01 * k)
        return z

    for k in range(100):
        u = step(u, k)
    return np.sum(u)


def with_checkpoints(u):
    def steps(y):
        for _ in range(3):
            y = np.sin(y) * 1.1
        return y

    for _ in range(50):
        u = checkpoint(steps, u)
    return np.sum(u)


def with_errors(u):
    failed = 0
    for k in range(100):
        try:
            u = np.sin(u) * 1.1
            if k % 7 == 0:
                raise ValueError(k)
        except ValueError as error:
            failed += error.args[0]
        finally:
            u = u * 1.01
    return np.sum(u) + failed


def drawn(u):
    rng = np.random.default_rng(3)
    for _ in range(80):
        u = u + 0.1 * np.sin(u) * rng.normal(size=u.shape) + 0.01 * random.random()
    return np.sum(u)


PROGRAMS = {
    in_place: 120, by_names: 120, with_jumps: 120, returning: 120, until: 120, forever: 120,
    over_a_list_that_changes: 150, enumerated: 180, over_rows: 700, nested: 240,
    from_a_generator: 260, one_after_the_other: 220, of_objects: 200, of_numbers: 120,
    with_functions: 120,
    with_checkpoints: 60, with_errors: 120, drawn: 120,
}  # fmt: skip
"""With budgets in kB that are far below what the programs keep otherwise."""


def recorded(f: Callable[..., Any], *args: Any) -> Any:
    """Return value and gradient operation by operation: text of NumPy adds in another order."""
    with progress(lambda _: None):
        return value_and_grad(f)(*args)


def same_to_rounding(a: Any, b: Any) -> None:
    """Compare gradients of a loop that is an entry: each adds its cotangents by itself."""
    np.testing.assert_allclose(a, b, rtol=1e-14)


def plans_of(derivative: Any) -> list[Any]:
    return derivative.allowance.plans


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_budget_changes_nothing_but_memory(f: Callable[..., Any]) -> None:
    random.seed(1)
    expected = recorded(f, X)
    within = value_and_grad(f, memory=f"{PROGRAMS[f]} kB")
    random.seed(1)
    x = X.copy()
    value, g = within(x)
    assert value == expected[0]
    assert_same = same_to_rounding if f is of_numbers else np.testing.assert_array_equal
    assert_same(g, expected[1])
    np.testing.assert_array_equal(x, X)
    assert any(plan.recorded is not None for plan in plans_of(within))
    ample = value_and_grad(f, memory="1 GB")
    random.seed(1)
    assert_same(ample(x)[1], expected[1])
    assert all(plan.recorded is None for plan in plans_of(ample))


def peak(f: Callable[..., Any], *args: Any) -> int:
    tracemalloc.start()
    f(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("f", [in_place, by_names], ids=lambda f: f.__name__)
def test_peak_is_what_the_program_takes_and_the_budget(f: Callable[..., Any]) -> None:
    x = np.linspace(0.1, 1.0, 20_000)
    own = peak(f, x.copy())
    for memory in (8_000_000, 12_000_000):
        within = grad(f, memory=memory)
        within(x)
        assert peak(within, x) < own + memory + x.nbytes
    assert peak(grad(f), x) > own + 12_000_000


def test_states_on_disk(tmp_path: Any) -> None:
    x = np.linspace(0.1, 1.0, 20_000)
    expected = recorded(in_place, x)[1]
    within = grad(in_place, memory="2 MB", memory_on_disk=tmp_path)
    np.testing.assert_array_equal(within(x), expected)
    (plan,) = plans_of(within)
    assert plan.states > 5
    assert plan.state < 10_000
    assert peak(within, x) < 4_000_000
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidModeError, match="is not a folder"):
        grad(in_place, memory="2 MB", memory_on_disk=tmp_path / "none")


@pytest.mark.parametrize("f", [in_place, until, nested, one_after_the_other, of_objects])
def test_the_error_names_the_loop_and_a_budget_that_would_do(f: Callable[..., Any]) -> None:
    expected = recorded(f, X)[1]
    with pytest.raises(MemoryBudgetError) as caught:
        grad(f, memory="20 kB")(X)
    where = caught.value.where
    assert where is not None
    assert (where.file, where.function) == (__file__, f.__name__)
    for _ in range(4):  # loops that follow need some too
        memory = caught.value.fix.partition("memory=")[2].strip("'")
        try:
            g = grad(f, memory=memory)(X)
        except MemoryBudgetError as error:
            caught.value.fix = error.fix
            continue
        np.testing.assert_array_equal(g, expected)
        return
    raise AssertionError(memory)


def test_what_no_loop_keeps_is_an_error_too() -> None:
    def straight(u):
        for _ in range(2):
            u = np.sin(u)
        a, b = np.sin(u), np.cos(u)
        return np.sum(a * b) + np.sum(a / b) + np.sum(np.exp(a))

    with pytest.raises(MemoryBudgetError, match="outside of loops"):
        grad(straight, memory="25 kB")(X)

    def drawing(u):
        for u_k in (u * k for k in range(40)):
            u = np.sin(u) * u_k
        return np.sum(u)

    with pytest.raises(MemoryBudgetError, match=r"not in a list.*: generator") as caught:
        grad(drawing, memory="50 kB")(X)
    assert caught.value.where is not None


def test_pullbacks_prepared_derivatives_and_effects(capsys: Any) -> None:
    def f(u):
        for k in range(60):
            u = np.sin(u) * 1.1
            if k % 20 == 0:
                print(k)
        return np.sum(u)

    expected = grad(lambda u: f(u))(X)
    capsys.readouterr()
    np.testing.assert_allclose(grad(f, memory="80 kB")(X), expected, rtol=1e-13)
    assert capsys.readouterr().out == "0\n20\n40\n"
    _, pullback = vjp(f, X, memory="80 kB")
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(pullback(factor)[0], factor * expected, rtol=1e-13)
    assert capsys.readouterr().out == "0\n20\n40\n"
    step = grad(f, memory="80 kB").prepare(X)
    np.testing.assert_allclose(step(X), expected, rtol=1e-13)
    np.testing.assert_allclose(grad(f, memory="80 kB", debug=True)(X), expected, rtol=1e-13)
    with pytest.raises(MooncakeError, match="forward mode keeps no tape"):
        grad(f, mode="forward", memory="80 kB")


def test_lists_that_a_loop_fills_are_empty_again() -> None:
    trace: list[Any] = []

    def f(u):
        trace.clear()
        for _ in range(80):
            u = np.sin(u) * 1.1
            trace.append(u[0])
        return sum(trace) + trace[40]

    trace.append(7.0)
    g = grad(f, memory="200 kB")(X)
    assert trace == [7.0]
    np.testing.assert_array_equal(g, recorded(f, X)[1])


@pytest.mark.parametrize("memory", [0, -1, True, "2 XB", "GB", 1.5, "", "-2 MB"])
def test_amounts_that_are_none(memory: Any) -> None:
    with pytest.raises(InvalidModeError, match="is not an amount of memory"):
        grad(in_place, memory=memory)


def test_amounts() -> None:
    for text, nbytes in {"2 GB": 2e9, "1.5MiB": 1.5 * 2**20, "64 kB": 64e3, "1e3": 1e3}.items():
        assert grad(in_place, memory=text).allowance == Allowance(int(nbytes))
    with pytest.raises(InvalidModeError, match="without memory"):
        grad(in_place, memory_on_disk=True)
