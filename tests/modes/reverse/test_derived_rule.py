"""Derived rules as `build_rrule` gives them: CoDuals in, a CoDual and a pullback out."""

from __future__ import annotations

import collections
import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, MutableTangent, NoFData, NoRData, NoTangent, Tangent, build_rrule
from mooncake_py.errors import PullbackReuseError
from mooncake_py.tangents import FData, RData, fdata, zero_tangent
from mooncake_py.testing import test_rule as check_rule
from tests.support.modes.pairing import member

X = np.array([0.3, -1.2, 0.7])


def run(f: Any, *args: Any) -> Any:
    """Run the forward pass on zero fdata; return output, pullback and the fdata of each."""
    data = [fdata(zero_tangent(a)) for a in args]
    rule = build_rrule(f, *args)
    out, pullback = rule(CoDual(f, fdata(zero_tangent(f))), *map(CoDual, args, data))
    return out, pullback, data


def run_on(f: Any, *coduals: CoDual) -> Any:
    """Run the forward pass of a constant function on given CoDuals."""
    return build_rrule(f, *(c.primal for c in coduals))(CoDual(f, NoFData()), *coduals)


def test_float_and_tuple():
    out, pullback, _ = run(lambda x, t: x * t[0] * np.sum(t[1]), 2.0, (3.0, X, 4))
    assert out.primal == pytest.approx(6.0 * np.sum(X))
    assert type(out.fdata) is NoFData
    df, dx, dt = pullback(2.0)
    assert type(df) is NoRData
    assert dx == pytest.approx(6.0 * np.sum(X))
    assert dt == (pytest.approx(4.0 * np.sum(X)), NoRData(), NoRData())


def test_array_output_and_increments():
    x = X.copy()
    dx = np.ones(3)
    out, pullback = run_on(lambda a: a * a, CoDual(x, dx))
    np.testing.assert_array_equal(out.fdata, 0.0)
    out.fdata[:] = [1.0, 2.0, 3.0]
    assert pullback(NoRData()) == (NoRData(), NoRData())
    np.testing.assert_allclose(dx, 1 + 2 * X * [1.0, 2.0, 3.0])


def test_mutated_array_output_is_the_argument():
    def f(x):
        x *= 2
        x[0] = x[1] * x[2]
        return x

    x = X.copy()
    out, pullback, (dx,) = run(f, x)
    assert out.primal is x
    np.testing.assert_allclose(x, [4 * X[1] * X[2], 2 * X[1], 2 * X[2]])
    assert np.shares_memory(out.fdata, dx)
    dx[:] = [1.0, 10.0, 0.0]
    pullback(NoRData())
    np.testing.assert_allclose(dx, [0.0, 4 * X[2] + 20.0, 4 * X[1]])
    np.testing.assert_array_equal(x, X)


def grow(p, x):
    p.append(p[0] * x)
    p[0] = x * x
    p.insert(1, (x, [p[1]]))
    return p


def test_mutated_list():
    p = [3.0, 5.0]
    expected = grow(list(p), 2.0)
    out, pullback, (dp, _) = run(grow, p, 2.0)
    assert p == expected
    assert all(type(v) is float for v in (p[0], p[1][0], p[1][1][0], p[2], p[3]))
    assert out.primal is p
    assert out.fdata is dp
    assert dp == [0.0, (0.0, [0.0]), 0.0, 0.0]
    dp[0], dp[2], dp[3] = 1.0, 10.0, 100.0
    dp[1] = (1000.0, dp[1][1])
    dp[1][1][0] = 5.0
    _, rp, rx = pullback(NoRData())
    assert type(rp) is NoRData
    # p = [x^2, (x, [p1]), p1, p0 x]: p0 gets 100 x, p1 gets 10 + 5, x gets 2 x + 1000 + 100 p0.
    assert dp == [200.0, 15.0]
    assert rx == pytest.approx(4.0 + 1000.0 + 300.0)
    assert p == [3.0, 5.0]


def test_cotangent_of_an_untouched_list_is_kept():
    p = [3.0, 5.0]
    dp = [1.0, 2.0]
    out, pullback = run_on(lambda v: v[0] * v[1], CoDual(p, dp))
    assert out.primal == 15.0
    pullback(10.0)
    assert dp == [51.0, 32.0]


def test_mutated_dict_and_new_keys():
    def f(d, x):
        d["c"] = d.pop("a") * x
        d["b"] *= 3
        return d["c"]

    d = {"a": 2.0, "b": X.copy(), "k": 1}
    out, pullback, (dd, _) = run(f, d, 5.0)
    assert out.primal == 10.0
    assert list(d) == ["b", "k", "c"]
    assert set(dd) == {"b", "k", "c"}
    assert dd["c"] == 0.0
    dd["c"] = 7.0
    dd["b"][:] = 1.0
    _, _, dx = pullback(1.0)
    assert list(d) == ["a", "b", "k"]
    assert d["a"] == 2.0
    np.testing.assert_array_equal(d["b"], X)
    assert dx == pytest.approx(16.0)
    assert list(dd) == ["a", "b", "k"]
    assert dd["a"] == pytest.approx(40.0)
    np.testing.assert_allclose(dd["b"], 3.0)


class Body:
    def __init__(self, mass, position):
        self.mass = mass
        self.position = position


def test_mutated_object():
    def f(b, x):
        b.position[0] *= b.mass
        b.mass = b.mass * x
        b.speed = x * x
        b.history = [b.position, x]

    b = Body(2.0, X.copy())
    out, pullback, (db, _) = run(f, b, 3.0)
    assert out.primal is None
    assert (b.mass, b.speed, b.history[1]) == (6.0, 9.0, 3.0)
    assert type(db) is MutableTangent
    assert set(db) == {"mass", "position", "speed", "history"}
    assert np.shares_memory(db.history[0], db.position)
    db.mass, db.speed = 1.0, 10.0
    db.position[0] = 100.0
    db.history[1] = 1000.0
    _, _, dx = pullback(NoRData())
    assert dx == pytest.approx(2.0 + 60.0 + 1000.0)
    assert set(db) == {"mass", "position"}
    assert db.mass == pytest.approx(3.0 + 100 * X[0])
    np.testing.assert_allclose(db.position, [200.0, 0.0, 0.0])
    assert vars(b).keys() == {"mass", "position"}
    assert b.mass == 2.0


@dataclasses.dataclass(frozen=True)
class Rates:
    growth: float
    decay: Any
    name: str = "rates"


Pair = collections.namedtuple("Pair", "a b")


def test_frozen_dataclass_and_namedtuple():
    def f(r, p):
        return Rates(r.growth * p.a, r.decay * p.a), Pair(p.b, r)

    r, p = Rates(2.0, X.copy()), Pair(3.0, 4.0)
    out, pullback, (dr, _) = run(f, r, p)
    assert out.primal[0].growth == 6.0
    assert type(out.fdata[0]) is FData
    out.fdata[0].decay[:] = 1.0
    dy = (
        RData(growth=1.0, decay=NoRData(), name=NoRData()),
        RData(a=10.0, b=RData(growth=100.0, decay=NoRData(), name=NoRData())),
    )
    _, rr, rp = pullback(dy)
    assert rr == RData(growth=103.0, decay=NoRData(), name=NoRData())
    assert rp.a == pytest.approx(2.0 + np.sum(X))
    assert rp.b == 10.0
    np.testing.assert_allclose(dr.decay, 3.0)


def test_frozen_parts_of_a_list_have_whole_tangents():
    p = [Rates(2.0, 3.0), (4.0, 1)]

    def f(v):
        v[0] = Rates(v[0].decay * v[1][0], v[0].growth)
        return v[0].decay

    out, pullback, (dp,) = run(f, p)
    assert out.primal == 2.0
    assert p[0] == Rates(12.0, 2.0)
    assert type(p[0].growth) is float
    assert dp[0] == Tangent(growth=0.0, decay=0.0, name=NoTangent())
    dp[0] = Tangent(growth=1.0, decay=10.0, name=NoTangent())
    pullback(100.0)
    assert dp == [Tangent(growth=110.0, decay=4.0, name=NoTangent()), (3.0, NoTangent())]
    assert p == [Rates(2.0, 3.0), (4.0, 1)]


def test_closure_is_an_argument():
    a, b = 2.0, X.copy()

    def f(x):
        nonlocal a
        a = a * x
        b[0] *= x
        return a * np.sum(b)

    data = fdata(zero_tangent(f))
    out, pullback = build_rrule(f, 3.0)(CoDual(f, data), CoDual(3.0, NoFData()))
    total = 3 * X[0] + X[1] + X[2]
    assert out.primal == pytest.approx(6.0 * total)
    assert a == 6.0
    df, dx = pullback(1.0)
    assert type(df) is NoRData
    assert a == 2.0
    np.testing.assert_array_equal(b, X)
    assert data.a.cell_contents == pytest.approx(3.0 * total)
    np.testing.assert_allclose(data.b.cell_contents, [18.0, 6.0, 6.0])
    assert dx == pytest.approx(2.0 * total + 6.0 * X[0])


def test_output_container_is_new():
    out, pullback, (dx,) = run(lambda x: {"twice": x * 2, "sum": np.sum(x), "same": x}, X.copy())
    assert type(out.primal["sum"]) is np.float64
    assert out.fdata["sum"] == 0.0
    assert np.shares_memory(out.fdata["same"], dx)
    out.fdata["sum"] = 10.0
    out.fdata["twice"][:] = 1.0
    out.fdata["same"][0] = 100.0
    pullback(NoRData())
    np.testing.assert_allclose(dx, [112.0, 12.0, 12.0])


def test_constant_arguments_take_no_fdata():
    x, y = X.copy(), X + 1
    dx = np.zeros(3)
    _, pullback = run_on(lambda a, b: np.sum(a * b), CoDual(x, dx), CoDual(y, NoFData()))
    assert pullback(1.0) == (NoRData(), NoRData(), NoRData())
    np.testing.assert_allclose(dx, y)


def test_constant_closure_has_no_derivative():
    a = 2.0
    out, pullback = run_on(lambda x: a * x, CoDual(3.0, NoFData()))
    assert (out.primal, pullback(1.0)) == (6.0, (NoRData(), 2.0))
    assert a == 2.0


def test_constant_list_that_receives_active_values_is_plain_at_the_exit():
    log: list[Any] = []

    def f(x, record):
        record.append(x * 2)
        return record[0] * x

    out, pullback = run_on(f, CoDual(3.0, NoFData()), CoDual(log, NoFData()))
    assert log == [6.0]
    assert type(log[0]) is float
    assert out.primal == 18.0
    assert pullback(1.0)[1] == pytest.approx(12.0)
    assert log == []


def test_fdata_of_another_layout_are_copied():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    dx = np.ones((2, 3))
    out, pullback = run_on(lambda a: a * 3, CoDual(x[:, ::-1], dx))
    out.fdata[:] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    pullback(NoRData())
    np.testing.assert_allclose(dx, 1 + 3 * np.arange(1.0, 7.0).reshape(2, 3))


def test_pullback_is_called_once():
    _, pullback, _ = run(lambda x: x * x, 2.0)
    pullback(1.0)
    with pytest.raises(PullbackReuseError, match="called before"):
        pullback(1.0)


def test_exception_in_the_forward_pass_restores():
    def f(x, p):
        x *= 2
        p[0] = 5.0
        raise RuntimeError("stop")

    x, p = X.copy(), [1.0]
    with pytest.raises(RuntimeError, match="stop"):
        run(f, x, p)
    np.testing.assert_array_equal(x, X)
    assert p == [1.0]


def shuffle(state, x):
    state["a"], state["b"] = state["b"] * x, state["a"]
    state["list"][1:] = [state["list"][0] * x]
    return state["a"][0] * state["list"][1]


def test_rule_tester_accepts_derived_rules_of_containers():
    state = {"a": X.copy(), "b": X + 1, "list": [1.5, 2.5]}
    check_rule(shuffle, copy.deepcopy(state), 2.0)
    check_rule(lambda p, x: p[0] * x, [2.0, X.copy()], X.copy())
    check_rule(lambda r: r.growth * np.sum(r.decay), Rates(2.0, X.copy()))
    check_rule(lambda b: b.mass * np.sum(b.position), Body(2.0, X.copy()))


def test_field_of_a_tangent_that_is_named_like_an_attribute_of_classes():
    assert member(MutableTangent(__module__=NoTangent()), "__module__") == NoTangent()
