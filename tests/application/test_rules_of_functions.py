"""Handwritten rules for functions of functions: they call back into the engine."""

from __future__ import annotations

import numpy as np

from mooncake_py import from_vjp, grad, increment, jvp, rrule_via_ad, value_and_grad
from tests.support.gradients import check


def my_map(f, xs):
    return [f(x) for x in xs]


@from_vjp(my_map)
def my_map_rule(f, xs):
    ys, pullbacks = zip(*(rrule_via_ad(f, x) for x in xs), strict=True)

    def my_map_pullback(dys):
        df, dxs = None, []
        for pullback, dy in zip(pullbacks, dys, strict=True):
            d, dx = (None, None) if dy is None else pullback(dy)
            if d is not None:
                df = d if df is None else increment(df, d)
            dxs.append(dx)
        return df, dxs

    return list(ys), my_map_pullback


def test_map_calls_back_into_the_engine() -> None:
    def f(a, w, x):
        ys = my_map(lambda t: a * np.sin(t) + np.sum(w * t), [x, x * x, 2.0])
        return ys[0] * ys[1] + ys[2]

    check(f, 2.0, np.array([1.0, -2.0]), 0.3)
    check(lambda x: my_map(np.sin, [x, 2 * x])[1], 0.3)


def fixed_point(f, x, a):
    for _ in range(60):
        x = f(x, a)
    return x


@from_vjp(fixed_point)
def fixed_point_rule(f, x, a):
    """At x = f(x, a):  w = dx + (df/dx)' w,  da = (df/da)' w."""
    x = fixed_point(f, x, a)
    _, pullback = rrule_via_ad(f, x, a)

    def fixed_point_pullback(dx):
        w = dx
        for _ in range(60):
            w = dx + pullback(w)[1]
        df, _, da = pullback(w)
        return df, 0.0 * x, da

    return x, fixed_point_pullback


def test_fixed_point_by_the_implicit_function_theorem() -> None:
    def f(c, a):
        return np.sum(fixed_point(lambda x, a: c * np.cos(x) + a, np.zeros(2), a) ** 2)

    check(f, 0.5, np.array([0.1, 0.4]))


def test_memory_with_several_names_is_counted_once() -> None:
    def apply(f, x):
        return f(x)

    @from_vjp(apply)
    def apply_rule(f, x):
        return rrule_via_ad(f, x)

    def f(v):
        return np.sum(apply(lambda t: t[:-1] * v[1:], v))

    check(f, np.array([1.0, 2.0, 4.0]))


def test_cotangents_that_are_functions_are_called_only_if_wanted() -> None:
    wanted = []

    def product(a, b):
        return a * b

    @from_vjp(product)
    def product_rule(a, b):
        def product_pullback(dy):
            def da():
                wanted.append("a")
                return dy * b

            def db():
                wanted.append("b")
                return dy * a

            return da, db

        return a * b, product_pullback

    assert grad(product)(2.0, 3.0) == 3.0
    assert wanted == ["a"]
    assert grad(product, argnums=1)(2.0, 3.0) == 2.0
    assert wanted == ["a", "b"]
    value_and_grad(lambda x: x + 0 * len([product(1.0, 2.0)]))(1.0)
    assert wanted == ["a", "b"]


def test_cotangent_computed_to_none_is_zero() -> None:
    def first(a, b):
        return a

    @from_vjp(first)
    def first_rule(a, b):
        return a, lambda dy: (lambda: dy, lambda: None)

    assert grad(first, argnums=(0, 1))(2.0, 3.0) == (1.0, 0.0)
    assert jvp(first, (2.0, 3.0), (1.0, 5.0)) == (2.0, 1.0)
