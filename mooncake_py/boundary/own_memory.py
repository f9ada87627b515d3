"""Copies of the arguments, so that other names for the originals refer to constants.

A derivative treats an argument as a separate variable: in
``grad(lambda w: np.sum(w * weights))(weights)`` the captured array is a constant.  The function
runs on a copy, so that the engine can distinguish both by their memory.  The call then has the
value of the plain call unless the program writes into either; once it has read the original, this
write raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import describe
from mooncake_py.boundary.followed import FollowedCopier
from mooncake_py.boundary.overwritten import copied
from mooncake_py.boundary.writes import Copies, Watcher, keep_logging, nodes_of
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.overriding import override
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.mode_of import is_reverse
from mooncake_py.runtime.originals import Original
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import has_overlaps, overlap, owner
from mooncake_py.tangents.subclasses import is_instance, plain, with_attributes

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.mode import Mode, Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Key", "OwnMemory"]

Key = int | str


@dataclass(slots=True, eq=False)
class Pair:
    """An array of an argument, its copy, and the argument if it is the array itself."""

    original: ndarray
    copy: ndarray
    key: Key | None
    reached: bool = False  # the function looked the original up


class OwnMemory(Watcher):
    """The arguments that copies stand for, during the call that they were copied for."""

    why = (
        "an argument is a variable of its own for a derivative, and data reached by other "
        "names are constant:\nthe function runs on a copy, in which this write would not show as "
        "it does in the plain call"
    )
    fix = "read and write it by the name of the argument alone, or pass a copy: grad(f)(x.copy())"

    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__(f)
        self.pairs: list[Pair] = []
        self.further: dict[int, tuple[ndarray, Pair]] = {}  # copies of copies, by id
        self.running = False

    def copy(self, key: Key, value: ndarray, lend: bool = False) -> ndarray:
        """Return a copy of an array, which derivatives around the call follow.

        It owns its memory if the array does; else it may be a view of a block that is of this call
        alone.  If it is to `lend` memory, the block may be one that earlier calls left.
        """
        flags, outer, base = value.flags, enclosing(), value.base
        if not flags.aligned or any(stride % value.itemsize for stride in value.strides):
            new = FollowedCopier(outer).copy_whole(value)  # packed records
        elif outer is None and flags.c_contiguous and flags.writeable and type(value) is ndarray:
            new = copied(value) if lend else value.copy()  # the same in a tenth of the time
        else:
            like, value = value, plain(value)
            copier = FollowedCopier(outer)
            new = copier.copy_whole(value) if has_overlaps(value) else copier.copy_owner(value)
            if is_instance(like):
                self.add(key, value, new)
                return with_attributes(new, like)
        if base is not None and new.base is None:
            new = new.view()  # programs ask who owns the memory before they write
        self.add(key, value, new)
        return new

    def add(self, key: Key | None, original: ndarray, new: ndarray) -> None:
        """Note that an array stands for one that is, or is part of, an argument."""
        self.pairs.append(Pair(original, new, key))

    @override
    def note_further_copies(self, copies: Copies) -> None:
        for pair in self.pairs:
            block = owner(pair.copy)
            for old, new in copies:
                if old is block and new is not old:
                    self.further[id(new)] = new, pair

    @override
    def forget_copies(self, copies: Copies) -> None:
        for _, new in copies:
            self.further.pop(id(new), None)

    @override
    def watch(self, ctx: Mode) -> None:
        for pair in self.pairs:
            block = owner(pair.original)
            nodes_of(ctx)[id(block)] = Original(block, self, ctx)
        if is_reverse(ctx):  # forward mode leaves it to the context below
            self.contexts.append(ref(ctx))
            if self.is_reached():
                self.watch_writes(ctx)

    @override
    def begin(self) -> None:
        self.running = True  # what was looked up before, tangents, does not matter

    def reach(self, ctx: Tracking, view: ndarray | None) -> None:
        """Note that originals were looked up, as a view or a whole: later writes are errors."""
        if not self.running:
            return
        found = [
            pair
            for pair in self.pairs
            if not pair.reached and (view is None or overlap(view, pair.original))
        ]
        for pair in found:
            pair.reached = True
        if found:
            self.require_unchanged(ctx)
            for reference in self.contexts:
                running = reference()
                if running is not None:
                    self.watch_writes(running)

    def is_reached(self) -> bool:
        """Return whether an original was looked up."""
        return any(pair.reached for pair in self.pairs)

    def require_unchanged(self, ctx: Tracking) -> None:
        """Raise if a copy is not as the original is: one of them was written."""
        found = [(pair.original, pair.copy, pair) for pair in self.pairs]
        found += [(owner(pair.copy), new, pair) for new, pair in self.further.values()]
        for old, new, pair in found:
            if pair.reached and bits_of(old) != bits_of(new):
                raise self.of_pair(ctx, pair)

    @override
    def ended(self, ctx: Tracking) -> None:
        if self.is_reached():
            self.require_unchanged(ctx)

    @override
    def watch_writes(self, ctx: ReverseMode) -> None:
        for block in self.blocks():
            keep_logging(ctx, block)
        super().watch_writes(ctx)

    @override
    def is_watched(self, o: ndarray) -> bool:
        block = owner(o)
        return any(block is known for known in self.blocks())

    def blocks(self) -> Iterator[ndarray]:
        """Yield the memory of originals and copies."""
        for pair in self.pairs:
            yield owner(pair.original)
            yield owner(pair.copy)
        for new, _ in self.further.values():
            yield new

    @override
    def check(self, ctx: Tracking, o: ndarray, i: Any) -> None:
        block = owner(o)
        known = self.further.get(id(block))
        if known is not None and known[1].reached:
            raise self.of_pair(ctx, known[1])
        for pair in self.pairs:
            if pair.reached and (
                owner(pair.copy) is block
                or (owner(pair.original) is block and may_meet(o, i, pair.original))
            ):
                raise self.of_pair(ctx, pair)

    def of_pair(self, ctx: Reporting, pair: Pair) -> SharedArgumentsError:
        """Return the error for a write into memory that an argument and another name share."""
        name = "an argument" if pair.key is None else describe(self.f, pair.key)
        return self.written(ctx, f"{name} and a captured or global name")


def may_meet(o: ndarray, i: Any, a: ndarray) -> bool:
    """Return whether a write to ``o[i]`` may change an array; True if ``o[i]`` is a copy."""
    part = o[i]
    if not issubclass(type(part), ndarray):  # one element
        part = o[(*i, ...) if isinstance(i, tuple) else (i, ...)]
    is_view = part.base is not None and np.may_share_memory(part, o)
    return overlap(part if is_view else o, a)
