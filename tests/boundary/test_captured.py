"""Which functions reach arrays through their arguments only, so that large ones are not copied."""

from __future__ import annotations

import functools
import math
import types
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy import sum as total

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.boundary.apart import ArgumentsApart
from mooncake_py.boundary.captured import captured_values, is_closed

LARGE = np.linspace(0.0, 1.0, 10_000)
HELD = SimpleNamespace(large=LARGE)
OTHER = types.ModuleType("other")
OTHER.large = LARGE  # type: ignore[attr-defined]
SCALE = 2.0


def plain(x):
    return total(x * np.sin(x)) * math.pi * SCALE


def calls(x):
    def inner(y):
        return plain(y)

    return inner(x) + sum(map(lambda y: y, [1.0]))  # noqa: C417


def loops_back(x):
    return x if x.size else loops_back(x)


def reads(x):
    return np.sum(x * LARGE)


def calls_one_that_reads(x):
    return [reads(y) for y in [x]][0]  # noqa: RUF015


def by_object(x):
    return np.sum(x * HELD.large)


def by_module(x):
    return np.sum(x * OTHER.large)


def by_default(x, y=LARGE):
    return np.sum(x * y)


def by_keyword(x, *, y=LARGE):
    return np.sum(x * y)


def by_import(x):
    import tests.boundary.test_captured as here

    return np.sum(x * here.LARGE)


def by_globals(x):
    return np.sum(x * globals()["LARGE"])


def by_attribute(x):
    return np.sum(x * by_attribute.large)  # type: ignore[attr-defined]


by_attribute.large = LARGE  # type: ignore[attr-defined]


class Model:
    def __call__(self, x):
        return np.sum(x * LARGE)

    loss = __call__


def captured(large):
    return lambda x: np.sum(x * large)


DOT = LARGE.dot


def by_method_of_the_array(x):
    return DOT(x)


OPEN = [
    reads, calls_one_that_reads, by_object, by_module, by_default, by_keyword, by_import,
    by_globals, by_attribute, Model(), Model().loss, captured(LARGE), by_method_of_the_array,
    functools.partial(by_default, y=LARGE),
]  # fmt: skip


@pytest.mark.parametrize("f", [plain, calls, loops_back, np.sin, np.sum, total, math.sin])
def test_closed(f: Any) -> None:
    assert is_closed(f, (LARGE, {"a": [LARGE, 1.0, None]}, "text"))


@pytest.mark.parametrize("f", OPEN, ids=lambda f: getattr(f, "__qualname__", type(f).__name__))
def test_open(f: Any) -> None:
    assert not is_closed(f, (LARGE,))
    if f not in (by_import, by_globals):
        np.testing.assert_array_equal(grad(lambda x: f(x))(LARGE), LARGE)


@pytest.mark.parametrize("argument", [Model(), reads, [Model()], {"f": reads}, type, OTHER])
def test_arguments_may_reach_more(argument: Any) -> None:
    assert not is_closed(plain, (LARGE, argument))


def test_a_method_of_another_argument_reads_a_global_array() -> None:
    found = grad(lambda x, model: model.loss(x))(LARGE, Model())
    np.testing.assert_array_equal(found, LARGE)


def test_large_arrays_are_passed_as_they_are_where_nothing_else_reaches_them() -> None:
    def same(x):
        return np.sum(x)

    def captures(x):
        return np.sum(x * one)

    def is_passed(f, x):
        return ArgumentsApart(f, [0], (x,), {}).args[0] is x

    one = np.ones(1)
    for x in (LARGE, LARGE[:10]):
        assert is_passed(same, x) == (x is LARGE)
        assert not is_passed(captures, x)


def test_jitted_functions_capture_what_their_python_does():
    numba = pytest.importorskip("numba")
    a = np.ones(3)
    jitted = numba.njit(lambda x: x @ a)
    assert any(value is a for value in captured_values(jitted))
    assert not any(type(v).__module__.startswith("numba.") for v in captured_values(jitted))
    assert is_closed(numba.njit(lambda x: np.sum(x)), [a])


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_loops_over_an_argument_that_is_captured_memory() -> None:
    table = np.linspace(0.2, 1.5, 8)

    def f(x):
        y, s = x * 1.0, 0.0
        for i in range(3):
            y[1:-1] = y[1:-1] * table[1:3] + 0.1 * (y[2:] - y[:-2]) * x[1:-1]
            s += x[i] * table[i + 1] ** 2 + np.sin(x[i]) * table[i]
        return s + np.sum(y * table[:4]) + sum(a * b for a, b in zip(x, table[1:5], strict=True))

    for shared in (table[:4], table[2:6], table[::2], table[3::-1]):
        separate = shared.copy()
        expected = value_and_grad(f)(separate)
        for found in (value_and_grad(f)(shared), value_and_grad(f, debug=True)(shared)):
            assert found[0] == expected[0] == f(separate)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
        _, slope = jvp(f, (shared,), (np.ones(4),))
        np.testing.assert_allclose(slope, np.sum(expected[1]), rtol=1e-12)
