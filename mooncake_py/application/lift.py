"""Lift values into a differentiated call, and lower them out of it.

Arrays are not wrapped: their memory becomes active.  A float becomes an active scalar; in a list, a
dict, an object or a captured variable it replaces the float in place, so that every name for that
container sees it, and the tape restores the float.  The `TangentSpec` of a container or an object
defines its parts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from threading import get_ident
from types import CellType
from typing import TYPE_CHECKING, Any, Self

from numpy import memmap, ndarray

from mooncake_py.application.walker import Mapper, replace_parts
from mooncake_py.containers.undo import note
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active, active_number, shared_number
from mooncake_py.runtime.elsewhere import BufferViews
from mooncake_py.runtime.foreign import foreign_number
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.values import FLOAT64, INEXACT_SCALARS, take_usual_dtype
from mooncake_py.runtime.watched import watch
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.spec import TangentSpec
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Lifter", "Settler", "in_containers", "is_differentiable", "refuse_shared"]

# Held by a call that has put active scalars into containers which other threads may see.
in_containers = threading.RLock()


class Lifter(Mapper):
    """Makes values active that enter a call.

    While floats in containers are replaced, other calls that would do so wait: it is a context
    manager, to be left when the containers are restored.
    """

    liftings = 0  # containers of all threads that had numbers replaced so far,
    lifted = 0  # and those that have now,
    holder: int | None = None  # in the thread of this number

    def __init__(self, ctx: Mode) -> None:
        super().__init__(ctx)
        self.locked = False
        self.in_buffers = BufferViews()
        self.before = Lifter.liftings, Lifter.lifted
        self.made: list[int] | None = None  # the ids of what is made of immutable values

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        if type(value) is Active:
            self.ctx.meet(value)
            value = value.primal
        node = active_number(value, self.ctx)
        return node, node

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        if value.base is not None and value.dtype.kind in "fc":
            self.in_buffers.add(value)
        if type(value) is ndarray and value.dtype is FLOAT64:
            return value, self.activate(value)
        if not differentiable_array(value):
            return value, None
        take_usual_dtype(value)
        watch(self.ctx, type(value))
        node = self.activate(plain(value))
        return (plain(value) if issubclass(type(value), memmap) else value), node

    def activate(self, value: ndarray) -> Any:
        """Make the memory of an array active; return its node."""
        return self.ctx.registry.activate(value)

    @override
    def visit_mutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> None:
        if not self.locked and not all(map(stays_as_it_is, fields.values())):
            in_containers.acquire()
            self.locked = True
            Lifter.liftings += 1
            Lifter.lifted += 1
            Lifter.holder = get_ident()
            fields = spec.fields(value)  # another thread may have changed it until now
            assert fields is not None
        if type(value) is CellType:
            self.ctx.note_cell(value)
        super().visit_mutable(value, spec, fields, tree)

    @override
    def visit_immutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> Any:
        new = super().visit_immutable(value, spec, fields, tree)
        if new is not value and self.made is not None:
            self.ctx.lifted[id(new)] = new, value
            self.made.append(id(new))
        return new

    @override
    def replacing(self, value: Any, spec: TangentSpec, old: Any, new: Any) -> None:
        note(self.ctx, replace_parts, value, spec, old)

    def __enter__(self) -> Self:
        self.made = []
        return self

    def __exit__(self, *details: object) -> None:
        for key in self.made or ():  # numbers refer to the call: a cycle
            self.ctx.lifted.pop(key, None)
        if self.locked:
            self.locked = False
            Lifter.lifted -= 1
            if not Lifter.lifted:
                Lifter.holder = None
            in_containers.release()

    def settle(self, tape: list[tuple[Any, ...]]) -> None:
        """Raise if the forward pass has used a number that is active in another thread."""
        if not self.locked and self.before != (Lifter.liftings, 0):
            refuse_shared(self.ctx, tape)


class Settler(Mapper):
    """Brings values to plain numbers after a forward pass; every number gets a node."""

    def unsettle(self) -> None:
        """Put the active numbers back, for parts of the program that run again."""
        for value, spec, parts in self.replaced:
            replace_parts(value, spec, parts)

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        if type(value) is Active:
            return value.primal, value
        return value, active_number(value, self.ctx)

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        if not differentiable_array(value):
            return value, None
        return value, self.ctx.registry.activate(plain(value))


def refuse_shared(ctx: Mode, entries: Iterable[tuple[Any, ...]]) -> None:
    """Raise if entries would give a cotangent to a number of another thread."""
    if Lifter.holder == get_ident():
        return
    for entry in entries:
        number = foreign_number(ctx, entry)
        if number is not None:
            raise shared_number(number)


def stays_as_it_is(part: Any) -> bool:
    """Return whether a part of a container is never replaced, being an array or without numbers."""
    if type(part) is ndarray or part is None or type(part) in (int, str, bool):
        return True
    return type(part) is not Active and type(part) not in INEXACT_SCALARS and spec_of(part).mutable


def is_differentiable(tree: Any, seen: set[int] | None = None) -> bool:
    """Return whether a tree has a node anywhere."""
    if tree is None:
        return False
    if type(tree) is not TangentTree:
        return True
    seen = set() if seen is None else seen
    if id(tree) in seen:
        return False
    seen.add(id(tree))
    return any(is_differentiable(part, seen) for part in tree.parts.values())
