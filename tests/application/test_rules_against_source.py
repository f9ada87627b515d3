"""Handwritten rules for functions of objects, against the same functions derived from source."""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    MutableTangent,
    NoFData,
    NoRData,
    debug_mode,
    from_vjp,
    grad,
    increment,
    jvp,
    local_rules,
    rrule,
    rrule_via_ad,
    value_and_grad,
    vjp,
)
from mooncake_py.errors import MissingRuleError
from mooncake_py.testing import test_rule
from tests.support.gradients import check


class Box:
    def __init__(self, a: Any) -> None:
        self.a = a


class Layer:
    def __init__(self, weights: Any, scale: Any) -> None:
        self.weights = weights
        self.scale = scale

    def apply(self, x: Any) -> Any:
        return self.scale * (self.weights @ x)


def check_all_ways(f: Any, *args: Any, without: Any) -> None:
    """Check a program by the rules, by the source of what has rules, and in debug mode."""
    check(f, *args)
    with local_rules(without=without):
        check(f, *args)
    with debug_mode():
        check(f, *args)


def product(p, q):
    return p.a * q.a


@from_vjp(product)
def product_rule(p, q):
    return p.a * q.a, lambda dy: ({"a": dy * q.a}, {"a": dy * p.a})


def test_one_object_twice() -> None:
    def f(x):
        p = Box(x * x)
        return product(p, p) + product(p, Box(x))

    check_all_ways(f, 3.0, without=product)


def product_in_list(boxes):
    return boxes[0].a * boxes[1].a


@from_vjp(product_in_list)
def product_in_list_rule(boxes):
    p, q = boxes
    return p.a * q.a, lambda dy: [{"a": dy * q.a}, {"a": dy * p.a}]


def test_one_object_twice_in_a_list() -> None:
    def f(x):
        p = Box(x * x)
        return product_in_list([p, p]) * product_in_list([Box(x), p])

    check_all_ways(f, 3.0, without=product_in_list)


def product_in_dict(boxes):
    return boxes["p"].a * boxes["q"].a


@from_vjp(product_in_dict)
def product_in_dict_rule(boxes):
    p, q = boxes["p"].a, boxes["q"].a
    return p * q, lambda dy: {"p": {"a": dy * q}, "q": {"a": dy * p}}


def test_one_object_twice_in_a_dict() -> None:
    def f(x):
        p = Box(x * x)
        return product_in_dict({"p": p, "q": p}) * product_in_dict({"p": Box(x), "q": p})

    check_all_ways(f, 3.0, without=product_in_dict)


class Views:
    def __init__(self, v: Any) -> None:
        self.rest = v[1:]
        self.other = v[::2]


def of_views(o, x):
    return np.sum(o.rest[:2] * o.other * x)


@from_vjp(of_views)
def of_views_rule(o, x):
    def of_views_pullback(dy):
        d_rest = np.zeros(o.rest.shape)
        d_rest[:2] = dy * o.other * x
        return {"rest": d_rest, "other": dy * o.rest[:2] * x}, dy * np.sum(o.rest[:2] * o.other)

    return of_views(o, x), of_views_pullback


def test_views_of_memory_that_is_written_later() -> None:
    def f(v, x):
        w = v * v
        o = Views(w)
        y = of_views(o, x)
        w[1] = y * x
        o.other[0] = x
        return of_views(o, x) * y

    check_all_ways(f, np.array([1.0, 2.0, 3.0]), 2.0, without=of_views)


def test_object_that_is_changed_later() -> None:
    def f(a, x):
        o = Box(a)
        y = scaled(o, x)
        o.a = y * o.a
        z = scaled(o, y)
        o.a = 0.0
        o.b = z
        return z * o.b

    check_all_ways(f, 2.0, 3.0, without=scaled)


def scaled(o, x):
    return o.a * x


@from_vjp(scaled)
def scaled_rule(o, x):
    return o.a * x, lambda dy: ({"a": dy * x}, dy * o.a)


def many(x):
    return {"a": x * 2, "l": [x, x * x], "o": Box(x), "s": "text", "n": 3}


@from_vjp(many)
def many_rule(x):
    return many(x), lambda d: 2 * d["a"] + d["l"][0] + 2 * x * d["l"][1] + d["o"].a


def test_nested_output_that_is_changed_later() -> None:
    def f(x):
        d = many(x)
        values = d["l"]
        values.append(d["a"] * values[1])
        d["o"].a = d["o"].a * values[2]
        d["a"] = 1.0
        return d["o"].a + sum(values)

    check_all_ways(f, 1.5, without=many)
    check_all_ways(lambda x: many(x)["l"][1], 1.5, without=many)


def outer_layer(x):
    return Layer(np.outer(x, x), 2.0)


@from_vjp(outer_layer)
def outer_layer_rule(x):
    return outer_layer(x), lambda d: (d.weights + d.weights.T) @ x


def test_array_of_an_output_that_is_written_later() -> None:
    def f(x):
        layer = outer_layer(x)
        row = layer.weights[0]
        row *= 2.0
        layer.weights[1] += row
        return np.sum(layer.apply(x) ** 2)

    check_all_ways(f, np.array([1.0, 2.0]), without=outer_layer)


def same(o):
    return o


@from_vjp(same)
def same_rule(o):
    return o, lambda _: {}


def paired(o, x):
    return [o, x]


@from_vjp(paired)
def paired_rule(o, x):
    return [o, x], lambda d: ({}, d[1])


def test_argument_that_is_returned_stays_itself() -> None:
    def f(x):
        o = Box(x)
        p = same(o)
        assert p is o
        p.a = p.a * x
        return o.a

    def g(x):
        o = Box(x)
        values = paired(o, x * x)
        assert values[0] is o
        values[0].a = values[0].a * values[1]
        return o.a

    check_all_ways(f, 3.0, without=same)
    check_all_ways(g, 3.0, without=paired)


def tagged(o, x):
    return [o, x]


@rrule.register(tagged, mutates=())
def tagged_rule(_, o, x):
    data = [o.fdata, 0.0]
    return CoDual([o.primal, x.primal], data), lambda _: (NoRData(), NoRData(), data[1])


def test_argument_that_a_codual_rule_returns_stays_itself() -> None:
    def f(x):
        o = Box(x)
        values = tagged(o, x * x)
        assert values[0] is o
        values[0].a = values[0].a * values[1]
        return o.a

    check_all_ways(f, 3.0, without=tagged)


def scaled_pair(pair, x):
    return pair[0].a * x, Box(pair[1] * x)


@rrule.register(scaled_pair, mutates=(), dtypes=np.float64)
def scaled_pair_rule(_, pair, x):
    box, t = pair.primal
    data = (NoFData(), MutableTangent(a=0.0))

    def scaled_pair_pullback(dy):
        pair.fdata[0].a += dy[0] * x.primal
        d_box = data[1].a
        return NoRData(), (NoRData(), d_box * x.primal), dy[0] * box.a + d_box * t

    return CoDual((box.a * x.primal, Box(t * x.primal)), data), scaled_pair_pullback


def test_objects_in_tuples_of_coduals() -> None:
    def f(a, x):
        y, box = scaled_pair((Box(a * a), a), x)
        return y * box.a

    check_all_ways(f, 2.0, 3.0, without=scaled_pair)
    test_rule(scaled_pair, (Box(2.0), 1.5), 3.0)


Uv = collections.namedtuple("Uv", "u v")


def swapped(p):
    return Uv(p.v * 2, p.u)


@from_vjp(swapped)
def swapped_rule(p):
    return swapped(p), lambda d: ((d[1], 2 * d[0]),)


def test_named_tuples() -> None:
    def f(x, y):
        q = swapped(Uv(x, y * x))
        return q.u * q.v

    check_all_ways(f, 2.0, 3.0, without=swapped)


@dataclasses.dataclass
class Weighted:
    a: float
    w: Any


def weighted(d, x):
    return d.a * np.sum(d.w * x)


@from_vjp(weighted, dtypes=np.float64)
def weighted_rule(d, x):
    def weighted_pullback(dy):
        return Weighted(dy * np.sum(d.w * x), dy * d.a * x), dy * d.a * d.w

    return weighted(d, x), weighted_pullback


def test_dataclass_that_is_differentiated() -> None:
    d, x = Weighted(2.0, np.array([1.0, 2.0])), np.array([3.0, 4.0])
    by_rule = grad(lambda d, x: weighted(d, x) ** 2)(d, x)
    with local_rules(without=weighted):
        by_source = grad(lambda d, x: weighted(d, x) ** 2)(d, x)
    assert by_rule.a == by_source.a
    np.testing.assert_allclose(by_rule.w, by_source.w)
    test_rule(weighted, d, x, layouts=False)


def mapped(f, xs):
    return [f(x) for x in xs]


@from_vjp(mapped)
def mapped_rule(f, xs):
    ys, pullbacks = zip(*(rrule_via_ad(f, x) for x in xs), strict=True)

    def mapped_pullback(dys):
        found = [pullback(dy) for pullback, dy in zip(pullbacks, dys, strict=True)]
        return functools.reduce(increment, [df for df, _ in found]), [dx for _, dx in found]

    return list(ys), mapped_pullback


def times(a, t):
    return a * t


@pytest.mark.parametrize("make", [
    lambda a: functools.partial(times, a),
    lambda a: lambda t: a * t,
    lambda a: Layer(np.array([[a]]), a).apply,
], ids=["partial", "closure", "method"])  # fmt: skip
def test_functions_that_hold_something(make: Any) -> None:
    def f(a, x):
        ys = mapped(make(a), [np.array([x]), np.array([x * x])])
        return np.sum(ys[0] * ys[1])

    check_all_ways(f, 2.0, 3.0, without=mapped)


def test_derivative_inside_another() -> None:
    def f(x):
        k = grad(lambda a: scaled(Box(a * a), 2.0))(1.5)
        return k * x * scaled(Box(x), 3.0)

    check_all_ways(f, 2.0, without=scaled)


def test_cotangent_of_an_object_that_vjp_returns() -> None:
    y, pullback = vjp(outer_layer, np.array([1.0, 2.0]))
    d = MutableTangent(weights=np.eye(2), scale=0.0)
    assert y.scale == 2.0
    assert pullback(d)[0].tolist() == [2.0, 4.0]


class Noisy:
    def __init__(self, a: Any, seed: int) -> None:
        self.a = a
        self.rng = np.random.default_rng(seed)


def draw(o):
    return o.a * o.rng.standard_normal()


@rrule.register(draw, mutates=0)
def draw_rule(_, o):
    z = o.primal.rng.standard_normal()

    def draw_pullback(dy):
        o.fdata.a += dy * z
        return NoRData(), NoRData()

    return CoDual(o.primal.a * z, NoFData()), draw_pullback


def test_random_generator_of_an_object_is_the_one_that_is_drawn_from() -> None:
    def f(x):
        o = Noisy(x, 5)
        return draw(o) * draw(o)

    check(f, 2.0)


@pytest.mark.parametrize("f", [
    lambda x: scaled(Box(x), 3.0),
    lambda x: product_in_list([Box(x), Box(2.0)]),
    lambda x: product_in_dict({"p": Box(x), "q": Box(2.0)}),
    lambda x: many(x)["a"],
    lambda x: swapped(Uv(x, x)).u,
    lambda x: mapped(lambda t: x * t, [x])[0],
], ids=["object", "in list", "in dict", "output", "named tuple", "function"])  # fmt: skip
def test_forward_mode_does_without_rules_of_objects(f: Any) -> None:
    with pytest.raises(MissingRuleError, match="local_rules"):
        jvp(f, (1.5,), (1.0,))
    with local_rules(without=RULES_OF_OBJECTS):
        value, slope = jvp(f, (1.5,), (1.0,))
    expected, gradient = value_and_grad(f)(1.5)
    assert value == expected
    np.testing.assert_allclose(slope, gradient)


RULES_OF_OBJECTS = (scaled, product_in_list, product_in_dict, many, swapped, mapped)
