"""Statements on floats that call functions of `math` and NumPy: one entry, like the general way."""

from __future__ import annotations

import math
import types
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.derivatives.number_functions import NUMPY_FUNCTIONS, slope_of
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.test_elements import entries
from tests.compiler.statements.test_expressions import differences, gradient


def numpy_of_floats(a, b):
    for _ in range(3):
        a = a - 0.1 * np.sin(b) / (a * a + 2.0)
        b += np.exp(-a) * np.sqrt(b * b + 1.0)
    return np.tanh(a * b) + np.log(b * b + 1.0) * a


def mixed_functions(a, b):
    c = math.log(a * a + 1.0) - np.arctan(b) * math.atan(a)
    return np.cos(c) * math.cosh(c) + math.log(b + 2.0)


def powers(a, b):
    c = a**2 - b**3 * a
    c -= (c - b) ** 4 / 8
    return -(c**2 * b) + (-a) ** 3


def calls_at_the_root(a, b):
    c = math.sqrt(a * a + b * b)
    d = np.exp(c * a)
    return -(c * d + a)


def powers_of_arrays(x, w):
    y = (x - w) ** 2 + x**3 * w
    for i in range(1, 3):
        y[i] = (y[i - 1] - x[i]) ** 2 + np.sin(w[i])
        w[i] += np.exp(x[i] ** 3) * math.log(w[i] ** 2 + 1.0)
    return np.sum(y * w)


def whole_numbers(x, w):
    density = np.zeros(6)
    for k in range(len(x)):
        cell = int(x[k] * w[1] + 2.0)
        share = x[k] - cell + int(3 * w[0])
        density[cell] += w[k] * (1.0 - share)
        density[cell + 1] += w[k] * share * x[-int(w[k])]
        x[k] = int(share + 0.3)
    return np.sum(density * density) + np.sum(x * w) * int(w[0] + x[1])


ARRAYS = np.array([0.3, -1.2, 0.8, 2.0]), np.array([1.1, 0.2, -0.7, 0.4])
PROGRAMS = {
    **dict.fromkeys((numpy_of_floats, mixed_functions, powers, calls_at_the_root), (0.7, 0.4)),
    powers_of_arrays: ARRAYS,
    whole_numbers: ARRAYS,
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_functions_equal_the_general_way_and_differences(f, monkeypatch):
    args = PROGRAMS[f]
    before = [np.array(a) for a in args]
    value, fused = gradient(f, args, (0, 1))
    again = gradient(f, args, (0, 1))[1]
    monkeypatch.setattr(ReverseContext, "fuses", False)
    reference, general = gradient(f, args, (0, 1))
    assert value == reference == f(*map(np.copy, args))
    assert type(value) is type(reference)
    for k, (a, b, c) in enumerate(zip(fused, general, again, strict=True)):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-12)
        assert_allclose(c, a, rtol=0, atol=0)
        assert_allclose(a, differences(f, args, k), rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(args[k], before[k])


@pytest.mark.parametrize("f", NUMPY_FUNCTIONS, ids=lambda f: f.__name__)
def test_slopes_of_numpy_functions_are_those_of_math(f):
    x = 1.25 if f is np.arccosh else 0.375
    y = f(x)
    slope = slope_of(f)(x, float(y))
    assert_allclose(slope, grad(lambda a: f(a))(x), rtol=1e-14)
    assert_allclose(grad(lambda a: f(a) * 2.0)(x), 2 * slope, rtol=1e-14)


def test_one_entry_records_a_statement_with_functions():
    def floats(a, b):
        return (a[0] - b[1]) ** 2 * np.sin(a[1]) + math.log(b[0])

    def root(a, b):
        return math.sqrt(a[0] * a[0] + b[0] * b[0])

    def store(a, b):
        a[0] = np.exp(b[1])

    def whole(a, b):
        return int(a[0] * 3.0) * b[0]

    for f in (floats, root, store, whole):
        assert entries(f, np.array([0.3, -1.2]), np.array([1.1, 0.2])) == 1


def test_results_have_the_types_of_the_plain_call():
    def f(a, n):
        values = (
            np.sin(a) * 2, math.sin(a) * 2, math.cos(np.sin(a) + 1), a**2 - n, n**2 * a,
            -(a * n), np.sqrt(n) * a, math.sqrt(n) * a,
        )  # fmt: skip
        return values[0] + values[1], tuple(map(type, values))

    for a in (0.5, np.float64(0.5)):
        (_, kinds), _ = value_and_grad(f, has_aux=True)(a, 3)
        assert kinds == f(a, 3)[1]


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda a: np.log(a) * a, 0.0),
        (lambda a: np.log(a) * 2.0 + a, -1.0),
        (lambda a: np.exp(a) * 0.5, 1000.0),
        (lambda a: np.arccos(a) + a, 2.0),
        (lambda a: np.sqrt(a * 1.0), -1.0),
        (lambda a: np.arctanh(a) * a, 1.0),
        (lambda a: np.sin(a) / (a - a), 1.0),
        (lambda a: np.sin(a * math.inf) * 1.0, 1.0),
    ],
)
def test_warnings_of_numpy_come_once_as_in_the_plain_call(f, x):
    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        f(x)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        value_and_grad(f)(x)
    assert [str(w.message) for w in ours] == [str(w.message) for w in plain]


@pytest.mark.without_modes(
    "an infinite tangent times zero is nan", "forward", "inside", "other", "compiled"
)
def test_an_infinite_slope_of_numpy_gives_no_warning():
    assert value_and_grad(lambda a: np.sqrt(a) * 2 + a)(0.0) == (0.0, math.inf)
    assert value_and_grad(lambda a, b: b * np.sqrt(a) * 0.0 + b)(0.0, 2.0) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("f", "x", "error"),
    [
        (lambda a: math.log(a) * a, 0.0, ValueError),
        (lambda a: math.sqrt(a * 1.0), -1.0, ValueError),
        (lambda a: math.exp(a) * a, 1000.0, OverflowError),
        (lambda a: a**2 * 1e-300, 1e200, OverflowError),
    ],
)
def test_errors_of_math_are_those_of_the_plain_call(f, x, error):
    with pytest.raises(error) as plain:
        f(x)
    with pytest.raises(error) as ours:
        value_and_grad(f)(x)
    assert str(ours.value) == str(plain.value)
    assert ours.value.__context__ is None


def test_a_function_that_is_bound_anew_is_the_one_that_runs():
    module = types.ModuleType("functions")
    module.wave = math.sin
    scope = {"m": module}
    source = "def f(x):\n    y = m.wave(x) * 2.0\n    return y + m.wave(x * 2.0)\n"

    def exact(wave, x):
        return wave(x) * 2.0 + wave(x * 2.0)

    f = from_source(source, scope)
    for wave, slope in (
        (math.sin, math.cos),
        (math.exp, math.exp),
        (np.cos, lambda x: -math.sin(x)),
        (math.sin, math.cos),
        (Doubling(), lambda x: 2.0),
    ):
        module.wave = wave
        value, g = value_and_grad(f)(0.7)
        assert_allclose(value, exact(wave, 0.7), rtol=0)
        assert_allclose(g, 2 * (slope(0.7) + slope(1.4)), rtol=1e-14)


class Doubling:
    __hash__ = None

    def __eq__(self, other):
        return self is other

    def __call__(self, x):
        return x + x


def test_what_int_gives_is_an_int_and_int_can_be_shadowed():
    def f(x, y):
        n = int(y[0] * x)
        return n * x, (n, type(n), type(int(x)), type(int(x * 1.0)))

    (value, kinds), g = value_and_grad(f, (0, 1), has_aux=True)(2.5, np.array([1.5]))
    assert (value, kinds) == (7.5, (3, int, int, int))
    assert_allclose(g[0], 3.0)
    assert_allclose(g[1], [0.0])

    def shadowed(x):
        int = math.sqrt
        k = int(x * x)
        return k * 3.0

    assert value_and_grad(shadowed)(2.0) == (6.0, 3.0)
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        value_and_grad(lambda x: int(x * math.nan) * x)(1.0)
    with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
        value_and_grad(lambda x: int(x[0] * math.inf) * x[0])(np.ones(1))


def test_a_local_name_shadows_a_module():
    def f(x):
        math = types.SimpleNamespace(sin=lambda a: a * 3.0)
        return math.sin(x) * 2.0 + x

    assert value_and_grad(f)(2.0) == (14.0, 7.0)


def from_source(source, scope):
    """Return the function `f` of a source that the engine can find."""
    import linecache

    name = "<functions bound again>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), scope)
    return scope["f"]
