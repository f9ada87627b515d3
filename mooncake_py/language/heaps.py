"""`heapq.heappush` and `heapq.heappop` on lists of numbers, strings and flat tuples of these.

No code of the program compares these.  Which items move is found before any does, so only they are
recorded: a copy of the list at each call would take the square of its size.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.containers import lists
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.pulls import pull_appended, pull_item
from mooncake_py.runtime.sites import DECLINED

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Recording

__all__ = ["MOVES"]

COMPARED = frozenset({int, float, bool, str, np.float64, Active})


def push(ctx: Recording, heap: Any, item: Any) -> Any:
    """Run ``heappush(heap, item)``, or decline before anything has changed."""
    if type(heap) is not list or not is_compared(item):
        return DECLINED
    size = at = len(heap)
    moved: list[int] = []
    try:
        while at and is_compared(heap[(at - 1) >> 1]):
            if not item < heap[(at - 1) >> 1]:
                break
            at = (at - 1) >> 1
            moved.append(at)
        else:
            if at:
                return DECLINED
    except Exception:
        return DECLINED  # items up to there have moved where it is raised again
    ctx.record((pull_appended, lists.truncate, heap, size))
    heap.append(item)
    if moved:
        put(ctx, heap, [heap[at] for at in moved] + [item], [size, *moved])
    return None


def pop(ctx: Recording, heap: Any) -> Any:
    """Run ``heappop(heap)``, or decline before anything has changed."""
    if type(heap) is not list or len(heap) < 2:
        return DECLINED
    size = len(heap) - 1
    item = heap[size]
    path = [0]
    try:
        while (child := 2 * path[-1] + 1) < size:
            if not is_compared(heap[child]):
                return DECLINED
            if child + 1 < size:
                if not is_compared(heap[child + 1]):
                    return DECLINED
                if not heap[child] < heap[child + 1]:
                    child += 1
            path.append(child)
        if not is_compared(item):
            return DECLINED
        while len(path) > 1 and item < heap[path[-1]]:
            path.pop()
    except Exception:
        return DECLINED
    found = heap[0]
    lists.METHODS["pop"](ctx, heap)
    put(ctx, heap, [heap[at] for at in path[1:]] + [item], path)
    return found


def is_compared(v: Any) -> bool:
    """Return whether an item is compared by no code of the program."""
    t = type(v)
    return t in COMPARED or (t is tuple and COMPARED.issuperset(map(type, v)))


def put(ctx: Recording, heap: list[Any], items: list[Any], places: list[int]) -> None:
    """Put items at places."""
    for at, item in zip(places, items, strict=True):
        ctx.record((pull_item, list.__setitem__, heap, at, heap[at]))
        heap[at] = item


MOVES: dict[Any, tuple[Any, int]] = {heapq.heappush: (push, 2), heapq.heappop: (pop, 1)}
"""For each function, one that runs it or declines, and the number of its arguments."""
