"""One call of a function whose rule is checked: function, arguments and the rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mooncake_py.application.copying import Convert, copy_jointly
from mooncake_py.jitted import is_jitted, with_items
from mooncake_py.rules import registry
from mooncake_py.tangents import add_to_primal
from mooncake_py.tangents.memory import cells
from mooncake_py.testing.structure import Part

__all__ = ["Case", "Inputs", "Rule", "path", "repeats_cells"]

Rule = Callable[..., tuple[Any, Callable[..., Any]]]


@dataclass(frozen=True)
class Inputs:
    """The function, its positional and its keyword arguments: what one call can change."""

    values: tuple[Any, ...]
    kwargs: dict[str, Any]

    def call(self) -> Any:
        """Call the function; floating-point warnings are silent, as differences provoke them.

        Of a jitted function that has no rule it is the Python, which is what is derived.
        """
        f, *args = self.values
        with np.errstate(all="ignore"):
            if is_jitted(f) and registry.find(f) is None:
                return with_items(f.py_func(*args, **self.kwargs))
            return f(*args, **self.kwargs)

    def copy(self, convert: Convert | None = None, *, keep_views: bool = True) -> Inputs:
        """Copy all of it jointly; see :func:`copy_jointly`."""
        pair = (self.values, self.kwargs)
        values, kwargs = copy_jointly(pair, convert, keep_views=keep_views)
        return Inputs(values, kwargs)

    def moved(self, step: Any) -> Inputs:
        """Return the inputs displaced by a tangent; a function with a rule stays the same."""
        function, *arguments = add_to_primal(self.values, step)
        if registry.find(self.values[0]) is not None:
            function = self.values[0]
        return Inputs((function, *arguments), self.kwargs)

    def roots(self) -> list[Part]:
        """Return each input with its name in messages."""
        named = [(f"kwargs[{name!r}]", value) for name, value in self.kwargs.items()]
        return [*((path(i), value) for i, value in enumerate(self.values)), *named]


@dataclass(frozen=True)
class Case:
    """A rule and the inputs at which it is checked.

    Attributes
    ----------
    inputs : Inputs
        Never passed to the rule or the function: each call gets a joint copy.
    rule : callable
        The rule, one object for all runs.
    name : str
        How messages name the function.
    variant : str
        How messages name the change made to the arguments, empty for none.
    seed : int
        For the random tangents and cotangents; the same in every run.
    by_hand : bool
        Whether the rule is written by hand.  Such a rule gets fdata in which each element has
        memory of its own, as ``d[...] += g`` cannot add up what falls into one cell.
    """

    inputs: Inputs
    rule: Rule
    name: str
    seed: int
    by_hand: bool = True
    variant: str = ""

    @property
    def title(self) -> str:
        """Return the function and the variant, for messages."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    def differentiated(self, inputs: Inputs) -> Inputs:
        """Return the inputs as their fdata see them."""
        if not self.by_hand or not any(repeats_cells(value) for value in inputs.values):
            return inputs
        values = (value.copy() if repeats_cells(value) else value for value in inputs.values)
        return Inputs(tuple(values), inputs.kwargs)

    def rng(self, stream: int) -> np.random.Generator:
        """Return a new generator; different streams are independent."""
        return np.random.default_rng([self.seed, stream])

    def with_inputs(self, inputs: Inputs, variant: str = "") -> Case:
        """Return the same check at other inputs."""
        return replace(self, inputs=inputs, variant=variant or self.variant)


def repeats_cells(value: Any) -> bool:
    """Return whether `value` is an array of which several elements are one cell of memory."""
    return (
        isinstance(value, np.ndarray)
        and not value.flags.forc
        and len(np.unique(cells(value))) < value.size
    )


def path(index: int) -> str:
    """Return the name of an input in messages, the function being input 0."""
    return "the function" if index == 0 else f"args[{index - 1}]"
