"""What another thread writes while a derivative waits stays; what the function writes does not."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, as_completed, wait
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, vjp

X = np.array([1.0, -2.0])
LONG = 20.0

WAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "vjp": lambda f: vjp(f, X)[1](1.0)[0],
    "jvp": lambda f: np.array([jvp(f, (X,), (v,))[1] for v in np.eye(2)]),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
}
ONCE = ["grad", "debug", "vjp"]
"""The ways in which a function runs just once."""
UNCHECKED = [way for way in WAYS if way != "debug"]
"""The ways that let a thread write to memory that the function can reach."""


def beside(way: str, wait: Callable[[], Any], other: Callable[[], Any]) -> None:
    """Take the derivative of a function that waits, while a thread does something else."""
    is_inside = threading.Event()

    def run() -> None:
        assert is_inside.wait(LONG)
        other()

    def f(x: Any) -> Any:
        is_inside.set()
        wait()
        return np.sum(x * x)

    thread = threading.Thread(target=run)
    thread.start()
    np.testing.assert_allclose(WAYS[way](f), 2.0 * X)
    thread.join(LONG)
    assert not thread.is_alive()


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", WAYS)
def test_events_stay_set(way: str) -> None:
    event = threading.Event()
    beside(way, lambda: event.wait(LONG), event.set)
    assert event.is_set()


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", WAYS)
def test_futures_stay_done(way: str) -> None:
    futures = [Future[float]() for _ in range(3)]

    def wait_for_all() -> None:
        assert futures[0].result(LONG) == 3.0
        wait(futures, LONG)
        assert [future.result() for future in as_completed(futures)] == [3.0] * 3

    beside(way, wait_for_all, lambda: [future.set_result(3.0) for future in futures])
    assert all(future.done() for future in futures)


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", ONCE)
@pytest.mark.parametrize("kind", [queue.Queue, queue.SimpleQueue])
def test_items_of_others_stay_and_the_one_taken_comes_back(kind: Any, way: str) -> None:
    waiting = kind()
    has_put = threading.Event()

    def put() -> None:
        waiting.put(1.0)
        waiting.put(2.0)
        has_put.set()

    beside(way, lambda: (waiting.get(timeout=LONG), has_put.wait(LONG)), put)
    assert [waiting.get_nowait(), waiting.get_nowait()] == [1.0, 2.0]
    assert waiting.empty()


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", ONCE)
@pytest.mark.parametrize("kind", [queue.Queue, queue.SimpleQueue])
def test_items_put_in_are_taken_out_unless_others_have_them(kind: Any, way: str) -> None:
    waiting = kind()
    has_first, has_taken = threading.Event(), threading.Event()
    taken = []

    def put_two() -> None:
        waiting.put("first")
        has_first.set()
        assert has_taken.wait(LONG)
        waiting.put("second")

    def other() -> None:
        assert has_first.wait(LONG)
        waiting.put("its own")
        taken.append(waiting.get())
        has_taken.set()

    beside(way, put_two, other)
    assert taken == ["first"]
    assert waiting.get_nowait() == "its own"
    assert waiting.empty()


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", ONCE)
@pytest.mark.parametrize("kind", [threading.Semaphore, threading.BoundedSemaphore])
def test_semaphores_count_what_others_have_taken(kind: Any, way: str) -> None:
    semaphore = kind(5)
    has_begun, has_taken = threading.Event(), threading.Event()

    def hold() -> None:
        with semaphore:
            has_begun.set()
            assert has_taken.wait(LONG)
        semaphore.acquire()

    def other() -> None:
        assert has_begun.wait(LONG)
        semaphore.acquire()
        has_taken.set()

    beside(way, hold, other)
    assert semaphore._value == 4


@pytest.mark.plain
@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", ["grad", "vjp"])
def test_conditions_and_barriers_wait_for_others(way: str) -> None:
    condition, barrier = threading.Condition(), threading.Barrier(2)
    found = []

    def both() -> None:
        barrier.wait(LONG)
        with condition:
            assert condition.wait_for(lambda: bool(found), LONG)
        barrier.wait(LONG)

    def other() -> None:
        barrier.wait(LONG)
        with condition:
            found.append(1.0)
            condition.notify()
        barrier.wait(LONG)

    beside(way, both, other)
    assert found == [1.0]
    assert (barrier.n_waiting, barrier.broken) == (0, False)


class Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.found: list[float] = []

    def run(self) -> None:
        assert self.go.wait(LONG)
        self.found.append(1.0)


@pytest.mark.plain
@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", UNCHECKED)
def test_what_a_thread_has_stored_stays_after_it_is_joined(way: str) -> None:
    worker = Worker()
    worker.start()
    beside(way, lambda: worker.join(LONG), worker.go.set)
    assert worker.found == [1.0]
    assert worker.go.is_set()
    assert not worker.is_alive()


@pytest.mark.without_modes("a thread does its part once")
@pytest.mark.parametrize("way", WAYS)
def test_results_of_pools_stay(way: str) -> None:
    go = threading.Event()
    with ThreadPool(1) as pool:
        result = pool.apply_async(go.wait, (LONG,))
        beside(way, lambda: result.get(LONG), go.set)
        assert result.ready()
        assert result.get(LONG)


@pytest.mark.parametrize("way", WAYS)
def test_processes_stay_ended(way: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]) as process:
        np.testing.assert_allclose(WAYS[way](lambda x: np.sum(x * x) * process.wait()), 6.0 * X)
        assert process.returncode == 3


@pytest.mark.parametrize("way", WAYS)
def test_queues_hold_active_numbers(way: str) -> None:
    def f(x: Any) -> Any:
        waiting: Any = queue.Queue()
        first: Any = queue.PriorityQueue()
        last: Any = queue.LifoQueue()
        for part in x:
            waiting.put(part)
            first.put((-part, part))
            last.put(part)
        return waiting.get() * first.get()[1] * last.get()

    np.testing.assert_allclose(WAYS[way](f), [2.0 * X[0] * X[1], X[0] ** 2])
