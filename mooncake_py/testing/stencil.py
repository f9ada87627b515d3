"""The derivative of a function of one number that may have a kink at zero, by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Disagreement", "Estimate", "Stencil"]

Vector = NDArray[Any]

STEPS = (1e-3, 1e-4, 1e-2, 1e-5)
"""Relative steps in the order in which they are tried."""

SMOOTH = 1e-3
"""How far the slopes to the two sides may differ where the function is smooth, relative."""

CERTAIN = 0.2
"""How far they may differ, relative to the error that is claimed.

At a kink a derivative between the two slopes is right, and off by at most half their difference.
"""


@dataclass(frozen=True)
class Estimate:
    """Slopes at zero from five points: from both sides together, and from each side alone."""

    step: float
    central: Vector
    right: Vector
    left: Vector


@dataclass(frozen=True)
class Disagreement:
    """A component of a derivative that differences refute, with the estimates, finest first."""

    index: int
    expected: float
    got: float
    estimates: tuple[Estimate, ...]

    def ladder(self) -> str:
        """Return a line for each step, for messages."""
        rows = [
            f"  step {e.step:.0e}  {e.central[self.index]: .12e}  "
            f"({e.right[self.index]: .6e} to the right, {e.left[self.index]: .6e} to the left)"
            for e in self.estimates
        ]
        return "\n".join(["differences:", *rows])


class Stencil:
    """Five points on a line through a point, for several step sizes.

    Parameters
    ----------
    at : callable
        ``at(t)`` returns the values at distance `t`, a vector of floats; None if there are none.
    size : float
        Steps are relative to it.
    """

    def __init__(self, at: Callable[[float], Vector | None], size: float) -> None:
        self._at = at
        self.size = size
        self._known: dict[float, Vector | None] = {}

    def at(self, t: float) -> Vector | None:
        """Return the values at a distance, computed once."""
        if t not in self._known:
            self._known[t] = self._at(t)
        return self._known[t]

    def refute(self, found: Vector, rtol: float, atol: float) -> Disagreement | None:
        """Return a component of a derivative that is wrong for certain, or None.

        It is wrong if no step confirms it, two steps agree on another value, and the slopes from
        both sides agree, so that the function has a derivative there.
        """
        confirmed = np.zeros(found.shape, bool)
        tried: list[float] = []
        for step in STEPS:
            central = self._central(step)
            if central is None:
                continue
            tried.append(step)
            confirmed |= np.abs(found - central) <= tolerance(found, central, rtol, atol)
            if confirmed.all():
                return None
        estimates = [e for step in sorted(tried) if (e := self._estimate(step)) is not None]
        return worst(found, confirmed, estimates, rtol, atol)

    def slope(self) -> Vector | None:
        """Return the slope at the finest step that has one."""
        found = (self._central(step) for step in sorted(STEPS))
        return next((slope for slope in found if slope is not None), None)

    def _central(self, step: float) -> Vector | None:
        """Return the slope by four points, of fourth order in the step."""
        h = step * self.size
        values = [value for k in (1, -1, 2, -2) if (value := self.at(k * h)) is not None]
        if len(values) < 4:
            return None
        return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h)

    def _estimate(self, step: float) -> Estimate | None:
        """Return the slope with those of the two sides, of second order in the step."""
        h = step * self.size
        here, central = self.at(0.0), self._central(step)
        if here is None or central is None:
            return None
        right, left = (
            k * (4 * (self._value(k * h) - here) - (self._value(2 * k * h) - here)) / (2 * h)
            for k in (1, -1)
        )
        return Estimate(step, central, right, left)

    def _value(self, t: float) -> Vector:
        value = self.at(t)
        assert value is not None
        return value


def tolerance(found: Vector, central: Vector, rtol: float, atol: float) -> float:
    """Return the tolerance of a derivative for an estimate."""
    sizes = np.abs(central[np.isfinite(central)])
    return rtol * float(sizes.max(initial=0.0)) + atol


def worst(
    found: Vector, confirmed: Any, estimates: list[Estimate], rtol: float, atol: float
) -> Disagreement | None:
    """Return the component that differs most from the agreement of two neighbouring steps."""
    for fine, coarse in pairwise(estimates):
        allowed = tolerance(found, fine.central, rtol, atol)
        error = np.abs(found - fine.central)
        error = np.where(np.isfinite(error), error, np.abs(fine.central) + allowed)
        slopes = np.maximum(np.abs(fine.right), np.abs(fine.left))
        bound = np.minimum(SMOOTH * slopes + allowed, CERTAIN * error)
        smooth = np.abs(fine.right - fine.left) <= bound
        settled = smooth & (np.abs(fine.central - coarse.central) <= allowed)
        wrong = settled & ~confirmed
        if wrong.any():
            index = int(np.argmax(np.where(wrong, error, -1.0)))
            expected, got = float(fine.central[index]), float(found[index])
            return Disagreement(index, expected, got, tuple(estimates))
    return None
