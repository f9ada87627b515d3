"""What was assumed when a function was read is looked at in each call."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import elementwise, grad, local_rules, value_and_grad
from mooncake_py.compiler.native import site
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain


def test_captured_and_global_variables_are_read_as_they_are_now(tried):
    weights = np.array([1.0, 2.0])
    rate = 0.5

    def f(x):
        return np.sum(weights * x * rate)

    g = grad(f, compile=True)
    x = np.ones(2)
    assert_allclose(g(x), [0.5, 1.0])
    rate = 2.0
    weights[0] = 3.0
    assert_allclose(g(x), [6.0, 4.0])
    weights = np.array([1.0, 1.0])
    assert_allclose(g(x), [2.0, 2.0])
    assert tried == [True, True, True]
    assert len(site._sites[id(f.__code__)][1].readings) == 1


def test_replaced_functions_are_seen(tried):
    def inner(x):
        return x * x

    def f(x):
        return np.sum(inner(x))

    x = np.array([3.0])
    assert_allclose(grad(f, compile=True)(x), [6.0])

    def inner(x):  # noqa: F811
        return x * x * x

    assert_allclose(grad(f, compile=True)(x), [27.0])


def test_functions_that_are_made_anew_do_not_compile_for_ever(tried):
    def total(u, of):
        return np.sum(of(u))

    x = np.array([1.0, 2.0])
    for k in range(8):
        found = grad(lambda x: total(x, lambda u: k * u * u), compile=True)(x)  # noqa: B023
        assert_allclose(found, 2 * k * x)
    readings = site._sites[id(total.__code__)][1].readings
    assert len(readings) <= site.ALIKE


SETTINGS = [1]


def true_if_settings(u):
    return u[0] if SETTINGS else u[1]


def unlike_settings(u):
    return u[0] if SETTINGS == [] else u[1]


class Equal:
    """Equal to its number, which may change as its class and its methods may."""

    number = 2.0

    def __eq__(self, other):
        return other == self.number

    def __hash__(self):
        return 2


class Unequal(Equal):
    def __eq__(self, other):
        return False

    __hash__ = Equal.__hash__


EQUAL = Equal()


def equal_to_a_number(u):
    return u[0] if EQUAL == 2.0 else u[1]


@pytest.mark.parametrize("f", [true_if_settings, unlike_settings])
def test_lists_that_change_within(f):
    u = np.array([2.0, 3.0])
    for settings in ([1], [], [1]):
        SETTINGS[:] = settings
        np.testing.assert_array_equal(grad(f, compile=True)(u), grad(f, compile=False)(u))
    assert report(f)[0].found == "compiled"  # items are known, and looked at in each call


def test_operators_of_objects_that_change(monkeypatch, tried):
    def agree(expected):
        for compile in (True, False):
            found = grad(equal_to_a_number, compile=compile)(np.array([2.0, 3.0]))
            np.testing.assert_array_equal(found, expected)
        assert report(equal_to_a_number)[0].found == "compiled"

    agree([1, 0])
    for owner, name, value in (
        (Equal, "number", 3.0),
        (EQUAL, "number", 3.0),
        (Equal, "__eq__", lambda self, other: False),
        (EQUAL, "__class__", Unequal),
        (sys.modules[__name__], "EQUAL", Unequal()),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(owner, name, value)
            agree([0, 1])
        agree([1, 0])
    assert all(tried)


def test_a_class_without_the_name_of_a_module(tried):
    made = type("Made", (), {"scale": 2.0, "__module__": None})()

    def f(u):
        return np.sum(u * u) * made.scale

    u = np.array([2.0, 3.0])
    np.testing.assert_array_equal(grad(f, compile=True)(u), 4.0 * u)
    assert tried == [True]


def doubled(x):
    return 2.0 * x


def of_doubled(u):
    return doubled(u[0]) * u[1]


def test_rules_that_are_declared_later(tried):
    u = np.array([2.0, 3.0])
    for _ in range(2):
        np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [6.0, 4.0])
    assert tried == [True, True]
    with local_rules():
        elementwise(doubled, lambda x, y: 10.0)
        np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [30.0, 4.0])
    np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [6.0, 4.0])
    assert tried == [True] * 3
    elementwise(doubled, lambda x, y: 10.0)
    np.testing.assert_array_equal(grad(of_doubled, compile=True)(u), [30.0, 4.0])


def test_rules_of_functions_of_one_code(tried):
    def made():
        return lambda x: 2.0 * x

    first, second = made(), made()
    for f in (first, second, first):
        assert grad(f, compile=True)(3.0) == 2.0
    elementwise(second, lambda x, y: 10.0)
    assert [grad(f, compile=True)(3.0) for f in (first, second, first)] == [2.0, 10.0, 2.0]


def test_functions_that_are_replaced_before_a_function_is_read(tried, monkeypatch):
    def f(x):
        return np.std(x) * np.linalg.norm(x) + np.sqrt(x[0])

    x = np.array([0.7, 1.3])
    monkeypatch.setattr(np, "sqrt", np.exp)
    assert_allclose(grad(f, compile=True)(x), grad(f)(x), rtol=1e-12)
    assert tried == [True]


def of_abs(x):
    t = 0.0
    for i in range(len(x)):
        t += abs(x[i]) * x[i]
    return t


def of_round(x):
    t = 0.0
    for i in range(len(x)):
        t += round(x[i]) * x[i]
    return t


def of_pow(x):
    t = 0.0
    for i in range(len(x)):
        t += pow(x[i], 2)
    return t


def nested_abs(x):
    def inner(v):
        return abs(v)

    return inner(x[0]) * x[1] + np.sum(abs(x))


@pytest.mark.parametrize("by", ["builtins", "globals"])
@pytest.mark.parametrize("how", [{}, {"compile": True}])
@pytest.mark.parametrize(
    ("f", "name"), [(of_abs, "abs"), (of_round, "round"), (of_pow, "pow"), (nested_abs, "abs")]
)
def test_builtins_that_are_replaced_for_a_while(f, name, how, by, monkeypatch):
    x = np.array([1.5, -2.5, 0.7])
    g = value_and_grad(f, **how)
    before = [g(x) for _ in range(70)][-1]  # until what is tried for a while has been

    with monkeypatch.context() as patched:
        if by == "builtins":
            patched.setattr(builtins, name, lambda v, *_: 3.0 * v)
        else:
            patched.setitem(f.__globals__, name, lambda v, *_: 3.0 * v)
        expected = f(x)
        found = g(x)
    assert_allclose(found[0], expected, rtol=1e-14)
    assert not np.array_equal(found[1], before[1])
    assert_allclose(g(x)[0], before[0], rtol=1e-14)
    assert_allclose(g(x)[0], f(x), rtol=1e-14)


def test_builtins_of_the_program_own(tried, monkeypatch):
    monkeypatch.setattr(builtins, "factor", 3.0, raising=False)
    monkeypatch.setattr(builtins, "scaled", lambda v: 2.0 * v, raising=False)

    def f(x):
        return np.sum(scaled(x) * factor)  # noqa: F821

    x = np.array([1.0, 2.0])
    g = grad(f, compile=True)
    assert_allclose(g(x), [6.0, 6.0])
    monkeypatch.setattr(builtins, "factor", 4.0)
    assert_allclose(g(x), [8.0, 8.0])
    monkeypatch.setattr(builtins, "scaled", lambda v: v * v)
    assert_allclose(g(x), [8.0, 16.0])


@pytest.mark.parametrize("name", ["__setattr__", "__getattribute__"])
def test_classes_whose_attributes_are_hooked_later(name):
    class Doubled:
        def __init__(self, v):
            self.v = v

    def f(x):
        return Doubled(x).v * x

    def hooked(self, key, *value):
        if value:
            object.__setattr__(self, key, 2.0 * value[0])
            return None
        return 2.0 * object.__getattribute__(self, key)

    g = grad(f, compile=True)
    assert [g(3.0), g(3.0)] == [6.0, 6.0]
    setattr(Doubled, name, hooked)
    assert g(3.0) == 12.0
    delattr(Doubled, name)
    assert g(3.0) == 6.0
