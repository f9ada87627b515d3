"""One call at which a rule is checked: function, arguments and the rule."""

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
from mooncake_py.testing.state import call_alone
from mooncake_py.testing.structure import Part

__all__ = ["Case", "Inputs", "Rule", "path", "repeats_cells"]

Rule = Callable[..., tuple[Any, Callable[..., Any]]]


@dataclass(frozen=True)
class Inputs:
    """The function and its positional and keyword arguments, which one call can change."""

    values: tuple[Any, ...]
    kwargs: dict[str, Any]

    def call(self) -> Any:
        """Call the function, without floating-point warnings, which differences may cause.

        What it changes besides its arguments is put back.  For a jitted function without a rule,
        call its Python function, which the engine derives.
        """
        f, *args = self.values
        with np.errstate(all="ignore"):
            if is_jitted(f) and registry.find(f) is None:
                return with_items(call_alone(f.py_func, *args, **self.kwargs))
            return call_alone(f, *args, **self.kwargs)

    def copy(self, convert: Convert | None = None, *, keep_views: bool = True) -> Inputs:
        """Copy all inputs jointly; see :func:`copy_jointly`."""
        pair = (self.values, self.kwargs)
        values, kwargs = copy_jointly(pair, convert, keep_views=keep_views)
        return Inputs(values, kwargs)

    def moved(self, step: Any) -> Inputs:
        """Return the inputs displaced by a tangent; a function with a rule is not displaced."""
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
        The inputs, of which each call gets a joint copy.
    rule : callable
        The rule, the same object for all runs.
    name : str
        Name of the function in messages.
    variant : str
        Description of the change of the arguments in messages, empty for none.
    seed : int
        Seed of the random tangents and cotangents, the same in every run.
    by_hand : bool
        Whether the rule is handwritten.  Its fdata then have separate memory for each element,
        because ``d[...] += g`` cannot sum contributions to one cell.
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
        """Return the inputs in the form that their fdata match."""
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
    """Return whether `value` is an array with several elements in one cell of memory."""
    return (
        issubclass(type(value), np.ndarray)
        and not value.flags.forc
        and len(np.unique(cells(value))) < value.size
    )


def path(index: int) -> str:
    """Return the name of an input in messages, the function being input 0."""
    return "the function" if index == 0 else f"args[{index - 1}]"
