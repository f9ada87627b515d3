"""Numbers of other kinds: fractions, durations, integers, pieces of floats."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import statistics

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out


@way_out
def decimal_of_a_float(x):
    return float(decimal.Decimal(float(x[0] * x[1])))


@way_out
def decimal_from_float(x):
    return float(decimal.Decimal.from_float(float(x[0] * x[1])))


@way_out
def fraction_of_a_float(x):
    return float(fractions.Fraction(float(x[0] * x[1])))


@way_out
def fraction_from_float(x):
    return float(fractions.Fraction.from_float(float(x[0] * x[1])))


@way_out
def fraction_times_float(x):
    return fractions.Fraction(1, 2) * float(x[0] * x[1])


@way_out
def integer_ratio(x):
    p, q = (x[0] * x[1]).as_integer_ratio()
    return p / q


@way_out
def integer_ratio_of_float(x):
    p, q = float(x[0] * x[1]).as_integer_ratio()
    return p / q


@way_out
def statistics_mean(x):
    return statistics.mean([float(v * v) for v in x])


@way_out
def statistics_fmean(x):
    return statistics.fmean([float(v * v) for v in x])


@way_out
def timedelta(x):
    return datetime.timedelta(seconds=float(x[0] * x[1])) / datetime.timedelta(seconds=1)


@way_out
def timestamp(x):
    return datetime.datetime.fromtimestamp(1e6 + float(x[0])).timestamp()


@way_out
def timedelta64(x):
    return (x * 1e6).astype("m8[ns]").astype(float).sum() * 1e-6


@way_out
def number_assigned_to_timedelta64(x):
    a = np.zeros(2, "m8[s]")
    a[:] = x * 3.0
    return a.astype(float).sum()


@way_out
def timedelta64_times_array(x):
    return (np.array([100, 100], "m8[s]") * x).astype(float).sum()


@way_out
def datetime64(x):
    return (x * 1e3).astype("M8[s]").astype(float).sum()


@way_out
def int_of_a_float(x):
    return int(x[0] * 10.5) * x[1] ** 2


@way_out
def ints_of_an_array(x):
    return np.sum((x * 10.5).astype(int) * x * x)


@way_out
def bools_of_an_array(x):
    return np.sum((x > 0).astype(float) * x * x) + np.sum(x.astype(bool) * x)


@way_out
def indices_of_an_array(x):
    return x[np.argmax(x)] ** 2 + x[int(np.abs(x[0]))] ** 2


@way_out
def round_of_a_float(x):
    return round(float(x[0] * 10.5)) * x[1] ** 2


@way_out
def hash_of_a_float(x):
    return (hash(float(x[0])) % 2 + hash(x[1]) % 2) * 0.0 + x[0] ** 2


@way_out
def key_of_a_dict(x):
    return {float(x[0] * x[1]): 1.0}.popitem()[0] * 2.0


@way_out
def member_of_a_set(x):
    return {float(x[0] * x[1])}.pop() * 2.0


@way_out
def frexp(x):
    m, e = math.frexp(x[0] * x[1])
    return math.ldexp(m, e) ** 2


@way_out
def frexp_of_numpy(x):
    m, e = np.frexp(x * x)
    return np.sum(np.ldexp(m, e))


@way_out
def modf(x):
    fraction, whole = math.modf(x[0] * x[1])
    return fraction**2 + whole


@way_out
def modf_of_numpy(x):
    fraction, whole = np.modf(x * x)
    return np.sum(fraction**2 + whole)


@way_out
def nextafter(x):
    return np.nextafter(x[0] * x[1], 10.0) ** 2


@way_out
def nextafter_of_math(x):
    return math.nextafter(x[0] * x[1], 10.0) ** 2


@way_out
def copysign(x):
    return math.copysign(x[0] * x[1], x[1]) + np.sum(np.copysign(x * x, x))


@way_out
def spacing(x):
    return np.spacing(x[0]) + x[1] ** 2


@way_out
def fsum(x):
    return math.fsum([v * v for v in x])


@way_out
def divmod_of_floats(x):
    q, r = divmod(float(x[0] * x[1]), 0.25)
    return q + r**2


@way_out
def number_in_timedelta_array(x):
    return np.array([x[0]], "m8[s]").astype(float)[0]


@way_out
def fractions_of_an_element(x):
    return float(fractions.Fraction(x[0].item()) + fractions.Fraction(x[1].item()))


@way_out
def complex_pair(x):
    return abs(complex(x[0], x[1])) ** 2 + complex(imag=x[0]).imag


@way_out
def partials_of_lists(x):
    return np.sum(np.arctan2([1.0, 2.0], x)) + np.sum(np.float_power(np.abs(x), [1.0, 2.0]))


@way_out
def exponents_of_ldexp(x):
    return np.ldexp(x[0] * x[1], int(3.5 * x[0])) + math.ldexp(x[1], int(x[0]))
