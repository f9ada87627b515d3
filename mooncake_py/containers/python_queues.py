"""Changes to `Queue`, `LifoQueue` and `PriorityQueue`, each recorded with its inverse.

Other threads put items in, take them out and count them meanwhile: theirs stay as they are.  So an
item that was put in is taken out wherever it is by then, and the count is taken back by what was
counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import compress, starmap
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.containers.effects import COMPARING, refuse_writers
from mooncake_py.containers.undo import note, once
from mooncake_py.runtime.interrupts import at_once

if TYPE_CHECKING:
    from queue import LifoQueue, PriorityQueue, Queue

    from mooncake_py.runtime.mode import Mode

__all__ = ["COUNT", "get_first", "get_last", "get_least", "is_counted",
           "put_in_order", "put_last", "set_count"]  # fmt: skip

COUNT = "unfinished_tasks"


def is_counted(q: Any) -> bool:
    """Return whether something is a queue whose items are put in as the standard library does.

    One that is being made has no count yet: no other thread can have it.
    """
    module = sys.modules.get("queue")  # which only programs with queues import
    if module is None or not issubclass(type(q), module.Queue) or COUNT not in vars(q):
        return False
    kinds = module.Queue, module.LifoQueue, module.PriorityQueue
    return type(q)._put in [kind._put for kind in kinds]


# First in, first out; and last in, first out.


def put_last(ctx: Mode, q: Queue[Any], item: Any) -> None:
    """Run ``Queue._put`` or ``LifoQueue._put``."""
    moved: list[Any] = []
    note(ctx, take_item_out, q, moved)
    at_once(map(q.queue.append, [item]), map(moved.append, [item]))


def get_first(ctx: Mode, q: Queue[Any]) -> Any:
    """Run ``Queue._get``."""
    moved: list[Any] = []
    note(ctx, put_back_first, q, moved)
    at_once(map(moved.append, starmap(q.queue.popleft, [()])))
    return moved[0]


def get_last(ctx: Mode, q: LifoQueue[Any]) -> Any:
    """Run ``LifoQueue._get``."""
    moved: list[Any] = []
    note(ctx, put_back_at, q, len(q.queue) - 1, moved)
    at_once(map(moved.append, starmap(q.queue.pop, [()])))
    return moved[0]


@once
def take_item_out(q: Queue[Any], moved: list[Any]) -> None:
    """Take out an item that was put in, unless another thread has it by now."""
    if moved:
        take_out(q, moved[0])
        moved.clear()


def take_out(q: Queue[Any], item: Any) -> bool:
    """Return whether an item was there to be taken out; if not, it is to be counted."""
    items = q.queue
    last = next((i for i in reversed(range(len(items))) if items[i] is item), None)
    if last is not None:
        del items[last]
    elif is_counted(q):
        q.unfinished_tasks += 1  # its own count is taken back before
    return last is not None


@once
def put_back_first(q: Queue[Any], moved: list[Any]) -> None:
    """Put an item back that was taken out."""
    q.queue.extendleft(moved)
    moved.clear()


@once
def put_back_at(q: LifoQueue[Any], place: int, moved: list[Any]) -> None:
    """Put an item back that was taken out, below what other threads have put in since."""
    q.queue[place:place] = moved
    moved.clear()


# By priority: a heap, in which the change of one item moves several.


def put_in_order(ctx: Mode, q: PriorityQueue[Any], item: Any) -> None:
    """Run ``PriorityQueue._put``."""
    rearrange(ctx, q, partial(heappush, q.queue, item), partial(take_out_of_order, q, item), [item])


def get_least(ctx: Mode, q: PriorityQueue[Any]) -> Any:
    """Run ``PriorityQueue._get``."""
    return rearrange(ctx, q, partial(heappop, q.queue), partial(heappush, q.queue, *q.queue[:1]))


def rearrange(
    ctx: Mode,
    q: PriorityQueue[Any],
    change: Callable[[], Any],
    inverse: Callable[[], None],
    given: Sequence[Any] = (),
) -> Any:
    """Change a heap, and record which items moved; all items at each change would be too many.

    Parameters
    ----------
    inverse : callable
        Undoes the change if other threads have changed the heap since.
    given : sequence
        What is put in.
    """
    heap = q.queue
    refuse_writers(ctx, (heap, *given), COMPARING)
    old = [*heap]
    undo = [partial(replace, heap, old)]
    note(ctx, run_once, q, undo)
    try:
        return change()
    finally:
        undo[:] = [partial(move_back, heap, Moves.between(old, heap), inverse)]


@once
def run_once(q: PriorityQueue[Any], undo: list[Callable[[], None]]) -> None:
    """Undo a change of a queue."""
    if undo:
        undo[0]()
        undo.clear()


def replace(heap: list[Any], items: list[Any]) -> None:
    """Put all items of a heap back."""
    heap[:] = items


class Moves(NamedTuple):
    """The items of a heap that have moved, compared with an earlier heap.

    Attributes
    ----------
    size, new_size : int
    items, new_items : dict of int to object
        By their places.
    """

    size: int
    items: dict[int, Any]
    new_size: int
    new_items: dict[int, Any]

    @staticmethod
    def between(old: list[Any], new: list[Any]) -> Moves:
        """Return the differences."""
        both, either = sorted((len(old), len(new)))
        places = [*compress(range(both), map(is_not, old, new)), *range(both, either)]
        sides = [(len(h), {i: h[i] for i in places if i < len(h)}) for h in (old, new)]
        return Moves(*sides[0], *sides[1])

    def were_last(self, heap: list[Any]) -> bool:
        """Return whether a heap is as these moves have left it, as far as they went."""
        return len(heap) == self.new_size and all(
            heap[i] is item for i, item in self.new_items.items()
        )


def move_back(heap: list[Any], moves: Moves, inverse: Callable[[], None]) -> None:
    """Put items of a heap back where they were; but other threads may have changed it since."""
    if not moves.were_last(heap):
        inverse()
        return
    old = heap[: moves.size] + [None] * (moves.size - moves.new_size)
    for i, item in moves.items.items():
        old[i] = item
    replace(heap, old)


def take_out_of_order(q: PriorityQueue[Any], item: Any) -> None:
    """Take an item out of a heap, wherever it is."""
    if take_out(q, item):
        heapify(q.queue)


# How many items are not done with.


@once
def count_back(q: Queue[Any], counted: list[int]) -> None:
    """Take a change of the count back, whatever others have counted since."""
    q.unfinished_tasks -= sum(counted)
    counted.clear()


def set_count(ctx: Mode, q: Queue[Any], setter: Callable[..., None], n: int) -> None:
    """Run ``q.unfinished_tasks = n``."""
    change = n - q.unfinished_tasks
    counted: list[int] = []
    note(ctx, count_back, q, counted)
    at_once(starmap(setter, [(q, COUNT, n)]), map(counted.append, [change]))
