"""What reverse mode promises besides: rules that record, and what runs parts again, rely on it."""

from __future__ import annotations

from typing import Any, Protocol

from numpy import ndarray

from mooncake_py.runtime.memory import Memory, View
from mooncake_py.runtime.mode import Mode

__all__ = ["ReverseMode"]


class ReverseMode(Mode, Protocol):
    """One reverse-mode call.

    A node is what takes the cotangent of a value: a `Memory`, a `View` or an `Active`; None stands
    for a constant.

    Attributes
    ----------
    tape : list of tuple
        Entries ``(pull, ...)`` in the order of execution.
    known : dict of int to node
        The nodes of active arrays, by the id of the array.
    repeats : bool
        Whether parts of the program are to be run again on the reverse pass.
    tries_loops : bool
        Whether loops may be tried as one entry.
    """

    tape: list[tuple[Any, ...]]
    known: dict[int, Memory | View]
    repeats: bool
    tries_loops: bool

    # The reverse pass.

    def run_backwards(self) -> None:
        """Reverse the tape: undo every change to primal state and apply every adjoint."""
        ...

    def forget(self) -> None:
        """Drop the tape of a call that will not be reversed."""
        ...

    # Rules.

    def record_elementwise(
        self, rule: Any, y: Any, args: tuple[Any, ...], nodes: tuple[Any, ...], where: Any = None
    ) -> Any:
        """Record ``y = f(*args)`` for an elementwise rule; return `y`, active."""
        ...

    def record_one(self, rule: Any, y: Any, x: Any, node: Any) -> Any:
        """Record ``y = f(x)``, elementwise; return `y`, active."""
        ...

    def record_two(self, rule: Any, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any:
        """Record ``y = f(a, b)``, elementwise; return `y`, active."""
        ...

    def record_bilinear(
        self, rule: Any, y: Any, a: Any, b: Any, nodes: Any, rest: Any, kwargs: Any
    ) -> Any:
        """Record ``y = f(a, b, *rest)``, linear in a and in b; return `y`, active."""
        ...

    def plan(self, rule: Any, nodes: tuple[Any, ...]) -> Any:
        """Return which partials are wanted and which operands they read, for this activity."""
        ...

    def node_of(self, value: Any) -> Any:
        """Return the node of an array or number, nodes in the structure of anything else."""
        ...

    def fresh_output(self, y: Any) -> tuple[Any, Any]:
        """Register a new output; return it as the user sees it, and its node."""
        ...

    def meet_numbers(self, entry: tuple[Any, ...]) -> None:
        """Note the numbers of calls round this one to which an entry gives cotangents."""
        ...

    # What adjoints read, and what writes overwrite.

    def saved_operands(self, args: Any, nodes: Any, keep: Any) -> list[Any]:
        """Return the operands that the adjoint reads, protected against being overwritten."""
        ...

    def protect_all(self, value: Any) -> None:
        """Protect the arrays in arguments, at any depth, that an adjoint may read."""
        ...

    def frozen_index(self, index: Any) -> Any:
        """Return an index that later writes do not change."""
        ...

    def overwritten(self, memory: Memory, o: ndarray, i: Any) -> tuple[Any, ...] | None:
        """Return the entry that undoes a write to ``o[i]``; None if none is needed."""
        ...

    def log_whole(self, o: ndarray, old: ndarray) -> None:
        """Record that all of `o` was overwritten, of which `old` is a copy made before."""
        ...

    def log_element(self, memory: Memory, o: ndarray, i: Any, old: Any) -> None:
        """Record one element that is about to be overwritten."""
        ...
