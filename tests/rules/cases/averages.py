"""Cases for the functions of `statistics`."""

from __future__ import annotations

import statistics

from mooncake_py.rules import averages
from tests.rules.cases import Case

__all__ = ["cases"]

DATA = [1.5, -0.5, 2.25, 0.75]
POSITIVE = [1.5, 0.5, 2.25]


def cases() -> list[Case]:
    """Return all cases of this family."""
    found = [
        Case(statistics.mean, (DATA,)),
        Case(statistics.mean, ([2.5],), label="one"),
        Case(statistics.harmonic_mean, (POSITIVE,)),
        Case(statistics.harmonic_mean, (POSITIVE, [1.0, 0.5, 2.0]), label="weights"),
        Case(averages.mean_of_list, (DATA,)),
        Case(averages.harmonic_mean_of_list, (POSITIVE, [1.0, 0.5, 2.0])),
    ]
    for function in (
        statistics.variance, statistics.stdev, statistics.pvariance, statistics.pstdev,
    ):  # fmt: skip
        found += [Case(function, (DATA,)), Case(function, (DATA, 0.25), label="center")]
    moments = getattr(statistics, "_mean_stdev", None)  # since Python 3.11
    return found if moments is None else [*found, Case(moments, (DATA,))]
