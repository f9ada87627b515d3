"""Gradients within budgets of memory: time, and the peak of memory beyond that of the program.

    python -m benchmarks.budgets

A wave equation of 1e5 cells and 2,000 steps, in place, and a simulation of small objects.  First in
each table is the gradient without a budget; times are also printed in units of the program's.
"""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import value_and_grad

CELLS, STEPS = 100_000, 2_000
BODIES, TURNS = 12, 1_000


def wave(u: Any, steps: int) -> Any:
    """Return the energy of a nonlinear wave after some steps in place."""
    v = np.zeros_like(u)
    for _ in range(steps):
        v[1:-1] += 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - 0.01 * np.sin(u[1:-1])
        u[1:-1] += v[1:-1]
    return np.sum(u * u) + np.sum(v * v)


class Mass:
    """A mass on a chain."""

    def __init__(self, x: Any) -> None:
        self.x, self.v = x, 0.0


def chain(x: Any, turns: int) -> Any:
    """Return the energy of masses on springs that are not linear."""
    masses = [Mass(position) for position in x]
    for _ in range(turns):
        for left, right in itertools.pairwise(masses):
            stretch = right.x - left.x - 1.0
            force = stretch + 0.3 * stretch**3
            left.v = left.v + 0.01 * force
            right.v = right.v - 0.01 * force
        for mass in masses:
            mass.x = mass.x + 0.01 * mass.v
    return sum(mass.v * mass.v for mass in masses) + masses[0].x


def peak(run: Callable[[], Any]) -> int:
    """Return the most bytes that are allocated at a time."""
    tracemalloc.start()
    run()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def seconds(run: Callable[[], Any]) -> float:
    """Return how much time of the processor a run takes."""
    start = time.process_time()
    run()
    return time.process_time() - start


def rows(f: Any, x: Any, count: int, short: int, budgets: list[dict[str, Any]]) -> None:
    """Print a row for each budget."""
    own = seconds(lambda: f(x.copy(), count))
    without = peak(lambda: f(x.copy(), count))
    print(f"{f.__name__}: {own:.2f} s, {without / 1e6:.1f} MB", flush=True)
    for options in [{}, *budgets]:
        derivative = value_and_grad(f, **options)
        derivative(x, short)  # derives what is called
        taken = seconds(lambda g=derivative: g(x, count))
        most = peak(lambda g=derivative: g(x, count))
        text = ", ".join(f"{name}={value!r}" for name, value in options.items()) or "without"
        print(
            f"  {text:40} {taken:8.2f} s {taken / own:6.1f} {(most - without) / 1e6:9.1f} MB",
            flush=True,
        )
        if derivative.allowance is not None:
            for plan in derivative.allowance.plans:
                print(f"      {plan}")


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(0)
    budgets: list[dict[str, Any]] = [{"memory": text} for text in ("1 GB", "200 MB", "50 MB")]
    disk = {"memory": "50 MB", "memory_on_disk": True}
    rows(wave, rng.normal(size=CELLS), STEPS, 20, [*budgets, disk])
    small: list[dict[str, Any]] = [{"memory": text} for text in ("5 MB", "1 MB")]
    rows(chain, np.arange(BODIES) + 0.1 * rng.normal(size=BODIES), TURNS, 20, small)


if __name__ == "__main__":
    main()
