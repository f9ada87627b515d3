"""Functions that store data in files; inside a derivative they store plain numbers."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.marshalling import leaves
from mooncake_py.application.seen_calls import within
from mooncake_py.containers.reachable import State
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.language import callbacks, stored_files
from mooncake_py.modules import package_of
from mooncake_py.runtime import numerals, silence
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.apart import natively
from mooncake_py.solvers.unsettled import Iterates, with_new

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["store_in", "store_inside", "text_in", "text_inside"]


def store_inside(ctx: Mode, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data, with plain numbers for active ones."""
    position, keyword = stored_files.SAVERS[store]
    file = args[position] if len(args) > position else kwargs.get(keyword)
    if silence.is_muted(file):  # it may write to the file itself, past the stream
        return None
    return store_in(ctx, file, store, args, kwargs)


def store_in(ctx: Mode, file: Any, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data in a file, with plain numbers for active ones."""
    silence.hear(file)
    if any(map(ctx.contains_active, (*args, *kwargs.values()))):
        refuse_own_file(ctx, store, file)
        stored_files.remember(ctx, file)
    return on_plain_numbers(ctx, store, args, kwargs)


def text_in(ctx: Mode, file: Any, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data as text; reading its numbers again raises an error."""
    found = store_in(ctx, file, store, args, kwargs)
    for leaf in leaves((args, kwargs), set()):
        if ctx.contains_active(leaf):
            for number in np.ravel(unwrapped(leaf)).tolist():
                ctx.written(repr(number), whole=True)
    return found


def text_inside(ctx: Mode, write: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that writes data as text; reading its numbers again raises an error."""
    text = on_plain_numbers(ctx, write, args, kwargs)
    return numerals.remembered(ctx, text, (args, kwargs))


def on_plain_numbers(ctx: Mode, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function with plain numbers for active ones; what it changes is recorded.

    Functions that it calls back are derived.  What its other Python code stores, such as a method
    of a file, may have been computed from active data: to compute with it raises an error.
    """
    if any(map(callable, kwargs.values())) and not any(
        isinstance(v, type) for v in kwargs.values()
    ):
        hooks = {n: callbacks.plain(ctx, v) for n, v in kwargs.items() if callable(v)}
        given = {**unwrapped(kwargs), **hooks}
        return silence.run_muted(lambda: store(*map(unwrapped, args), **given))
    state = State(ctx, within((*args, *kwargs.values(), getattr(store, "__self__", None))))
    state.is_in_places = False  # but in the arguments, which were not visited themselves
    try:
        return silence.run_muted(lambda: natively(ctx, state, store, args, kwargs))
    finally:
        record_changes(ctx, state, store)


def record_changes(ctx: Mode, state: State, store: Any) -> None:
    """Record what a function has changed; numbers that it has stored have no known derivative."""
    changes = state.put_back()
    stored = Stored(ctx, store, [place.path for place, _ in changes]) if state.is_active else None
    for place, contents in changes:
        before = place.read()
        place.put(ctx, contents if stored is None else stored.marked(before, contents))


class Stored(Iterates):
    """Numbers that code which runs natively has stored."""

    def __init__(self, ctx: Mode, store: Any, paths: list[str]) -> None:
        super().__init__(ctx, getattr(store, "__name__", "compiled code"))
        self.stored = paths

    def marked(self, before: Any, after: Any) -> Any:
        """Return contents in which new numbers are active, without a known derivative."""
        if isinstance(after, np.ndarray):
            return self.mark(after)
        return with_new(before, after, self.mark_number)

    def mark_number(self, value: Any) -> Any:
        """Return a number as an active one."""
        return self.mark(value) if isinstance(value, (float, complex, np.inexact)) else value


def refuse_own_file(ctx: Reporting, store: Any, file: Any) -> None:
    """Raise if a file is an object with the user's methods, which the engine could not see."""
    if file is None or isinstance(file, (str, bytes, os.PathLike, io.IOBase)):
        return
    if package_of(type(file)) in sys.stdlib_module_names:  # of `tempfile`, say
        return
    raise unsupported(
        ctx,
        f"{store.__name__} of active data calls methods of {type(file).__name__}",
        why="compiled code calls them, so that their effects are not seen",
        fix="pass a path, or a file that open() returned",
    )
