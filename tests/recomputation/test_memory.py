"""Checkpoints save memory: what a first run leaves behind, and the peak of a long loop."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, checkpointed_loop, grad
from mooncake_py.modes.reverse.context import ReverseContext

SIZE = 20_000


def peak(f: Any, *args: Any) -> float:
    """Return the most memory that a gradient takes at a time, in arrays of `SIZE` floats."""
    grad(f)(*args)
    tracemalloc.start()
    grad(f)(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / (8 * SIZE)


def step(u, k):
    u *= np.sin(u) + 1.5
    return u


@pytest.mark.slow
def test_peak_of_a_long_loop_is_bounded_by_the_slots() -> None:
    u = np.linspace(0.1, 1.0, SIZE)

    def looped(u, count, slots):
        return np.sum(checkpointed_loop(step, u, range(count), slots))

    recorded = peak(lambda u: np.sum([step(u, k)[0] for k in range(60)]), u)
    assert recorded > 120
    for count, slots in ((60, 5), (200, 5)):
        assert peak(looped, u, count, slots) < slots + 10
    assert peak(looped, u, 60, 12) > 12


@pytest.mark.thorough
def test_first_run_of_many_steps_keeps_one_state() -> None:
    """Arrays that the run makes itself leave nothing behind, in whatever they are put."""

    class Solver:
        def __init__(self, u):
            self.u = u

    def many(solver, by_name, items):
        for k in range(200):
            parts = []
            for _ in range(3):
                parts.append(np.sin(solver.u))
            by_name["sum"] = sum(parts)
            by_name["sum"] *= 0.3
            weights = np.exp(-np.arange(SIZE) / SIZE)
            weights *= 2.0
            solver.u = by_name["sum"] * weights
            items[0] = solver.u
            items.append(k)
            fresh = Solver(solver.u * 2.0)
            fresh.u = fresh.u * 0.5
            solver.u = fresh.u

    for _ in range(2):  # what is loaded and generated once does not count
        ctx = ReverseContext()
        x = np.linspace(0.1, 1.0, SIZE)
        ctx.registry.activate(x)
        solver, by_name, items = Solver(x), {"sum": x}, [x]
        tracemalloc.start()
        ctx.call(checkpoint, many, solver, by_name, items)
        left, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert left / (8 * SIZE) < 6
    assert most / (8 * SIZE) < 100
    ctx.roll_back()
    assert solver.u is x
    assert by_name == {"sum": x}
    assert items == [x]


def test_elements_and_slices_that_are_overwritten_are_kept_once() -> None:
    ctx = ReverseContext()
    x = np.linspace(0.1, 1.0, 1000)
    before = x.copy()
    ctx.registry.activate(x)

    def sweep():
        for k in range(200):
            x[1:-1] += 0.1 * (x[2:] - x[:-2])
            x[k] = x[k - 1] * x[0]

    ctx.call(checkpoint, sweep)
    assert sum(np.asarray(entry[3]).nbytes for entry in ctx.tape[:-1]) <= 1.5 * x.nbytes
    ctx.roll_back()
    np.testing.assert_array_equal(x, before)
