"""Queues in C: what waits in them is put back, and may be active."""

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hessian, jvp, vjp

X = np.array([2.0, 3.0])
WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X),
    "vjp": lambda f: vjp(f, X)[1](1.0)[0],
    "jvp": lambda f: np.array([jvp(f, (X,), (v,))[1] for v in np.eye(2)]),
    "hessian": lambda f: hessian(f)(X) @ X,
}


@pytest.mark.parametrize("way", WAYS)
def test_items_are_put_back(way: str) -> None:
    waiting: queue.SimpleQueue[float] = queue.SimpleQueue()
    waiting.put(2.0)
    waiting.put(5.0)

    def f(x: Any) -> Any:
        waiting.put(7.0)
        return np.sum(x * x) * waiting.get() * waiting.qsize()

    np.testing.assert_allclose(WAYS[way](f), 8.0 * X)
    assert [waiting.get(), waiting.get()] == [2.0, 5.0]
    assert waiting.empty()


def test_items_may_be_active() -> None:
    def f(x: Any) -> Any:
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for part in x:
            waiting.put(part**2)
        return waiting.get() * waiting.get_nowait()

    np.testing.assert_allclose(grad(f)(X), [2 * 2.0 * 9.0, 4.0 * 2 * 3.0])


def take(waiting: Any, n: int, done: bool) -> None:
    for _ in range(n):
        waiting.get(timeout=9)
        if done:
            waiting.task_done()


OTHERS: dict[str, tuple[Callable[[Any], None], list[Any], int]] = {
    "takes all": (lambda q: take(q, 3, done=False), [], 3),
    "is done with all": (lambda q: take(q, 3, done=True), [], 0),
    "is done with one": (lambda q: take(q, 1, done=True), [], 0),
    "puts one in": (lambda q: q.put("theirs"), ["first", "theirs"], 2),
}


@pytest.mark.parametrize("way", sorted({*WAYS} - {"checkpoint"}))  # which runs it again
@pytest.mark.parametrize("other", OTHERS)
def test_what_another_thread_does_meanwhile_stays(way: str, other: str) -> None:
    act, items, count = OTHERS[other]
    waiting: queue.Queue[Any] = queue.Queue()
    waiting.put("first")
    begin, end = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait(9)
        act(waiting)
        end.set()

    def hand_over() -> None:
        begin.set()
        end.wait(9)

    def f(x: Any) -> Any:
        if not begin.is_set():
            waiting.put(1)
            waiting.put(1)
            hand_over()
        return np.sum(x * x)

    thread = threading.Thread(target=run)
    thread.start()
    WAYS[way](f)
    thread.join()
    assert list(waiting.queue) == items
    assert waiting.unfinished_tasks == count


@pytest.mark.parametrize("kind", [queue.Queue, queue.LifoQueue, queue.PriorityQueue])
@pytest.mark.parametrize("way", WAYS)
def test_queues_in_python_are_put_back(way: str, kind: Callable[[], Any]) -> None:
    waiting = kind()
    waiting.put(2.0)
    waiting.put(5.0)
    before = list(waiting.queue)

    def f(x: Any) -> Any:
        waiting.put(7.0)
        found = waiting.get()
        waiting.task_done()
        return np.sum(x * x) * found * waiting.qsize() * waiting.unfinished_tasks

    factor = 8.0 * (7.0 if kind is queue.LifoQueue else 2.0)
    np.testing.assert_allclose(WAYS[way](f), factor * X)
    assert list(waiting.queue) == before
    assert waiting.unfinished_tasks == 2
