"""The changes that a call has made, which its end undoes."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import CLOSED, parts
from mooncake_py.runtime.buffers import CDATA
from mooncake_py.runtime.classes import is_made_by, made_inside, recorder
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Changes"]


class Changes:
    """The containers, objects and variables that a call has changed, found when asked for."""

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.found: set[int] | None = None

    def changed(self) -> set[int]:
        """Return the ids of what the tape of the call restores."""
        if self.found is None:
            tape = recorder(self.ctx).tape
            changed = [entry[1] for entry in tape if entry[0] is undo_assign]
            for entry in tape:
                if entry[0] in pulls.STATES:
                    changed.append(entry[2])
                    changed += [part for part in entry[3:] if isinstance(part, CDATA)]  # aliases
            blocks = [owner(part) for part in changed if issubclass(type(part), ndarray)]
            self.found = set(map(id, (*changed, *blocks)))
        return self.found

    def reach(self, value: Any) -> bool:
        """Return whether a value leads to something that the call has changed."""
        changed = self.changed()
        seen: set[int] = set()
        todo = [value] if changed else []
        while todo:
            part = todo.pop()
            t = type(part)
            if t in CLOSED or t is Active or id(part) in seen:
                continue
            seen.add(id(part))
            if id(part) in changed or (issubclass(t, ndarray) and id(owner(part)) in changed):
                return True
            if t is FunctionType and not changed.isdisjoint(map(id, part.__closure__ or ())):
                return True
            keeps = made_inside.found and is_made_by(self.ctx, t)
            todo += [held for held in parts(part) if held is not t or keeps]
        return False

    def keep(self, value: Any) -> None:
        """Take what changes an object back from the tape: it was made by the call."""
        tape = recorder(self.ctx).tape
        for i, entry in enumerate(tape):
            if entry[0] in pulls.STATES and len(entry) > 2 and entry[2] is value:
                tape[i] = (kept_change,)


def kept_change(entry: tuple[Any, ...]) -> None:
    """Do nothing, in the place of an entry that would undo a change."""
