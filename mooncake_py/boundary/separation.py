"""Arguments that share memory, passed in separate memory.

A derivative treats arguments as separate variables: ``grad(f)(x, x)`` is the partial derivative.
If a differentiated argument shares memory with another one, all but one of them get copies.  The
call then has the value of the plain call unless the program writes into the shared memory; the
contexts of the call detect these writes, and raise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.application.codual_call import pull_codual
from mooncake_py.application.copying import Copier, same_view
from mooncake_py.application.walker import replace_parts
from mooncake_py.boundary.arguments import describe
from mooncake_py.boundary.captured import captured_values
from mooncake_py.boundary.followed import FollowedCopier, PartCopier
from mooncake_py.boundary.own_memory import Key
from mooncake_py.boundary.survey import (
    PLAIN,
    Part,
    Survey,
    block_of,
    is_number,
    parts_of,
    shared_surveys,
)
from mooncake_py.boundary.writes import Copies, Watcher
from mooncake_py.overriding import override
from mooncake_py.runtime import pulls
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.elsewhere import BufferViews, in_buffer
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.mode_of import is_reverse
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.fields import instance_dict
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import cells, overlap, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = ["Separation", "separation"]

CAPTURED = -1  # in place of an argument: what captured and global names are bound to
MANY_PARTS = 64  # of a captured value, more than which are not searched
Pairs = list[tuple[Key, ndarray]]


def separation(
    f: Callable[..., Any], chosen: Collection[Key], args: Any, kwargs: Any, whole: bool = False
) -> Separation | None:
    """Return the arguments of a call in separate memory, None if they share nothing.

    With `whole`, all of the arguments are copied, not just what they share.
    """
    if len(args) == 1 and not kwargs and is_alone(args[0]):
        return None  # in most calls
    values: dict[Key, Any] = {**dict(enumerate(args)), **kwargs}
    found = shared_surveys(values, chosen) if len(values) > 1 else None
    captured = captured_survey(f, [values[key] for key in chosen])
    if found is None and captured is None:
        return None
    surveys = dict(zip(values, found or map(Survey, values.values()), strict=True))
    if captured is not None:
        surveys[CAPTURED] = captured
    separated = Separation(f, chosen, surveys)
    if not separated.copied:
        return None
    separated.copy(values, whole)
    positional = tuple(values[i] for i in range(len(args)))
    separated.args, separated.kwargs = positional, {key: values[key] for key in kwargs}
    return separated


def captured_survey(f: Callable[..., Any], values: list[Any]) -> Survey | None:
    """Return the memory that names in a function share with containers and objects, or None.

    Arrays by themselves are copied in any case; in a buffer, others may have their memory.
    """
    holders = [value for value in values if not is_alone(value)]
    if not holders or getattr(type(f), "reaches_arguments", False):
        return None
    captured = [*captured_values(f)]
    if not captured:
        return None
    survey = Survey(*holders)
    blocks = {block_of(a) for a in survey.arrays}
    strange = any(block < 0 for block in blocks)

    def share(a: ndarray) -> bool:
        block = block_of(a)
        if strange or block < 0:
            return any(np.may_share_memory(a, b) for b in survey.arrays)
        return block in blocks

    def is_shared(value: Any) -> bool:
        return id(value) in survey.holders or (issubclass(type(value), ndarray) and share(value))

    shared: list[Any] = []
    for value in captured:
        parts = [] if issubclass(type(value), ndarray) else parts_of(value)
        shared += filter(is_shared, (value, *(parts if len(parts) <= MANY_PARTS else ())))
    return Survey(*shared) if shared else None


def is_alone(value: Any) -> bool:
    """Return whether only views of a value can share memory with it."""
    t = type(value)
    return t in PLAIN or (t is ndarray and not in_buffer(value))


class Separation(Watcher):
    """Arguments in separate memory, and the memory that their call must not write."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    why = (
        "arguments are separate variables for a derivative: each that is differentiated "
        "has\nmemory of its own here, in which this write would not show as it does in the "
        "plain call"
    )
    fix = (
        "for the total derivative pass the shared value once: grad(lambda x: f(x, x))(x);\n"
        "for separate arguments pass a copy: grad(f)(x, x.copy())"
    )

    def __init__(
        self, f: Callable[..., Any], chosen: Collection[Key], surveys: dict[Key, Survey]
    ) -> None:
        super().__init__(f)
        self.surveys = surveys
        # Parts that are not differentiated stay together: they may share memory.
        self.group: dict[Key, Key | None] = {
            key: key if key in chosen or key == CAPTURED else None for key in surveys
        }
        self.copied: set[int] = set()  # ids of arrays and holders
        self.copies: list[tuple[Any, Any]] = []  # what was copied for arguments, and the copy
        self.arrays: list[tuple[ndarray, ndarray]] = []  # the arrays among them, views as such
        self.constants: list[tuple[Any, Any]] = []  # those of parts that are not differentiated
        self.same: dict[int, int] = {}  # blocks of unknown owners, and those that they are in
        self.blocks = self.shared_blocks()
        self.holders: dict[int, tuple[Any, str]] = {}
        self.find_holders()
        self.memory: dict[int, tuple[ndarray, ndarray]] = {}  # owner, and that of the original
        self.of_group: dict[int, Key | None] = {}  # by the id of an owner that is a copy

    # Shared memory.

    def block_of(self, a: ndarray) -> int:
        """Return a key that arrays share if they share memory, found by addresses if need be."""
        block = block_of(a)
        if block < 0 and block not in self.same:
            others = (b for survey in self.surveys.values() for b in survey.arrays)
            met = (block_of(b) for b in others if np.may_share_memory(a, b))
            self.same[block] = max(met, default=block)
        return self.same.get(block, block)

    def shared_blocks(self) -> dict[int, Pairs]:
        """Return the arrays of the blocks that arguments share, all of which are copied."""
        blocks: dict[int, Pairs] = {}
        for key, survey in self.surveys.items():
            for a in survey.arrays:
                blocks.setdefault(self.block_of(a), []).append((key, a))
        blocks = {block: pairs for block, pairs in blocks.items() if self.meet(pairs)}
        self.copied.update(id(a) for pairs in blocks.values() for _, a in pairs)
        return blocks

    def meet(self, pairs: Pairs) -> bool:
        """Return whether a differentiated argument overlaps another one."""
        return any(
            self.group[key] != self.group[other]
            and (self.differentiates(key, a) or self.differentiates(other, b))
            and overlap(a, b)
            for i, (key, a) in enumerate(pairs)
            for other, b in pairs[:i]
        )

    def differentiates(self, key: Key, a: ndarray) -> bool:
        """Return whether an array of an argument is differentiated."""
        return self.group[key] is not None and a.dtype.kind in "fc"

    def find_holders(self) -> None:
        """Note the containers and objects with numbers that arguments share: these are copied."""
        keys: dict[int, list[Key]] = {}
        for key, survey in self.surveys.items():
            for holder in survey.holders:
                keys.setdefault(holder, []).append(key)
        for holder, held_by in keys.items():
            groups = {self.group[key] for key in held_by}
            value = self.surveys[held_by[0]].holders[holder][0]
            if len(groups) < 2:
                continue
            if not spec_of(value).mutable:
                if any(map(is_number, parts_of(value))):
                    self.copied.add(holder)
            elif Survey(value).holds_numbers():
                self.copied.add(holder)
                self.note_holder(value, self.named(held_by))

    def note_holder(self, value: Any, names: str) -> None:
        """Note a container or an object that must not be written."""
        self.holders[id(value)] = value, names
        fields = instance_dict(value)
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
                copier = FollowedCopier(enclosing(), apart=self.copied)
            else:
                leads = [self.surveys[key].leading_to(self.copied) for key in keys]
                copier = PartCopier(set().union(*leads), enclosing())
            for key in keys:
                values[key] = copier.copy_whole(values[key])
            self.note_copies(copier, group, f"{self.named(keys)} and another argument")
            if group is not None:
                BufferViews(old for old, _ in copier.arrays)
                self.copies += copier.memo.values()
                self.arrays += copier.arrays
            else:
                self.constants += [*copier.memo.values(), *copier.arrays]

    def note_copies(self, copier: Copier, group: Key | None, names: str) -> None:
        """Note the originals of copied memory, and containers that must not be written."""
        for old, new in list(copier.memo.values()):
            if issubclass(type(old), ndarray):
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

    @override
    def note_further_copies(self, copies: Copies) -> None:
        for old, new in copies:
            if issubclass(type(old), ndarray):
                if id(old) in self.memory and new is not old:
                    self.memory[id(new)] = new, self.memory[id(old)][1]
                    if id(old) in self.of_group:
                        self.of_group[id(new)] = self.of_group[id(old)]
            elif id(old) in self.holders:
                self.note_holder(new, self.holders[id(old)][1])

    # Writes.

    @override
    def watch(self, ctx: Mode) -> None:
        if not is_reverse(ctx):
            return  # of forward mode: the context below it logs
        self.contexts.append(ref(ctx))
        self.watch_writes(ctx)
        record = ctx.record

        def watched_record(entry: tuple[Any, ...]) -> None:
            record(entry)
            self.check_entry(ctx, entry)

        ctx.record = watched_record

    @override
    def is_watched(self, o: ndarray) -> bool:
        return id(owner(o)) in self.memory

    @override
    def check(self, ctx: Tracking, o: ndarray, i: Any) -> None:
        own, original = self.memory.get(id(owner(o)), (None, None))
        if own is None or original is None:
            return
        pairs = self.blocks[self.block_of(original)]
        part = Part(o, i, own, original)
        met = [key for key, a in pairs if part.meets(a)]
        if id(own) in self.of_group:
            writers = {self.of_group[id(own)]}
        else:
            writers = {CAPTURED}
        if any(self.group[key] not in writers for key in met):
            raise self.written(ctx, self.named(met))

    def check_entry(self, ctx: Tracking, entry: tuple[Any, ...]) -> None:
        """Raise if an entry of the tape is about a change of what arguments share."""
        if entry[0] in pulls.STATES:
            if entry[1] is not replace_parts and id(entry[2]) in self.holders:
                raise self.written(ctx, self.holders[id(entry[2])][1])
        elif entry[0] is pull_codual:
            for pairs in self.blocks.values():
                if not self.agree(pairs):
                    raise self.written(ctx, self.named([key for key, _ in pairs]))

    def agree(self, pairs: Pairs) -> bool:
        """Return whether the memory that arguments share is unchanged after an opaque rule."""
        found: dict[int, bytes] = {}
        for key, a in pairs:
            places = cells(a).ravel().tolist()
            now = self.seen_by(self.group[key], a).ravel()
            for place, number in zip(places, now, strict=True):
                if found.setdefault(place, bits_of(number)) != bits_of(number):
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
        return " and ".join(
            "a captured or global name" if key == CAPTURED else describe(self.f, key)
            for key in dict.fromkeys(keys)
        )
