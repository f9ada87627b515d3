"""Loops that append numbers to lists, as one entry."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpointed, grad, hvp, jacobian, jvp, value_and_grad, vjp
from tests.compiler.comparing import agrees, equals_reference
from tests.support.gradients import differences

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4, 0.3])


def trajectory(y, h, n):
    states = [y]
    for _ in range(n):
        y = y + h * math.sin(y)
        states.append(y)
    return states[-1] * states[n // 2] + states[1]


def from_the_last(y, h, n):
    states = [y, 0.5 * y]
    for _ in range(n):
        states.append(states[-1] + h * states[-2] * states[0])
    return states[-1] * states[n // 2]


# What runs.


@pytest.mark.plain
@pytest.mark.parametrize("f", [trajectory, from_the_last])
@pytest.mark.parametrize("kind", [float, np.float64])
def test_lists_that_grow(f, kind, taken):
    agrees(f, kind(0.3), kind(0.1), 12)
    assert any(taken)


@pytest.mark.plain
def test_what_is_in_the_list_before_may_be_anything():
    def f(x):
        kept = ["first", x, None]
        for i in range(1, len(x)):
            kept.append(x[i] * x[i - 1])
        return kept[3] * kept[-1] + kept[1][0] * len(kept)

    agrees(f, X.copy())


@pytest.mark.plain
def test_several_lists_and_ints():
    def f(x):
        values, places, times = [], [], [0.0]
        t = 0.0
        for i in range(len(x)):
            if x[i] > 0.0:
                values.append(x[i] ** 2)
                places.append(i)
            t += 0.5
            times.append(t)
        assert all(type(k) is int for k in places)
        assert type(times[-1]) is float
        return values[0] * values[-1] * places[-1] + times[-1] * x[0]

    agrees(f, X.copy())


@pytest.mark.plain
def test_floats_and_ints_in_one_list(taken):
    def f(x):
        out = []
        for i in range(len(x)):
            s = 0
            for j in range(i):
                s = s + x[j] * x[i]
            out.append(s)
            out.append(i)
        assert [type(v) for v in out[:4]] == [int, int, type(x[0]), int]
        return out[2] * out[-2] + sum(out) * 0.1

    agrees(f, X.copy())
    agrees(f, X.tolist())
    v = np.ones(6)
    assert_allclose(jvp(f, (X,), (v,))[1], grad(f)(X.copy()) @ v, rtol=1e-11)
    assert any(taken)


@pytest.mark.plain
def test_one_list_by_two_names():
    def f(x):
        p = q = [x[0]]
        for i in range(1, len(x)):
            p.append(q[-1] * x[i])
            q[0] = q[0] * p[-1]
        return p[-1] + q[2] + p[0] * len(q)

    agrees(f, X.copy())


@pytest.mark.plain
def test_a_list_that_an_object_has():
    class Log:
        def __init__(self):
            self.values = []

    def f(x):
        log = Log()
        for i in range(len(x)):
            log.values.append(x[i] * 2.0)
        return log.values[0] * log.values[-1]

    agrees(f, X.copy())


@pytest.mark.plain
def test_a_list_that_is_passed_is_put_back(taken):
    def f(out, a, n):
        for i in range(n):
            out.append(a * i)
            out[0] = out[0] * a
        return sum(out)

    given = [1.5, 2.5]
    value, (d_out, d_a) = value_and_grad(f, (0, 1))(given, 0.7, 5)
    assert given == [1.5, 2.5]
    assert value == f([1.5, 2.5], 0.7, 5)
    assert_allclose(d_out, differences(f, ([1.5, 2.5], 0.7, 5), 0), rtol=1e-6)
    assert_allclose(d_a, differences(f, ([1.5, 2.5], 0.7, 5), 1), rtol=1e-6)
    assert any(taken)


@pytest.mark.plain
def test_a_function_that_appends(taken):
    def keep(out, v):
        out.append(v * v)

    def f(x):
        out = []
        for i in range(len(x)):
            keep(out, x[i])
        return out[0] * out[-1]

    agrees(f, X.copy())
    assert any(taken)


@pytest.mark.plain
def test_a_function_that_appends_within_an_expression_runs_in_order():
    def f(x):
        out = [1.0]

        def kept(v):
            out.append(v)
            return v

        s = 0.0
        for i in range(len(x)):
            s = s + out[-1] * kept(x[i]) + out[-1]
        return s

    agrees(f, X.copy())


@pytest.mark.plain
def test_branches_and_loops_that_end_early(taken):
    def f(x):
        out = [x[0]]
        for i in range(len(x)):
            if x[i] > 1.5:
                out.append(x[i])
                break
            if x[i] < 0.0:
                continue
            for _ in range(i):
                out.append(out[-1] * x[i])
        while out[-1] < 50.0:
            out.append(out[-1] * out[-1] + 1.0)
        return out[-1] + out[1]

    agrees(f, X.copy())
    assert any(taken)


def test_an_array_or_another_object_in_the_place_of_the_list():
    class Sum:
        def __init__(self):
            self.total = 0.0

        def append(self, v):
            self.total = self.total + v

    def f(x, out):
        for i in range(len(x)):
            out.append(x[i] * x[i])
        return out.total if isinstance(out, Sum) else sum(out)

    assert_allclose(grad(lambda x: f(x, Sum()))(X), 2.0 * X)
    assert_allclose(grad(lambda x: f(x, []))(X), 2.0 * X)
    with pytest.raises(AttributeError, match="append"):
        grad(lambda x: f(x, np.zeros(3)))(X)


@pytest.mark.plain
def test_in_forward_mode_and_to_second_order(taken):
    x, v = X.copy(), np.linspace(-1.0, 1.0, len(X))

    def f(x):
        out = [x[0] * x[1]]
        for i in range(1, len(x)):
            out.append(out[-1] * x[i] + math.sin(out[0]))
        return out[-1] * out[2]

    gradient = grad(f)(x)
    assert_allclose(jvp(f, (x,), (v,))[1], gradient @ v, rtol=1e-12)
    ends = [grad(f)(x + h * v) for h in (1e-6, -1e-6)]
    assert_allclose(hvp(f, (x,), v), (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)
    assert taken
    assert all(taken)


@pytest.mark.plain
def test_a_list_is_returned(taken):
    def f(x):
        out = []
        for i in range(1, len(x)):
            out.append(x[i] * x[i - 1])
        return out

    found, pullback = vjp(f, X.copy())
    for _ in range(2):
        (gradient,) = pullback([1.0, 0.0, -2.0, 0.5, 0.0])
        expected = [X[1], X[0], -2.0 * X[3], -2.0 * X[2] + 0.5 * X[4], 0.5 * X[3], 0.0]
        assert_allclose(gradient, expected)
    assert found == [X[i] * X[i - 1] for i in range(1, len(X))]
    assert all(type(v) is np.float64 for v in found)
    assert any(taken)


@pytest.mark.plain
def test_columns_of_a_jacobian():
    def f(p):
        out = []
        for i in range(5):
            out.append(p[0] * math.exp(-p[1] * i))
        return np.array(out)

    p = np.array([1.2, 0.4])
    i = np.arange(5)
    expected = np.stack([np.exp(-p[1] * i), -i * p[0] * np.exp(-p[1] * i)], axis=1)
    for mode in ("reverse", "forward"):
        assert_allclose(jacobian(f, mode=mode)(p), expected)


@pytest.mark.plain
def test_within_checkpoints():
    def f(x, n):
        out = []
        for t in checkpointed(range(n)):
            for i in range(1, len(x)):
                out.append(x[i] * x[i - 1] + t)
            x[0] = out[-1] * 0.1
        return sum(out)

    equals = grad(f)(X.copy(), 6)
    assert_allclose(equals, differences(f, (X.copy(), 6), 0), rtol=1e-6)


def test_loops_beside_in_debug_mode(taken):
    for f in (trajectory, from_the_last):
        expected = grad(f, (0, 1))(0.3, 0.1, 8)
        assert_allclose(grad(f, (0, 1), debug=True)(0.3, 0.1, 8), expected)
    assert any(taken)


@pytest.mark.plain
def test_what_raises_leaves_the_list_as_the_function_does():
    def f(out, x):
        try:
            for i in range(10):
                out.append(x[i] * 2.0)
        except IndexError:
            return out[-1] * len(out)
        return 0.0

    given: list[float] = []
    value, gradient = value_and_grad(f, 1)(given, X.copy())
    assert given == []
    assert value == f([], X.copy())
    assert_allclose(gradient, [0.0] * 5 + [2.0 * len(X)])


@pytest.mark.plain
def test_types_of_later_calls():
    def f(out, v, n):
        for i in range(n):
            out.append(v * i)
        return out[-1]

    for v, kind in ((0.5, float), (np.float64(0.5), np.float64), (2, int), (0.25, float)):
        out: list[object] = ["a"]

        def g(w, v=v, out=out):
            return f(out, v, 5) * w

        value, gradient = value_and_grad(g)(2.0)
        assert type(f(["a"], v, 5)) is kind
        assert value == 8.0 * v
        assert gradient == 4 * v
        assert out == ["a"]


@pytest.mark.plain
def test_many_lists_in_turn(taken):
    def f(x):
        rows = []
        for i in range(len(x)):
            row = []
            for j in range(len(x)):
                row.append(x[i] * x[j] if i != j else 1.0 * x[i])
            rows.append(row)
        return rows[1][2] * rows[3][3] + sum(rows[4])

    equals_reference(f, X.copy())
    agrees(f, copy.copy(X))
    assert any(taken)


@pytest.mark.plain
def test_numbers_of_loops_on_arrays(printed):
    def f(u, n):
        energies, times = [], [0.0]
        for i in range(n):
            u = u + 0.1 * np.sin(u)
            e = np.sum(u * u)
            energies.append(e)
            times.append(i * 0.1)
        return energies[-1] * energies[2] + times[3] * u[0]

    agrees(f, X.copy(), 12)
    assert any(printed)
    v = np.ones(6)
    assert_allclose(jvp(lambda u: f(u, 12), (X,), (v,))[1], grad(f)(X.copy(), 12) @ v, rtol=1e-11)
