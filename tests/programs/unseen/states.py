"""State that hooks write to: how it is written, what is read of it, and what it is."""

import collections
import queue
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Write = Callable[[], Any]


class State(NamedTuple):
    """One piece of state that a program has captured."""

    write: Write
    read: Callable[[], float]
    snapshot: Callable[[], str]


COUNT = 0


class Holder:
    """An object with a number."""

    count = 0


def of_list() -> State:
    calls: list[float] = []
    return State(lambda: calls.append(1.0), lambda: float(len(calls)), lambda: repr(calls))


def of_array() -> State:
    counts = np.zeros(2)

    def write() -> None:
        counts[0] += 1

    return State(write, lambda: counts[0], lambda: repr(counts))


def of_dict() -> State:
    counts: dict[str, int] = {}

    def write() -> None:
        counts["n"] = counts.get("n", 0) + 1

    return State(write, lambda: float(counts.get("n", 0)), lambda: repr(counts))


def of_set() -> State:
    found: set[int] = set()
    return State(lambda: found.add(len(found)), lambda: float(len(found)), lambda: repr(found))


def of_object() -> State:
    holder = Holder()

    def write() -> None:
        holder.count += 1

    return State(write, lambda: float(holder.count), lambda: repr(vars(holder)))


def of_class() -> State:
    class Local:
        count = 0

    def write() -> None:
        Local.count += 1

    return State(write, lambda: float(Local.count), lambda: repr(Local.count))


def of_global() -> State:
    global COUNT
    COUNT = 0

    def write() -> None:
        global COUNT
        COUNT += 1

    return State(write, lambda: float(COUNT), lambda: repr(COUNT))


def of_cell() -> State:
    count = 0

    def write() -> None:
        nonlocal count
        count += 1

    return State(write, lambda: float(count), lambda: repr(count))


def of_function() -> State:
    def noted() -> None:
        pass

    noted.count = 0  # type: ignore[attr-defined]

    def write() -> None:
        noted.count += 1  # type: ignore[attr-defined]

    def read() -> float:
        return float(noted.count)  # type: ignore[attr-defined]

    return State(write, read, lambda: repr(vars(noted)))


def of_deque() -> State:
    last: collections.deque[float] = collections.deque([1.0, 2.0], maxlen=2)
    return State(lambda: last.append(last[-1] + 1), lambda: last[-1], lambda: repr(last))


def of_ordered() -> State:
    kept = collections.OrderedDict(a=1.0, b=2.0)

    def write() -> None:
        kept.move_to_end("a" if next(iter(kept)) == "a" else "b")

    return State(write, lambda: kept[next(iter(kept))], lambda: repr(kept))


def of_bytes() -> State:
    kept = bytearray()
    return State(lambda: kept.append(1), lambda: float(len(kept)), lambda: repr(kept))


def of_queue() -> State:
    waiting: queue.Queue[int] = queue.Queue()
    return State(
        lambda: waiting.put(1), lambda: float(waiting.qsize()), lambda: repr(waiting.queue)
    )


def of_simple_queue() -> State:
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    return State(lambda: waiting.put(1), waiting.qsize, lambda: repr(waiting.qsize()))


def of_notes() -> State:
    error = ValueError()

    def notes() -> list[str]:
        return getattr(error, "__notes__", [])

    return State(
        lambda: error.add_note("a"), lambda: float(len(notes())), lambda: repr(vars(error))
    )


STATES = {
    name.removeprefix("of_"): make
    for name, make in list(globals().items())
    if name.startswith("of_")
}
"""From a name to a function that makes the state again."""
