"""Times of constructs, differentiated and plain."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.constructs.construct import ROUNDS, Construct, written
from benchmarks.timing import interleaved_medians
from mooncake_py import jvp, value_and_grad

__all__ = ["ConstructTimes", "call_time", "measure"]


@dataclass(frozen=True)
class ConstructTimes:
    """What one construct costs, a microsecond being the unit of all times.

    Parameters
    ----------
    construct : Construct
    plain, gradient, jvp : float
        The time of one iteration, the loop that is subtracted taken off; for the derivatives, what
        they add to the plain run.
    loop : float
        The gradient of the whole loop over the plain loop.
    problem : str
        What went wrong, empty if nothing did.
    """

    construct: Construct
    plain: float
    gradient: float
    jvp: float
    loop: float
    problem: str = ""


def arguments() -> tuple[Any, ...]:
    """Return the arguments of a loop."""
    numbers = np.random.default_rng(0)
    a, b = numbers.random(3) + 0.5, np.sort(numbers.random(1000))
    m = numbers.random((3, 3))
    return 1.1, a, b, m @ m.T + np.eye(3), [0.001 * i for i in range(ROUNDS)]


def forward(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivative of a loop along one direction, as a function of its arguments."""
    tangents = (1.0, *map(np.ones_like, arguments()[1:4]), [0.0] * ROUNDS)
    return lambda *args: jvp(f, args, tangents)


def measure(constructs: Iterable[Construct], budget: float) -> Iterator[ConstructTimes]:
    """Measure constructs, each for about `budget` seconds."""
    for loops in written(list(constructs)):
        candidates: dict[str, Callable[..., Any]] = {}
        for name, f in ("measured", loops.measured), ("subtracted", loops.subtracted):
            candidates |= {
                name: f,
                f"{name} gradient": value_and_grad(f, argnums=(0, 1, 2, 3)),
                f"{name} jvp": forward(f),
            }
        args = arguments()
        try:
            for candidate in candidates.values():
                candidate(*copy.deepcopy(args))
        except Exception as error:
            line = (str(error).splitlines() or [""])[0]
            nan = float("nan")
            problem = f"{type(error).__name__}: {line}"
            yield ConstructTimes(loops.construct, nan, nan, nan, nan, problem)
            continue
        times = interleaved_medians(candidates, args, budget)
        each = {
            mode: (times[f"measured{mode}"] - times[f"subtracted{mode}"]) / ROUNDS * 1e6
            for mode in ("", " gradient", " jvp")
        }
        yield ConstructTimes(
            loops.construct,
            each[""],
            each[" gradient"] - each[""],
            each[" jvp"] - each[""],
            times["measured gradient"] / times["measured"],
        )


def call_time(budget: float) -> float:
    """Return the time of a plain call of an empty function, in microseconds."""
    call = Construct("call", "g1(s)")
    (loops,) = written([call])
    candidates = {"measured": loops.measured, "subtracted": loops.subtracted}
    times = interleaved_medians(candidates, arguments(), budget)
    return (times["measured"] - times["subtracted"]) / ROUNDS * 1e6
