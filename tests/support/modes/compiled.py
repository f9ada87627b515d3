"""A derivative whose functions, or their loops, are compiled; the text runs as Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native import effort, form
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.modes.forward.whole import WholeTangent
from mooncake_py.modes.reverse.whole import WholeGradient
from mooncake_py.runtime.compilation import using
from tests.support.interpreted import INTERPRETED
from tests.support.modes.problem import Problem, Skipped, require_close, require_value
from tests.support.modes.snapshots import arrays_of

MACHINE = (
    "float division by zero", "math domain error", "math range error", "division by zero",
    "0.0 cannot be raised to a negative power", "zero to a negative power", "float modulo",
)  # fmt: skip
"""Errors of plain Python in the place of infinities and NaN."""
MOST = 1000  # elements of arguments: what is compiled runs element by element here


def compiled(
    problem: Problem, expected: Any, rng: np.random.Generator, counts: Counter[str]
) -> None:
    """Compare the gradient, and the derivative along a random direction, with the gradient."""
    if sum(a.size for arg in problem.args for a in arrays_of(arg)) > MOST:
        raise Skipped("arguments are large")
    value, g = expected
    tangents = problem.directions(rng)
    along, size = problem.paired(tangents, g)
    rtol = problem.rtol()
    with compiling(counts):
        try:
            y, h = problem.value_and_grad()
            z, slope = problem.slope(tangents)
        except (ArithmeticError, ValueError) as error:
            if str(error) in MACHINE:
                raise Skipped("plain Python raises where the machine computes on") from None
            raise
        require_value(y, value, rtol, "of compiled functions")
        require_close(problem.paired(tangents, h)[0], along, size, rtol, "the compiled gradient")
        y = z
        require_value(y, value, rtol, "of compiled functions in forward mode")
        require_close(slope, along, size, rtol, "the compiled derivative along a direction")


@contextmanager
def compiling(counts: Counter[str]) -> Iterator[None]:
    """Let functions be compiled within a block, and count the regions that run."""
    attempt, run, forward = RegionSite.attempt, WholeGradient.run, WholeTangent.run

    def counted(self: Any, *args: Any) -> Any:
        y = attempt(self, *args)
        counts["regions that ran compiled"] += type(y) is dict
        return y

    def pushed(*args: Any) -> Any:
        y = forward(*args)
        counts["regions that ran compiled"] += y is not None
        return y

    def whole(self: Any, *args: Any) -> Any:
        y = run(self, *args)
        counts["regions that ran compiled"] += y is not None
        return y

    with pytest.MonkeyPatch.context() as patch, using(True):
        patch.setattr(form, "COMPILER", INTERPRETED)
        patch.setattr(effort, "LEAST", 1)
        patch.setattr(RegionSite, "attempt", counted)
        patch.setattr(WholeGradient, "run", whole)
        patch.setattr(WholeTangent, "run", pushed)
        yield
