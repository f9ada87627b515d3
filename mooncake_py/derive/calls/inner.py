"""The context of a derivative that is taken while an outer one is under way.

The inner derivative must not depend on anything that is active outside, or the outer derivative
would lose it in silence.  Every way to such a value is watched: arrays where their node is looked
up, numbers where they are recorded, and both where they are returned or raised.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray
from typing_extensions import override

from mooncake_py.derive.calls.foreign import foreign_number, holds_foreign
from mooncake_py.derive.calls.nested import nested_derivative
from mooncake_py.derive.recording.memory import Memory, View
from mooncake_py.derive.recording.reverse import ReverseContext

__all__ = ["InnerContext"]


class InnerContext(ReverseContext):
    """One reverse-mode call inside another.

    Parameters
    ----------
    outer : ReverseContext
        The context whose code called for the derivative.
    """

    def __init__(self, outer: ReverseContext) -> None:
        super().__init__()
        self.outers = (outer, *outer.outers)
        self.registry.foreign = outer.registry.foreign
        self.known = self.registry.known = _Known(self.outers)
        del self.record  # the method below, not that of the tape

    def record(self, entry: tuple[Any, ...]) -> None:
        """Record an entry, unless it would give a cotangent to an active number of outside."""
        if foreign_number(self, entry) is not None:
            raise nested_derivative(*self.outers)
        self.tape.append(entry)

    @override
    def leave(self, value: Any) -> None:
        if holds_foreign(self, value, self.is_foreign, set()):
            raise nested_derivative(*self.outers)

    def is_foreign(self, a: ndarray) -> bool:
        """Tell whether an array is active outside."""
        return any(outer.contains_active(a) for outer in self.outers)


class _Known(dict[int, Memory | View]):
    """Nodes by id of the array; raises where an array is looked up that is active outside."""

    __slots__ = ("outers",)

    def __init__(self, outers: tuple[ReverseContext, ...]) -> None:
        super().__init__()
        self.outers = outers

    @override
    def get(self, key: int, default: Any = None, /) -> Any:
        node = super().get(key)
        if node is None or node.ref() is None:
            for outer in self.outers:
                active = outer.known.get(key)
                if active is not None and active.ref() is not None:
                    raise nested_derivative(*self.outers)
        return default if node is None else node
