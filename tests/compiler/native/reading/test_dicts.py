"""Dicts with string keys that are passed."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import jvp, value_and_grad, vjp
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

rng = np.random.default_rng(4)
P = {
    "w": rng.standard_normal((3, 3)),
    "b": rng.standard_normal(3),
    "rate": 0.5,
    "steps": 2,
    "layers": [{"a": rng.standard_normal(3)}, {"a": rng.standard_normal(3), "scale": 1.5}],
}
X = rng.standard_normal(3)


def network(p, x):
    for _ in range(p["steps"]):
        x = np.tanh(p["w"] @ x + p["b"]) * p["rate"]
    for layer in p["layers"]:
        x = x * layer["a"] * layer.get("scale", 2.0)
    return x @ x


def in_place(p, x):
    w = p["w"]
    p["b"] *= 2.0
    p["layers"][0]["a"] -= p["rate"] * p["b"]
    for k, (key, layer) in enumerate(zip(("a", "a"), p["layers"], strict=True)):
        w[k] += layer[key]
    if "bias" not in p and p.get("bias") is None:
        x[0] = p["rate"]
    return np.sum(w @ x) + np.sum(p["b"]) * len(p)


def over_items(p, x):
    s = 0.0
    for key, value in p["layers"][1].items():
        if key == "scale":
            s += value**2
        else:
            s += np.sum(value * x)
    layer = p["layers"][1]
    for key in layer:
        s += np.sum(layer[key] * x) * 0.5
    for key in layer.keys():  # noqa: SIM118
        s += np.sum(layer[key] * x)
    for value in layer.values():
        s *= np.mean(value * x)
    return s + sum([len(layer) for k in layer]) * x[0]


CASES = [network, in_place, over_items]


def derivatives(f: Any, **how: Any) -> list[Any]:
    args = copy.deepcopy((P, X))
    value, g = value_and_grad(f, (0, 1), **how)(*args)
    y, pullback = vjp(f, *args, **how)
    tangent = jvp(lambda x: f(copy.deepcopy(P), x), (X.copy(),), (np.cos(X),), **how)[1]
    for a, b in zip(numbers(args), numbers((P, X)), strict=True):
        assert_array_equal(a, b)
    return [value, *numbers(g), y, *numbers(pullback(1.0)), tangent]


def numbers(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [v for key in sorted(tree) for v in numbers(tree[key])]
    if isinstance(tree, list | tuple):
        return [v for t in tree for v in numbers(t)]
    return [tree] if isinstance(tree, float | np.ndarray) else []


@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    found, expected = (derivatives(f, compile=way) for way in (True, False))
    assert len(found) == len(expected) > 5
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    require_compiled(f, tried)


def given_back(p, x):
    return p["b"] @ x, p


def changed(p, x):
    p["b"] = p["b"] * x
    return p["b"] @ x, None


def counted(p, x):
    p["rate"] += 1.0
    return p["rate"] * x[0], None


def lost(p, x):
    del p["rate"]
    return p["b"] @ x, len(p)


@pytest.mark.parametrize("f", [given_back, changed, counted, lost])
def test_dicts_that_are_changed_or_given_back(f: Any, tried: list[bool]) -> None:
    p = {"b": X * 2.0, "rate": 0.5}
    found, expected = (
        value_and_grad(f, 1, has_aux=True, compile=way)(copy.deepcopy(p), X.copy())
        for way in (True, False)
    )
    for a, b in zip(numbers(found[0]), numbers(expected[0]), strict=True):
        assert_allclose(a, b)
    assert_allclose(found[1], expected[1])
    assert bool(tried) == (f in (changed, counted))


def test_a_key_that_is_not_there_is_the_error_of_the_plain_call(tried: list[bool]) -> None:
    def f(p, x):
        return p["c"] * x[0]

    with pytest.raises(KeyError, match="c"):
        value_and_grad(f, 1, compile=True)({"b": 1.0}, X)
    assert bool(tried) == (f in (changed, counted))


def ordered(p, x):
    made = OrderedDict(zip(["a", "b", "c"], x, strict=False))
    more = OrderedDict(made, d=x[0] * x[1])
    copied = more.copy()
    copied["a"] = p["rate"] * copied.pop("b")
    is_ordered = isinstance(copied, OrderedDict) and type(copied) is not dict
    scale = 2.0 if is_ordered and type(dict(made)) is dict else 0.0
    if list(copied) == ["a", "c", "d"]:
        scale += 1.0
    return scale * sum(v * k for k, v in enumerate(copied.values(), 1)) + more["b"]


def test_ordered_dicts(tried: list[bool]) -> None:
    p = {"rate": 0.5}
    value, g = value_and_grad(ordered, (0, 1), compile=True)(p, X)
    expected, h = value_and_grad(ordered, (0, 1))(p, X)
    assert_allclose(value, expected, rtol=1e-15)
    assert_allclose(g[1], h[1])
    assert_allclose(g[0]["rate"], h[0]["rate"])
    require_compiled(ordered, tried)


def by_order(p, x):
    """Only as `OrderedDict` compares, and moves."""
    a, b = OrderedDict(u=1, v=2), OrderedDict(v=2, u=1)
    b.move_to_end("v")
    return x[0] * (2.0 if a == b else 3.0)


def given_in_order(p, x):
    return x[0], OrderedDict(a=x[1])


@pytest.mark.parametrize("f", [by_order, given_in_order])
def test_what_only_ordered_dicts_do_runs_plainly(f: Any, tried: list[bool]) -> None:
    has_aux = f is given_in_order
    for _ in range(2):
        found, g = value_and_grad(f, 1, has_aux=has_aux, compile=True)({"b": 1.0}, X)
        expected, h = value_and_grad(f, 1, has_aux=has_aux)({"b": 1.0}, X)
        assert_allclose(g, h)
        assert not has_aux or type(found[1]) is type(expected[1]) is OrderedDict
    assert not tried
