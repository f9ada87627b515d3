"""A copy of a context for one statement or loop, on copies of its values, with an empty tape.

Both have the same active values and the same tangents, at each level of forward mode::

    ForwardContext       numbers and arrays with tangents        their copies with copies of these
    Checks               what of both is active                  is active too
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.statements.gathers import is_gather
from mooncake_py.modes.debug.beside import Copies, NotPlainError
from mooncake_py.runtime.active import REAL_SCALARS, Active, active_number
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.operators import BINARY
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.values import FLOAT64, NUMBERS
from mooncake_py.tangents.memory import Shadows, is_writeable, owner, zeros_like_owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Levels", "Mirror", "Part", "cotangents", "parts_of"]

Levels = list["ForwardMode"]
"""The contexts of forward mode over one of reverse mode, from the nearest on."""


class Part(NamedTuple):
    """A number or an array of reverse mode that a value is made of.

    Attributes
    ----------
    path : str
        Empty for the primal, ``t`` for its tangent, ``tt`` for the tangent of that.
    value : Any
    """

    path: str
    value: Any


def parts_of(levels: Levels, value: Any, path: str = "") -> Iterator[Part]:
    """Yield the parts of a value that contexts of forward mode have, tangents of zero left out."""
    if not levels:
        yield Part(path, value)
        return
    *below, ctx = levels
    p, t = ctx.split(value)
    yield from parts_of(below, p, path)
    if t is not None:
        yield from parts_of(below, t, path + "t")


class Mirror:
    """Copies of values in contexts of their own.

    Parameters
    ----------
    base : ReverseMode
        Whose values are copied, under `levels`.
    levels : list of ForwardMode
    values : sequence
        As the topmost context has them.
    own : ReverseMode
    own_levels : list of ForwardMode
        The contexts of the copies.

    Attributes
    ----------
    values : tuple
        The copies.
    inputs : list of (int, Part)
        What is active in reverse mode, with the positions of the values.

    Raises
    ------
    NotPlainError
        If a value is not a number, array or index of such kinds as statements have.
    """

    def __init__(
        self,
        base: ReverseMode,
        levels: Levels,
        values: Any,
        own: ReverseMode,
        own_levels: Levels,
    ) -> None:
        self.base = base
        self.levels = levels
        self.own = own
        self.own_levels = own_levels
        self.copies = Copies()
        self.numbers: dict[int, Active] = {}
        self.values = tuple([self.copy(len(levels), v) for v in values])
        self.inputs = [
            (position, part)
            for position, v in enumerate(self.values)
            for part in parts_of(own_levels, v)
            if type(part.value) is Active
            or (type(part.value) is ndarray and own.find(part.value) is not None)
        ]

    @property
    def top(self) -> Mode:
        """The context of the copies."""
        return self.own_levels[-1] if self.own_levels else self.own

    # Copies.

    def takes(self, a: ndarray) -> bool:
        """Whether an array is of a kind that is copied."""
        return a.dtype is FLOAT64 or is_gather(a)

    def nudged(self, value: Any) -> Any:
        """Return a real number as its copy has it: the same."""
        return value

    def copy(self, level: int, value: Any) -> Any:
        """Return a copy of a value that a context has."""
        if type(value) is ndarray:
            if not self.takes(value):
                raise NotPlainError
            a = self.copies(value)
            self.register(level, value, a)
            return a
        if type(value) is Active:
            if id(value) not in self.numbers:
                self.numbers[id(value)] = self.number(level, value)
            return self.numbers[id(value)]
        if type(value) not in NUMBERS and not is_basic(value):
            raise NotPlainError
        return value

    def number(self, level: int, value: Active) -> Active:
        """Return a copy of an active number."""
        if not level:
            if type(value.primal) not in REAL_SCALARS:
                raise NotPlainError  # a number of another derivative, or one that is not real
            return active_number(self.nudged(value.primal), self.own)
        if value.context is not self.levels[level - 1]:
            return self.number(level - 1, value)
        found = active_number(self.copy(level - 1, value.primal), self.own_levels[level - 1])
        found.grad = self.copy(level - 1, value.grad)
        return found

    def register(self, level: int, a: ndarray, copy: ndarray) -> None:
        """Let the copy of an array be active where the array is, and have such tangents."""
        if not level:
            if self.base.find(a) is not None:
                self.own.registry.activate(copy)
            return
        self.register(level - 1, a, copy)
        ctx, own = self.levels[level - 1], self.own_levels[level - 1]
        if own.blocks.tangent_of(copy) is None and ctx.blocks.tangent_of(a) is not None:
            whole = ctx.registry.owner(a)
            if whole.dtype.kind not in "fc":
                raise NotPlainError  # floats in a block of bytes
            copied = self.copies.shadows.view(whole)
            if owner(copied) is not copied:
                raise NotPlainError  # laid out with gaps
            own.blocks.put(copied, self.copy(level - 1, ctx.blocks.tangent_of(whole)))

    # Writes.

    def log_before(self, random: np.random.Generator) -> None:
        """Log the contents of half of the blocks: none of their writes needs it from then on.

        So it shows where an adjoint reads what no one has kept for it.
        """
        if not self.inputs:
            return
        inputs = (*self.values, *(part.value for _, part in self.inputs))
        arrays = [a for a in inputs if type(a) is ndarray]
        for memory in dict.fromkeys(map(self.own.registry.memory_of, arrays)):
            whole = memory.ref()
            if whole is not None and is_writeable(whole) and random.random() < 0.5:
                self.own.record((undo_assign, whole, Ellipsis, plain(whole).copy(), memory))
                memory.note_all_logged()

    def overwrite(self, values: Iterable[Any]) -> None:
        """Change all arrays, as the rest of a program may: what adjoints read must be logged."""
        arrays = [owner(a) for a in values if type(a) is ndarray]
        for a in {id(a): a for a in arrays}.values():
            if is_writeable(a) and a.dtype.kind in "fiu":
                self.own.inplace(BINARY["add"], a, 1)
            elif is_writeable(a) and a.dtype.kind == "b":
                self.own.setitem(a, Ellipsis, ~a)

    # Cotangents.

    def shared_cotangents(self) -> Iterator[tuple[int, int]]:
        """Yield the positions of inputs whose cotangents are the same memory, and must not be."""
        known = [
            (position, self.own.registry.memory_of(part.value))
            for position, part in self.inputs
            if type(part.value) is ndarray
        ]
        for (i, a), (j, b) in combinations(known, 2):
            shares = a is not b and a.grad is not None and b.grad is not None
            if shares and np.may_share_memory(a.grad, b.grad):  # type: ignore[arg-type]
                yield i, j

    def pull(self, outputs: list[Part], seeds: list[Any]) -> list[Any]:
        """Return the cotangents of the inputs for those of parts of the outputs, and undo all."""
        for part, seed in zip(outputs, seeds, strict=True):
            if type(part.value) is Active:
                part.value.grad = seed
            elif type(part.value) is ndarray and self.own.find(part.value) is not None:
                node = self.own.registry.activate(part.value)
                node.shadow()[...] = seed
        self.own.run_backwards()
        found = cotangents(self.own)
        return [
            part.value.grad if type(part.value) is Active else np.array(found.view(part.value))
            for _, part in self.inputs
        ]


def cotangents(ctx: ReverseMode) -> Shadows:
    """Return copies of the cotangents of arrays, as they are when they are asked for."""

    def make(own: ndarray) -> ndarray:
        found = zeros_like_owner(own)
        node = ctx.find(own)
        grad = None if node is None else node.memory.grad
        if grad is not None:
            found[...] = grad.reshape(own.shape)
        return found

    return Shadows(make)
