"""Queues in Python are restored, except for the changes of other threads."""

import queue
import threading
from collections.abc import Callable
from heapq import heapify
from typing import Any

import numpy as np
import pytest

from tests.containers.ways import WAYS, X
from tests.support.pairs import pairwise

KINDS = [queue.Queue, queue.LifoQueue, queue.PriorityQueue]


def take(waiting: Any, n: int, done: bool) -> None:
    for _ in range(n):
        waiting.get(timeout=9)
        if done:
            waiting.task_done()


def differentiated_beside(way: str, waiting: Any, ours: Callable[[], Any], theirs: Any) -> None:
    """Take a derivative of a function which changes a queue, as another thread does after that."""
    begin, end = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait(9)
        theirs(waiting)
        end.set()

    def hand_over() -> None:
        begin.set()
        end.wait(9)

    def f(x: Any) -> Any:
        if not begin.is_set():
            ours()
            hand_over()
        return np.sum(x * x)

    thread = threading.Thread(target=run)
    thread.start()
    WAYS[way](f)
    thread.join()


LEFT = {queue.Queue: [], queue.LifoQueue: [2], queue.PriorityQueue: []}
OTHERS: dict[str, tuple[Callable[[Any], None], Any, Any]] = {
    "takes all": (lambda q: take(q, 3, done=False), lambda kind: [], lambda kind: 3),
    "is done with all": (lambda q: take(q, 3, done=True), lambda kind: [], lambda kind: 0),
    "is done with one": (lambda q: take(q, 1, done=True), LEFT.get, lambda kind: len(LEFT[kind])),
    "puts one in": (lambda q: q.put(4), lambda kind: [2, 4], lambda kind: 2),
    "puts the least in": (lambda q: q.put(1), lambda kind: [2, 1], lambda kind: 2),
}


# A checkpoint would run it again.
@pytest.mark.parametrize(
    ("kind", "other", "way"), pairwise(KINDS, OTHERS, sorted({*WAYS} - {"checkpoint"}))
)
def test_what_another_thread_does_meanwhile_stays(
    way: str, other: str, kind: Callable[[], Any]
) -> None:
    act, items, count = OTHERS[other]
    waiting = kind()
    waiting.put(2)

    def ours() -> None:
        waiting.put(3)
        waiting.put(3)

    differentiated_beside(way, waiting, ours, act)
    expected = items(kind)
    if kind is queue.PriorityQueue:
        heapify(expected)
    assert list(waiting.queue) == expected
    assert waiting.unfinished_tasks == count(kind)


@pytest.mark.parametrize("way", ["grad", "debug", "jvp"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_taken_is_put_back_beside_what_others_put_in(
    way: str, kind: Callable[[], Any]
) -> None:
    waiting = kind()
    for item in (5, 6, 7, 8):
        waiting.put(item)
    differentiated_beside(way, waiting, lambda: take(waiting, 2, done=False), lambda q: q.put(9))
    items = [5, 6, 7, 8, 9]
    if kind is queue.PriorityQueue:
        items = [5, 6, 9, 8, 7]  # any heap of them would do
    assert list(waiting.queue) == items
    assert waiting.unfinished_tasks == 5


@pytest.mark.parametrize("way", ["grad", "checkpoint"])
def test_heaps_are_put_back_item_by_item(way: str) -> None:
    waiting: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
    rng = np.random.default_rng(3)
    for k in range(40):
        waiting.put((int(rng.integers(5)), k))
    before = [*waiting.queue]
    changes = rng.integers(-6, 6, 90).tolist()

    def f(x: Any) -> Any:
        total = 0
        for k in changes:
            if k < 0:
                waiting.put((k + 5, k))
            else:
                total += waiting.get()[1]
        return np.sum(x * x) * total

    value = f(X) / np.sum(X * X)
    waiting.queue[:] = before
    np.testing.assert_allclose(WAYS[way](f), 2 * X * value)
    assert all(a is b for a, b in zip(waiting.queue, before, strict=True))


def test_items_of_a_heap_may_be_active() -> None:
    def f(x: Any) -> Any:
        waiting: queue.PriorityQueue[Any] = queue.PriorityQueue()
        for part in x:
            waiting.put((-part, part**2))
        return waiting.get()[1] * 5 + waiting.get()[1]

    for way in ("grad", "debug", "jvp"):
        np.testing.assert_allclose(WAYS[way](f), [4.0, 30.0])


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


class Named(queue.Queue):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Plain(queue.PriorityQueue):
    pass


@pytest.mark.parametrize("way", WAYS)
def test_queues_of_classes_of_the_program_are_made(way: str) -> None:
    def f(x: Any) -> Any:
        for waiting in (Named("a"), Plain()):
            waiting.put(2.0)
            x = x * waiting.get() * waiting.unfinished_tasks
            waiting.task_done()
        return np.sum(x * x)

    np.testing.assert_allclose(WAYS[way](f), 32 * X)
