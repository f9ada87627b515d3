"""Iterators that a part of a program moves on, which runs again: the second run takes the same.

Of an iterator in C a first run keeps a copy, from before it takes an item; copies of iterators that
take items from each other do so too.  Of those that cannot be copied, such as generators, it keeps
what they have given.  A part that is checkpointed cannot: what derived code computes must run again
with it.  So there the second run refuses them.  What a solver's callbacks compute stays: of all
iterators that run code it keeps what they have given.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet, ref

from numpy import ndarray

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, within
from mooncake_py.runtime.classes import recorder
from mooncake_py.runtime.iterators import Copies, contexts_of, holds
from mooncake_py.runtime.pulls import UNDOES
from mooncake_py.runtime.references import references_beside
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "ExhaustedError", "Moved", "are_noted", "forget_all", "holds_any", "is_noted", "items_of",
    "let_go", "meet", "note", "read", "recorded",
]  # fmt: skip

FEW = 32
KEPT = frozenset({"builtins", "itertools", "_csv"})
"""Modules of iterators; files have other ways to be moved on."""


class _Thread(threading.local):
    """The runs of this thread, one within the other: those that take note, those that run again."""

    def __init__(self) -> None:
        self.runs: list[Moved | Again] = []


_thread = _Thread()
_spoilt: WeakSet[Any] = WeakSet()
"""Generators that have moved on, while what they have changed was undone."""
_spoilt_entries: Any = vars(_spoilt)["data"]
"""Whose truth, unlike that of the above, needs no call of Python code."""


class ExhaustedError(RuntimeError):
    """A second run asks for more items than an iterator has given in the first one."""


class Given:
    """The items and errors of an iterator in a first run, None if they cannot be kept."""

    __slots__ = ("outcomes",)

    def __init__(self, is_kept: bool) -> None:
        self.outcomes: list[Any] | None = [] if is_kept else None


class Raised:
    """An error, or the end, in place of an item."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Known:
    """An iterator, what stood for it at the beginning of a first run, and that as it was then."""

    __slots__ = ("before", "original", "present", "watched")

    def __init__(self, original: Any, present: Any, before: Any, watched: bool) -> None:
        self.original = original
        self.present = None if present is original else present
        self.before = before
        self.watched = watched  # what it gives is kept, or what it changes would be undone

    @property
    def iterator(self) -> Any:
        """The iterator; None if nobody has it any more."""
        return self.original() if type(self.original) is ref else self.original

    def where_it_is(self) -> Any:
        """Return the object that has moved on: the iterator, or its stand-in."""
        return self.original if self.present is None else self.present


def new_in(known: Known) -> list[Any]:
    """Return the items that an iterator has come to keep."""
    before = set(map(id, holds(known.before)))
    now = holds(known.where_it_is())
    return [item for item in now if id(item) not in before]


def may_run(part: Mode | None, stays: bool, own: Any, reads: bool) -> bool:
    """Return whether a copy may run functions in its own context: what they change is undone."""
    if stays:
        return reads
    return reads or own is part if part is not None else hasattr(own, "base")


def forgetting(moved: Moved, key: int) -> Callable[[Any], None]:
    """Return a callback that forgets an iterator that is deleted."""
    reference = ref(moved)  # no cycle, which only the collector would free

    def forget(_: Any) -> None:
        if (found := reference()) is not None:
            found.known.pop(key, None)

    return forget


class Moved:
    """The iterators that a run has moved on.

    Attributes
    ----------
    part : Mode, optional
        The context of which a checkpointed part runs.
    stays : bool
        Whether what the run computes stays active in the context around it.
    known : dict
        By the ids of the iterators.
    """

    def __init__(self, part: Mode | None = None, stays: bool = False) -> None:
        self.part = part
        self.stays = stays
        self.known: dict[int, Known] = {}
        self.copies = Copies(partial(may_run, part, stays))
        self.second: Again | None = None
        self.spoilt: WeakSet[Any] = WeakSet()
        self.limit = FEW

    def __enter__(self) -> Self:
        _thread.runs.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _thread.runs.remove(self)
        _spoilt.update(self.spoilt)

    def note(self, ctx: Mode, original: Any, present: Any) -> None:
        """Note an iterator that an item is about to be taken from."""
        if id(original) in self.known:
            return
        made = self.copies.of(present)
        if made is not None:
            runs = self.copies.runs and self.part is None
            for iterator, copy in made:
                own = original if iterator is present else original_of(iterator)
                self.known[id(own)] = Known(own, iterator, copy, runs)
        elif self.keeps(original) and getattr(present, "gi_frame", ctx) is not None:
            contexts = [] if self.stays else contexts_of(present)
            if self.part is None and contexts and all(c is ctx for c in contexts) and is_last(ctx):
                return  # it was made within the run
            given = Given(self.part is None or not contexts)
            if type(original) is GeneratorType:
                kept = ref(original, forgetting(self, id(original)))
                self.known[id(original)] = Known(kept, kept, given, given.outcomes is not None)
            else:
                self.known[id(original)] = Known(
                    original, present, given, given.outcomes is not None
                )
        if len(self.known) > self.limit:
            self.forget_others()

    def keeps(self, original: Any) -> bool:
        """Return whether what an iterator gives may be kept."""
        is_file = issubclass(type(original), io.IOBase)
        return self.stays if is_file else module_of(type(original)) in KEPT

    def forget_others(self) -> bool:
        """Forget the iterators that the run has made, and nobody has any more; return if any."""
        before = len(self.known)
        others = [run for run in _thread.runs if type(run) is Moved and run is not self]
        for key, known in list(self.known.items()):
            own = 1 + sum([key in run.known for run in others])
            if references_beside([known.original]) <= own and type(known.original) is not ref:
                del self.known[key]
                self.copies.forget(known.where_it_is())
        self.limit = FEW + 2 * len(self.known)
        return len(self.known) < before

    def held_by_runs(self) -> Iterator[Any]:
        """Yield the objects that refer to iterators for this run, and for those around it."""
        for run in (self, *_thread.runs):
            if type(run) is Moved:
                yield from run.known.values()
                yield run.copies

    def take(self, ctx: Mode, known: Known, outcome: Any, undone: bool) -> None:
        """Keep what an iterator has given, if that is what a second run may be given."""
        if undone and not self.stays:
            known.before = Given(False)
            if type(known.iterator) is GeneratorType:
                self.spoilt.add(known.iterator)
        given = known.before
        if type(given) is Given and given.outcomes is not None:
            if self.computes(ctx, outcome):
                given.outcomes = None
            else:
                given.outcomes.append(outcome)

    def computes(self, ctx: Mode, item: Any) -> bool:
        """Return whether an item is active because of the run's computations, which are redone."""
        if type(item) in INERT or self.stays:
            return False
        if self.part is not None:
            return ctx.contains_active(item)
        is_captured = getattr(ctx, "is_captured", None)
        if is_captured is None:
            return False

        def is_computed(part: Any) -> bool:
            if type(part) is Active:
                return part.context is ctx
            return part.dtype.kind in "fc" and bool(ctx.find(part)) and not is_captured(part)

        return any(map(is_computed, within(item, is_number, set())))

    def carrying(self, ctx: Mode) -> list[Known]:
        """Return the iterators that keep what the run has computed, such as the last sum."""
        self.forget_others()
        return [
            known
            for known in self.known.values()
            if type(known.before) is not Given
            and module_of(type(known.original)) == "itertools"
            and any(map(ctx.contains_active, new_in(known)))
        ]

    def held_by(self, known: Known) -> list[Any]:
        """Return the items that an iterator keeps; what stands for it, in a second run."""
        if self.second is not None:
            return holds(self.second.stand_ins[id(known.original)])
        return holds(known.where_it_is())

    def refuse_carrying(self, ctx: Mode) -> None:
        """Raise if an iterator goes on with what only the first run has computed."""
        for known in self.carrying(ctx):
            if self.is_used(known):
                raise refusal(ctx, known.original)

    def is_used(self, known: Known) -> bool:
        """Return whether a second run has taken items of an iterator: it is the same in both."""
        return self.second is not None and id(known.original) in self.second.used

    @contextmanager
    def again(self, at_end: bool = False) -> Iterator[None]:
        """Let a block take the items that the run has taken; the iterators stay where they are.

        Or those from its end on.
        """
        before, self.second = self.second, Again(self, at_end)
        run = self.second
        _thread.runs.append(run)
        try:
            yield
        finally:
            _thread.runs.remove(run)
            self.second = before


def is_number(value: Any) -> bool:
    """Return whether a value is an active number or an array."""
    return type(value) is Active or issubclass(type(value), ndarray)


class Again:
    """A second run, with what stands for the iterators in it; or one that goes on from the end."""

    def __init__(self, moved: Moved, at_end: bool = False) -> None:
        self.known = list(moved.known.values())
        self.stand_ins: dict[int, Any] = {}
        self.known_at: dict[int, Known] = {}
        self.used: set[int] = set()
        self.originals: dict[int, Any] = {}
        copies = Copies(lambda own, reads: True)
        for known in self.known:
            iterator = known.iterator
            if iterator is None:
                continue
            before = known.before
            if type(before) is not Given:
                start = known.where_it_is() if at_end else before
                copies.of(start)
                stand_in = copies.made[id(start)]
            elif before.outcomes is None:
                stand_in = None
            else:
                position = len(before.outcomes) if at_end else 0
                stand_in = Giving(before.outcomes, position).iterator()
            self.stand_ins[id(iterator)] = stand_in
            self.known_at[id(iterator)] = known
            for other in (known.present, stand_in):
                if other is not None:
                    self.originals[id(other)] = iterator

    def knows(self, iterator: Any) -> bool:
        """Return whether the first run had moved an iterator on: its id may be that of another."""
        known = self.known_at.get(id(iterator))
        return known is not None and known.iterator is iterator


class Giving:
    """Gives again what an iterator has given."""

    __slots__ = ("outcomes", "position")

    def __init__(self, outcomes: list[Any], position: int = 0) -> None:
        self.outcomes = outcomes
        self.position = position

    def iterator(self) -> Iterator[Any]:
        return map(self.step, range(sys.maxsize))

    def copied(self) -> Giving:
        """Return one that goes on by itself."""
        return Giving(self.outcomes, self.position)

    def step(self, _: int) -> Any:
        """Return the next item."""
        if self.position == len(self.outcomes):
            raise ExhaustedError("more items are taken of an iterator than in the first run")
        found = self.outcomes[self.position]
        self.position += 1
        if type(found) is Raised:
            raise found.error
        return found


class Taking:
    """Takes items of an iterator, and keeps them for second runs."""

    __slots__ = ("ctx", "iterator", "kept")

    def __init__(self, ctx: Mode, iterator: Iterator[Any], kept: list[tuple[Moved, Known]]) -> None:
        self.ctx = ctx
        self.iterator = iterator
        self.kept = kept

    def items(self) -> Iterator[Any]:
        """Return an iterator over them."""
        return map(self.step, range(sys.maxsize))

    def step(self, _: int) -> Any:
        """Return the next item."""
        below = recorder(self.ctx)
        tape = () if below is self.ctx else below.tape
        start = len(tape)
        outcome: Any = None
        try:
            outcome = item = next(self.iterator)
        except Exception as error:
            outcome = Raised(error)
            raise
        finally:
            # Forward mode has recorded changes where the derivative inside undoes them.
            undone = any(entry[0] in UNDOES for entry in tape[start:])
            for run, known in self.kept:
                run.take(self.ctx, known, outcome, undone)
        return item


def is_last(ctx: Mode) -> bool:
    """Return whether a context is that of one run: forward mode goes on in derivatives inside."""
    return not hasattr(ctx, "base")


def original_of(iterator: Any) -> Any:
    """Return the iterator that another one stands for in a second run, or itself."""
    for run in reversed(_thread.runs):
        if type(run) is Again and id(iterator) in run.originals:
            return run.originals[id(iterator)]
    return iterator


def meet(ctx: Mode, iterator: Any) -> tuple[Any, Any, list[Moved]]:
    """Return an iterator of the program, what stands for it, and the runs that take note of it."""
    if _spoilt_entries and type(iterator) is GeneratorType and iterator in _spoilt:
        raise refusal(ctx, iterator)
    if not _thread.runs:
        return iterator, iterator, []
    original = original_of(iterator)
    noting: list[Moved] = []
    for run in reversed(_thread.runs):
        if type(run) is Moved:
            noting.append(run)
        elif type(run) is Again and run.knows(original):
            stand_in = run.stand_ins[id(original)]
            run.used.add(id(original))
            if stand_in is None:
                raise refusal(ctx, original)
            return original, stand_in, noting
    return original, iterator, noting


def holds_any() -> bool:
    """Return whether runs refer to iterators that they have noted."""
    noting: list[Moved] = [run for run in _thread.runs if type(run) is Moved and run.known]
    return any(type(known.original) is not ref for run in noting for known in run.known.values())


def forget_all() -> bool:
    """Let runs forget the iterators that nobody has any more; return whether there were any."""
    runs = [run for run in _thread.runs if type(run) is Moved and run.known]
    return sum(run.forget_others() for run in runs) > 0


def items_of(ctx: Mode, generator: Any) -> Any:
    """Return the iterable of a loop over a generator; a first run takes note of it."""
    if not _spoilt_entries and not _thread.runs:
        return generator
    original, present, noting = meet(ctx, generator)
    note(ctx, original, present, noting)
    return recorded(ctx, generator, present)


def note(ctx: Mode, original: Any, present: Any, noting: list[Moved]) -> None:
    """Let runs know that an item is about to be taken from an iterator."""
    for run in noting:
        run.note(ctx, original, present)


def are_noted() -> bool:
    """Return whether there are runs that take note of iterators, or take their items again."""
    return bool(_thread.runs)


def read(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method by which a file is read, or moved on; a second run finds the same there."""
    original, present, noting = meet(ctx, f.__self__)
    if present is not original:
        return next(present)
    note(ctx, original, present, noting)
    kept = [(run, run.known[id(original)]) for run in noting if id(original) in run.known]
    return next(Taking(ctx, starmap(partial(f, **kwargs), [args]), kept).items())


def is_noted(original: Any, noting: list[Moved]) -> bool:
    """Return whether runs know an iterator."""
    return all(id(original) in run.known for run in noting)


def recorded(ctx: Mode, iterator: Any, present: Any) -> Any:
    """Return an iterator, or one that keeps what that gives, if there is no other way."""
    if not _thread.runs:
        return present
    original, _, noting = meet(ctx, iterator)
    found = [run.known.get(id(original)) for run in noting]
    kept = [
        (run, known)
        for run, known in zip(noting, found, strict=True)
        if known is not None and known.watched
    ]
    return Taking(ctx, iter(present), kept).items() if kept else present


def let_go(ctx: Mode, generator: Any) -> None:
    """Note a generator that is moved on by other means than to take its items."""
    if not _spoilt_entries and not _thread.runs:
        return
    original, present, noting = meet(ctx, generator)
    if present is not original:
        raise refusal(ctx, original)
    for run in noting:
        run.note(ctx, original, present)
        if id(original) in run.known:
            run.known[id(original)].before = Given(False)


def refusal(ctx: Mode, iterator: Any) -> BaseException:
    """Return the error for an iterator that a second run cannot find where the first one has."""
    return dropped(
        ctx,
        f"{with_article(type(iterator).__name__)} was made before a part that runs again, and "
        "moves on in it",
        why="it cannot be copied, so the second run does not find it where the first one has",
        fix="make it within the part, or take its items before, for example by list(...)",
    )
