"""`collections.defaultdict` and `Counter` with constant keys."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain


def of_floats(a):
    v = defaultdict(float)
    for i, k in enumerate(["x", "y", "x", "z"]):
        v[k] += a * i * i
    v["x"] *= 2.0
    total = sum(v.values()) * v["y"] + len(v) + ("q" in v) + v.get("r", 3.0)
    return total + v["new"] + len(v) * a  # a read makes it


def of_lists(a):
    groups = defaultdict(list)
    for i, k in enumerate("abcab"):
        groups[k].append(a * i)
    total = sum(sum(v) * len(v) for v in groups.values())
    return total + groups["a"][0] * 2.0 + groups["a"][1] * len(groups["none"])


def pair():
    return [1.0, 2.0]


def of_functions(a):
    """Each key gets a list, or a dict, of its own."""
    v, w = defaultdict(pair), defaultdict(lambda: {"s": a, "n": 0})
    v["k"][0] = a
    w["p"]["s"] *= 3.0
    w["p"]["n"] += 1
    w["q"]["n"] += 2
    nested = defaultdict(lambda: defaultdict(float))
    for i in "ab":
        for j in "xyx":
            nested[i][j] += a
    total = sum(t for row in nested.values() for t in row.values()) * nested["a"]["x"]
    return total + sum(v["k"]) * v["other"][1] + sum(d["s"] * d["n"] for d in w.values())


def counted(a):
    c, d = Counter(), defaultdict(int)
    for k in "hello":
        c[k] += 1
        d[k] += 1
    return a ** c["l"] + c["none"] + len(c) + a ** d["l"] * d["none"] + len(d)


def in_loops(a):
    total, log, kept = 0.0, [], defaultdict(float, {"x": a})
    kept["y"] += 0.0
    for i in range(80):
        v = defaultdict(float)
        for k in ("u", "w", "u"):
            v[k] += math.sin(a * i)
        kept["x"] += v["w"]
        kept["y"] += kept["x"] * 0.1
        total += v["u"] * v["w"]
        log.append(dict(v))
    return total + sum(r["u"] for r in log) * kept["y"]


FUNCTIONS = [of_floats, of_lists, of_functions, counted, in_loops]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    for a in (0.31, 0.57):
        found, h = value_and_grad(f, compile=True)(a)
        assert_allclose(found, f(a), rtol=1e-12)
        assert_allclose(h, value_and_grad(f)(a)[1], rtol=1e-10)
    require_compiled(f, tried)
    slope = (f(0.31 + 1e-6) - f(0.31 - 1e-6)) / 2e-6
    assert_allclose(jvp(f, (0.31,), (1.0,), compile=True)[1], slope, rtol=1e-5)
    second = [hvp(f, (0.31,), 1.0, compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-9, atol=1e-12)


def chosen(a, factory):
    v = defaultdict(factory)
    v["a"] += a
    return v["a"] * 2.0 + v["b"]


def test_another_factory_is_noticed() -> None:
    f = value_and_grad(chosen, 0, compile=True)
    for factory in (float, lambda: 5.0, int, lambda: 7.0, float):
        assert f(0.3, factory) == value_and_grad(chosen, 0)(0.3, factory)


def on_one_side(a):
    v = defaultdict(float)
    if a > 0.1:
        v["big"] += a
    return v["small"] + len(v)


def items_of_a_counter(a):
    return a * Counter("hello")["l"]


@pytest.mark.parametrize("f", [on_one_side, items_of_a_counter], ids=lambda f: f.__name__)
def test_what_is_not_known_runs_the_plain_way(f) -> None:
    with pytest.raises(Unfit):
        read_function(f, [type_of(0.3)])
    assert value_and_grad(f, compile=True)(0.3) == value_and_grad(f)(0.3)


def keys_while_a_loop_runs(a):
    v = defaultdict(float, {"a": a})
    return sum(v[k + "x"] for k in v)


def test_a_key_that_is_not_there_raises_where_python_does() -> None:
    with pytest.raises(RuntimeError):
        value_and_grad(keys_while_a_loop_runs, compile=True)(0.3)
    with pytest.raises(KeyError):
        value_and_grad(lambda a: defaultdict(None, {"a": a})["b"], compile=True)(0.3)


def keys_of_first_passes(a, n):
    v, counts = defaultdict(float), defaultdict(int)
    total = 0.0
    for j in range(n):
        inner = defaultdict(float)
        for i in range(j, n + 2, 3):
            inner["x"] += math.sin(a * i)
            counts["all"] += 1
            v["y"] += inner["x"] * 0.1 + len(v)
            if i % 5 == 0:
                continue
            v["y"] *= 0.99
        total += inner["x"]
    return total * v["y"] + counts["all"] * a


def test_keys_that_first_passes_make(tried) -> None:
    f = value_and_grad(keys_of_first_passes, 0, compile=True)
    for n in (90, 1, 100, 0):
        assert_allclose(f(0.31, n), value_and_grad(keys_of_first_passes, 0)(0.31, n), rtol=1e-10)
    f(0.2, 95)
    assert tried[-1]
