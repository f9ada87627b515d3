"""Arguments that share memory, passed as memory of their own.

Where a derivative is taken, arguments are separate variables: ``grad(f)(x, x)`` is the partial
derivative.  What a differentiated argument shares with another one is copied for all but one of
them.  The call then has the value of the plain call as long as nobody writes into what was
shared; the contexts of the call look out for such writes, and raise.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol
from weakref import ref

from numpy import memmap, ndarray

from mooncake_py.application.codual_call import pull_codual
from mooncake_py.application.copying import Copier, same_view
from mooncake_py.application.walker import replace_parts
from mooncake_py.boundary.arguments import (
    ArgNums,
    choose_arguments,
    describe,
    name_of,
    refuse_foreign,
)
from mooncake_py.boundary.closed import is_closed
from mooncake_py.boundary.followed import FollowedCopier, PartCopier
from mooncake_py.boundary.own_memory import Copies, OwnMemory
from mooncake_py.boundary.survey import Part, Survey, block_of, overlap, shared_surveys
from mooncake_py.boundary.writes import unwatch_writes, watch_writes
from mooncake_py.errors import Location, SharedArgumentsError
from mooncake_py.runtime import pulls
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import cells, owner

__all__ = [
    "ArgumentsApart", "Separation", "arguments_apart", "ended", "guard", "separation",
]

Key = int | str
Pairs = list[tuple[Key, ndarray]]


LARGE = 1 << 15  # bytes from which on it pays to find out whether an array need not be copied


class Watcher(Protocol):
    """What looks out for writes of a call."""

    def watch(self, ctx: Any) -> None:
        """Look out in a new context of the call."""

    def note_further_copies(self, copies: Copies) -> None:
        """Note what was copied, and the copies: they may be of what must not be written."""

    def forget_copies(self, copies: Copies) -> None:
        """Forget copies, when the call that they are for has ended."""

    def ended(self, ctx: Any) -> None:
        """Check what was not watched, when a function has run."""

    def leave(self) -> None:
        """Look out no longer: the call has ended."""


class _Thread(threading.local):
    """Who looks out for writes, in the calls that run one inside another."""

    watchers: tuple[Watcher, ...] = ()


_thread = _Thread()


def guard(ctx: Any) -> None:
    """Let a new context look out for writes into what arguments share."""
    for found in _thread.watchers:
        found.watch(ctx)


def ended(ctx: Any) -> None:
    """Check the memory of arguments when a function has run."""
    for found in _thread.watchers:
        found.ended(ctx)


def separation(
    f: Callable[..., Any], chosen: Collection[Key], args: Any, kwargs: Any, whole: bool = False
) -> Separation | None:
    """Return the arguments of a call as memory of their own, None if they share nothing.

    Parameters
    ----------
    f : callable
        For messages.
    chosen : collection of int and str
        The arguments that are differentiated.
    args, kwargs
        All arguments.
    whole : bool
        Whether to copy all of the arguments, not just what they share.
    """
    if len(args) + len(kwargs) < 2:
        return None
    surveys = shared_surveys(args, kwargs)
    if surveys is None:
        return None
    values: dict[Key, Any] = {**dict(enumerate(args)), **kwargs}
    found = Separation(f, chosen, dict(zip(values, surveys, strict=True)))
    if not found.copied:
        return None
    found.copy(values, whole)
    positional = tuple(values[i] for i in range(len(args)))
    found.args, found.kwargs = positional, {key: values[key] for key in kwargs}
    return found


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

    A context manager round the call.

    Parameters
    ----------
    f : callable
        For messages.
    chosen : collection of int and str
        The arguments that are differentiated.
    args, kwargs
        All arguments.
    whole : bool
        Whether to copy all of the arguments, not just arrays and what they share.

    Attributes
    ----------
    chosen : collection of int and str
    args, kwargs
        The arguments that `f` is passed.
    """

    __slots__ = ("args", "chosen", "copies", "kwargs", "outside", "watchers")

    def __init__(
        self, f: Callable[..., Any], chosen: Collection[Key], args: Any, kwargs: Any,
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
            copies: Copies = list(copier.memo.values())
        else:
            copies = separated.copies
        own.add_all(copies)
        self.note_further_copies(copies)

    def copy_arrays(self, own: OwnMemory) -> None:
        """Copy the arrays among the arguments."""
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if may_be_reached(value) and (value.nbytes < LARGE or not self.is_closed(own.f)):
                self.pass_instead(key, own.copy(key, value))

    def is_closed(self, f: Callable[..., Any]) -> bool:
        """Whether the function can reach none of the arguments by another name."""
        return is_closed(f, (*self.args, *self.kwargs.values()))

    def copy_blocks(self, own: OwnMemory, separated: Separation | None) -> None:
        """Copy the memory of arrays among the arguments, with all that shares it.

        Who looks out for writes takes blocks and their copies for alike.
        """
        copies = [] if separated is None else separated.copies
        own.add_all(copies)
        done = {id(new) for _, new in copies}
        for key in dict.fromkeys(self.chosen):
            value = self.args[key] if isinstance(key, int) else self.kwargs[key]
            if not may_be_reached(value) or id(value) in done:
                continue
            copier = FollowedCopier(enclosing())
            self.pass_instead(key, copier.copy(value))
            copies = list(copier.memo.values())
            own.add_all(copies)
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


class Separation:
    """Arguments that shared memory, and what must not be written during their call.

    Attributes
    ----------
    args, kwargs
        The arguments, as memory of their own.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __init__(
        self, f: Callable[..., Any], chosen: Collection[Key], surveys: dict[Key, Survey]
    ) -> None:
        self.f = f
        self.surveys = surveys
        # What is not differentiated stays together: it may share what it shares.
        self.group: dict[Key, Key | None] = {
            key: key if key in chosen else None for key in surveys
        }
        self.copied: dict[Key | None, set[int]] = {}  # ids of arrays and holders, by group
        self.contexts: list[ref[Any]] = []
        self.copies: list[tuple[Any, Any]] = []  # what was copied for arguments, and the copy
        self.blocks = self.shared_blocks()
        self.holders: dict[int, tuple[Any, str]] = {}
        self.find_holders()
        self.memory: dict[int, tuple[ndarray, ndarray]] = {}  # owner, and that of the original
        self.of_group: dict[int, Key | None] = {}  # by the id of an owner that is a copy

    # What is shared.

    def shared_blocks(self) -> dict[int, Pairs]:
        """Return the arrays of the blocks that arguments share, and note who gets a copy."""
        blocks: dict[int, Pairs] = {}
        for key, survey in self.surveys.items():
            for a in survey.arrays:
                blocks.setdefault(block_of(a), []).append((key, a))
        blocks = {block: pairs for block, pairs in blocks.items() if self.meet(pairs)}
        for pairs in blocks.values():
            groups = {self.group[key] for key, _ in pairs}
            keepers = groups - {None}
            if len(keepers) > 1:
                keepers = set()
            for key, a in pairs:
                if self.group[key] not in keepers:
                    self.copied.setdefault(self.group[key], set()).add(id(a))
        return blocks

    def meet(self, pairs: Pairs) -> bool:
        """Whether a differentiated argument overlaps another one."""
        return any(
            self.group[key] != self.group[other]
            and (self.differentiates(key, a) or self.differentiates(other, b))
            and overlap(a, b)
            for i, (key, a) in enumerate(pairs)
            for other, b in pairs[:i]
        )

    def differentiates(self, key: Key, a: ndarray) -> bool:
        """Whether an array of an argument is differentiated."""
        return self.group[key] is not None and a.dtype.kind in "fc"

    def find_holders(self) -> None:
        """Note the containers and objects with numbers that arguments share, and who copies."""
        keys: dict[int, list[Key]] = {}
        for key, survey in self.surveys.items():
            for holder in survey.holders:
                keys.setdefault(holder, []).append(key)
        for holder, held_by in keys.items():
            groups = {self.group[key] for key in held_by}
            value = self.surveys[held_by[0]].holders[holder][0]
            if len(groups) < 2 or not spec_of(value).mutable or not Survey(value).holds_numbers():
                continue
            for group in groups if len(groups - {None}) > 1 else {None}:
                self.copied.setdefault(group, set()).add(holder)
            self.note_holder(value, self.named(held_by))

    def note_holder(self, value: Any, names: str) -> None:
        """Note a container or an object into which nobody must write."""
        self.holders[id(value)] = value, names
        fields = getattr(value, "__dict__", None)
        if type(fields) is dict:
            self.holders[id(fields)] = fields, names

    # Copies.

    def copy(self, values: dict[Key, Any], whole: bool) -> None:
        """Replace values by copies where they share something with others."""
        for pairs in self.blocks.values():
            for _, a in pairs:
                self.memory[id(owner(a))] = owner(a), owner(a)
        groups: dict[Key | None, list[Key]] = {}
        for key in values:
            groups.setdefault(self.group[key], []).append(key)
        for group, keys in groups.items():
            if whole:
                copier = FollowedCopier(enclosing())
            elif group in self.copied:
                copier = PartCopier(self.leading(keys, self.copied[group]), enclosing())
            else:
                continue
            for key in keys:
                values[key] = copier.copy(values[key])
            self.note_copies(copier, group, self.named(keys))
            if group is not None:
                self.copies += copier.memo.values()

    def leading(self, keys: list[Key], found: set[int]) -> set[int]:
        """Return the ids of what is copied in some arguments, and of what leads there."""
        return set().union(*(self.surveys[key].leading_to(found) for key in keys))

    def note_copies(self, copier: Copier, group: Key | None, names: str) -> None:
        """Note which memory is a copy of which, and into which containers nobody must write."""
        for old, new in list(copier.memo.values()):
            if isinstance(old, ndarray):
                if new is not old and old is owner(old):
                    self.stands_for(new, old, group)
            elif id(old) in self.holders:
                self.note_holder(new, self.holders[id(old)][1])
            elif new is not old and isinstance(copier, PartCopier) and spec_of(old).mutable:
                self.note_holder(old, names)
                self.note_holder(new, names)

    def note_own_copy(self, copies: Copies, key: Key) -> None:
        """Note the copy of the memory of the one argument that had kept the original."""
        for old, new in copies:
            if isinstance(old, ndarray) and new is not old and old is owner(old):
                self.stands_for(new, old, self.group[key])

    def stands_for(self, new: ndarray, old: ndarray, group: Key | None) -> None:
        """Note that the memory of one array is a copy of that of another, for some arguments."""
        if id(owner(old)) in self.memory:
            self.memory[id(owner(new))] = owner(new), owner(old)
            self.of_group[id(owner(new))] = group

    def note_further_copies(self, copies: Copies) -> None:
        """Note copies of what is a copy or an original here."""
        for old, new in copies:
            if isinstance(old, ndarray):
                if id(old) in self.memory and new is not old:
                    self.memory[id(new)] = new, self.memory[id(old)][1]
                    if id(old) in self.of_group:
                        self.of_group[id(new)] = self.of_group[id(old)]
            elif id(old) in self.holders:
                self.note_holder(new, self.holders[id(old)][1])

    # Writes.

    def watch(self, ctx: Any) -> None:
        """Let a context raise where something is written that arguments share."""
        if hasattr(ctx, "blocks"):
            return  # of forward mode: the context below it logs
        self.contexts.append(watch_writes(ctx, self))
        record = ctx.record

        def watched_record(entry: tuple[Any, ...]) -> None:
            record(entry)
            self.check_entry(ctx, entry)

        ctx.record = watched_record

    def forget_copies(self, copies: Copies) -> None:
        """Do nothing: writes into copies that nobody has do not occur."""

    def ended(self, ctx: Any) -> None:
        """Do nothing: all writes are watched."""

    def leave(self) -> None:
        """Look out no longer: the call has ended."""
        unwatch_writes(self.contexts, self)

    def is_watched(self, o: ndarray) -> bool:
        """Whether an array is memory that arguments shared."""
        return id(owner(o)) in self.memory

    def check(self, ctx: Any, o: ndarray, i: Any) -> None:
        """Raise if ``o[i]``, which is about to be written, is memory that arguments share."""
        own, original = self.memory.get(id(owner(o)), (None, None))
        if own is None or original is None:
            return
        pairs = self.blocks[block_of(original)]
        part = Part(o, i, own, original)
        met = [key for key, a in pairs if part.meets(a)]
        if id(own) in self.of_group:
            writers = {self.of_group[id(own)]}
        else:
            writers = {self.group[key] for key in met} - self.groups_with_copies(original)
        if any(self.group[key] not in writers for key in met):
            raise ctx.failed(self.written(ctx, self.named(met)))

    def groups_with_copies(self, original: ndarray) -> set[Key | None]:
        """Return the groups of arguments that have a copy of a block."""
        return {
            self.of_group[id(own)]
            for own, of in self.memory.values()
            if of is original and id(own) in self.of_group
        }

    def check_entry(self, ctx: Any, entry: tuple[Any, ...]) -> None:
        """Raise if an entry of the tape is about a change of what arguments share."""
        if entry[0] is pulls.pull_state:
            if entry[1] is not replace_parts and id(entry[2]) in self.holders:
                raise ctx.failed(self.written(ctx, self.holders[id(entry[2])][1]))
        elif entry[0] is pull_codual:
            for pairs in self.blocks.values():
                if not self.agree(pairs):
                    raise ctx.failed(self.written(ctx, self.named([key for key, _ in pairs])))

    def agree(self, pairs: Pairs) -> bool:
        """Whether arguments still find the same in what they share: a rule has run unseen."""
        found: dict[int, bytes] = {}
        for key, a in pairs:
            places = cells(a).ravel().tolist()
            now = self.seen_by(self.group[key], a).ravel()
            for place, number in zip(places, now, strict=True):
                if found.setdefault(place, number.tobytes()) != number.tobytes():
                    return False
        return True

    def seen_by(self, group: Key | None, a: ndarray) -> ndarray:
        """Return an array as the arguments of a group have it."""
        for own, original in self.memory.values():
            if original is owner(a) and self.of_group.get(id(own), MISSING) == group:
                return same_view(a, original, own)
        return a

    # Messages.

    def named(self, keys: Iterable[Key]) -> str:
        """Return words for arguments."""
        return " and ".join(describe(self.f, key) for key in dict.fromkeys(keys))

    def written(self, ctx: Any, names: str) -> SharedArgumentsError:
        """Return the error for a write into what arguments share."""
        where: Location | None = ctx.user_location()
        return SharedArgumentsError(
            f"{name_of(self.f)} writes into memory that {names} share",
            where=where,
            why="arguments are separate variables for a derivative: each that is differentiated "
            "has\nmemory of its own here, in which this write would not show as it does in the "
            "plain call",
            fix="for the total derivative pass what is shared once: grad(lambda x: f(x, x))(x);\n"
            "for separate arguments pass a copy: grad(f)(x, x.copy())",
        )
