"""Arguments that share memory, passed as memory of their own.

Where a derivative is taken, arguments are separate variables: ``grad(f)(x, x)`` is the partial
derivative.  What a differentiated argument shares with another one is copied for all but one of
them.  The call then has the value of the plain call as long as nobody writes into what was
shared; the contexts of the call look out for such writes, and raise.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

from numpy import ndarray

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
from mooncake_py.boundary.followed import FollowedCopier, PartCopier
from mooncake_py.boundary.survey import Part, Survey, block_of, overlap, shared_surveys
from mooncake_py.errors import Location, SharedArgumentsError
from mooncake_py.runtime import pulls
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.barred import Barred
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import cells, owner

__all__ = [
    "ArgumentsApart", "Separation", "arguments_apart", "barred", "copied", "guard", "is_guarded",
    "separation",
]

Key = int | str
Pairs = list[tuple[Key, ndarray]]


class _Thread(threading.local):
    """The separations of the calls that run, one inside another."""

    separations: tuple[Separation, ...] = ()


_thread = _Thread()


def guard(ctx: Any) -> None:
    """Let a new context look out for writes into what arguments share."""
    for found in _thread.separations:
        found.watch(ctx)


def copied(args: Any) -> tuple[Any, list[ref[ndarray]]]:
    """Return a joint copy of the arguments of a pullback, and references to their memory.

    Writes into what arguments share are looked out for in the copies too.
    """
    copier = FollowedCopier(enclosing())
    copies = copier.copy(args)
    for found in _thread.separations:
        found.note_further_copies(copier)
    return copies, copier.owners()


@contextmanager
def barred(ctx: Any, f: Callable[..., Any], owners: list[ref[ndarray]]) -> Iterator[None]:
    """Make it an error if a call reaches memory of which it was passed copies."""
    known = nodes_of(ctx)
    before = {}
    for reference in owners:
        root = reference()
        if root is not None:
            before[id(root)] = dict.get(known, id(root))
            known[id(root)] = Barred(root, lambda: ctx.failed(beside_the_copy(ctx, f)))
    try:
        yield
    finally:
        for key, node in before.items():
            if node is None:
                known.pop(key, None)
            else:
                known[key] = node


def nodes_of(ctx: Any) -> dict[int, Any]:
    """Return what a context knows of memory, by the id of the array."""
    return ctx.blocks.known if hasattr(ctx, "blocks") else ctx.known


def beside_the_copy(ctx: Any, f: Callable[..., Any]) -> SharedArgumentsError:
    """Return the error for a read of the memory of an argument by another name."""
    return SharedArgumentsError(
        f"{name_of(f)} reaches the memory of an argument by another name, a captured or global one",
        where=ctx.user_location(),
        why="vjp runs it on copies of its arguments, of which that name would show nothing",
        fix="read it by the name of the argument, or pass a copy: vjp(f, x.copy())",
    )


def is_guarded() -> bool:
    """Whether a call runs here whose arguments shared memory."""
    return bool(_thread.separations)


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
    return ArgumentsApart(chosen, args, kwargs, separation(f, chosen, args, kwargs))


class ArgumentsApart:
    """The arguments of a call, which share no memory.

    Attributes
    ----------
    chosen : list of int and str
        Those that are differentiated.
    args, kwargs
        All of them.
    """

    def __init__(
        self, chosen: list[Key], args: Any, kwargs: Any, apart: Separation | None
    ) -> None:
        self.chosen = chosen
        self.args = args if apart is None else apart.args
        self.kwargs = kwargs if apart is None else apart.kwargs
        self.apart = apart

    def __enter__(self) -> ArgumentsApart:
        if self.apart is not None:
            self.apart.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        if self.apart is not None:
            self.apart.__exit__(*details)


class Separation:
    """Arguments that shared memory; a context manager round the call that they are for.

    Attributes
    ----------
    args, kwargs
        The arguments, as memory of their own.
    owners : list of weakref to ndarray
        The memory of the originals, where all of them were copied.
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
        self.barred: list[ndarray] = []
        self.owners: list[ref[ndarray]] = []
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
                self.barred += [owner(a) for _, a in pairs]
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
            if whole:
                self.owners += copier.owners()

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

    def stands_for(self, new: ndarray, old: ndarray, group: Key | None) -> None:
        """Note that the memory of one array is a copy of that of another, for some arguments."""
        if id(owner(old)) in self.memory:
            self.memory[id(owner(new))] = owner(new), owner(old)
            self.of_group[id(owner(new))] = group

    def note_further_copies(self, copier: Copier) -> None:
        """Note copies of what is a copy or an original here."""
        for old, new in list(copier.memo.values()):
            if isinstance(old, ndarray):
                if id(old) in self.memory and new is not old:
                    self.memory[id(new)] = new, self.memory[id(old)][1]
                    if id(old) in self.of_group:
                        self.of_group[id(new)] = self.of_group[id(old)]
            elif id(old) in self.holders:
                self.note_holder(new, self.holders[id(old)][1])

    # Writes.

    def __enter__(self) -> None:
        self.outside = _thread.separations
        _thread.separations = (*self.outside, self)

    def __exit__(self, *details: object) -> None:
        _thread.separations = self.outside

    def watch(self, ctx: Any) -> None:
        """Let a context raise where something is written that arguments share."""
        for root in self.barred:
            nodes_of(ctx)[id(root)] = Barred(root, lambda: ctx.failed(self.third_name(ctx)))
        if hasattr(ctx, "blocks"):
            return  # of forward mode: the context below it logs
        overwritten, log_element, record = ctx.overwritten, ctx.log_element, ctx.record

        def watched_write(memory: Any, o: ndarray, i: Any) -> Any:
            self.check(ctx, o, i)
            entry = overwritten(memory, o, i)
            self.keep_watching(memory, o)
            return entry

        def watched_element(memory: Any, o: ndarray, i: Any, old: Any) -> None:
            self.check(ctx, o, i)
            log_element(memory, o, i, old)
            self.keep_watching(memory, o)

        def watched_record(entry: tuple[Any, ...]) -> None:
            record(entry)
            self.check_entry(ctx, entry)

        ctx.overwritten, ctx.log_element = watched_write, watched_element
        ctx.record = watched_record
        ctx.tries_loops = False  # which write unseen, and may wait for a write to show

    def keep_watching(self, memory: Any, o: ndarray) -> None:
        """Let the next write to a block be logged too: unlogged ones are not seen."""
        if id(owner(o)) in self.memory:
            memory.protected = True

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

    def third_name(self, ctx: Any) -> SharedArgumentsError:
        """Return the error for a read of what arguments share by yet another name."""
        keys = [key for pairs in self.blocks.values() for key, _ in pairs]
        return SharedArgumentsError(
            f"{name_of(self.f)} reaches memory that {self.named(keys)} share by another name too",
            where=ctx.user_location(),
            why="they are separate variables for a derivative, and a captured or global array is "
            "one variable\nwith the argument that is the same memory: here it would be all of them",
            fix="read it by the name of an argument, or pass copies: grad(f)(x, x.copy())",
        )
