"""The protocol of reverse mode, beyond that of any mode, for recording and recomputation."""

from __future__ import annotations

from typing import Any, Protocol

from numpy import ndarray

from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.mode import Mode
from mooncake_py.runtime.views import View

__all__ = ["ReverseMode"]


class ReverseMode(Mode, Protocol):
    """One reverse-mode call.

    A node is what takes the cotangent of a value: a `Memory`, a `View` or an `Active`; None stands
    for a constant.
    """

    tape: list[tuple[Any, ...]]  # entries ``(pull, ...)`` in the order of execution
    known: dict[int, Memory | View]  # the nodes of active arrays, by the id of the array
    repeats: bool  # whether parts of the program are to be run again on the reverse pass
    kept_alive: Any  # what the tape refers to, once generators with code for their end have run
    tries_loops: bool  # whether loops may be tried as one entry
    is_suspended: bool  # whether all is undone until the pullback brings it forth again

    # The reverse pass.

    def run_backwards(self) -> None: ...
    # Drop the tape of a call that will not be reversed.
    def forget(self) -> None: ...

    # Rules.

    def record_elementwise(
        self, rule: Any, y: Any, args: tuple[Any, ...], nodes: tuple[Any, ...], where: Any = None
    ) -> Any: ...
    def record_one(self, rule: Any, y: Any, x: Any, node: Any) -> Any: ...
    def record_two(self, rule: Any, y: Any, a: Any, b: Any, na: Any, nb: Any) -> Any: ...
    # Record ``y = f(a, b, *rest)``, linear in a and in b; return `y`, active.
    def record_bilinear(
        self, rule: Any, y: Any, a: Any, b: Any, nodes: Any, rest: Any, kwargs: Any
    ) -> Any: ...
    # Return which partials are wanted and which operands they read, for this activity.
    def plan(self, rule: Any, nodes: tuple[Any, ...]) -> Any: ...
    # Return the node of an array or number, nodes in the structure of anything else.
    def node_of(self, value: Any) -> Any: ...
    # Register a new output; return it as the user sees it, and its node.
    def fresh_output(self, y: Any) -> tuple[Any, Any]: ...
    # Note the numbers of calls round this one to which an entry gives cotangents.
    def meet_numbers(self, entry: tuple[Any, ...]) -> None: ...

    # Data that adjoints read and writes overwrite.

    # Return the operands that the adjoint reads, protected against being overwritten.
    def saved_operands(self, args: Any, nodes: Any, keep: Any) -> list[Any]: ...
    # Protect the arrays in arguments, at any depth, that an adjoint may read.
    def protect_all(self, value: Any) -> None: ...
    # Return an index that later writes do not change.
    def frozen_index(self, index: Any, written: ndarray | None = None) -> Any: ...
    # Return the entry that undoes a write to ``o[i]``; None if none is needed.
    def overwritten(self, memory: Memory, o: ndarray, i: Any) -> tuple[Any, ...] | None: ...
    # Return a copy of an array all of which is about to be overwritten.
    def before_whole(self, o: ndarray) -> ndarray: ...
    # Record that all of `o` was overwritten, of which `old` is what `before_whole` gave.
    def log_whole(self, o: ndarray, old: ndarray) -> None: ...
    # Record one element that is about to be overwritten; return whether it was needed.
    def log_element(self, memory: Memory, o: ndarray, i: Any, old: Any) -> bool: ...
    # Record what a mask picks that is about to be overwritten; `kept` if the tape has it.
    def log_masked(
        self, memory: Memory, o: ndarray, i: ndarray, old: ndarray, kept: bool
    ) -> bool: ...
