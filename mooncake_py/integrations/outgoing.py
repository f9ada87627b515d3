"""Functions of flat lists of arrays, with the derivatives that another framework asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.structure import Nesting, numbered, replacing
from mooncake_py.interface import jvp, vjp
from mooncake_py.words import with_article

__all__ = ["FlatCall", "FlatDerivatives", "refused_output"]


class FlatCall:
    """A call of a function of nested arguments, as a function of those leaves that are arrays.

    Parameters
    ----------
    function : callable
    args, kwargs : tuple, dict
        The arguments of the call.
    is_array : callable
        Whether a leaf is an array of the framework.

    Attributes
    ----------
    leaves : list
        All leaves of the arguments.
    given : list of int
        The positions of the arrays among them.
    nesting : Nesting
        After a run it has the nesting of the outputs too.
    """

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, is_array: Callable[[Any], bool]
    ) -> None:
        self.leaves: list[Any] = []
        self.nesting = Nesting(numbered((args, kwargs), self.leaves))
        self.given = [i for i, leaf in enumerate(self.leaves) if is_array(leaf)]
        self.called = lambda args, kwargs: function(*args, **kwargs)

    @property
    def arrays(self) -> list[Any]:
        """The arrays of the call."""
        return [self.leaves[i] for i in self.given]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Call the function with other arrays, and return the leaves of its outputs."""
        leaves = replacing(map(own, self.leaves), self.given, arrays)
        return tuple(self.nesting.called(self.called, leaves))


def own(leaf: Any) -> Any:
    """Return a constant that the function may change."""
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def refused_output(way: str, value: Any) -> MissingRuleError:
    """Return the error for an output in which numbers would lose their derivatives."""
    return MissingRuleError(
        f"a function of {way} returned {with_article(type(value).__name__)}",
        why="outputs are arrays, numbers, and dicts, tuples and lists of these",
        fix="return these",
    )


class FlatDerivatives:
    """A function of arrays that returns a tuple, and the functions that its derivatives are.

    These take and return arrays too, and have derivatives in their turn: so a framework that
    differentiates a derivative again needs nothing else.

    Parameters
    ----------
    function : callable
        ``function(*arrays)`` returns a tuple; it may change the arrays.
    options : mapping
        For `vjp` and `jvp`, for example ``{"compile": True}``.
    """

    def __init__(self, function: Callable[..., tuple[Any, ...]], options: Mapping[str, Any]):
        self.function = function
        self.options = options

    def of(self, inputs: Sequence[int], outputs: Sequence[int], arrays: Sequence[Any]) -> Any:
        """Return the function of some inputs with some outputs, the other inputs held."""

        def of_some(*some: Any) -> tuple[Any, ...]:
            found = self.function(*replacing(arrays, inputs, some))
            return tuple([found[i] for i in outputs])

        return of_some

    def pullback(self, inputs: Sequence[int], outputs: Sequence[int]) -> FlatDerivatives:
        """Return ``(*cotangents, *arrays) -> gradients``, of some inputs by some outputs."""

        def pulled(*given: Any) -> tuple[Any, ...]:
            cotangents, arrays = given[: len(outputs)], given[len(outputs) :]
            of_some = self.of(inputs, outputs, arrays)
            _, pull = vjp(of_some, *[arrays[i] for i in inputs], **self.options)
            return pull(tuple(cotangents))

        return FlatDerivatives(pulled, self.options)

    def pushforward(self, inputs: Sequence[int], outputs: Sequence[int]) -> FlatDerivatives:
        """Return ``(*tangents, *arrays) -> tangents of outputs``, along some inputs."""

        def pushed(*given: Any) -> tuple[Any, ...]:
            tangents, arrays = given[: len(inputs)], given[len(inputs) :]
            of_some = self.of(inputs, outputs, arrays)
            return jvp(of_some, tuple([arrays[i] for i in inputs]), tangents, **self.options)[1]

        return FlatDerivatives(pushed, self.options)
