"""`statistics`, fractions and decimals, and sums of `math`, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import decimal
import fractions
import math
import statistics

import numpy as np
import pytest

from mooncake_py import grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def smean(x):
    return statistics.mean(x)


@programs(X)
def smean_l(x):
    return statistics.mean([v * v for v in x])


@programs(X)
def sfmean(x):
    return statistics.fmean(x * x)


@programs(X)
def sfmean_w(x):
    return statistics.fmean(x * x, weights=[1, 2, 3])


@programs(X)
def sfmean_wa(x):
    return statistics.fmean([1.0, 2.0, 3.0], weights=x * x)


@programs(X)
def svar(x):
    return statistics.variance(list(x))


@programs(X)
def spvar(x):
    return statistics.pvariance(list(x))


@programs(X)
def sstd(x):
    return statistics.stdev(x)


@programs(X)
def spstd(x):
    return statistics.pstdev(list(x))


@programs(X)
def smed(x):
    return statistics.median(x) * 2


@programs(X)
def smed_even(x):
    return statistics.median([x[0], x[1], x[2], x[0] * 2])


@programs(X)
def smedlow(x):
    return statistics.median_low(x) * statistics.median_high(x)


@programs(X)
def shar(x):
    return statistics.harmonic_mean(x * x)


@programs(X)
def scorr(x):
    return statistics.correlation(x, [1.0, 2.0, 4.0])


@programs(X)
def scov(x):
    return statistics.covariance(list(x), [1.0, 2.0, 4.0])


@programs(X)
def slin(x):
    r = statistics.linear_regression([1.0, 2.0, 4.0], list(x))
    return r.slope * r.intercept


@programs(X)
def squant(x):
    return statistics.quantiles(list(x), n=3)[0]


@programs(X)
def snd(x):
    return statistics.NormalDist(x[0], 1.0 + x[2]).pdf(0.3)


@programs(X)
def snd_cdf(x):
    return statistics.NormalDist(x[0], 1.0 + x[2]).cdf(0.3)


@programs(X)
def mprod(x):
    return math.prod(v * v for v in x) + math.prod(x, start=x[0])


@programs(X)
def mfsum(x):
    return math.fsum(v * v for v in x)


@programs(X)
def mdist(x):
    return math.dist(x, x * x) + math.hypot(x[0], x[1], x[2]) + math.dist((x[0],), (x[1],))


@programs(X)
def frac2(x):
    return float(fractions.Fraction(1, 3) * x[0])


@programs(X)
def frac3(x):
    return x[0] * fractions.Fraction(1, 3) + fractions.Fraction(2, 3) / x[1]


@programs(X)
def deci_const(x):
    return float(decimal.Decimal("1.5") + 1) * x[0]


@programs(X)
def mean_mix(x):
    return (
        statistics.mean([x[0], 2, x[1] * 3.0, True])
        + statistics.mean(v * v for v in x)
        + float(statistics.mean([fractions.Fraction(1, 3), 2]))
    )


@programs(X)
def smode(x):
    return statistics.mode([1, 1, 2]) * x[0] + statistics.median_grouped([1.0, 2.0, 3.0]) * x[1]


@programs(X)
def statistics_of_distribution(x):
    made = statistics.NormalDist.from_samples([1.0, 2.0, 4.0])
    return made.pdf(x[0]) + (made * 2.0 + x[1]).mean + made.zscore(x[2])


@programs(X)
def distribution_of_samples(x):
    made = statistics.NormalDist.from_samples(v * v for v in x)
    return made.mean + made.stdev * x[0] + made.cdf(x[1])


@programs(X)
def distribution_of_array(x):
    return statistics.NormalDist.from_samples(x).variance


@pytest.mark.parametrize("samples", [[1.0], []])
def test_too_few_samples(samples) -> None:
    with pytest.raises(statistics.StatisticsError, match="at least two"):
        grad(lambda x: statistics.NormalDist.from_samples([v * x for v in samples]).mean)(1.0)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
