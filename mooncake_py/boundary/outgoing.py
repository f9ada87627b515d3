"""Results of a differentiated call, copied before the end of the call changes them.

The end of a call undoes every change of memory, containers and objects, also of those made inside.
Results are copied before, with plain numbers in place of active scalars; inside an outer
derivative, with active scalars of that derivative.
"""

from __future__ import annotations

import functools
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    SimpleNamespace,
)
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import copied_exception
from mooncake_py.boundary.changes import Changes
from mooncake_py.boundary.wrapping import copied_as, keep_class
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError
from mooncake_py.modules import module_of
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import CLOSED, VIEWS, is_iterator, parts, unwrapped
from mooncake_py.tangents.contents import FACTORY, MAXLEN, elements_of
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import objects_in
from mooncake_py.tangents.subclasses import is_instance, plain, with_attributes
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Copier", "Handover", "independent", "name_of_object", "unfinished"]

BASES = frozenset({
    object, list, dict, OrderedDict, defaultdict, set, deque, bytearray, SimpleNamespace,
})  # fmt: skip
COPIED_LIBRARIES = ("builtins", "argparse")


def independent(ctx: Mode, value: Any) -> Any:
    """Return a copy of a value of any structure, with plain numbers for active scalars.

    What is one object in the value is one object in the copy, cycles included.  Each array is
    copied by itself: views become their own arrays.  Classes, modules, functions that lead to
    nothing active or changed, objects of the standard library and whatever cannot be copied stay
    the same objects; where these hold something active, there is an error.

    If the derivative outside follows the call (`ctx.receiver`), what is active in the call is
    active there in the copy.
    """
    receiver = ctx.receiver
    return (Copier(ctx) if receiver is None else Handover(ctx, receiver)).copy(value)


class Copier:
    """One copy: a memo that every part of it shares."""

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.memo: dict[int, tuple[Any, Any]] = {}  # keeps the object along with its copy
        self.cells: list[tuple[CellType, CellType]] = []  # new ones to fill
        self.changes = Changes(ctx)

    def number(self, value: Active) -> Any:
        """Return the replacement of an active number."""
        return unwrapped(value)

    def array(self, value: ndarray) -> ndarray:
        """Return the replacement of an array."""
        return value.copy("K")

    def same(self, value: Any) -> Any:
        """Return an object that cannot be copied, unless something active would leave with it."""
        t = type(value)
        is_undone = id(t) in self.changes.changed()  # what the class holds is as before
        held = [part for part in parts(value) if part is not t] if is_undone else value
        if self.ctx.contains_active(held):
            raise not_copied(self.ctx, value)
        if self.changes.reach(value):
            what = f"{name_of_object(value)} that leads to it"
            raise undone(self.ctx, what, "return copies of its contents")
        return self.remember(value, value)

    def hidden(self, value: Any, copy: Callable[[], Any]) -> Any:
        """Run a copy of what is within a value, where no derivative follows."""
        return copy()

    def copy(self, value: Any) -> Any:
        """Return the copy of a value."""
        t = type(value)
        if t is Active:
            return self.number(value)
        if t in CLOSED:
            return value
        known = self.memo.get(id(value))
        if known is not None:
            return known[1]
        keep_class(self, t)
        copied = copied_as(t)
        if copied is not None:
            return copied(self, value)
        if issubclass(type(value), ndarray):
            return self.copy_array(value)
        if issubclass(type(value), (tuple, frozenset)):
            return self.copy_immutable(value)
        if t is FunctionType:
            return self.copy_function(value)
        if t is MethodType:
            owner = self.copy(value.__self__)  # first: it may be what holds the function
            return self.remember(value, MethodType(self.copy(value.__func__), owner))
        if issubclass(type(value), (BuiltinMethodType, MethodWrapperType)):
            return self.copy_builtin_method(value)
        if issubclass(type(value), functools.partial):
            return self.copy_partial(value)
        if t is MappingProxyType:
            fields = dict(value)
            return self.remember(value, MappingProxyType(self.copy(fields)))
        if is_iterator(t) or t in VIEWS:
            if self.ctx.contains_active(value):
                raise unfinished(self.ctx, value)
            if self.changes.reach(value):
                raise undone(
                    self.ctx,
                    f"{with_article(type(value).__name__)} over it",
                    "return a list: list(...)",
                )
        return self.copy_object(value)

    def remember(self, value: Any, new: Any) -> Any:
        """Note the copy of an object, and return it."""
        self.memo[id(value)] = value, new
        return new

    def copy_array(self, value: ndarray) -> ndarray:
        """Copy an array, with the objects in it."""
        if value is np.ma.masked:
            return value  # of which there is only one
        if is_instance(value):
            new = self.copy_array(plain(value))
            copy = with_attributes(new, value, self.copied(own_attributes(value)))
            return self.remember(value, copy)
        new = self.remember(value, self.array(value))
        for place in objects_in(new):
            for index in np.ndindex(place.shape):
                place[index] = self.copy(place[index])
        return new

    def copy_immutable(self, value: Any) -> Any:
        """Copy a tuple or a frozenset, if its parts are others in the copy."""
        parts = elements_of(value)
        copies = list(map(self.copy, parts))
        known = self.memo.get(id(value))
        if known is not None:  # a cycle led back here
            return known[1]
        if all(new is old for new, old in zip(copies, parts, strict=True)):
            return self.remember(value, value)
        base: Any = tuple if issubclass(type(value), tuple) else frozenset
        new = self.remember(value, base.__new__(type(value), copies))
        set_own_attributes(new, self.copied(own_attributes(value)))
        return new

    def copied(self, fields: dict[Any, Any]) -> dict[Any, Any]:
        """Copy the values of a dict."""
        return {name: self.copy(part) for name, part in fields.items()}

    def copy_function(self, f: FunctionType) -> Any:
        """Copy a function that leads to something active, or to what the end of the call undoes."""
        active = self.ctx.contains_active((f, f.__kwdefaults__, f.__dict__))
        if not active and (registry.find(f) is not None or not self.changes.reach(f)):
            return f
        closure = f.__closure__ or ()
        cells = tuple(map(self.blank_cell, closure))
        new = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells or None)
        self.remember(f, new)
        new.__dict__.update(self.copied(f.__dict__))
        new.__qualname__, new.__module__, new.__doc__ = f.__qualname__, f.__module__, f.__doc__
        new.__annotations__ = f.__annotations__
        new.__kwdefaults__ = self.copy(f.__kwdefaults__)
        new.__defaults__ = self.copy(f.__defaults__)
        while self.cells:
            cell, old = self.cells.pop()
            with suppress(ValueError):  # a variable without a value
                cell.cell_contents = self.copy(old.cell_contents)
        return new

    def blank_cell(self, cell: CellType) -> CellType:
        """Return the cell of a captured variable in copies, which functions may share."""
        known = self.memo.get(id(cell))
        if known is not None:
            return known[1]
        new = self.remember(cell, CellType())
        self.cells.append((new, cell))
        return new

    def copy_builtin_method(self, value: Any) -> Any:
        """Return the method, bound to the copy of its object."""
        owner = self.copy(value.__self__)
        same = owner is value.__self__
        return self.remember(value, value if same else getattr(owner, value.__name__))

    def copy_partial(self, value: Any) -> Any:
        """Copy a partial, with its attributes."""
        arguments = [self.copy(a) for a in value.args]
        keywords = self.copied(value.keywords)
        new = self.remember(value, type(value)(self.copy(value.func), *arguments, **keywords))
        set_own_attributes(new, self.copied(own_attributes(value)))
        return new

    def copy_object(self, value: Any) -> Any:
        """Copy a container or an object past its own methods."""
        if issubclass(type(value), BaseException):
            return copied_exception(value, self.copy, self.remember)
        fields = own_attributes(value)
        new = blank(value, fields)
        if new is None:
            return self.same(value)
        self.remember(value, new)
        set_own_attributes(new, self.copied(fields))
        self.copy_contents(value, new)
        return new

    def copy_contents(self, value: Any, new: Any) -> None:
        """Fill a container, or an object that is one as well."""
        if issubclass(type(value), dict):
            base: Any = OrderedDict if issubclass(type(value), OrderedDict) else dict
            if issubclass(type(value), defaultdict):
                FACTORY.__set__(new, self.copy(FACTORY.__get__(value)))
            for key, part in list(base.items(value)):
                base.__setitem__(new, self.copy(key), self.copy(part))
        elif issubclass(type(value), list):
            list.extend(new, map(self.copy, list.__iter__(value)))
        elif issubclass(type(value), set):
            set.update(new, map(self.copy, set.__iter__(value)))
        elif issubclass(type(value), deque):
            deque.__init__(new, map(self.copy, deque.__iter__(value)), MAXLEN.__get__(value))
        elif issubclass(type(value), bytearray):
            bytearray.extend(new, value)
        elif issubclass(type(value), array):
            array.extend(new, value)


class Handover(Copier):
    """A copy whose active parts are active in the outer call."""

    def __init__(self, ctx: Mode, receiver: Mode) -> None:
        super().__init__(ctx)
        self.receiver = receiver
        self.handed = 0  # how much has become active there

    @override
    def number(self, value: Active) -> Any:
        self.handed += 1
        return active_number(unwrapped(value), self.receiver)

    @override
    def hidden(self, value: Any, copy: Callable[[], Any]) -> Any:
        before = self.handed
        new = copy()
        if self.handed > before:
            raise not_copied(self.ctx, value)
        return new

    @override
    def array(self, value: ndarray) -> ndarray:
        if value.dtype.kind not in "fcV" or not self.ctx.contains_active(value):
            return super().array(value)
        self.handed += 1
        return self.activated(np.array(value))  # of a memory map, too

    def activated(self, new: ndarray) -> ndarray:
        """Return the copy of an active array."""
        self.receiver.registry.activate(new)
        return new


def not_copied(ctx: Reporting, value: Any) -> DerivativeDropError:
    """Return the error for an object that gets out, holds active data and is not copied."""
    return dropped(
        ctx,
        f"{name_of_object(value)} that holds active values leaves the differentiated call",
        why="it cannot be copied, and its values are valid only during the call",
        fix="return the values themselves: numbers, arrays, containers, objects of your own",
    )


def name_of_object(value: Any) -> str:
    """Return the name of an object in messages."""
    if issubclass(type(value), type):
        return f"the class {value.__qualname__}"
    return with_article(type(value).__qualname__)


def undone(ctx: Reporting, what: str, fix: str) -> DerivativeDropError:
    """Return the error for what gets out as it is, and leads to data whose changes are undone."""
    return dropped(
        ctx,
        f"the differentiated call has changed an object, and {what} leaves the call",
        why="the end of the call undoes its changes, and this is not copied before",
        fix=fix,
    )


def unfinished(
    ctx: Reporting,
    value: Any,
    leaves: str = "the differentiated call",
    why: str = "its items would be computed after the call and its record have ended",
) -> DerivativeDropError:
    """Return the error for an iterator over active values that gets out."""
    return dropped(
        ctx,
        f"{with_article(type(value).__name__)} over active values leaves {leaves}",
        why=why,
        fix="return a list: list(...)",
    )


def blank(value: Any, fields: dict[Any, Any]) -> Any:
    """Return a new object of the class of `value` without running its code; None if that fails."""
    t = type(value)
    if issubclass(type(value), array):
        return array.__new__(t, value.typecode)
    if is_native_module(module_of(t)) and not module_of(t).startswith(COPIED_LIBRARIES):
        return None  # a lock, a logger, a path
    base = next(b for b in t.__mro__ if b in BASES)
    if base is object and not fields:
        return None  # nothing in it could change
    try:
        return base.__new__(t)
    except TypeError:  # a type in C, or with one among its bases
        return None
