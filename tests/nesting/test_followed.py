"""Derivatives inside a function that is differentiated: constants, or followed in any disguise."""

from __future__ import annotations

import functools
import io
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    build_rrule,
    from_vjp,
    grad,
    rrule,
    value_and_grad,
    vjp,
)
from mooncake_py.errors import NestedDerivativeError
from tests.support.gradients import Programs, check

X = np.array([0.3, -1.2, 0.7])
C = np.array([2.0, 3.0, 5.0])
SHARED = np.zeros(3)
HELD: dict[str, Any] = {}


def with_shared(z):
    return np.sum(z * SHARED)


def indirectly(z):
    return with_shared(z)


def with_held(z):
    return np.sum(z * HELD["numbers"][0])


def held_indirectly(z):
    return with_held(z)


def returns_shared(z):
    return SHARED


def returns_held(z):
    return np.sum(z), HELD["numbers"][0]


def quartic(z):
    return np.sum(z**4)


class Model:
    weight: Any = None

    def __init__(self, weight: Any = None) -> None:
        if weight is not None:
            self.weight = weight

    def __call__(self, z):
        return np.sum(z * self.weight)

    def method(self, z):
        return np.sum(z * self.weight)

    @classmethod
    def of_class(cls, z):
        return np.sum(z * cls.weight)

    @staticmethod
    def static(z):
        return indirectly(z)


gradient_made_before = grad(indirectly)

# What the inner function depends on; each runs with SHARED and HELD["numbers"][0] active.

HIDDEN = {
    "global array": lambda x: grad(with_shared)(C),
    "global array, read by a function called": lambda x: grad(indirectly)(C),
    "partial": lambda x: grad(functools.partial(indirectly))(C),
    "static method": lambda x: grad(Model.static)(C),
    "attribute of a callable object": lambda x: grad(Model(x))(C),
    "attribute of a bound method's object": lambda x: grad(Model(x).method)(C),
    "captured array": lambda x: grad(lambda z: np.sum(z * x))(C),
    "captured view": lambda x: (lambda v: grad(lambda z: np.sum(z[1:] * v))(C))(x[1:]),
    "captured number": lambda x: (lambda s: grad(lambda z: np.sum(z) * s)(C))(x[0]),
    "number in a formula": lambda x: (lambda s: grad(lambda z: z * 2 + z * s)(1.5))(x[0]),
    "number and math": lambda x: (lambda s: grad(lambda z: z * math.exp(s))(1.5))(x[0]),
    "default": lambda x: grad(lambda z, w=x: np.sum(z * w))(C),
    "keyword default": lambda x: grad(lambda z, *, w=x: np.sum(z * w))(C),
    "keyword": lambda x: grad(lambda z, w: np.sum(z * w))(C, w=x),
    "nested containers": lambda x: grad(lambda z, d: np.sum(z * d["a"][0]))(C, {"a": [x]}),
    "number in a global list": lambda x: grad(held_indirectly)(C),
    "array written in part": lambda x: grad(lambda z: writes_one(z, x))(C),
    "array written to": lambda x: grad(lambda z: np.sum(np.multiply(z, x, out=np.zeros(3))))(C),
    "value, array": lambda x: vjp(returns_shared, C)[0],
    "value, number": lambda x: value_and_grad(lambda z: np.sum(z) + HELD["numbers"][0])(C)[0],
    "auxiliary output": lambda x: value_and_grad(returns_held, has_aux=True)(C)[0][1],
    "auxiliary array": lambda x: value_and_grad(lambda z: (np.sum(z), SHARED), has_aux=True)(C)[0][
        1
    ],
    "gradient made before": lambda x: gradient_made_before(C),
    "called by map": lambda x: sum(map(grad(indirectly), [C])),
    "called by reduce": lambda x: functools.reduce(lambda a, c: a + grad(indirectly)(c), [C, C], x),
    "cotangent": lambda x: vjp(np.square, C)[1](x)[0],
    "three levels": lambda x: grad(lambda z: np.sum(z * grad(indirectly)(np.ones(3))))(C),
}


def writes_one(z, x):
    x[0] = z[0]
    return np.sum(x * x)


def carried_out(x):
    def fails(z):
        raise ValueError(SHARED)

    try:
        grad(fails)(C)
    except ValueError as error:
        return error.args[0]


@pytest.fixture(autouse=True)
def _clean():
    yield
    SHARED[:] = 0.0
    HELD.clear()


def hidden(inner: Any) -> Any:
    def outer(x):
        SHARED[:] = x
        HELD["numbers"] = [x[0]]
        return np.sum(inner(x))

    return outer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HIDDEN)
def test_what_the_inner_derivative_depends_on_is_followed(name):
    check(hidden(HIDDEN[name]), X)


def test_attribute_of_a_class_is_followed():
    def outer(x):
        Model.weight = x
        return np.sum(grad(Model.of_class)(C) * x)

    check(outer, X)
    Model.weight = None


def test_exception_must_not_carry_active_data_out():
    with pytest.raises(NestedDerivativeError, match="exception"):
        grad(hidden(carried_out))(X.copy())


def test_iterators_are_read_again_from_where_they_were():
    def outer(x):
        it = iter([x])
        return np.sum(grad(lambda z: np.sum(z * next(it)))(C))

    np.testing.assert_array_equal(grad(outer)(X.copy()), np.ones(len(X)))


def test_what_is_read_again_must_be_there_again():
    def outer(x):
        lines = io.StringIO("2.0\n")
        return np.sum(grad(lambda z: np.sum(z * x * float(next(lines))))(C))

    with pytest.raises(NestedDerivativeError, match="raised StopIteration in its second run"):
        grad(outer)(X.copy())


def test_rule_run_on_active_data_is_refused():
    def outer(x):
        rule = build_rrule(indirectly)
        return rule(CoDual(indirectly, NoFData()), CoDual(C, np.zeros(3)))[0].primal

    with pytest.raises(NestedDerivativeError) as caught:
        grad(hidden(outer))(X.copy())
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_it_cannot_be_caught_away_inside():
    def inner(z):
        try:
            return build_rrule(indirectly)(CoDual(indirectly, NoFData()), CoDual(z, NoFData()))
        except Exception:
            return np.sum(z)

    with pytest.raises(NestedDerivativeError):
        grad(hidden(lambda x: inner(C)))(X.copy())


# Constants.

constants = Programs()


@constants(X)
def newton_steps(x):
    y = 1.0
    for _ in range(20):
        y = y - (y**3 - 2.0) / grad(lambda t: t**3)(y)
    return y * np.sum(x * x)


@constants(X)
def pullback_of_constants(x):
    _, pullback = vjp(lambda t, z: t * np.sum(z * z), 3.0, C)
    dt, dz = pullback(2.0)
    again = pullback(1.0)[0]
    return np.sum(x * dz) * dt * again


@constants(X)
def captured_but_not_read(x):
    def inner(z):
        return np.sum(z**3) * x.shape[0] * len(x)

    return np.sum(grad(inner)(C) * x)


@constants(X)
def memory_of_the_outer_tape_is_written_inside(x):
    p = C.copy()
    y = np.sum(p * x * x)

    def inner(z):
        z *= 2
        z[1:] += z[:-1]
        p[0] = z[0]
        return np.sum(z * p)

    g = grad(inner)(p.copy())
    same = grad(lambda z: np.sum(z * z))(p)
    return y + np.sum(g * same * p * x)


@constants(X)
def containers_are_restored_inside(x):
    held = [C, 1.0, x[0]]

    def inner(z):
        held[1] = np.sum(z)
        held.append(z)
        return held[1] ** 2

    g = grad(inner)(C)
    return np.sum(g * x) * held[1] * held[2] * len(held)


@constants(X)
def inner_one_fails(x):
    def inner(z):
        z *= 2
        raise LookupError

    try:
        grad(inner)(C)
    except LookupError:
        x = x * 2
    return np.sum(x * x)


@constants(X)
def between_the_steps_of_a_generator(x):
    def steps(v):
        t = v * 1.0
        yield t
        t *= grad(quartic)(C)
        yield t
        t *= v
        yield np.sum(t)

    a, b = steps(x), steps(2 * x)
    next(a), next(b)
    first = grad(quartic)(C)
    next(a), next(b)
    second = grad(lambda z: quartic(z) * 2)(C)
    return next(b) * next(a) * np.sum(first + second)


@constants(X)
def in_callbacks(x):
    ordered = sorted([2 * C, C], key=lambda c: grad(quartic)(c)[0])
    return np.sum(ordered[0] * x * sum(map(grad(quartic), [C])))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", constants, ids=str)
def test_derivative_of_constants_is_a_constant(program):
    program.check()


# Handwritten rules may take derivatives of their arguments.


def cubed(x):
    return 4 * x**3


@from_vjp(cubed)
def _(x):
    return grad(quartic)(x), lambda dy: (dy * grad(lambda z: np.sum(4 * z**3))(x),)


def cubed_in_place(x):
    return 4 * x**3


@rrule.register(cubed_in_place)
def _(_, x):
    y = grad(quartic)(x.primal)
    out = CoDual(y, np.zeros_like(y))

    def pullback(_):
        x.fdata[...] += out.fdata * grad(lambda z: np.sum(4 * z**3))(x.primal)
        return NoRData(), NoRData()

    return out, pullback


@pytest.mark.parametrize("function", [cubed, cubed_in_place])
def test_rule_that_takes_a_derivative(function):
    check(lambda x: np.sum(function(x) * C), X)
    check(lambda x: np.sum(grad(lambda z: np.sum(function(z)))(C) * x), X)


def test_pullbacks_made_outside_serve_inside_in_any_order():
    _, first = vjp(np.square, C)
    _, second = vjp(quartic, C)

    def f(x):
        return np.sum(second(1.0)[0] * x * first(np.ones(3))[0])

    expected = 4 * C**3 * 2 * C
    for _ in range(2):
        np.testing.assert_allclose(grad(f)(X.copy()), expected, rtol=1e-14)
    np.testing.assert_allclose(first(np.ones(3))[0], 2 * C)
