"""Pullbacks of single functions, by family, against handwritten adjoints in NumPy.

Each function is measured at two levels: the pullback that `vjp` returns, which hands out gradients
in memory of their own, and the pullback of its rule, which adds to the fdata of its CoDuals.
"""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.kernel import generator
from benchmarks.pullback_cases import PULLBACKS, Pullback
from mooncake_py import CoDual, NoFData, NoRData, rrule, vjp

__all__ = ["LIMITS", "SIZES", "PullbackTimes", "measure_pullbacks", "times"]

SIZES = (100, 1_000_000)
# Most that pullback / adjoint may be.
LIMITS = {100: 2.0, 1_000_000: 1.2}
FEWEST_ROUNDS = 5
MOST_ROUNDS = 200


@dataclass(frozen=True)
class PullbackTimes:
    """Median times of a function at a size, in seconds.

    Parameters
    ----------
    case : Pullback
    size : int
        Number of elements of each argument.
    vjp, adjoint : float
        Of the pullback of `vjp`, and of the adjoint.
    rule, added_adjoint : float
        Of the pullback of the rule, and of the adjoint whose results are added to arrays.
    """

    case: Pullback
    size: int
    vjp: float
    adjoint: float
    rule: float
    added_adjoint: float

    @property
    def ratios(self) -> tuple[float, float]:
        """The time of each pullback over that of its adjoint."""
        return self.vjp / self.adjoint, self.rule / self.added_adjoint


def measure_pullbacks(
    name_has: str, sizes: tuple[int, ...], budget: float
) -> Iterator[PullbackTimes]:
    """Yield the times of each function at each size; `name_has` may be of a family."""
    keep_freed_memory()
    for case in PULLBACKS:
        for size in sizes if name_has in f"pullback of {case.family}: {case.name}" else ():
            yield times(case, size, budget)


def keep_freed_memory() -> None:
    """Let the C library keep what is freed, where it can be told to (glibc).

    Else each large array is new memory of the operating system, which takes five to ten times as
    long to touch as to compute with, or by luck it is not: the ratio of two such times says
    nothing.  In memory that was used before, each pass over an array shows.
    """
    trim_threshold, most_mappings = -1, -4
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(trim_threshold, 2**31 - 1)
    mallopt(most_mappings, 0)


@dataclass
class _Clock:
    """Times of one candidate, by round."""

    taken: list[float] = field(default_factory=list)

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        start = time.perf_counter()
        result = function(*args)
        self.taken.append(time.perf_counter() - start)
        return result

    @property
    def median(self) -> float:
        return statistics.median(self.taken)


def times(case: Pullback, size: int, budget: float) -> PullbackTimes:
    """Measure a function at a size, for about `budget` seconds.

    In each round every candidate runs once, the pullbacks on forward passes of their own; the
    pullback and the adjoint take turns in coming first, as the second finds a warm cache.

    Raises
    ------
    ArithmeticError
        If a pullback and the adjoint differ.
    """
    random = generator()
    arguments = case.arguments(random, size)
    y = case.function(*[a.copy() for a in arguments])
    cotangent = random.standard_normal(np.shape(y))[()]
    if np.iscomplexobj(y):
        cotangent = cotangent + 1j * random.standard_normal(np.shape(y))
    clocks = [_Clock() for _ in range(4)]
    end = time.perf_counter() + budget
    for done in range(MOST_ROUNDS):
        if done >= FEWEST_ROUNDS and time.perf_counter() > end:
            break
        for measure, pair in ((_vjp_round, clocks[:2]), (_rule_round, clocks[2:])):
            found, expected = measure(case, arguments, cotangent, done % 2 == 0, *pair)
            if done == 0:
                _require_agreement(case, found, expected)
    return PullbackTimes(case, size, *[clock.median for clock in clocks])


def _vjp_round(
    case: Pullback, arguments: Any, cotangent: Any, first: bool, ours: _Clock, theirs: _Clock
) -> tuple[Any, Any]:
    _, pullback = vjp(case.function, *arguments)  # one that has not run
    found = ours.run(pullback, cotangent) if first else None
    expected = theirs.run(case.adjoint, cotangent, *arguments)
    return found if first else ours.run(pullback, cotangent), expected


def _rule_round(
    case: Pullback, arguments: Any, cotangent: Any, first: bool, ours: _Clock, theirs: _Clock
) -> tuple[Any, Any]:
    # Ones: memory that was never written to would be made at the first addition.
    found, expected = ([np.ones(a.shape) for a in arguments] for _ in range(2))
    given = [a.copy() for a in arguments]  # the rule runs on the arguments themselves
    coduals = [CoDual(a, dx) for a, dx in zip(given, found, strict=True)]
    out, pullback = rrule(CoDual(case.function, NoFData()), *coduals)
    if isinstance(out.primal, np.ndarray):
        if out.primal is given[0]:  # changed in place: what its fdata hold is the cotangent
            found[0][...] = expected[0][...] = 0
        out.fdata[...] += cotangent
        cotangent_of_value: Any = NoRData()
    else:
        cotangent_of_value = cotangent

    def add() -> None:
        for dx, g in zip(expected, case.adjoint(cotangent, *arguments), strict=True):
            dx += g

    if first:
        ours.run(pullback, cotangent_of_value)
    theirs.run(add)
    if not first:
        ours.run(pullback, cotangent_of_value)
    return found, expected


def _require_agreement(case: Pullback, found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        if not np.allclose(a, b, rtol=1e-7, atol=1e-9):
            raise ArithmeticError(f"{case.name}: pullback and adjoint differ")
