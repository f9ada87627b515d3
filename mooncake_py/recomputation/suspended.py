"""The state between a forward pass and its pullback, in which external changes are undone.

The tape of a `vjp` may refer to captured or global state as it is at the end of the function. After
the forward pass the engine restores the old state, and sets the changed state again while the
pullback runs; changes by other code in between persist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.codual_call import pull_codual
from mooncake_py.containers import dicts, state
from mooncake_py.containers.undo import ONCE, is_plain_key
from mooncake_py.errors import InvalidTangentError
from mooncake_py.recomputation.places import Place, places_of
from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.interrupts import through_interrupts
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.tangents.contents import elements_of
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import is_writeable, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Suspended"]


class Suspended:
    """A forward pass that waits for its pullback, with all changes undone that others could see.

    Entries of the tape before `start` are about the arguments.  Nobody else can see the memory of
    `own` arrays, known by id.
    """

    def __init__(self, ctx: ReverseMode, start: int, own: Iterable[int]) -> None:
        self.lifted = dict(ctx.lifted)  # which parts that run again may ask for
        changes = [e for e in ctx.tape[start:] if e[0] in pulls.UNDOES and is_visible(e, own)]
        # Only its pullback can undo the changes of a handwritten rule; and a key that is compared
        # by
        # code of the user may be an object whose attributes are not there meanwhile.
        self.can_resume = not any(e[0] is pull_codual or compares_keys(e) for e in changes)
        if not self.can_resume:
            ctx.roll_back()
            return
        changes_of_shape = [e for e in changes if e[1] is state.restore_shape]
        places = [
            *places_of(changes_of_shape + changes), *replaced_dicts(changes), *items_of(changes)
        ]  # fmt: skip
        self.at_exit = [(place, place.read()) for place in places]
        self.used_up = [(e[-1], [*e[-1]]) for e in changes if runs_once(e)]

        def undo() -> None:
            while changes:
                entry = changes[-1]
                entry[0](entry)
                del changes[-1]
            ctx.is_suspended = bool(self.at_exit)

        through_interrupts(undo)

    @property
    def is_hidden(self) -> bool:
        """Whether nothing outside has changed: there is no state to bring forth."""
        return self.can_resume and not self.at_exit

    @contextmanager
    def resumed(self, ctx: ReverseMode) -> Iterator[None]:
        """Bring forth the state at the end of the forward pass; the tape undoes it meanwhile."""
        before = [(place, place.read()) for place, _ in self.at_exit]

        def restore() -> None:
            for place, contents in before:
                if not holds_active(contents):  # of an argument: the tape has put the number back
                    place.write(contents)

        try:
            ctx.is_suspended = False
            for place, contents in self.at_exit:
                place.write(contents)
            for used, contents in self.used_up:
                used[:] = contents
            ctx.lifted.update(self.lifted)
            yield
        finally:
            ctx.lifted.clear()
            through_interrupts(restore)


def replaced_dicts(changes: Iterable[tuple[Any, ...]]) -> list[Place]:
    """Return the dicts that held the attributes of objects until ``o.__dict__ = d``.

    Entries from before that tell of the object, which leads to another dict at the end.
    """
    found = [
        entry[4]
        for entry in changes
        if entry[1] is state.restore_attribute and entry[3] == "__dict__"
    ]
    return [Place(old) for old in found if type(old) is dict]


def runs_once(entry: tuple[Any, ...]) -> bool:
    """Return whether an entry undoes a change only once: that of a queue, which others change."""
    return entry[0] in pulls.STATES and entry[1] in ONCE


def items_of(changes: Iterable[tuple[Any, ...]]) -> list[Place]:
    """Return the holders of the items of the queues in Python that have changed."""
    queues = {id(entry[2]): entry[2] for entry in changes if runs_once(entry)}
    return [Place(q.queue) for q in queues.values() if hasattr(q, "queue")]


def compares_keys(entry: tuple[Any, ...]) -> bool:
    """Return whether an entry undoes a change of a dict or set whose keys compare in Python."""
    if entry[0] not in pulls.STATES:
        return False
    _, inverse, o, *details = entry
    if inverse is dicts.restore_key:
        return not is_plain_key(details[0])
    return issubclass(type(o), (dict, set)) and not all(map(is_plain_key, elements_of(o)))


def holds_active(contents: Any) -> bool:
    """Return whether the contents of a place are or hold active numbers, in what cannot change."""
    held = contents.values() if issubclass(type(contents), dict) else contents
    return any(
        map(immutable_holds_active, held if issubclass(type(contents), (dict, list)) else (held,))
    )


def immutable_holds_active(value: Any) -> bool:
    """Return whether an immutable value (number, tuple, frozen dataclass) holds an active one."""
    if type(value) is Active:
        return True
    if type(value) in INERT or issubclass(type(value), (set, frozenset)):
        return False
    try:
        spec = spec_of(value)
        fields = None if spec.mutable else spec.fields(value)
    except InvalidTangentError:  # what it holds was not made active
        return False
    return fields is not None and any(map(immutable_holds_active, fields.values()))


def is_visible(entry: tuple[Any, ...], own: Iterable[int]) -> bool:
    """Return whether an entry undoes a change that may show outside of the call."""
    if entry[0] is undo_assign:
        return id(owner(entry[1])) not in own
    if entry[0] is pull_codual:
        arrays = [a for a in entry[4] if issubclass(type(a), ndarray)]
        return any(id(owner(a)) not in own for a in arrays if is_writeable(a))
    return True
