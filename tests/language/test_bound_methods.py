"""Methods of active numbers that a program keeps: ``f = x.__mul__``, ``getattr(x, name)``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, jvp, vjp
from tests.support.gradients import Program, Programs

programs = Programs()
KINDS: list[Any] = [1.3, np.float64(1.3), 1.3 + 0.5j, np.float32(1.5), np.complex128(1 + 2j)]
NAMES = (
    "__add__", "__rsub__", "__pow__", "__rpow__", "__truediv__", "__lt__", "__eq__", "__neg__",
    "__abs__", "__bool__", "__float__", "__round__", "__trunc__", "__floor__", "__format__",
    "conjugate", "__iadd__",
)  # fmt: skip
ARGUMENTS: list[tuple[Any, ...]] = [
    (), (2.0,), ("a",), (2, None), (np.array([1.0, 2.0]),), (1j,), (None,), (2.0, 3.0),
]  # fmt: skip


@programs(1.3)
def kept(x):
    f, g = x.__mul__, x.__rsub__
    return f(g(3.0)) * f(x)


@programs(1.3)
def fallen_back(x):
    def run(a, b, name):
        y = getattr(a, f"__{name}__")(b)
        return getattr(b, f"__r{name}__")(a) if y is NotImplemented else y

    return run(2, x, "mul") * run(x, 2, "sub")


@programs(1.3)
def passed_on(x):
    steps = sum(map(x.__mul__, [1.0, x, 3.0]))
    return functools.reduce(lambda a, b: a * b, [steps, x.conjugate(), x.__float__()])


@programs(1.3)
def kept_around_a_derivative(x):
    f = x.__mul__
    return grad(lambda z: f(z) * z * x)(1.5) * checkpoint(lambda z: f(z) * z, x * x)


@pytest.mark.parametrize("program", programs, ids=str)
def test_methods_keep_derivatives(program: Program) -> None:
    program.check()
    slope = grad(program.f)(*program.args)
    np.testing.assert_allclose(jvp(program.f, program.args, (1.0,))[1], slope, rtol=1e-12)


def outcome(run: Any) -> tuple[Any, str]:
    try:
        return "value", repr(run())
    except Exception as error:  # whatever the plain call raises
        return type(error), ""


@pytest.mark.plain
@pytest.mark.parametrize("x", KINDS, ids=lambda x: type(x).__name__)
def test_results_and_errors_are_those_of_the_plain_call(x: Any) -> None:
    for name in NAMES:
        for args in ARGUMENTS:

            def f(x, name=name, args=args):
                return [x * 1, getattr(x, name)(*args)]

            with np.errstate(all="ignore"):
                expected = outcome(lambda f=f: f(x))
                assert outcome(lambda f=f: vjp(f, x)[0]) == expected, (name, args)
                assert outcome(lambda f=f: jvp(f, (x,), (x,))[0]) == expected, (name, args)


def test_an_operand_that_does_not_fit_is_not_implemented():
    def f(x):
        less = x.__lt__
        return 2 * x if less("a") is NotImplemented else x

    assert grad(f)(1.3) == 2.0


def compared(x):
    less, at_least, equal = x.__lt__, x.__ge__, x.__eq__
    inside = less(2.0) and not at_least(5.0) and not equal(7.0) and less("a") is NotImplemented
    return x**3 if inside else x


def beside_arrays(x):
    return x**3 if [x] < np.array([2.0]) and x < np.array([2.0]) else x


def kept_within(x):
    f = x.__mul__
    return f(x) * f(1.0)


@pytest.mark.parametrize("f", [compared, beside_arrays, kept_within])
def test_methods_in_derivatives_of_higher_order(f):
    for second in (hvp(f, (1.25,), 1.0), grad(grad(f))(1.25), jvp(grad(f), (1.25,), (1.0,))[1]):
        assert second == pytest.approx(7.5)
