"""How operands of statements on slices are read in both sweeps, as text.

An element is read from a memory view, as a float of Python; a slice is taken from the array, whose
name is that of the memory view with a prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.regions.indices import EVERYTHING
from mooncake_py.compiler.regions.ir import Expr, Load, Name, Sliced
from mooncake_py.compiler.slices.index_texts import index_text, reads_of
from mooncake_py.compiler.slices.plans import example
from mooncake_py.compiler.statements.kinds import ELEMENT, FULL_NAMES
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.statement import Part, Place, View
from mooncake_py.compiler.statements.views import through

__all__ = ["Texts"]


class Texts:
    """The operands and the target of one statement.

    Parameters
    ----------
    s : Sliced
    plan : Plan
    axes : mapping of str to int
        How many axes the arrays have.
    """

    def __init__(self, s: Sliced, plan: Plan, axes: Mapping[str, int]) -> None:
        self.s = s
        self.plan = plan
        self.axes = {f"v{k}": self.axes_of(part, axes) for k, part in enumerate(plan.layout)}
        self.axes["g"] = self.axes_of(plan.target, axes)
        if s.target is not None and plan.whole is not None:
            self.axes["g"] = axes[s.target.name]

    def axes_of(self, place: Part | None, axes: Mapping[str, int]) -> int:
        """Return how many axes an operand or the target has."""
        if not isinstance(place, tuple):
            return 0
        array, index = (example(self.s.values[p], axes) for p in place[:2])
        return np.ndim(array[index])

    def are_vectors(self, *names: str) -> bool:
        """Return True for operands of one length with the target, and its cotangent."""
        return all(
            self.axes.get(name) == 1
            and (name == "g" or self.plan.kinds[int(name[1:])] in FULL_NAMES)
            for name in names
        )

    def array(self, p: int) -> str:
        """Return the name of an array, by the position of what is indexed."""
        return self.s.values[p].name

    def is_element(self, k: int) -> bool:
        """Return True for an operand that is an element."""
        return self.plan.kinds[k] is ELEMENT

    def operand(self, k: int, prefix: str = "") -> str:
        """Return what reads an operand, or its cotangent where the prefix is that of cotangents."""
        part = self.plan.layout[k]
        if not isinstance(part, tuple):
            return prefix + self.s.values[part].name
        if self.is_element(k):
            return self.slot(part[:2], prefix, True)
        if self.s.values[part[1]] == EVERYTHING and not isinstance(part, View):
            return f"{prefix.rstrip('_')}{whole_name(self.array(part[0]))}"
        slot = self.slot(part[:2], prefix, False)
        if isinstance(part, View) and self.axes[f"v{k}"] == 1:
            f = part.function
            flips = isinstance(f, int) and self.plan.core.functions[f] is np.flip
            return f"{slot}[::-1]" if flips else through(part, slot)
        return through(part, slot)

    def slot(self, place: tuple[int, int], prefix: str, is_element: bool) -> str:
        """Return the text of a place in an array, or in its shadow."""
        array = self.array(place[0])
        array = prefix + array if is_element else f"{prefix.rstrip('_')}{whole_name(array)}"
        return f"{array}[{index_text(self.s.values[place[1]])}]"

    def gather(self, part: tuple[Any, ...]) -> str:
        """Return the shadow from which an index array has taken elements, and the index."""
        array, index = self.array(part[0]), self.s.values[part[1]]
        return f"d{whole_name(array)}, {index_text(index)}"

    def target(self, prefix: str = "") -> str:
        """Return the text of what is written, or of its cotangent."""
        if self.s.target is not None:
            name = self.s.target.name
            is_number = self.plan.whole is None
            return f"{prefix}{name}" if is_number else f"{prefix.rstrip('_')}{whole_name(name)}"
        assert isinstance(self.plan.target, tuple)
        return self.slot(self.plan.target, prefix, self.plan.whole is None)

    def reads(self, k: int) -> tuple[Expr, ...]:
        """Return the expressions that an operand is read by."""
        part = self.plan.layout[k]
        if not isinstance(part, tuple):
            return (Name(self.s.values[part].name),)
        return self.read(part[:2], self.is_element(k))

    def read(self, place: tuple[int, int], is_element: bool) -> tuple[Expr, ...]:
        """Return the expressions that a place is read by."""
        array, index = self.array(place[0]), reads_of(self.s.values[place[1]])
        return (Load(array, index),) if is_element else (Name(whole_name(array)), *index)

    def target_read(self) -> tuple[Expr, ...]:
        """Return the expressions that the target is read by, if it is not a number."""
        target: Place | None = self.plan.target
        return self.read(target, self.plan.whole is None) if isinstance(target, tuple) else ()
