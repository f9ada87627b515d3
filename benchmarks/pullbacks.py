"""Pullbacks of single functions, by family, against adjoints written by hand in NumPy."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.kernel import generator
from mooncake_py import vjp

SIZES = (100, 1_000_000)
# Most that pullback / adjoint may be.
LIMITS = {100: 2.0, 1_000_000: 1.2}
Adjoint = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Pullback:
    """A function of arrays of one size.

    Parameters
    ----------
    family, name : str
    function : callable
    arguments : int
        Number of arguments.
    adjoint : callable
        From the cotangent of the output and the arguments to theirs, in memory of their own.
    """

    family: str
    name: str
    function: Callable[..., Any]
    arguments: int
    adjoint: Adjoint


PULLBACKS = (
    Pullback("elementwise", "exp", lambda x: np.exp(x), 1, lambda g, x: (g * np.exp(x),)),
    Pullback("elementwise", "x + y", lambda x, y: x + y, 2, lambda g, x, y: (g.copy(), g.copy())),
    Pullback("elementwise", "x * y", lambda x, y: x * y, 2, lambda g, x, y: (g * y, g * x)),
    Pullback("reductions", "sum", lambda x: np.sum(x), 1, lambda g, x: (np.full(x.shape, g),)),
    Pullback("reductions", "max", lambda x: np.max(x), 1,
             lambda g, x: (np.where(x == x.max(), g, 0.0),)),
    Pullback("reductions", "var", lambda x: np.var(x), 1,
             lambda g, x: ((x - x.mean()) * (2 * g / x.size),)),
    Pullback("cumulative", "cumsum", lambda x: np.cumsum(x), 1,
             lambda g, x: (np.cumsum(g[::-1])[::-1].copy(),)),
    Pullback("joining", "concatenate", lambda x, y: np.concatenate([x, y]), 2,
             lambda g, x, y: (g[: x.size].copy(), g[x.size :].copy())),
    Pullback("contraction", "x @ y", lambda x, y: x @ y, 2, lambda g, x, y: (g * y, g * x)),
)


def measure_pullbacks(
    name_has: str, sizes: tuple[int, ...], budget: float
) -> Iterator[tuple[Pullback, int, float, float]]:
    """Yield each function, the size, and the median seconds of pullback and adjoint."""
    for case in PULLBACKS:
        for size in sizes if name_has in case.name else ():
            yield (case, size, *times(case, size, budget))


def times(case: Pullback, size: int, budget: float) -> tuple[float, float]:
    """Return the median seconds of the pullback and of the adjoint, which must agree."""
    random = generator()
    arguments = [random.standard_normal(size) for _ in range(case.arguments)]
    cotangent = random.standard_normal(np.shape(case.function(*arguments)))[()]
    ours: list[float] = []
    theirs: list[float] = []
    end = time.perf_counter() + budget
    while len(ours) < 5 or (len(ours) < 200 and time.perf_counter() < end):
        _, pullback = vjp(case.function, *arguments)  # one that has not run
        start = time.perf_counter()
        found = pullback(cotangent)
        between = time.perf_counter()
        expected = case.adjoint(cotangent, *arguments)
        ours.append(between - start)
        theirs.append(time.perf_counter() - between)
        if len(ours) == 1:
            for a, b in zip(found, expected, strict=True):
                if not np.allclose(a, b, rtol=1e-10, atol=1e-12):
                    raise ArithmeticError(f"{case.name}: pullback and adjoint differ")
    return statistics.median(ours), statistics.median(theirs)
