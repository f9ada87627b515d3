"""The arguments of a call, as memory of their own.

Arguments are separate variables for a derivative, also where they share memory with one another
or with captured and global arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from numpy import memmap, ndarray

from mooncake_py.boundary.arguments import ArgNums, choose_arguments, refuse_foreign
from mooncake_py.boundary.captured import is_closed
from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.own_memory import Key, OwnMemory
from mooncake_py.boundary.separation import Separation, separation
from mooncake_py.boundary.writes import Copies, Watcher
from mooncake_py.runtime.enclosing import enclosing

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["ArgumentsApart", "arguments_apart", "begin", "ended", "guard"]

LARGE = 1 << 15  # bytes from which on it pays to find out whether an array need not be copied


class _Thread(threading.local):
    """Who looks out for writes, in the calls that run one inside another."""

    watchers: tuple[Watcher, ...] = ()


_thread = _Thread()


def guard(ctx: Mode) -> None:
    """Let a new context look out for writes into what arguments share."""
    for found in _thread.watchers:
        found.watch(ctx)


def begin() -> None:
    """Let who looks out for writes know that the function of a call is about to run."""
    for found in _thread.watchers:
        found.begin()


def ended(ctx: Mode) -> None:
    """Check the memory of arguments when a function has run."""
    for found in _thread.watchers:
        found.ended(ctx)


def arguments_apart(
    f: Callable[..., Any], argnums: ArgNums, args: Any, kwargs: Any
) -> ArgumentsApart:
    """Return the arguments of a call as memory of their own, a context manager round it."""
    chosen = choose_arguments(f, argnums, args, kwargs)
    for key in chosen:
        refuse_foreign(f, key, args[key] if isinstance(key, int) else kwargs[key])
    return ArgumentsApart(f, chosen, args, kwargs)


def may_be_reached(value: Any) -> bool:
    """Whether a value is an array with a derivative, whose memory may have other names."""
    return (type(value) is ndarray or type(value) is memmap) and value.dtype.kind in "fc"


class ArgumentsApart:
    """The arguments of a call, which share no memory with one another or with other names.

    A context manager round the call, with the arguments to pass.  With `whole`, all of them are
    copied, not just arrays and what they share.
    """

    __slots__ = ("args", "chosen", "copies", "kwargs", "outside", "watchers")

    def __init__(
        self,
        f: Callable[..., Any],
        chosen: Collection[Key],
        args: Any,
        kwargs: Any,
        whole: bool = False,
    ) -> None:
        self.chosen = chosen
        self.args, self.kwargs = args, kwargs
        self.outside = _thread.watchers
        self.copies: Copies = ()
        self.watchers: tuple[Watcher, ...] = ()
        separated = separation(f, chosen, args, kwargs, whole)
        if separated is not None:
            self.args, self.kwargs = separated.args, separated.kwargs
            self.watchers = (separated,)
        own = OwnMemory(f)
        if whole:
            self.copy_all(own, separated)
        elif separated is None and not self.outside:
            self.copy_arrays(own)
        else:
            self.copy_blocks(own, separated)
        if own.pairs:
            self.watchers = (*self.watchers, own)

    def copy_all(self, own: OwnMemory, separated: Separation | None) -> None:
        """Copy all of the arguments, unless that is done."""
        if separated is None:
            copier = FollowedCopier(enclosing())
            self.args = copier.copy(self.args)
            copies, arrays = list(copier.memo.values()), copier.arrays
        else:
            copies, arrays = separated.copies, separated.arrays
        own.add_all(arrays)
        self.note_further_copies(copies)

    def copy_arrays(self, own: OwnMemory) -> None:
        """Copy the arrays among the arguments."""
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if may_be_reached(value) and (
                value.nbytes < LARGE or not is_closed(own.f, (*self.args, *self.kwargs.values()))
            ):
                self.pass_instead(key, own.copy(key, value))

    def copy_blocks(self, own: OwnMemory, separated: Separation | None) -> None:
        """Copy the memory of arrays among the arguments, with all that shares it.

        Who looks out for writes takes blocks and their copies for alike.
        """
        arrays = [] if separated is None else separated.arrays
        own.add_all(arrays)
        done = {id(new) for _, new in arrays}
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if not may_be_reached(value) or id(value) in done:
                continue
            copier = FollowedCopier(enclosing())
            new = copier.copy(value)
            self.pass_instead(key, new)
            copies = list(copier.memo.values())
            own.add(key, value, new)
            self.note_further_copies(copies)
            if separated is not None:
                separated.note_own_copy(copies, key)

    def pass_instead(self, key: Key, value: Any) -> None:
        """Replace an argument."""
        if isinstance(key, int):
            self.args = (*self.args[:key], value, *self.args[key + 1 :])
        else:
            self.kwargs = {**self.kwargs, key: value}

    def note_further_copies(self, copies: Copies) -> None:
        """Let who looks out for writes round this call know of copies of what they watch."""
        self.copies = [*self.copies, *copies]
        for found in self.outside:
            found.note_further_copies(copies)

    def __enter__(self) -> ArgumentsApart:
        if self.watchers:
            _thread.watchers = (*self.outside, *self.watchers)
        return self

    def __exit__(self, *details: object) -> None:
        _thread.watchers = self.outside
        for found in self.watchers:
            found.leave()
        for found in self.outside:
            found.forget_copies(self.copies)
