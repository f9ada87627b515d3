"""Memory and time of the gradient of a long time loop, by the number of slots.

    python -m benchmarks.checkpoints --size 500 --steps 10000 --slots 5 10 20 40

Heat with a conductivity that depends on temperature, explicit steps in place.  Printed are, for
each number of slots, how often a step runs in a gradient (by the schedule of Revolve, and as
counted), the peak of memory beyond that of the primal in units of the state and in bytes, and the
time in units of the primal.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import Progress, checkpointed_loop, grad, progress
from mooncake_py.recomputation.loop import runs

RECORDED_AT_MOST = 400  # steps for which the gradient is also taken with everything recorded


def step(u: np.ndarray, _: int) -> np.ndarray:
    """Advance the temperature in place."""
    inner = u[1:-1, 1:-1]
    flux = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner
    inner += 0.1 * flux / (1.0 + inner * inner)
    return u


def recorded(u: np.ndarray, steps: int) -> Any:
    """Return a norm of the final temperature; everything is recorded."""
    for k in range(steps):
        u = step(u, k)
    return np.sum(u * u)


def in_slots(u: np.ndarray, steps: int, slots: int) -> Any:
    """Return the same by steps that run again."""
    return np.sum(checkpointed_loop(step, u, range(steps), slots) ** 2)


def seconds(run: Callable[[], Any]) -> float:
    """Return the time of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def peak(run: Callable[[], Any]) -> tuple[int, float]:
    """Return the most bytes that a run takes at a time, and its time."""
    tracemalloc.start()
    try:
        taken = seconds(run)
        return tracemalloc.get_traced_memory()[1], taken
    finally:
        tracemalloc.stop()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--slots", type=int, nargs="+", default=[3, 5, 10, 20])
    options = parser.parse_args()
    steps = options.steps
    u = np.random.default_rng(0).normal(size=(options.size, options.size))
    grad(in_slots)(u[:5, :5].copy(), 3, 2)  # derives what is called
    base, _ = peak(lambda: recorded(u.copy(), 2))
    primal = seconds(lambda: recorded(u.copy(), steps))
    print(f"{steps} steps on {options.size} x {options.size}: primal {primal:.2f} s, ", end="")
    print(f"a state {u.nbytes / 1e6:.2f} MB")
    print(f"{'slots':>9} {'runs, Revolve':>14} {'counted':>9}", end="")
    print(f"{'peak, states':>14} {'MB':>9} {'time / primal':>14}")

    def row(slots: int | None, gradient: Callable[[], Any]) -> None:
        told: list[Progress] = []
        with progress(told.append, every=60.0):
            most, taken = peak(gradient)
        predicted = steps if slots is None else runs(steps, slots)
        counted = told[-1].steps or steps
        print(
            f"{slots or 'all':>9} {predicted:14} {counted:9} {(most - base) / u.nbytes:13.1f} "
            f"{(most - base) / 1e6:9.1f} {taken / primal:14.1f}",
            flush=True,
        )

    if steps <= RECORDED_AT_MOST:
        row(None, lambda: grad(recorded)(u, steps))
    for slots in options.slots:
        row(slots, lambda slots=slots: grad(in_slots)(u, steps, slots))


if __name__ == "__main__":
    main()
