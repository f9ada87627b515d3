"""Weak references, and containers of them, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import weakref

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad
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


def captured(x):
    o = Box(x, x)
    r = weakref.ref(o)

    def f(x):
        return x * (2.0 if o else 0.0)  # noqa: F821 (it is there when this runs)

    y = f(x)
    del f, o
    return y * (3.0 if r() is None else 100.0)


@pytest.mark.without_modes("known: what is captured lives on in derivatives inside")
def test_what_was_captured_is_gone_in_a_checkpointed_part() -> None:
    """The setting of its second run holds what variables were bound to at first."""
    assert captured(0.5) == 3.0
    assert value_and_grad(captured)(0.5) == (3.0, 6.0)
    assert value_and_grad(lambda x: checkpoint(captured, x))(0.5) == (3.0, 6.0)


@pytest.mark.parametrize("keeps", [False, True])
def test_an_entry_that_is_assigned_twice_goes_with_its_object(keeps):
    held = weakref.WeakKeyDictionary()
    boxes = [Box(1.0, 2.0)]
    if keeps:
        held[boxes[0]] = 5.0

    def f(x):
        box = boxes[0] if keeps else Box(x, x)
        held[box] = x
        held[box] = 2.0 * x
        return held[box] * len(held)

    for _ in range(3):
        assert value_and_grad(f)(1.5) == (3.0, 2.0)
        assert jvp(f, (1.5,), (1.0,)) == (3.0, 2.0)
        assert list(held.values()) == [5.0] * keeps
