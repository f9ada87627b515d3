"""Directional derivatives of a function by central differences, over a ladder of steps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mooncake_py.tangents import difference, increment, randn_tangent, scale
from mooncake_py.tangents import zero_tangent as zero
from mooncake_py.testing.case import Inputs
from mooncake_py.testing.compare import largest_number
from mooncake_py.testing.cycle import split_tangent
from mooncake_py.testing.pairing import Pairing, holds_nothing

__all__ = ["STEPS", "Direction", "Estimate", "random_direction"]

STEPS = (1e-4, 1e-5, 1e-3, 1e-6, 1e-2, 1e-7, 1e-8)
"""Relative steps, in the order in which they are tried: those most often best come first."""

Tangents = tuple[Any, ...]


class Estimate:
    """A value of the derivative and the sum of the absolute values of its terms."""

    __slots__ = ("label", "magnitude", "value")

    def __init__(self, label: str, value: float, magnitude: float) -> None:
        self.label = label
        self.value = value
        self.magnitude = magnitude


class Direction:
    """A direction in the space of the inputs, and the differences of the results along it.

    Parameters
    ----------
    inputs : Inputs
        The point; it is copied for each evaluation.
    tangents : tuple
        One tangent for each input, that of the function first.
    size : float
        Size of the inputs along the direction; steps are relative to it.
    """

    def __init__(self, inputs: Inputs, tangents: Tangents, size: float) -> None:
        self.inputs = inputs
        self.tangents = tangents
        self.size = size
        self._differences: dict[float, tuple[Any, Tangents] | None] = {}
        self.steps = list(STEPS)

    def difference(self, step: float) -> tuple[Any, Tangents] | None:
        """Return ``(y+ - y-, (x+ - x-) after the call)``; None if the step leaves the domain."""
        if step not in self._differences:
            self._differences[step] = self._evaluate(step * self.size)
        return self._differences[step]

    def _evaluate(self, h: float) -> tuple[Any, Tangents] | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plus, minus = self._results(h), self._results(-h)
                dy, dxs = split_tangent(difference(plus, minus), 2)
            except Exception:
                return None  # outside the domain of the function: this step says nothing
        return dy, split_tangent(dxs, len(self.tangents))

    def _results(self, h: float) -> tuple[Any, Tangents]:
        moved = self.inputs.copy().moved(scale(h, self.tangents))
        y = moved.call()
        return y, moved.values

    def prefer(self, step: float) -> None:
        """Try `step` first in later calls."""
        self.steps.remove(step)
        self.steps.insert(0, step)

    def estimates(
        self, pair: Callable[[Any, Tangents], Pairing]
    ) -> Iterator[tuple[float, Estimate]]:
        """Yield estimates of ``pair(dy, dxs)`` per unit of the direction, with their steps.

        Each step gives one estimate.  Two steps with the ratio 10 also give a Richardson
        extrapolation, which cancels the leading error.
        """
        known: dict[int, Estimate] = {}
        for step in self.steps:
            results = self.difference(step)
            if results is None:
                continue
            product = pair(*results)
            width = 2 * step * self.size
            value, magnitude = product.value / width, product.magnitude / width
            if not math.isfinite(magnitude):
                continue
            exponent = round(math.log10(step))
            known[exponent] = Estimate(f"step {step:.0e}", value, magnitude)
            yield step, known[exponent]
            for coarse in (exponent + 1, exponent):
                if coarse in known and coarse - 1 in known:
                    yield step, _extrapolate(known[coarse], known[coarse - 1])

    def moves_output(self) -> bool:
        """Return whether the output itself changes along the direction at the preferred step."""
        results = self.difference(self.steps[0])
        if results is None:
            return False
        product = Pairing()
        product.add(results[0], results[0])
        return product.value > 0


def _extrapolate(coarse: Estimate, fine: Estimate) -> Estimate:
    """Combine central differences with steps h and h/10, whose errors have the ratio 100."""
    value = (100 * fine.value - coarse.value) / 99
    return Estimate(f"{coarse.label} and {fine.label}", value, fine.magnitude)


def random_direction(inputs: Inputs, moved: set[int], rng: Any) -> Direction | None:
    """Return a random direction that moves the inputs at some positions; None if none can move.

    Inputs that share memory with them move along.
    """
    values = inputs.values
    tangents = list(split_tangent(zero(values), len(values)))
    movable = [i for i in sorted(moved) if not holds_nothing(tangents[i])]
    if not movable:
        return None
    randoms = split_tangent(randn_tangent(rng, values), len(values))
    for i in movable:
        tangents[i] = increment(tangents[i], randoms[i])
    size = largest_number([("", values[i]) for i in movable]) or 1.0
    return Direction(inputs, tuple(tangents), size)
