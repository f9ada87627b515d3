"""Iterators in C that were made before the call, over vectors that have become active.

They would yield plain numbers.  So a copy takes the place of such an iterator for the rest of the
call: it continues from the same position, and reads the elements as the program would.  The
iterator of the caller stays where it is.
"""

from __future__ import annotations

import copy
import gc
import itertools
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import OF_CONTAINERS, PAIRING
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import moved
from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import INERT, is_iterator
from mooncake_py.runtime.iterators import contexts_of, reduced, set_state
from mooncake_py.runtime.references import references_beside
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["KINDS", "holds_its_own", "in_place_of", "is_idle"]

OF_SEQUENCE = type(iter(np.ones(1)))
LEAVES = frozenset({OF_SEQUENCE, reversed})
SEQUENCES = frozenset({type(iter(())), type(iter([]))})
KINDS = LEAVES | {
    enumerate, zip, map, filter, itertools.chain, itertools.islice, itertools.cycle,
    itertools.pairwise, itertools.starmap, itertools.accumulate, itertools.groupby,
    itertools.compress, itertools.zip_longest, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, type(itertools.tee(())[0]),
}  # fmt: skip
CALLING = frozenset({
    map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, itertools.accumulate,
})  # fmt: skip
"""Iterators that call a function."""
LEVELS = {OF_SEQUENCE: 1, reversed: 1, itertools.chain: 3}
TEE_DATA = {getattr(itertools, "_tee_dataobject", None)}
MOST = 64  # objects that are looked through

MOVED = "a derivative inside this one would have to move it for both"

_copies: WeakKeyDictionary[Any, dict[int, tuple[Any, Any]]] = WeakKeyDictionary()
"""By the call: iterators by id, with their replacements; None if a call inside has it."""
_entries: Any = vars(_copies)["data"]
"""Whose truth, unlike that of the above, needs no call of Python code."""


def is_idle() -> bool:
    """Return whether no iterator has a copy in its place, and no run takes note of any."""
    return not _entries and not moved.are_noted()


def holds_its_own(iterator: Any) -> bool:
    """Return whether nobody else has the iterators over containers that an iterator runs through.

    If nobody else has the iterator itself either, only the loop over it moves them on.
    """
    t = type(iterator)
    if t in OF_CONTAINERS:
        return True
    if t not in PAIRING:
        return False
    held = gc.get_referents(iterator)  # the sources first
    sources, count, others = (held[0], len(held[0]), 0) if t is zip else (held, 1, 1)
    return all(
        references_beside(sources, k) == others and holds_its_own(sources[k]) for k in range(count)
    )


def in_place_of(ctx: Mode, iterator: Any, passes_on: bool = False) -> Any:
    """Return the replacement of an iterator in a call: a copy if the iterator loses derivatives.

    In a second run it starts where the first one has found the iterator.  One that only passes on
    what containers hold loses none.
    """
    original, iterator, noting = moved.meet(ctx, iterator)
    copies = _copies.get(ctx) if _entries else None
    known = None if copies is None else copies.get(id(iterator))
    if known is not None:
        if known[1] is None:
            raise refusal(ctx, iterator, MOVED)
        if not moved.is_noted(original, noting):  # it is not where its copy is
            raise refusal(ctx, iterator, "a second run would not find it where it was")
        return known[1]
    moved.note(ctx, original, iterator, noting)
    if passes_on or type(iterator) not in KINDS or not any(active_vectors(ctx, iterator)):
        return iterator
    return Copier(ctx, _copies.setdefault(ctx, {})).of(iterator)


def active_vectors(ctx: Mode, iterator: Any) -> Iterator[bool]:
    """Yield for each vector of an iterator whether it is active here or around here."""
    for a in vectors_of(iterator):
        yield any(context.find(a) is not None for context in (ctx, *ctx.outers))


def vectors_of(iterator: Any) -> Iterator[ndarray]:
    """Yield the vectors of whose elements an iterator runs over, also through others.

    An iterator over a list of vectors yields the vectors themselves; only a chain iterates further.
    """
    todo, seen = [(iterator, 0)], {id(iterator)}
    while todo and len(seen) < MOST:
        value, level = todo.pop()  # how many levels of what it holds are iterated over
        t = type(value)
        if (t is GeneratorType or t in CALLING) and contexts_of(value):
            continue
        if issubclass(type(value), ndarray):
            if level and value.ndim == 1 and value.dtype.kind in "fc":
                yield value
        else:
            level = LEVELS.get(t, max(level - 1, 0))
            for part in gc.get_referents(value):
                kind = type(part)
                if kind not in INERT and id(part) not in seen and leads_on(kind):
                    seen.add(id(part))
                    todo.append((part, level))


@remembered
def leads_on(t: type) -> bool:
    """Return whether objects of a type may be vectors, or lead to them."""
    return t is tuple or t is list or t in TEE_DATA or issubclass(t, ndarray) or is_iterator(t)


def refusal(ctx: Mode, iterator: Any, why: str) -> BaseException:
    """Return the error for an iterator that loses derivatives."""
    return dropped(
        ctx,
        f"{with_article(type(iterator).__name__)} iterator was made before the call over an array "
        "that has become active",
        why=f"it yields plain numbers, which carry no derivative, and {why}",
        fix="make the iterator inside the function",
    )


class Copier:
    """Makes copies of iterators; those that two share are shared by the copies."""

    def __init__(self, ctx: Mode, copies: dict[int, tuple[Any, Any]]) -> None:
        self.ctx = ctx
        self.copies = copies

    def of(self, value: Any) -> Any:
        """Return a copy of an iterator; any other value as it is."""
        if type(value) is tuple:
            return tuple(map(self.of, value))
        if type(value) in SEQUENCES:
            return copy.copy(value)
        if not is_iterator(type(value)) or not any(True for _ in vectors_of(value)):
            return value
        if id(value) not in self.copies:
            for outer in self.ctx.outers:
                if (
                    _copies.setdefault(outer, {}).setdefault(id(value), (value, None))[1]
                    is not None
                ):
                    raise refusal(self.ctx, value, MOVED)
            self.copies[id(value)] = value, self.copied(value)
        return self.copies[id(value)][1]

    def copied(self, iterator: Any) -> Any:
        """Return a copy of an iterator over active vectors."""
        found = reduced(iterator)
        if found is None:
            raise refusal(self.ctx, iterator, "it cannot be copied")
        make, arguments, *state = found
        t = type(iterator)
        if t in LEAVES:
            return self.elements(arguments[0], state[0] if state else 0, -1 if t is reversed else 1)
        if t in MADE:
            return MADE[t](self.ctx, *map(self.of, (*arguments, *state)))
        if t not in PASSING:
            raise refusal(self.ctx, iterator, "it cannot be copied")
        new = make(*map(self.of, arguments))
        if state:
            set_state(new, self.of(state[0]))
        return new

    def elements(self, a: ndarray, position: int, step: int) -> Iterator[Any]:
        """Yield the elements that are left, each as it is by then."""
        while 0 <= position < len(a):
            yield self.ctx.getitem(a, position)
            position += step


PASSING = frozenset({
    enumerate, zip, itertools.islice, itertools.cycle, itertools.compress, itertools.zip_longest,
})  # fmt: skip


def mapped(ctx: Mode, f: Any, *iterators: Any) -> Iterator[Any]:
    """Do what is left of ``map(f, ...)``."""
    for items in zip(*iterators, strict=False):
        yield ctx.call(f, *items)


def filtered(ctx: Mode, f: Any, iterator: Any) -> Iterator[Any]:
    """Do what is left of ``filter(f, ...)``."""
    for item in iterator:
        if ctx.truth(item if f is None else ctx.call(f, item)):
            yield item


def starred(ctx: Mode, f: Any, iterator: Any) -> Iterator[Any]:
    """Do what is left of ``starmap(f, ...)``."""
    for items in iterator:
        yield ctx.call(f, *items)


def chained(ctx: Mode, state: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Do what is left of ``chain(...)``: of the present part, and the parts to come."""
    rest, *present = state or (iter(()),)
    for part in present:
        yield from part
    for part in rest:
        yield from ctx.iter(part)


MADE: dict[type, Callable[..., Iterator[Any]]] = {
    map: mapped,
    filter: filtered,
    itertools.starmap: starred,
    itertools.chain: chained,
}
