"""Items of dicts in loops: parameters that are read, and states that are stored."""

from __future__ import annotations

import ast
from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.reading.dict_items import with_items_as_attributes
from tests.compiler.comparing import agrees, agrees_along, equals_reference

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
V = np.array([1.0, -0.5, 0.2, 0.3, 2.0])


def parameters(x):
    p = {"k": x[0], "c": x[1] * 0.1, "w": x}
    y = 0.5
    for i in range(9):
        y = y - 0.1 * p["k"] * y + p["c"] * p["w"][i % 5]
    return y


def state(x):
    s, p = {"x": x[0], "v": 0.5}, {"k": x[1]}
    for _ in range(9):
        s["v"] -= 0.1 * p["k"] * s["x"]
        s["x"] += 0.1 * s["v"]
    return s["x"] * s["v"]


def one_dict_by_two_names(x):
    s = {"x": x[0]}
    t = s
    for i in range(5):
        s["x"] = s["x"] * x[i]
        t["x"] += 0.5
    return s["x"]


def of_an_object_and_of_a_dict(x):
    class Model:
        def __init__(self):
            self.parameters = {"k": x[0], "inner": {"c": x[1]}}

        def run(self, y):
            for _ in range(5):
                y = y * self.parameters["k"] + self.parameters["inner"]["c"]
            return y

    return Model().run(x[2])


def passed(x):
    def force(y, p):
        return -p["k"] * y

    def run(f, y, p):
        for _ in range(5):
            y = y + 0.1 * f(y, p)
        return y

    return run(force, x[0], {"k": x[1]}) * run(lambda y, p: p["k"] - y, 1.0, {"k": x[2]})


PROGRAMS = [parameters, state, one_dict_by_two_names, of_an_object_and_of_a_dict, passed]


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f, taken):
    agrees(f, X)
    assert taken[0] or f is one_dict_by_two_names


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_forward_mode_and_second_order(f):
    agrees_along(f, (X,), (V,))


class Doubled(dict):
    def __getitem__(self, key):
        return 2.0 * super().__getitem__(key)


@pytest.mark.plain
def test_dicts_that_are_arguments_are_left_as_they_were():
    def f(p):
        for _ in range(5):
            p["x"] *= p["k"]
        return p["x"]

    p = {"x": 2.0, "k": 1.1, "unused": 3.0}
    g = grad(f)(p)
    assert p == {"x": 2.0, "k": 1.1, "unused": 3.0}
    assert_allclose([g["x"], g["k"], g["unused"]], [1.1**5, 2.0 * 5 * 1.1**4, 0.0])


@pytest.mark.plain
def test_keys_that_are_missing_or_come_in_the_loop():
    def f(x, key):
        s = {key: x[0]}
        for i in range(5):
            s["new"] = s["x"] * x[i]
            s["x"] = 0.5 * s["new"]
        return s["x"] + s["new"]

    with pytest.raises(KeyError, match="x"):
        grad(f)(X, "y")
    equals_reference(lambda x: f(x, "x"), X)


@pytest.mark.plain
@pytest.mark.parametrize("make", [OrderedDict, lambda items: defaultdict(float, items), Doubled])
def test_other_mappings(make):
    def f(x):
        s = make({"x": x[0]})
        for i in range(5):
            s["x"] = s["x"] * x[i] + 0.5
        return s["x"]

    equals_reference(f, X)


@pytest.mark.plain
def test_items_of_another_kind_in_the_next_call():
    def f(x, k):
        p = {"k": k}
        y = x[0]
        for i in range(5):
            y = y * p["k"] + x[i]
        return np.sum(y)

    for k in (0.5, 2, np.float64(0.3), np.array([0.5, 0.2]), True, 0.7):
        equals_reference(f, X, k)
    with pytest.raises(TypeError):
        grad(f)(X, "text")
    value, g = value_and_grad(lambda x: f(x, 0.7), debug=True)(X)
    assert value == f(X, 0.7)
    assert_allclose(g, grad(lambda x: f(x, 0.7))(X))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p['k'] * q.r['x']['y']", "p._mk_item_k * q.r._mk_item_x._mk_item_y"),
        ("p['k'][i]", "p._mk_item_k[i]"),
        ("p[k] + f()['k'] + p['a b'] + p[0]", "p[k] + f()['k'] + p['a b'] + p[0]"),
    ],
)
def test_as_attributes(text, expected):
    assert ast.unparse(with_items_as_attributes(ast.parse(text, mode="eval").body)) == expected
