"""Weak references, and containers of them, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import weakref

import numpy as np
import pytest

from tests.support.gradients import Program, Programs
from tests.support.subjects import Box

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def weakr(x):
    p = Box(x[0], x[1])
    r = weakref.ref(p)
    return r().a * r().b


@programs(X)
def weakval(x):
    p = Box(x[0], x[1])
    d = weakref.WeakValueDictionary()
    d["k"] = p
    return d["k"].a * 2


@programs(X)
def weakkey(x):
    p = Box(x[0], x[1])
    d = weakref.WeakKeyDictionary()
    d[p] = x[2] * 2
    return d[p] * p.a


@programs(X)
def weakmeth(x):
    p = Box(x[0], x[1])
    m = weakref.WeakMethod(p.area)
    return m()(x[2])


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
