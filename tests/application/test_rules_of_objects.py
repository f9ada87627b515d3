"""Handwritten rules for constructors, callable objects, containers and functions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    debug_mode,
    from_vjp,
    grad,
    increment,
    jvp,
    local_rules,
    not_implemented,
    overlay,
    rrule,
    vjp,
)
from mooncake_py.errors import InvalidTangentError, MissingRuleError, UntrackedWriteError
from mooncake_py.testing import test_rule
from tests.support.gradients import check

# Constructors and callable objects, by output and pullback.


class Bar:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __call__(self, x: Any, y: Any) -> Any:
        return self.a + x * y


calls: list[str] = []


@from_vjp(Bar, dtypes=np.float64)
def bar_rule(a):
    calls.append("constructor")
    return Bar(a), lambda dbar: dbar.a


@from_vjp(Bar.__call__, dtypes=np.float64)
def bar_call_rule(bar, x, y):
    calls.append("call")

    def bar_call_pullback(dz):
        return {"a": dz}, dz * y, dz * x

    return bar.a + x * y, bar_call_pullback


def make_and_call(a, x, y):
    bar = Bar(a * a)
    before = bar(x, y)
    bar.a = bar.a * before
    return bar(y, x) + bar.a


def test_constructor_and_call_by_their_rules() -> None:
    calls.clear()
    check(make_and_call, 2.0, 3.0, 0.5)
    assert set(calls) == {"constructor", "call"}


def test_rules_of_constructor_and_call_pass_the_tester() -> None:
    test_rule(Bar, 2.0)
    test_rule(Bar.__call__, Bar(2.0), 3.0, 0.5)
    test_rule(Bar(2.0), 3.0, 0.5)


def test_gradient_of_the_object_itself() -> None:
    assert grad(lambda bar, x: bar(x, 2.0) ** 2)(Bar(1.0), 3.0).a == 14.0
    assert grad(Bar.__call__, argnums=(0, 1))(Bar(1.0), 3.0, 2.0)[1] == 2.0


def test_debug_mode_takes_rules_of_objects() -> None:
    with debug_mode():
        assert grad(make_and_call)(2.0, 3.0, 0.5) == grad(make_and_call)(2.0, 3.0, 0.5)


class Layer:
    def __init__(self, weights: Any, scale: Any) -> None:
        self.weights = weights
        self.scale = scale
        self.name = "layer"

    def apply(self, x: Any) -> Any:
        return self.scale * (self.weights @ x)


@from_vjp(Layer.apply)
def layer_rule(layer, x):
    def layer_pullback(dy):
        d_layer = MutableTangent(
            weights=layer.scale * np.outer(dy, x), scale=dy @ (layer.weights @ x)
        )
        return lambda: d_layer, lambda: layer.scale * (layer.weights.T @ dy)

    return layer.scale * (layer.weights @ x), layer_pullback


def train(weights, scale, x):
    layer = Layer(weights, scale * 2.0)
    y = layer.apply(x)
    layer.weights[0] *= y[1]
    return np.sum(layer.apply(y) ** 2)


def test_object_with_arrays_that_are_written_later() -> None:
    rng = np.random.default_rng(0)
    check(train, rng.standard_normal((3, 3)), 0.7, rng.standard_normal(3))


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any


def midpoint(p, q):
    return Point((p.x + q.x) / 2, (p.y + q.y) / 2)


@from_vjp(midpoint)
def midpoint_rule(p, q):
    def midpoint_pullback(d):
        half = Point(d.x / 2, d.y / 2)
        return half, half

    return midpoint(p, q), midpoint_pullback


def test_frozen_dataclasses_in_and_out() -> None:
    test_rule(midpoint, Point(1.0, 2.0), Point(np.float64(3.0), -1.0), dtypes=False)
    check(lambda x, v: midpoint(Point(x, v), Point(v, x * v)).y, 2.0, 3.0)
    check(
        lambda v: np.sum(midpoint(Point(v[:2], v[1:]), Point(v[1:], v[:2])).x ** 2),
        np.array([1.0, 2.0, 4.0]),
    )


def norms(table):
    return {name: float(np.sum(a * a)) for name, a in table.items()}


@from_vjp(norms)
def norms_rule(table):
    def norms_pullback(d):
        return {name: 2 * d[name] * a for name, a in table.items()}

    return norms(table), norms_pullback


def test_dicts_in_and_out() -> None:
    check(lambda v: norms({"a": v, "b": v[1:] * 2.0})["b"] ** 2, np.array([1.0, 2.0, 3.0]))
    test_rule(norms, {"a": np.array([1.0, 2.0])}, dtypes=False)


def test_arrays_of_an_argument_stay_what_they_are() -> None:
    @from_vjp(Holder)
    def holder_rule(a, x):
        return Holder(a, x), lambda d: (None, d.x)

    def f(v, x):
        held = Holder(v, x)
        v[0] = 5.0 * x  # the memory of the argument, also by its other name
        return held.a[0] * held.x

    check(f, np.array([1.0, 2.0]), 3.0)


class Holder:
    def __init__(self, a: Any, x: Any) -> None:
        self.a = a
        self.x = x


def test_containers_of_an_argument_stay_what_they_are() -> None:
    def hold(values, x):
        return Holder(values, x)

    @from_vjp(hold)
    def hold_rule(values, x):
        return Holder(values, x), lambda d: ([0.0, 0.0], d.x)

    def f(x):
        values = {"v": x * x}
        held = hold(values, x)
        values["v"] = values["v"] * 2.0
        return held.a["v"] * held.x

    with pytest.raises(InvalidTangentError, match="does not have"):
        grad(f)(3.0)  # the rule returns a list for a dict

    @from_vjp(hold, replace=True)
    def hold_rule_fixed(values, x):
        return Holder(values, x), lambda d: ({}, d.x)

    check(f, 3.0)


# What a pullback may not say of an object.


def scaled(bar, x):
    return bar.a * x


def scaled_by(cotangent):
    @from_vjp(scaled, replace=True)
    def scaled_rule(bar, x):
        return bar.a * x, lambda dy: (cotangent(dy, x), dy * bar.a)

    return grad(lambda a: scaled(Bar(a), 3.0))(2.0)


def test_cotangents_of_objects() -> None:
    assert scaled_by(lambda dy, x: {"a": dy * x}) == 3.0
    assert scaled_by(lambda dy, x: {}) == 0.0
    assert scaled_by(lambda dy, x: NoTangent()) == 0.0
    with pytest.raises(MissingRuleError, match="no derivative with respect to argument 0"):
        scaled_by(lambda dy, x: None)
    with pytest.raises(MissingRuleError, match="with respect to argument 0 is not implemented"):
        scaled_by(lambda dy, x: not_implemented("it is hard"))
    with pytest.raises(InvalidTangentError, match="cotangent for 'b'"):
        scaled_by(lambda dy, x: {"b": dy})
    with pytest.raises(InvalidTangentError, match="returned a float as cotangent"):
        scaled_by(lambda dy, x: dy * x)


def test_active_parts_without_a_place_are_refused() -> None:
    @from_vjp(scaled, replace=True)
    def scaled_rule(bar, x):
        return sum(bar.a) * x, lambda dy: ({}, 0.0)

    def with_default(a):
        def f(t=a):
            return t

        return scaled(f, 3.0)

    with pytest.raises(MissingRuleError, match="cannot take this function"):
        grad(with_default)(2.0)
    with pytest.raises(InvalidTangentError, match="list_iterator cannot have a tangent"):
        grad(lambda a: scaled(iter([a]), 3.0))(2.0)


# CoDuals.


def by_codual(bar, x):
    return bar.a * x


@rrule.register(by_codual, mutates=())
def by_codual_rule(_, bar, x):
    a = bar.primal.a

    def by_codual_pullback(dy):
        bar.fdata.a += dy * x.primal
        return NoRData(), NoRData(), dy * a

    return CoDual(a * x.primal, NoFData()), by_codual_pullback


def test_codual_of_an_object_has_fdata() -> None:
    check(lambda a, x: by_codual(Bar(a * a), x), 2.0, 3.0)
    check(lambda a, x: by_codual(Bar(a), x) + by_codual(Bar(2.0), x), 2.0, 3.0)


def nested_lists(rows, x):
    return rows[0][1] * x


@rrule.register(nested_lists, mutates=())
def nested_lists_rule(_, rows, x):
    def nested_lists_pullback(dy):
        rows.fdata[0][1] += dy * x.primal
        return NoRData(), NoRData(), dy * rows.primal[0][1]

    return CoDual(nested_lists(rows.primal, x.primal), NoFData()), nested_lists_pullback


def test_codual_of_nested_lists() -> None:
    check(lambda a, x: nested_lists([[1.0, a * x]], x), 2.0, 3.0)


def multiples(x):
    return [x, 2 * x]


@rrule.register(multiples, mutates=())
def multiples_rule(_, x):
    fdata = [0.0, 0.0]

    def multiples_pullback(_):
        return NoRData(), fdata[0] + 2 * fdata[1]

    return CoDual(multiples(x.primal), fdata), multiples_pullback


def test_codual_of_a_list_that_is_returned() -> None:
    def f(x):
        found = multiples(x)
        found.append(found[0] * found[1])
        found[0] = 0.0
        return found[2]

    check(f, 3.0)


def boxed(x):
    return Bar(x)


@rrule.register(boxed, mutates=())
def boxed_rule(_, x):
    fdata = MutableTangent(a=0.0)
    return CoDual(Bar(x.primal), fdata), lambda _: (NoRData(), fdata.a)


def test_codual_of_an_object_that_is_returned() -> None:
    check(lambda x: boxed(x).a ** 2, 3.0)


def replaces_first(values, x):
    values[0] = values[0] * x


@rrule.register(replaces_first)
def replaces_first_rule(_, values, x):
    old = values.primal[0]
    values.primal[0] = old * x.primal

    def replaces_first_pullback(_):
        values.primal[0] = old
        g = values.fdata[0]
        values.fdata[0] = g * x.primal
        return NoRData(), NoRData(), g * old

    return CoDual(None, NoFData()), replaces_first_pullback


@pytest.mark.parametrize("first", [lambda a: a, lambda a: 2.0], ids=["active", "constant"])
def test_rule_that_changes_a_list_is_refused(first: Any) -> None:
    def f(a, x):
        values = [first(a), 1.0]
        replaces_first(values, x)
        return values[0] * 2.0

    with pytest.raises(MissingRuleError, match="changed a container or an object"):
        grad(f, argnums=(0, 1))(2.0, 3.0)
    with pytest.raises(MissingRuleError, match="changed a container or an object"):
        grad(f, argnums=1)(2.0, 3.0)


class Counter:
    def __init__(self, n: Any) -> None:
        self.n = n


def count(counter, x):
    counter.n = counter.n + x
    return counter.n * x


def count_by_vjp(counter, x):
    y = count(counter, x)
    return y, lambda dy: ({"n": dy * x}, dy * (counter.n + x))


def count_by_hand(_, counter, x):
    y = count(counter.primal, x.primal)

    def pullback(dy):
        increment(counter, MutableTangent(n=dy * x.primal))
        return NoRData(), NoRData(), dy * (counter.primal.n + x.primal)

    return CoDual(y, NoFData()), pullback


def counted(start: Any) -> Any:
    def f(x):
        counter = Counter(start(x))
        count(counter, x)
        return counter.n * x

    return f


CHANGED = r"changed a container|reverse mode|Counter|changed its arguments"


@pytest.mark.parametrize("start", [lambda x: 1.0, lambda x: x * x], ids=["constant", "active"])
@pytest.mark.parametrize("form", ["from_vjp", "from_vjp-jvp", "rrule", "rrule-mutates"])
def test_rule_of_a_function_that_changes_an_object_is_refused(form: str, start: Any) -> None:
    """The object is not active, and what the rule wrote into it would count as constant."""
    f = counted(start)
    with local_rules():
        if form.startswith("from_vjp"):
            jvp_rule = (lambda tangents, y, c, x: tangents[1] * x) if "jvp" in form else None
            from_vjp(count, jvp=jvp_rule)(count_by_vjp)
        else:
            rrule.register(count, mutates=0 if "mutates" in form else ())(count_by_hand)
        for run in (lambda: grad(f)(2.0), lambda: vjp(f, 2.0), lambda: jvp(f, (2.0,), (1.0,))):
            with pytest.raises((MissingRuleError, UntrackedWriteError), match=CHANGED):
                run()
    check(f, 2.0)


def test_debug_mode_sees_an_object_change_where_nothing_is_active() -> None:
    counter = Counter(1.0)

    def f(x):
        count(counter, 2.0)
        return counter.n * x

    with local_rules():
        from_vjp(count)(count_by_vjp)
        with pytest.raises(UntrackedWriteError, match="count changed its arguments"):
            grad(f, debug=True)(3.0)
    with local_rules():
        rrule.register(count, mutates=())(count_by_hand)
        with pytest.raises(UntrackedWriteError, match="count changed its arguments"):
            grad(f, debug=True)(3.0)


def test_overlay_says_what_a_rule_cannot() -> None:
    def f(a, x):
        values = [a, 1.0]
        swaps_in(values, x)
        return values[0] * 2.0

    @overlay(swaps_in, replace=True)
    def swaps_in_overlay(values, x):
        values[0] = values[0] * x

    check(f, 2.0, 3.0)


def swaps_in(values, x):
    values[0] = values[0] * x


def test_active_keyword_of_a_codual_rule_is_refused() -> None:
    def f(x, k=1.0):
        return k * x

    @rrule.register(f, mutates=())
    def rule(_, x, k=1.0):
        return CoDual(k * x.primal, NoFData()), lambda dy: (NoRData(), dy * k)

    with pytest.raises(MissingRuleError, match="no derivative with respect to argument 'k'"):
        grad(lambda a: f(3.0, k=a))(2.0)
    assert grad(lambda a: f(a, k=2.0))(2.0) == 2.0
