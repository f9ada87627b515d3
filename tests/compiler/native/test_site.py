"""Derivatives with compile=True agree with those without, in every mode."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.site import report
from tests.compiler.native.whole_functions import FUNCTIONS

pytestmark = pytest.mark.plain


def active(args):
    """Return the positions of the arguments with a derivative."""
    return tuple(
        k for k, a in enumerate(args) if isinstance(a, float) or np.asarray(a).dtype.kind == "f"
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name, tried):
    f, args = FUNCTIONS[name]
    argnums = active(args)
    given = copy.deepcopy(args)
    value, g = value_and_grad(f, argnums, compile=True)(*given)
    assert tried == [True]
    expected, h = value_and_grad(f, argnums)(*copy.deepcopy(args))
    assert type(value) is type(expected)
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    for a, b in zip(given, args, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode_and_second_order(name, tried):
    f, args = FUNCTIONS[name]
    argnums = active(args)
    point = tuple(copy.deepcopy(args[k]) for k in argnums)
    along = tuple(np.cos(a) if np.ndim(a) else 0.7 for a in point)

    def of_active(*given):
        full = list(copy.deepcopy(args))
        for k, a in zip(argnums, given, strict=True):
            full[k] = a
        return f(*full)

    def gradient(*given):
        return grad(of_active, tuple(range(len(argnums))))(*given)

    y, t = jvp(of_active, point, along, compile=True)
    assert True in tried
    y0, t0 = jvp(of_active, point, along)
    assert type(t) is type(t0)
    assert_allclose((y, t), (y0, t0), rtol=1e-9, atol=1e-12)
    second = jvp(gradient, point, along, compile=True)[1]
    for a, b in zip(second, jvp(gradient, point, along)[1], strict=True):
        assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_results_of_any_structure(tried):
    def f(x, k):
        x *= 2.0
        return x, (np.sin(x), k * x[0], None), "text", 3

    x = np.array([0.3, 0.4])
    y, pullback = vjp(f, x, 0.5, compile=True)
    assert tried == [True]
    assert y[2:] == ("text", 3)
    assert y[1][2] is None
    assert_allclose(y[0], [0.6, 0.8])
    dx, dk = pullback((np.array([1.0, 2.0]), (np.array([0.0, 1.0]), 1.0, None), None, None))
    assert_allclose(dx, [2.0 + 0.5 * 2.0, 4.0 + 2 * math.cos(0.8)])
    assert_allclose(dk, 0.6)
    assert_allclose(x, [0.3, 0.4])


def test_function_that_is_called_within_is_compiled_where_the_outer_one_is_not(tried):
    def inner(u, rate):
        for i in range(1, len(u)):
            u[i] += rate * u[i - 1]
        return u

    def outer(u, rate):
        kept = {k: inner(u * k, rate) for k in {1.0, 2.0}}
        return np.sum(kept[1.0] * kept[2.0])

    u = np.array([1.0, 2.0, 3.0])
    found = grad(outer, (0, 1), compile=True)(u, 0.5)
    assert tried == [True, True]
    for a, b in zip(found, grad(outer, (0, 1))(u, 0.5), strict=True):
        assert_allclose(a, b)
    assert "a loop over an object of type set" in str(report(outer)[0])
    assert report(inner)[0].found == "compiled"


def test_results_that_the_way_back_reads_may_be_overwritten_afterwards(tried):
    def decayed(v):
        total = 0.0
        for _ in range(2):
            v = v * 0.9
            total = total + np.sum(v * v)
        return v, total

    def outer(x):
        log = [x]
        v, total = decayed(log[0])
        v[:] = 0.5 * (x + np.where(x > 1.5, v, 1.0))
        return np.sum(v) + total

    x = np.array([1.0, 2.0])
    assert_allclose(grad(outer, compile=True)(x), grad(outer)(x), rtol=1e-12)
    assert tried == [True]


def test_an_infinite_cotangent_does_not_pass_what_was_not_chosen(tried):
    def f(x):
        return np.sum(np.sqrt(np.maximum(x, 0.5) - 0.5))

    x = np.array([-1.0, 0.75, 0.25, 4.5])
    with np.errstate(all="ignore"):
        assert_allclose(grad(f, compile=True)(x), [0.0, 1.0, 0.0, 0.25])
    assert tried == [True]


def sigmoids(x):
    return np.sum(1 / (1 + np.exp(-x)))


def careful(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return sigmoids(x)
        except RuntimeWarning:
            return np.sum(0.5 * (1 + np.tanh(0.5 * x))) + x[1]


def recording(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = sigmoids(x)
    return 2.0 * value if caught else value


@pytest.mark.parametrize("f", [careful, recording])
def test_warnings_that_the_program_catches_are_those_of_the_plain_call(f, tried):
    x = np.array([-1000.0, 2.0])
    value, g = value_and_grad(f, compile=True)(x)
    expected, h = value_and_grad(f)(x)
    assert value == expected == f(x)
    assert_allclose(g, h, rtol=1e-12)
    v = np.array([0.3, 0.7])
    assert_allclose(jvp(f, (x,), (v,), compile=True), (value, h @ v), rtol=1e-12)


def test_hessian_vector_product(tried):
    def energy(x):
        s = 0.0
        for i in range(len(x) - 1):
            s += (x[i + 1] - x[i] ** 2) ** 2
        return s

    x, v = np.array([0.5, 0.2, 0.7]), np.array([1.0, -1.0, 0.5])
    assert_allclose(hvp(energy, (x,), v, compile=True), hvp(energy, (x,), v))
    assert True in tried


PROGRAM = """
import program
from mooncake_py import grad
print(grad(program.f, compile=True)(3.0))
"""


@pytest.mark.slow
def test_the_end_of_a_program_is_silent(tmp_path):
    """Code of functions may be gone after what knows it."""
    pytest.importorskip("llvmlite")
    (tmp_path / "program.py").write_text("def f(x):\n    return x * x\n")
    path = os.pathsep.join([str(tmp_path), *sys.path[1:], os.getcwd()])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path, "MOONCAKE_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("6.0\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FUNCTIONS)[::2])
def test_compiled_by_llvm(name):
    pytest.importorskip("llvmlite")
    f, args = FUNCTIONS[name]
    argnums = active(args)
    value, g = value_and_grad(f, argnums, compile=True)(*copy.deepcopy(args))
    expected, h = value_and_grad(f, argnums)(*copy.deepcopy(args))
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert {outcome.found for outcome in report(f)} <= {"compiled"}


def test_moments_of_all_elements(tried):
    def f(x):
        return np.var(x) + np.std(x) * np.mean(x, keepdims=True)[0]

    x = np.array([1.0, 2.0, 4.0])
    assert_allclose(grad(f, compile=True)(x), grad(f)(x))
    assert tried == [True]


def test_second_derivatives_where_the_text_of_a_partial_treats_points_apart(tried):
    def f(x):
        return np.sum(np.logaddexp(0.0, x) + np.logaddexp(x, 1.0) * x)

    at, along = np.array([0.0, 1.0, 0.5]), np.ones(3)
    assert_allclose(hvp(f, (at,), along, compile=True), hvp(f, (at,), along), rtol=1e-12)
    assert tried == [True]


def test_few_operations_are_recorded_where_something_else_calls_them(tried):
    def square(a, b):
        return -0.5 * (a - b) ** 2

    def f(x):
        draws = np.random.RandomState(0)  # which is not compiled
        return sum([square(x + draws.randn(), x) for _ in range(3)], 0.5 * x * x)

    assert_allclose(grad(f, compile=True)(0.3), grad(f)(0.3))
    assert tried == []
    assert_allclose(grad(square, compile=True)(0.3, 0.1), -0.2)
    assert tried == [True]
