"""Functions that Numba compiled: derived from their Python, compiled where all is constant."""

from __future__ import annotations

import warnings
from types import FunctionType

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    from_vjp,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    overlay,
    rewritten,
    rule_of,
    tape_of,
    test_rule,
    value_and_grad,
    vjp,
)

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402

X = np.array([1.0, -2.0, 3.0])
TABLE = np.array([2.0, 3.0, 5.0])


@njit
def square(x):
    return x * x


@njit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += square(x[i])
    return s


def with_kernel(kernel, x):
    return kernel(x[0]) + kernel(x[1])


# Ways in.


def test_entry_points():
    value, gradient = value_and_grad(total)(X)
    assert value == 14.0
    assert type(value) is float  # as compiled code returns it
    np.testing.assert_array_equal(gradient, 2 * X)
    np.testing.assert_array_equal(vjp(total, X)[1](1.0)[0], 2 * X)
    assert jvp(total, (X,), (X,)) == (14.0, 28.0)
    np.testing.assert_array_equal(jacobian(total)(X), 2 * X)
    np.testing.assert_array_equal(hessian(total)(X), 2 * np.eye(3))
    np.testing.assert_array_equal(hvp(total, (X,), X), 2 * X)
    np.testing.assert_array_equal(grad(total, debug=True)(X), 2 * X)
    np.testing.assert_array_equal(grad(total, mode="forward")(X), 2 * X)
    assert grad(lambda t: grad(total)(t * X)[1])(2.0) == -4.0


@pytest.mark.slow
def test_rule_of_a_jitted_function():
    test_rule(total, X)


def test_calls_from_other_functions():
    np.testing.assert_array_equal(grad(lambda x: 2 * total(x))(X), 4 * X)
    np.testing.assert_array_equal(grad(lambda x: checkpoint(total, x))(X), 2 * X)


def test_the_python_function_itself():
    np.testing.assert_array_equal(grad(lambda x: total.py_func(x))(X), 2 * X)


# Kernels: jitted functions as values.


def test_kernels_as_arguments():
    np.testing.assert_array_equal(grad(with_kernel, 1)(square, X), [2, -4, 0])
    np.testing.assert_array_equal(grad(njit(with_kernel), 1)(square, X), [2, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, k=square: k(x[2]))(X), [0, 0, 6])


def test_kernels_in_containers_and_objects():
    class Model:
        kernel = staticmethod(square)

    model = Model()
    model.own = square
    np.testing.assert_array_equal(grad(lambda x, ks: ks[0](x[1]))(X, [square]), [0, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, o: o.own(x[1]))(X, model), [0, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, o: o.kernel(x[1]))(X, model), [0, -4, 0])


def test_kernels_that_are_captured():
    def made(kernel):
        def f(x):
            return kernel(x[0]) * x[1]

        return f

    np.testing.assert_array_equal(grad(made(square))(X), [-4, 1, 0])
    np.testing.assert_array_equal(grad(njit(made(square)))(X), [-4, 1, 0])


def test_functions_that_are_jitted_within():
    def loss(x):
        @njit
        def scaled(y):
            return y * x

        twice = njit(lambda y: scaled(scaled(y)))
        return scaled(3.0) * njit(lambda y: y + x)(1.0) + twice(1.0)

    assert grad(loss)(2.0) == 19.0


# What a call may look like.


@njit
def power(x, base=2.0, *, times=3):
    for _ in range(times):
        x = x * base
    return x


def test_defaults_and_keywords():
    assert grad(power)(1.0) == 8.0
    assert grad(lambda x: power(x, times=1))(1.0) == 2.0
    assert grad(lambda x: power(1.0, x))(3.0) == 27.0


@njit
def pair(x, y):
    return x * y, (x + y, 2)


def test_tuples():
    _, pull = vjp(pair, 2.0, 3.0)
    assert pull((1.0, (10.0, None))) == (13.0, 12.0)


@njit
def raised_to(x, n):
    if n == 0:
        return 1.0
    return x * raised_to(x, n - 1)


@njit
def multiples(x):
    for i in range(4):
        yield i * x


def test_recursion_and_generators():
    assert grad(raised_to)(2.0, 4) == 32.0
    assert grad(lambda x: sum(multiples(x)))(2.0) == 6.0


@njit
def limited(x, n):
    s = 0.0
    for i in range(n):
        if i == 2:
            raise ValueError("too many")
        s += x[i]
    return s


@pytest.mark.parametrize("f", [limited, lambda x, n: x[0] * limited(TABLE, n)])
def test_exceptions_pass_with_the_line(f):
    with pytest.raises(ValueError, match="too many") as caught:
        grad(f)(X, 3)
    assert "in limited" in caught.value.__notes__[0]


def test_exceptions_that_are_caught():
    def guarded(x):
        try:
            return limited(x, 3)
        except ValueError:
            return 3 * x[0]

    np.testing.assert_array_equal(grad(guarded)(X), [3, 0, 0])


# Rules come first.


def loop_over_doubled(x):
    s = 0.0
    for i in range(3):
        s += doubled(x[i])  # noqa: F821 - a global of the copies
    return s


def test_rule_for_a_jitted_function():
    @njit
    def doubled(x):
        return 2 * x

    scope = {"doubled": doubled}
    loop = FunctionType(loop_over_doubled.__code__, scope)
    np.testing.assert_array_equal(grad(loop)(X), [2, 2, 2])

    @from_vjp(doubled)
    def rule(x):
        return doubled(x), lambda dy: (100 * dy,)

    assert grad(doubled)(1.0) == 100.0
    np.testing.assert_array_equal(grad(loop)(X), [100, 100, 100])
    np.testing.assert_array_equal(grad(njit(loop))(X), [100, 100, 100])


def test_rule_for_its_python():
    def plain(x):
        return 2 * x

    jitted = njit(plain)

    def loop(x):
        s = 0.0
        for i in range(3):
            s += jitted(x[i])
        return s

    np.testing.assert_array_equal(grad(loop)(X), [2, 2, 2])

    @from_vjp(plain)
    def rule(x):
        return plain(x), lambda dy: (7 * dy,)

    assert grad(jitted)(1.0) == 7.0
    np.testing.assert_array_equal(grad(loop)(X), [7, 7, 7])


def test_replacement_by_its_python():
    jitted = njit(lambda x: x * x)
    assert grad(jitted)(3.0) == 6.0
    overlay(jitted)(jitted.py_func)
    assert grad(jitted)(3.0) == 6.0


@njit(parallel=True)
def in_parallel(x):
    s = 0.0
    for i in numba.prange(len(x)):
        s += square(x[i])
    return s


@njit("f8(f8)")
def square_of_float(x):
    return x * x


def of_floats(x):
    s = 0.0
    for i in range(len(x)):
        s += square_of_float(x[i])
    return s


def of_numbers(x):
    s = 0.0
    for i in range(len(x)):
        s += square(x[i])
    return s


@pytest.mark.plain
@pytest.mark.parametrize("f", [total, in_parallel, of_numbers, of_floats])
def test_loops_are_one_entry(f):
    (entry,) = tape_of(f, X).entries
    assert entry.operation == "loop"
    np.testing.assert_array_equal(grad(f)(X), 2 * X)


@pytest.mark.plain
def test_numbers_from_jitted_functions_are_those_of_python():
    def general(x, functions):
        s = 0.0
        for i in range(len(x)):
            s += functions[0](x[i])
        return s

    value, _ = value_and_grad(of_numbers)(X)
    assert type(value) is type(value_and_grad(general)(X, [square])[0]) is float


def test_what_answers_for_a_jitted_function():
    assert "runs compiled on constants, else derived" in str(rule_of(total))
    assert "for i in C.fused_loop(range(C.len(x))):" in rewritten(total)


def test_no_warning_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: total(x) * square(3.0))(X)
