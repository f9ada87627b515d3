"""Derivatives by differences, with reasons to distrust them: kinks, noise and blow-up."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs.program import Bases, Program, defined

__all__ = ["Untestable", "active_bases", "difference", "largest_number", "moved", "primal",
           "two_sided"]  # fmt: skip

STEPS = (1e-3, 3e-4)
WEIGHTS = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # sixth order
LARGEST = 1e5


class Untestable(Exception):
    """The program has no derivative here that differences could find."""


def primal(program: Program, f: Callable[..., Any], bases: Bases) -> float:
    """Return the value of the function at copies of the bases."""
    return f(*program.build(copy.deepcopy(bases)))


def active_bases(program: Program) -> list[str]:
    """Return the names of the bases that the differentiated arguments are made from."""
    chosen = [compile(program.arguments[i], "<argument>", "eval") for i in program.argnums]
    names = {name for code in chosen for name in code.co_names}
    return [name for name in program.bases if name in names]


def moved(bases: Bases, direction: Bases, t: float) -> Bases:
    """Return the bases moved by `t` along a direction, in double precision."""
    return {n: _moved(v, t * direction[n]) if n in direction else v for n, v in bases.items()}


def _moved(value: Any, step: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value + step
    moved = value.astype(np.result_type(value, np.float64))  # in the order of the axes in memory
    moved += step
    return moved


def difference(program: Program, direction: Bases) -> tuple[float, float]:
    """Return the derivative along a direction, and a bound of its error.

    Raises
    ------
    Untestable
        If the function fails nearby, is not finite or too steep, or has a kink.
    """
    source = program.source.replace("np.empty", "np.zeros")
    with defined(source, exact=True) as f, np.errstate(all="ignore"):

        def along(t: float) -> float:
            try:
                value = float(primal(program, f, moved(program.bases, direction, t)))
            except Exception as error:
                raise Untestable(f"the primal raised {error!r}") from error
            if not abs(value) < LARGEST:
                raise Untestable("the primal is not finite, or large")
            return value

        return two_sided(along)


def two_sided(along: Callable[[float], float]) -> tuple[float, float]:
    """Return the derivative of a function at zero, and a bound of its error."""
    coarse, fine = (sum(w * (along(k * h) - along(-k * h)) for k, w in WEIGHTS) / h for h in STEPS)
    scale = max(1.0, abs(fine))
    if not abs(fine) < LARGEST:
        raise Untestable("the derivative is large")
    error = abs(coarse - fine)
    if error > 1e-6 * scale:
        raise Untestable("differences with two steps disagree")
    h = 1e-5
    middle = along(0.0)
    right = (-3 * middle + 4 * along(h) - along(2 * h)) / (2 * h)
    left = (3 * middle - 4 * along(-h) + along(-2 * h)) / (2 * h)
    if abs(right - left) > 1e-5 * scale or abs(right - fine) > 1e-4 * scale:
        raise Untestable("the function has a kink")
    return fine, error


def largest_number(program: Program) -> float:
    """Return the largest number that a variable of the program holds at any time."""
    largest = 0.0

    def look(frame: Any, event: str, argument: Any) -> Any:
        nonlocal largest
        if frame.f_code.co_filename.startswith("<program"):
            numbers = (float, np.number, np.ndarray)
            values = [v for v in frame.f_locals.values() if isinstance(v, numbers)]
            for value in [getattr(v, "primal", v) for v in values]:  # in an inner derivative
                if np.size(value) and np.asarray(value).dtype.kind in "fc":
                    largest = max(largest, float(np.max(np.abs(value))))
        return look

    previous = sys.gettrace()
    with defined(program.source) as f, np.errstate(all="ignore"):
        sys.settrace(look)
        try:
            primal(program, f, program.bases)
        finally:
            sys.settrace(previous)
    return largest
