"""Whether a function is smooth at a point, by differences of its values alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.testing.case import Case
from mooncake_py.testing.derivative_checks import promoted
from mooncake_py.testing.program import Program, same_type
from mooncake_py.testing.state import call_alone

__all__ = ["is_smooth"]

STEPS = (1e-3, 1e-4)
"""Relative steps, the coarse one first: a jump at a kink does not shrink with the step."""

PAIRS = 8
"""Pairs of directions, for which slopes must add up: along most lines a kink looks smooth."""

RTOL = 1e-3
"""How far slopes, and curvatures, may differ, relative to the largest of them."""

SHRINKS = 0.5
"""A jump that shrinks that much with the step is an artefact of differences."""

ROUNDING = 1e-13
"""Of values, relative to the largest; slopes divide it by the step, curvatures by its square."""

Numbers = NDArray[np.float64]


def is_smooth(case: Case, mutated: frozenset[int]) -> bool:
    """Return whether a function has two derivatives at the inputs of a case.

    That is: there are values all around; the slopes to the right and to the left exist and agree,
    and those along directions add up; and so do curvatures.

    Parameters
    ----------
    case : Case
    mutated : frozenset of int
        Positions of the arguments that the function changes.
    """
    program = Program(promoted(case.inputs) or case.inputs, mutated, case.rng(5))
    if not program.serves:
        return True
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            line = Lines(program)
            chosen = list(directions(program, case.rng(6)))
            coarse, fine = (line.differences(chosen, step) for step in STEPS)
        except Exception:
            return False  # outside of the domain
    return all(
        is_derivative(order, coarse[order], fine[order], line.noise(order)) for order in (1, 2)
    )


def is_derivative(order: int, coarse: Numbers, fine: Numbers, noise: float) -> bool:
    """Return whether differences to the right and left have a limit that is a derivative.

    Parameters
    ----------
    order : {1, 2}
        Slopes must be additive, curvatures obey the law of the parallelogram.
    coarse, fine : ndarray
        For the two steps: to the right and to the left, along four directions of each pair.
    noise : float
        How far rounding moves those of the fine step.
    """
    largest = [float(np.abs(found).max()) for found in (coarse, fine)]
    if largest[1] > largest[0] / SHRINKS + noise:
        return False  # as that of a root
    allowed = RTOL * largest[1] + noise

    def vanishes(defect: Callable[[Numbers], Numbers]) -> bool:
        before, now = np.abs(defect(coarse)).max(), np.abs(defect(fine)).max()
        return bool(now <= allowed or now <= SHRINKS * before)

    def sums(found: Numbers) -> Numbers:
        one, two, total, difference = np.moveaxis(found.reshape(2, PAIRS, 4), -1, 0)
        if order == 1:
            return np.stack([total - one - two, difference - one + two])
        return total + difference - 2 * (one + two)

    return vanishes(lambda found: found[0] - found[1]) and vanishes(sums)


def directions(program: Program, rng: np.random.Generator) -> Iterator[Numbers]:
    """Yield directions in fours: two, their sum and their difference; half of them sparse."""
    count = sum([np.size(leaf) for leaf in program.leaves])
    for k in range(PAIRS):
        one, two = rng.standard_normal((2, count))
        if k % 2:
            one[rng.random(count) < 0.5] = 0.0
            two[rng.random(count) < 0.5] = 0.0
        yield from (one, two, one + two, one - two)


class Lines:
    """The values of a program, as one number, on lines through its point."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.largest = 0.0
        self.here = self.at(np.zeros(sum([np.size(leaf) for leaf in program.leaves])))

    def at(self, step: Numbers) -> float:
        """Return the value at a distance; raise if there is none."""
        value = float(np.real(call_alone(self.program.fresh(), *self.moved(step))))
        if not np.isfinite(value):
            raise ArithmeticError("outside of the domain")
        self.largest = max(self.largest, abs(value))
        return value

    def moved(self, step: Numbers) -> list[Any]:
        """Return the arguments at a distance."""
        moved: list[Any] = []
        start = 0
        for leaf in self.program.leaves:
            part = step[start : start + np.size(leaf)].reshape(np.shape(leaf))
            start += np.size(leaf)
            moved.append(same_type(leaf, leaf + part))
        return moved

    def noise(self, order: int) -> float:
        """Return how far rounding moves slopes (1) or curvatures (2) at the fine step."""
        return 100 * ROUNDING * self.largest / (STEPS[1] * self.program.size) ** order

    def differences(self, chosen: list[Numbers], step: float) -> dict[int, Numbers]:
        """Return slopes (1) and curvatures (2), to the right and to the left of the point."""
        h = step * self.program.size
        found = np.array([[self.one_sided(d, s * h) for d in chosen] for s in (1, -1)])
        return {1: found[..., 0], 2: found[..., 1]}

    def one_sided(self, direction: Numbers, h: float) -> tuple[float, float]:
        """Return slope and curvature by three points on one side."""
        one = self.at(h * direction) - self.here
        two = self.at(2 * h * direction) - self.here
        return (4 * one - two) / (2 * h), (two - 2 * one) / h**2
