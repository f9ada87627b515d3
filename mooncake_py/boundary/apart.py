"""The arguments of a call, in separate memory.

A derivative treats arguments as separate variables, even if they share memory with one another or
with captured and global arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any
from weakref import ref

from numpy import ndarray

from mooncake_py.boundary.arguments import ArgNums, Call, choose_arguments, refuse_foreign
from mooncake_py.boundary.captured import is_closed
from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.other_names import refuse_other_names
from mooncake_py.boundary.overwritten import LARGE, give_back, is_overwritten, own_block
from mooncake_py.boundary.own_memory import Key, OwnMemory
from mooncake_py.boundary.separation import separation
from mooncake_py.boundary.writes import Copies, Watcher
from mooncake_py.errors import MooncakeError
from mooncake_py.runtime.elsewhere import BufferViews
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.identities import Identities

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "ArgumentsApart",
    "arguments_apart",
    "begin",
    "ended",
    "guard",
    "is_watched",
    "observers",
    "stand_ins",
]

observers: list[Callable[[Callable[..., Any], Collection[Key], Any, Any], None]] = []
"""Who looks at each derivative before it is taken."""

stand_ins: list[Callable[[MooncakeError, Call], Any]] = []
"""Who returns value and gradients in place of those that are refused; None to raise the error."""
"""Who is told of each derivative before it is taken: function, what is chosen, arguments."""


class _Thread(threading.local):
    """Who looks out for writes, in the calls that run one inside another.

    A call that an interrupt has ended where it was about to leave does so when it is deleted.
    """

    innermost: ref[ArgumentsApart] | None = None

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """Those of all calls that run."""
        call = None if self.innermost is None else self.innermost()
        return () if call is None else (*call.outside, *call.watchers)


_thread = _Thread()


def guard(ctx: Mode) -> None:
    """Let a new context look out for writes into what arguments share."""
    for found in _thread.watchers:
        found.watch(ctx)


def is_watched() -> bool:
    """Return True if somebody looks out for writes in the calls of this thread."""
    return bool(_thread.watchers)


def begin() -> None:
    """Notify the watcher of writes that the function of a call is about to run."""
    for found in _thread.watchers:
        found.begin()


def ended(ctx: Mode) -> None:
    """Check the memory of arguments when a function has run."""
    for found in _thread.watchers:
        found.ended(ctx)


def arguments_apart(
    f: Callable[..., Any], argnums: ArgNums, args: Any, kwargs: Any
) -> ArgumentsApart:
    """Return the arguments of a call in separate memory, a context manager around it."""
    chosen = choose_arguments(f, argnums, args, kwargs)
    for key in chosen:
        refuse_foreign(f, key, args[key] if isinstance(key, int) else kwargs[key])
    return ArgumentsApart(f, chosen, args, kwargs)


def may_be_reached(value: Any) -> bool:
    """Return whether a value is an array with a derivative, whose memory may have other names."""
    return issubclass(type(value), ndarray) and value.dtype.kind in "fc"


class ArgumentsApart:
    """The arguments of a call, which share no memory with one another or with other names.

    A context manager around the call, with the arguments to pass.  With `whole`, all of them are
    copied, not just arrays and what they share.
    """

    __slots__ = (
        *("__weakref__", "around", "args", "chosen", "copies", "identities", "kwargs", "lent"),
        *("outside", "own_copies", "watchers"),
    )

    def __init__(
        self,
        f: Callable[..., Any],
        chosen: Collection[Key],
        args: Any,
        kwargs: Any,
        whole: bool = False,
    ) -> None:
        for look in observers:
            look(f, chosen, args, kwargs)
        self.chosen = chosen
        self.args, self.kwargs = args, kwargs
        self.around = _thread.innermost
        self.outside = _thread.watchers
        self.copies: Copies = ()
        self.own_copies: list[ndarray] = []
        self.lent: list[ndarray] = []
        self.watchers: tuple[Watcher, ...] = ()
        own = OwnMemory(f)
        separated = separation(f, chosen, args, kwargs, whole)
        if separated is not None:
            self.args, self.kwargs = separated.args, separated.kwargs
            self.watchers = (separated,)
            self.note_copies(own, separated.copies, separated.arrays, args, kwargs)
            if not whole:
                self.copy_blocks(own)
        elif whole:
            copier = FollowedCopier(enclosing())
            self.args = copier.copy_whole(args)
            BufferViews(old for old, _ in copier.arrays)
            self.note_copies(own, copier.memo.values(), copier.arrays, args, kwargs)
        elif self.outside:
            self.copy_blocks(own)
        else:
            self.copy_arrays(own)
        if own.pairs:
            self.watchers = (*self.watchers, own)
        self.identities: Identities | None = None
        if self.copies or own.pairs:
            others = [] if separated is None else separated.constants
            self.identities = Identities([*self.copies, *others], own.pairs, whole)
            if self.copies:
                refuse_other_names(f, self.identities)
            outer = enclosing()
            for ctx in () if outer is None else (outer, *outer.outers):
                if getattr(ctx, "is_reversed", False):
                    self.identities.stay_with(ctx)
                    break

    def note_copies(
        self, own: OwnMemory, copies: Copies, arrays: Any, args: Any, kwargs: Any
    ) -> None:
        """Note the copied parts of some arguments, and the arrays among them."""
        names: dict[int, Key] = {id(v): key for key, v in (*enumerate(args), *kwargs.items())}
        for old, new in arrays:
            own.add(names.get(id(old)), old, new)
        self.copies = [*self.copies, *copies]
        for found in self.outside:
            found.note_further_copies(self.copies)

    def copy_arrays(self, own: OwnMemory) -> None:
        """Copy the arrays among the arguments."""
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if not may_be_reached(value):
                continue
            closed = value.nbytes >= LARGE and is_closed(own.f, (*self.args, *self.kwargs.values()))
            if not closed or is_overwritten(own.f, key):
                new = own.copy(key, value, lend=closed)
                self.pass_instead(key, new)
                block = own_block(new)
                if block is not None:
                    self.own_copies.append(block)
                    if closed and type(new) is ndarray and new.flags.c_contiguous:
                        self.lent.append(new)

    def copy_blocks(self, own: OwnMemory) -> None:
        """Copy the memory of arrays among the arguments, with all that shares it.

        Who looks out for writes takes blocks and their copies for alike.
        """
        done = {id(pair.copy) for pair in own.pairs}
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if may_be_reached(value) and id(value) not in done:
                copier = FollowedCopier(enclosing())
                self.pass_instead(key, copier.copy_whole(value))
                self.note_copies(own, copier.memo.values(), copier.arrays, (), {key: value})

    def pass_instead(self, key: Key, value: Any) -> None:
        """Replace an argument."""
        if isinstance(key, int):
            self.args = (*self.args[:key], value, *self.args[key + 1 :])
        else:
            self.kwargs = {**self.kwargs, key: value}

    def __enter__(self) -> ArgumentsApart:
        if self.watchers:
            _thread.innermost = ref(self)
        if self.identities is not None:
            self.identities.enter()
        return self

    def __exit__(self, *details: object) -> None:
        _thread.innermost = self.around
        if self.identities is not None:
            self.identities.leave()
        give_back(self.lent)
        for found in self.watchers:
            found.leave()
        for found in self.outside:
            found.forget_copies(self.copies)
