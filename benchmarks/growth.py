"""How the time of a gradient grows with the size of the arrays and with the number of steps.

    python -m benchmarks.growth docs/explanation/growth.svg

Prints a table and draws it; the drawing needs matplotlib.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kernel import generator
from benchmarks.kernels.recurrences import recurrence
from benchmarks.kernels.stencils import jacobi_2d
from mooncake_py import value_and_grad

LEAST_RUNS = 3


@dataclass(frozen=True)
class Series:
    """One function at growing numbers.

    Parameters
    ----------
    title, axis : str
        What is run, and what grows.
    function : callable
    make_arguments : callable
        From the number to the arguments.
    numbers : tuple of int
    """

    title: str
    axis: str
    function: Callable[..., Any]
    make_arguments: Callable[[int], tuple[Any, ...]]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Point:
    """The least process time, in seconds, of the function and of its gradient."""

    number: int
    primal: float
    gradient: float


def _square(side: int, steps: int) -> tuple[Any, ...]:
    return generator().standard_normal((side, side)), steps


def _line(length: int) -> tuple[Any, ...]:
    random = generator()
    return random.standard_normal(length), 0.9 * random.random(length)


SERIES = (
    Series(
        "jacobi_2d, 20 steps on n by n", "n", jacobi_2d, lambda n: _square(n, 20),
        (10, 20, 50, 100, 200, 500, 1000, 2000),
    ),
    Series(
        "jacobi_2d, steps on 100 by 100", "steps", jacobi_2d, lambda n: _square(100, n),
        (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000),
    ),
    Series(
        "recurrence by elements, n elements", "n", recurrence, _line,
        (10, 100, 1000, 10_000, 100_000, 1_000_000),
    ),
)  # fmt: skip


def measure(series: Series, number: int, budget: float) -> Point:
    """Time function and gradient in turns, for about `budget` seconds."""
    arguments = series.make_arguments(number)
    both = series.function, value_and_grad(series.function)
    least = [math.inf, math.inf]
    end = time.perf_counter() + budget
    runs = 0
    while runs < LEAST_RUNS or time.perf_counter() < end:
        for i, f in enumerate(both):
            fresh = copy.deepcopy(arguments)
            start = time.process_time()
            f(*fresh)
            least[i] = min(least[i], time.process_time() - start)
        runs += 1
    return Point(number, *least)


def exponent(points: list[Point], of: str) -> float:
    """Return the slope at the end of a log-log plot: 1 for time in proportion to the number."""
    a, b = points[-2:]
    return math.log(getattr(b, of) / getattr(a, of)) / math.log(b.number / a.number)


def report(series: Series, points: list[Point]) -> None:
    """Print the times of one series."""
    print(series.title)
    for p in points:
        print(
            f"{p.number:>10} {1e3 * p.primal:12.3f} ms {1e3 * p.gradient:12.3f} ms "
            f"{p.gradient / p.primal:8.1f}"
        )
    print(f"  exponent {exponent(points, 'primal'):10.2f} {exponent(points, 'gradient'):15.2f}")


def draw(found: list[tuple[Series, list[Point]]], file: Path) -> None:
    """Draw the series side by side, log-log."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(4 * len(found), 3.4))
    for axis, (series, points) in zip(axes, found, strict=True):
        numbers = [p.number for p in points]
        axis.loglog(numbers, [p.gradient for p in points], "o-", label="value and gradient")
        axis.loglog(numbers, [p.primal for p in points], "s--", label="primal")
        axis.set_title(series.title, fontsize=9)
        axis.set_xlabel(series.axis)
        axis.grid(alpha=0.3)
        axis.minorticks_off()  # hundreds of lines
    axes[0].set_ylabel("seconds")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="of the drawing, .svg")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each point")
    options = parser.parse_args()
    found = []
    for series in SERIES:
        points = [measure(series, number, options.budget) for number in series.numbers]
        found.append((series, points))
        report(*found[-1])
    if options.file is not None:
        draw(found, options.file)


if __name__ == "__main__":
    main()
