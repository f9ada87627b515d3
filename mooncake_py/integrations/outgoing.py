"""Functions of flat lists of arrays, with the derivatives that another framework asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mooncake_py.integrations.structure import replacing
from mooncake_py.interface import jvp, vjp

__all__ = ["FlatDerivatives"]


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
