"""Random generators and iterators from outside in parts of a program that run twice.

The first run saves the state of each generator that it uses, so that the second run draws the same
numbers.  It keeps the iterators that it moves on (see `moved`), and what functions have returned
that run once only, out of sight.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self

from mooncake_py.language import unfinished
from mooncake_py.language.moved import Moved
from mooncake_py.rooms import PACKAGE
from mooncake_py.rules.generator_states import set_state, source_of, source_of_children, state_of
from mooncake_py.rules.kinds import Rule
from mooncake_py.runtime.attribute_lookup import MISSING

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "Draws",
    "note",
    "noting",
    "once",
    "repeats",
]

DRAWING = ("random.py", "shaped_draws.py", "shuffling.py", "transformed_draws.py", "undrawn.py")
FILES = frozenset(os.path.join(PACKAGE, "rules", name) for name in DRAWING)


class _Thread(threading.local):
    """The runs of this thread that take note, one within the other, and those that run again."""

    def __init__(self) -> None:
        self.noting: list[Draws] = []
        self.results: list[Iterator[Any]] = []


_thread = _Thread()


class Draws:
    """The generators that a run draws from, with their states before; records while entered."""

    def __init__(self, part: Mode | None = None, stays: bool = False) -> None:
        self.states: dict[int, tuple[Any, Any]] = {}
        self.moved = Moved(part, stays)
        self.results: list[Any] = []
        self.entered = False

    def run(self) -> AbstractContextManager[Any]:
        """Take note of a first run, and let each later one draw the same."""
        return self.again() if self.entered else self

    def __enter__(self) -> Self:
        self.entered = True
        _thread.noting.append(self)
        self.moved.__enter__()
        unfinished.look_from_now_on()  # it keeps iterators
        return self

    def __exit__(self, *exception: object) -> None:
        self.moved.__exit__()
        _thread.noting.remove(self)

    def note(self, source: Any) -> None:
        """Note something that is about to be drawn from."""
        if id(source) not in self.states:
            self.states[id(source)] = source, state_of(source)

    @contextmanager
    def of_numbers(self) -> Iterator[None]:
        """Take note in a block of generators of random numbers alone."""
        _thread.noting.append(self)
        try:
            yield
        finally:
            _thread.noting.remove(self)

    @contextmanager
    def rewound(self) -> Iterator[None]:
        """Let a block begin where the run has begun; the generators go on as if it had not been."""
        now = [(source, state_of(source)) for source, _ in self.states.values()]
        self.rewind()
        try:
            yield
        finally:
            for source, state in now:
                set_state(source, state)

    def rewind(self) -> None:
        """Put all generators into their states before the run."""
        for source, state in self.states.values():
            set_state(source, state)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Let a block draw what the run has drawn; the generators go on as if it had not."""
        with self.rewound():
            _thread.results.append(iter(self.results.copy()))
            try:
                with self.moved.again():
                    yield
            finally:
                _thread.results.pop()


def note(source: Any) -> None:
    """Let all runs that take note know that something is about to be drawn from."""
    for draws in _thread.noting:
        draws.note(source)


def once(run: Callable[[], tuple[Any, Any]], has_run: Callable[[Any], bool]) -> Any:
    """Run a function in a first run, and return in later ones what it has returned there.

    It also returns what it has changed, by which `has_run` tells if it must run again all the same.
    """
    known = [next(results, MISSING) for results in _thread.results]
    found = next((result for result in known if result is not MISSING), MISSING)
    if found is MISSING or not has_run(found[1]):
        found = run()
    for draws in _thread.noting:
        draws.results.append(found)
    return found[0]


def repeats() -> bool:
    """Return whether a part runs that will run again, or does so."""
    return bool(_thread.noting or _thread.results)


def noting(rule: Rule, handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of a function; one that draws notes the state of the generator first."""
    if rule.origin.file not in FILES:
        return handler

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        if _thread.noting:
            find = source_of_children if f.__name__ == "spawn" else source_of
            for generator in (getattr(f, "__self__", None), *args[:1]):
                source = find(generator)
                if source is not None:
                    note(source)
        return handler(ctx, f, args, kwargs)

    return run
