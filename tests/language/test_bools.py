"""Bools of Python and NumPy stay what they are: as flags, as masks, as objects, as numbers."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.0, 2.0, -0.5])


@programs(X)
def a_flag_kept_by_and(x):
    ok = True
    for v in x[:2]:
        ok &= v > 0
    return -x[0] if ~ok else x[0]


@programs(X)
def flags_kept_by_or_and_xor(x):
    negative, odd = False, False
    for v in x:
        negative |= v < 0
        odd ^= v < 0
    return np.sum(x[negative & odd] * x) + (x[0] if negative is np.True_ else x[1])


@programs(X)
def an_index_of_two_conditions(x):
    return np.sum(x[(len(x) > 1) & (len(x) < 5)])


@programs(X)
def an_index_of_no_condition(x):
    return np.sum(x[(len(x) > 1) ^ (len(x) < 5)]) + x[0]


@programs(X)
def identity(x):
    both = (1 < 2) & (2 < 3)
    return x[0] if both is True else x[1]


@programs(X)
def types(x):
    found = [(1 < 2) | (x[0] > 0), (1 < 2) ^ False, True + True, np.isfinite(x[0]) + True]
    names = "".join(type(v).__name__[0] for v in found)
    return x[0] if names == "bbib" else x[1]


@programs(X)
def numbers(x):
    one = True
    return one * x[0] + x[1] / one + x[2] ** one - one + np.sum(one * x)


@programs(X)
def sums_of_numpy_bools(x):
    return (np.isfinite(x[0]) + True) * x[0]


class Count(enum.IntEnum):
    TWO = 2
    THREE = 3


class Way(enum.IntFlag):
    LEFT = 1
    RIGHT = 2


@programs(X)
def members_of_enumerations(x):
    both = Way.LEFT | Way.RIGHT
    total = Count.TWO * x[0] + x * Count.THREE + (Count.TWO + Count.THREE) * x[1]
    return np.sum(total) * (2.0 if both is Way(3) and Way.LEFT in both else 1.0)


@programs(X, rtol=1e-4)
def types_beside_members_of_enumerations(x):
    low = x.astype(np.float32)
    parts = [
        low * Count.TWO, low[0] * Count.TWO, Count.TWO - low, (x > 0) << Count.TWO,
        (x > 0) % True << Way.LEFT, Count.TWO + np.int8(1), x[0] * Count.TWO, Count.TWO / x,
    ]  # fmt: skip
    names = " ".join(np.asarray(part).dtype.name for part in parts)
    low *= Count.TWO
    expected = "float64 float64 float64 int64 int64 int64 float64 float64"
    return (x[0] if names == expected else x[1]) * np.sum(low * x)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.parametrize("program", programs, ids=str)
def test_forward(program: Program) -> None:
    x: Any = program.args[0]
    value, _ = jvp(program.f, (x,), (np.ones(3),))
    assert value == program.f(x)
