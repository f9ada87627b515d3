"""Gradients of loops over numbers and elements in checkpointed parts, in units of the loop.

    python -m benchmarks.checkpointed_loops

Printed are the time of the loop and that of its gradient in units of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import checkpoint, checkpointed, checkpointed_loop, grad

STEPS, SLOTS = 40, 5
REPEATS = 7


def sweep(u: Any, _: int) -> Any:
    """Relax a row in place."""
    for i in range(1, len(u) - 1):
        u[i] += 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) / (1.0 + u[i] * u[i])
    return u


def elements(u: Any) -> Any:
    """Return a norm after steps that are functions."""
    return np.sum(checkpointed_loop(sweep, u, range(STEPS), SLOTS) ** 2)


def search(a: Any, n: int) -> Any:
    """Return the result of an iteration on numbers."""
    s = 0.0
    for i in range(n):
        s += (a - s * s) / (i + 2.0)
    return s


def numbers(u: Any) -> Any:
    """Return a sum of checkpointed calls."""
    t = 0.0
    for v in range(20):
        t += checkpoint(search, u[v], 300)
    return t


def body(u: Any) -> Any:
    """Return a sum over steps that are the body of a loop."""
    s = 0.0
    y = u.copy()
    for _ in checkpointed(range(STEPS), SLOTS):
        for i in range(1, len(y)):
            y[i] = 0.5 * y[i] + 0.3 * y[i - 1] * y[i]
        s = s + y[-1]
    return s


def force(p: Any, q: Any) -> Any:
    """Return the force between two points."""
    r = p - q
    return r / (1.0 + r * r)


def calls(u: Any) -> Any:
    """Return a sum after steps that call a function."""
    q = u.copy()
    for _ in checkpointed(range(STEPS), SLOTS):
        for i in range(1, len(q)):
            q[i] += 0.1 * force(q[i - 1], q[i])
    return np.sum(q)


def items(u: Any) -> Any:
    """Return an item of a list after some steps."""
    q = [u[i] for i in range(100)]
    for _ in checkpointed(range(STEPS), SLOTS):
        for i in range(1, len(q)):
            q[i] = 0.8 * q[i] + 0.1 * q[i - 1] * q[i]
    return q[-1]


def seconds(run: Callable[[], Any]) -> float:
    """Return the least process time of some runs."""
    found: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print a row for each program."""
    u = np.random.default_rng(0).uniform(0.1, 0.9, 300)
    for f in (elements, body, numbers, calls, items):
        gradient = grad(f)
        gradient(u.copy())  # derives what is called
        loop, taken = seconds(lambda f=f: f(u.copy())), seconds(lambda g=gradient: g(u.copy()))
        print(f"{f.__name__:10} {1e3 * loop:8.1f} ms {taken / loop:8.1f}", flush=True)


if __name__ == "__main__":
    main()
