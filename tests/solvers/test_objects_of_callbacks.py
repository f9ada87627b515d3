"""Objects in which callbacks of solvers keep lists and counters: as in the plain call."""

from __future__ import annotations

import queue
import threading
import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from mooncake_py import jvp, value_and_grad

pytestmark = pytest.mark.without_modes("the programs read what the function has captured")


class Log:
    """A list and a counter in one object."""

    def __init__(self) -> None:
        self.points: list[int] = []
        self.calls = 0

    def put(self, x: Any) -> None:
        self.points.append(x)
        self.calls += 1

    def qsize(self) -> int:
        return len(self.points)


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], float]]] = {
    "own class": (Log, lambda k: k.put(1), lambda k: k.qsize() + 0.1 * k.calls),
    "Queue": (queue.Queue, lambda k: k.put(1), lambda k: k.qsize()),
    "LifoQueue": (queue.LifoQueue, lambda k: k.put(1), lambda k: k.qsize()),
    "PriorityQueue": (queue.PriorityQueue, lambda k: k.put(1), lambda k: k.qsize()),
    "Event": (threading.Event, lambda k: k.set(), lambda k: float(k.is_set())),
    "Semaphore": (lambda: threading.Semaphore(99), lambda k: k.acquire(), lambda k: k._value),
    "Mock": (unittest.mock.Mock, lambda k: k(1), lambda k: k.call_count),
}


@pytest.mark.parametrize("moves", [True, False], ids=["active", "constant"])
@pytest.mark.parametrize(("make", "use", "read"), CASES.values(), ids=CASES)
def test_callbacks_that_keep_something_in_an_object(
    make: Any, use: Any, read: Any, moves: bool
) -> None:
    kept: Any = None

    def f(a: Any) -> Any:
        def residual(x: Any) -> Any:
            use(kept)
            return x - (a if moves else 0.3)

        return optimize.newton(residual, 0.8, tol=1e-13) + a * read(kept)

    kept = make()
    before = read(kept)
    value = f(2.0)
    slope = read(kept) + moves
    kept = make()
    for found in (value_and_grad(f)(2.0), jvp(f, (2.0,), (1.0,))):
        assert found[0] == value
        np.testing.assert_allclose(found[1], slope)
        assert read(kept) == before
