"""Holders of values: arrays, containers, objects, classes, captured and global variables.

Each is read, set, and compared as a whole.  Inside a derivative each change that is made here is
recorded, so that it is undone like those of the user's code.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import containers, dicts, state
from mooncake_py.containers.undo import note
from mooncake_py.overriding import override
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.classes import note_changed
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.fields import instance_dict, own_attributes, set_own_attributes
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "Attributes", "ClassAttributes", "Contents", "Elements", "Global", "Place", "Setting",
    "Variable", "restore_attributes", "restore_setting",
]  # fmt: skip


class Place:
    """Something that holds values, and how these are read and set.

    Parameters
    ----------
    path : str
        What messages call it.
    holder : object
        An array, a container, an object, a class, or a captured variable.
    """

    def __init__(self, path: str, holder: Any) -> None:
        self.path = path
        self.holder = holder

    def read(self) -> Any:
        """Return a copy of what the place holds."""
        raise NotImplementedError

    def write(self, contents: Any) -> None:
        """Set what was read."""
        raise NotImplementedError

    def record(self, ctx: Mode) -> None:
        """Record how to undo a change that is about to be made."""
        raise NotImplementedError

    def is_same(self, a: Any, b: Any) -> bool:
        """Return whether two readings hold the same objects."""
        return a is b

    def read_within(self, ctx: Mode) -> Any:
        """Return a copy with its derivatives."""
        return self.read()

    def put(self, ctx: Mode, contents: Any) -> None:
        """Set what was read, as a change of the derivative's own."""
        if not self.is_same(self.read(), contents):
            self.record(ctx)
            self.write(contents)


class Variable(Place):
    """A variable that functions have captured."""

    @override
    def read(self) -> Any:
        return state.old_cell(self.holder)

    @override
    def write(self, contents: Any) -> None:
        state.restore_cell(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        ctx.note_cell(self.holder)
        note(ctx, state.restore_cell, self.holder, self.read())


class Global(Place):
    """A global variable that a function may bind, or an attribute of a module."""

    def __init__(self, path: str, holder: dict[str, Any], name: str) -> None:
        super().__init__(path, holder)
        self.name = name

    @override
    def read(self) -> Any:
        return dicts.value_at(self.holder, self.name)

    @override
    def write(self, contents: Any) -> None:
        dicts.restore_key(self.holder, self.name, contents)

    @override
    def record(self, ctx: Mode) -> None:
        ctx.rebound[id(self.holder), self.name] = self.holder
        note(ctx, dicts.restore_key, self.holder, self.name, self.read())


class Elements(Place):
    """The elements of an array, of all of its memory."""

    @override
    def read(self) -> Any:
        return plain(self.holder).copy()

    @override
    def write(self, contents: Any) -> None:
        plain(self.holder)[...] = contents

    @override
    def record(self, ctx: Mode) -> None:
        pass  # the assignment does

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        if a.dtype == object:
            return a.shape == b.shape and all(map(operator.is_, a.ravel(), b.ravel()))
        return a.dtype == b.dtype and a.shape == b.shape and bits_of(a) == bits_of(b)

    @override
    def read_within(self, ctx: Mode) -> Any:
        a = self.holder
        if type(a) is ndarray and ctx.find(a) is not None:
            return ctx.method(a, "copy")
        return self.read()

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        a = self.holder
        if ctx.find(a) is None and ctx.find(contents) is None and self.is_same(plain(a), contents):
            return
        ctx.assign(a, Ellipsis, contents)


class Contents(Place):
    """The contents of a list, a dict, a set or the like."""

    def __init__(self, path: str, holder: Any) -> None:
        super().__init__(path, holder)
        self.module = containers.module_of(holder)

    @override
    def read(self) -> Any:
        return self.module.contents(self.holder)

    @override
    def write(self, contents: Any) -> None:
        self.module.restore(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        self.module.snapshot(ctx, self.holder)

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        if len(a) != len(b) or not all(map(operator.is_, a, b)):
            return type(a) in (bytearray, array, bytes) and a == b
        return not isinstance(a, dict) or all(map(operator.is_, a.values(), b.values()))


class Attributes(Place):
    """The attributes of an object, in its dict and its slots."""

    @override
    def read(self) -> Any:
        return own_attributes(self.holder)

    @override
    def write(self, contents: Any) -> None:
        restore_attributes(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        note(ctx, restore_attributes, self.holder, self.read())

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        return len(a) == len(b) and all(map(operator.is_, (*a, *a.values()), (*b, *b.values())))


class ClassAttributes(Attributes):
    """The attributes of a class of the user's."""

    @override
    def read(self) -> Any:
        return {name: v for name, v in vars(self.holder).items() if not name.startswith("__")}

    @override
    def write(self, contents: Any) -> None:
        now = self.read()
        for name in {**now, **contents}:
            if now.get(name, MISSING) is not contents.get(name, MISSING):
                state.restore_attribute(self.holder, name, contents.get(name, MISSING))

    @override
    def record(self, ctx: Mode) -> None:
        state.CHANGERS_OF_CLASSES.add(ctx)
        note_changed(self.holder)
        note(ctx, restore_class, self.holder, self.read())

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        super().put(ctx, contents)
        ctx.forget_lookups()


class Setting(Place):
    """A setting of the interpreter or of a library: a context variable, how NumPy raises errors.

    Parameters
    ----------
    read_it, write_it : callable
        They read it, and set what was read.
    which : tuple
        Says which setting it is; both take it first.
    many : bool
        Whether what is read are several arguments of `write_it`.
    """

    def __init__(
        self,
        read_it: Callable[..., Any],
        write_it: Callable[..., Any],
        which: tuple[Any, ...] = (),
        many: bool = False,
    ) -> None:
        super().__init__("a setting", which)
        self.read_it, self.write_it = read_it, write_it
        self.which, self.many = which, many

    @override
    def read(self) -> Any:
        return self.read_it(*self.which)

    @override
    def write(self, contents: Any) -> None:
        self.write_it(*self.which, *(contents if self.many else (contents,)))

    @override
    def record(self, ctx: Mode) -> None:
        note(ctx, restore_setting, self.write_it, self, self.read())


def restore_setting(_: Any, setting: Setting, old: Any) -> None:
    """Put a setting back; before it stands what lives on, as do the objects of other entries."""
    setting.write(old)


def restore_attributes(o: Any, contents: dict[Any, Any]) -> None:
    """Set the attributes of an object, and remove those that it did not have."""
    held = instance_dict(o)
    for name in own_attributes(o):
        if name not in contents:
            if isinstance(name, str):
                del held[name]
            else:
                name.__delete__(o)
    if held is not None and list(held) != [name for name in contents if isinstance(name, str)]:
        held.clear()
    set_own_attributes(o, contents)


def restore_class(cls: type, contents: dict[str, Any]) -> None:
    """Set the attributes of a class."""
    ClassAttributes("", cls).write(contents)
