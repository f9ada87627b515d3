"""The first run of a checkpointed part, which records only how to undo it.

The reverse pass will run the part again and record it.  Until then the tape keeps the old values of
the places that it has overwritten, each place once.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.containers import containers
from mooncake_py.containers.undo import note
from mooncake_py.recomputation.changes import Changes
from mooncake_py.recomputation.setting import Setting, copied
from mooncake_py.rules.kinds import CoDualRule
from mooncake_py.runtime import objects
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, parts
from mooncake_py.runtime.interrupts import through_interrupts
from mooncake_py.runtime.memory import Memory, undo_assign
from mooncake_py.runtime.pulls import STATES, is_basic
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Rehearsal"]

Entry = tuple[Any, ...]

NOTHING: Entry = (None,)  # in place of an entry where there is nothing to undo
FEW = 32


class Rehearsal:
    """The mode of a context during a first run; a context manager."""

    def __init__(self, ctx: ReverseMode) -> None:
        self.ctx = ctx
        self.existing: set[Memory] = ctx.registry.protect_all()  # blocks that were known before
        self.whole: set[Memory] = set()
        self.logged: dict[Memory, int] = {}
        self.arrays: list[Entry] = []
        self.reshaped: set[int] = set()
        self.met: dict[int, tuple[ref[ndarray], ndarray, Memory]] = {}
        self.limit = FEW
        self.changes = Changes()
        self.setting = Setting(ctx, part=ctx)
        self.caches = copied(ctx.caches)
        self.failed = True  # until it has ended well
        self.ending: list[Entry] | None = None  # what is still to be handed to the context

    def __enter__(self) -> Self:
        self.plainly = vars(self.ctx).get("record")
        self.ctx.record = self.record
        self.ctx.rehearsal = self
        self.ctx.gate = None  # its setting is told of functions
        self.ctx.ordered = self.changes
        self.setting.draws.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.setting.draws.__exit__()
        finally:
            self.failed = exception[:1] != (None,)
            through_interrupts(self.end)

    def end(self) -> None:
        """Hand what undoes the run to the context, which records again."""
        if self.ending is None:
            self.ending = self.undoing()[::-1]
        vars(self.ctx).pop("record", None)
        if self.plainly is not None:
            self.ctx.record = self.plainly
        self.ctx.ordered = {}
        while self.ending:
            self.ctx.record(self.ending[-1])
            del self.ending[-1]
        # Last: if an interrupt comes before, the roll back finds what is still to be handed over.
        vars(self.ctx).pop("rehearsal", None)

    def record(self, entry: Entry) -> None:
        """Keep an entry that undoes a change; all others are for the second run."""
        pull = entry[0]
        if pull is undo_assign:
            if id(entry[1]) in self.reshaped:
                entry = pull, entry[1].view(), *entry[2:]
            self.arrays.append(entry)
        elif pull in STATES:
            self.changes.add(entry)
        else:
            self.ctx.meet_numbers(entry)

    def undoing(self) -> list[Entry]:
        """Return the entries that bring back the state before the run."""
        self.forget_dead()
        met = [
            (undo_assign, self.with_shape(owner, old.shape), Ellipsis, old, memory)
            for reference, old, memory in self.met.values()
            if (owner := reference()) is not None
        ]
        return [*self.arrays, *met, *self.changes.entries(self.failed)]

    # Arrays.

    def overwritten(self, memory: Memory, o: ndarray, i: Any) -> Entry:
        """Return the entry that undoes a write to ``o[i]``, which is about to happen.

        A block is kept as a whole when half of it was overwritten.
        """
        if o.dtype.kind == "O":  # in order with what stores active objects
            o = plain(o)
            numbers = np.ravel(objects.places_in(o, i)).tolist()
            return objects.overwritten(o, numbers)
        owner = memory.ref()
        if memory in self.whole or owner is None:
            memory.protected = False
            return NOTHING
        if memory not in self.existing:
            memory.protected = False
            if hasattr(memory, "logged"):
                self.meet(owner, memory)
            return NOTHING
        if is_basic(i):
            old = o[i]
            total = self.logged[memory] = self.logged.get(memory, 0) + old.nbytes
            if 2 * total < owner.nbytes:
                return undo_assign, o, i, old.copy()
        elif type(owner) is not ndarray:
            return undo_assign, o, copy.deepcopy(i), copy.copy(o[i])
        memory.protected = False
        self.whole.add(memory)
        return undo_assign, owner, Ellipsis, owner.copy(), memory

    def before_shape(self, a: ndarray) -> None:
        """Let entries keep the shape that an array has now: all its shapes are undone at once."""
        self.reshaped.add(id(a))
        same = ndarray.view(a, ndarray)
        self.arrays = [(e[0], same, *e[2:]) if e[1] is a else e for e in self.arrays]

    def meet(self, owner: ndarray, memory: Memory) -> None:
        """Keep a constant block which may have been made within this run, as long as it lives."""
        known = self.met.get(id(owner))
        if known is None or known[0]() is not owner:
            self.met[id(owner)] = ref(owner), plain(owner).copy(), memory
            if len(self.met) > self.limit:
                self.forget_dead()
                self.limit = FEW + 2 * len(self.met)

    def with_shape(self, a: ndarray, shape: tuple[int, ...]) -> ndarray:
        """Return an array, or a view of it that has a shape it had before and keeps it."""
        if a.shape == shape and id(a) not in self.reshaped:
            return a
        view = ndarray.view(a, ndarray)
        view.shape = shape
        return view

    def forget_dead(self) -> None:
        """Drop the data of deleted arrays."""
        self.met = {key: kept for key, kept in self.met.items() if kept[0]() is not None}

    # Handwritten rules: only their pullbacks know how to undo them.

    def before_rule(self, rule: CoDualRule, args: Any) -> None:
        """Keep everything that a handwritten rule may change."""
        seen: set[int] = set()
        for i, a in enumerate(args):
            if rule.mutates is None or i in rule.mutates:
                self.keep(a, seen)

    def keep(self, value: Any, seen: set[int]) -> None:
        """Keep the contents of a value and of all that it holds."""
        if type(value) in INERT or type(value) is Active or id(value) in seen:
            return
        seen.add(id(value))
        if issubclass(type(value), ndarray):
            if is_writeable(value):
                memory = self.ctx.registry.memory_of(value)
                self.record(self.overwritten(memory, value, Ellipsis))
            if value.dtype.kind != "O":
                return
        elif containers.module_of(value) is not None:
            containers.snapshot(self.ctx, value)
        elif fields := own_attributes(value):
            note(self.ctx, set_own_attributes, value, fields)
        for part in parts(value):
            self.keep(part, seen)
