"""Places that a program has changed and that entries of the tape restore.

A place is an attribute, a key, a captured variable, a flag or the shape of an array, or all of an
array, a container or an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mooncake_py.application.walker import parts_apart, replace_parts
from mooncake_py.containers import containers, dicts, state
from mooncake_py.containers.undo import is_plain_key
from mooncake_py.runtime import objects
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import owner
from mooncake_py.tangents.subclasses import plain

__all__ = ["LAYOUT", "Place", "place_of", "places_of"]

LAYOUT = (state.restore_flag, state.restore_shape)
PARTS = (state.restore_attribute, state.restore_slot, state.restore_flag, dicts.restore_key)


READ: dict[Any, Callable[[Any, Any], Any]] = {
    undo_assign: lambda o, _: plain(o).copy(),
    state.restore_attribute: state.old_attribute,
    state.restore_slot: lambda o, slot: state.slot_value(slot, o),
    state.restore_flag: lambda o, name: getattr(o.flags, name),
    state.restore_shape: lambda o, _: o.shape,
    state.restore_cell: lambda o, _: state.old_cell(o),
    dicts.restore_key: dicts.value_at,
    replace_parts: parts_apart,
    None: lambda o, _: contents_of(o),
}


class Place(NamedTuple):
    """A changed object, the inverse of the change (None for all of it), and the position in it."""

    o: Any
    inverse: Any = None
    detail: Any = None

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that distinguishes it from others."""
        return id(self.o), self.inverse, self.detail

    def read(self) -> Any:
        """Return a copy of the present value of the place."""
        return READ[self.inverse](self.o, self.detail)

    def write(self, contents: Any) -> None:
        """Restore a value that was read."""
        o, inverse, detail = self
        if inverse is undo_assign:
            undo_assign((undo_assign, plain(o), Ellipsis, contents))
        elif inverse is state.restore_shape:
            inverse(o, contents, detail)
        elif inverse is state.restore_cell:
            inverse(o, contents)
        elif inverse is not None:
            inverse(o, detail, contents)
        elif (module := containers.module_of(o)) is not None:
            module.restore(o, contents)
        else:
            set_own_attributes(o, contents)


def contents_of(o: Any) -> Any:
    """Return the contents of a container, or an object itself."""
    module = containers.module_of(o)
    return own_attributes(o) if module is None else module.contents(o)


def place_of(entry: tuple[Any, ...]) -> Place:
    """Return the place of the change that an entry undoes; the whole array where it is elements."""
    if entry[0] is undo_assign:
        return Place(owner(entry[1]), undo_assign)
    _, inverse, o, *details = entry
    if inverse is state.restore_cell:
        return Place(o, inverse)
    if inverse is objects.put:
        return Place(o, undo_assign)
    if inverse is state.restore_shape:
        return Place(o, inverse, details[-1])
    if inverse is dicts.restore_key and not is_plain_key(details[0]):
        return Place(o)
    apart = inverse is replace_parts and containers.module_of(o) is None
    if inverse in PARTS or (apart and parts_apart(o, details[0]) is not None):
        return Place(o, inverse, details[0])
    return Place(o)


def places_of(entries: Iterable[tuple[Any, ...]]) -> list[Place]:
    """Return the places of some changes, each once."""
    return list({place.key: place for place in map(place_of, entries)}.values())
