"""What forward mode logs to restore arguments: nothing of copies, and the rest once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp
from mooncake_py.boundary.apart import LARGE
from mooncake_py.modes.forward.call import are_apart
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.active import active_number
from mooncake_py.runtime.tangent_tree import TangentTree


def swept(x):
    for i in range(1, len(x)):
        x[i, 1:] += 0.5 * x[i - 1, 1:]
    return np.sum(x[-1])


@pytest.fixture
def logged(monkeypatch):
    """Count what is logged."""
    entries = []
    log = ReverseContext.overwritten

    def overwritten(self, memory, o, i):
        entries.append(log(self, memory, o, i))
        return entries[-1]

    monkeypatch.setattr(ReverseContext, "overwritten", overwritten)
    return entries


@pytest.mark.plain
@pytest.mark.without_modes("other modes log more")
@pytest.mark.parametrize(("columns", "count"), [(4, 0), (LARGE // 80 + 1, 1)])
def test_writes_to_arguments_are_logged_once(logged, columns, count):
    x, t = np.ones((10, columns)), np.ones((10, columns))
    value, slope = jvp(swept, (x,), (t,))
    assert [entry is not None for entry in logged] == [True] * count
    assert_allclose(slope, value)
    assert np.all(x == 1.0)


def test_arguments_are_apart_if_they_are_their_own_memory():
    a, b, number = np.ones(3), np.ones(3), active_number(1.0, None)
    assert are_apart([a, b, number, None])
    assert not are_apart([a, a])
    assert not are_apart([a, b[1:]])
    inside = TangentTree(dict)
    inside.parts["b"] = b
    assert are_apart([a, inside])
    assert not are_apart([b, inside])
    assert not are_apart([inside, inside])


def test_one_array_twice_has_one_tangent():
    a = np.array([1.0, 2.0])
    value, slope = jvp(lambda p: p[0] * p[1], ([a, a],), ([np.ones(2), np.ones(2)],))
    assert_allclose(slope, 2.0 * a)
    assert_allclose(value, a * a)
