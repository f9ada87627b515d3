"""Inner derivatives run again on the way back: they find what they have found, or say so."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    elementwise,
    forwarddiff,
    grad,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    local_rules,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.errors import NestedDerivativeError
from tests.support.gradients import differences

X = np.array([0.3, -1.2, 0.7])

# Each makes a new program, with a generator in its first state.


def drawn_in_a_gradient():
    rng = np.random.default_rng(0)
    return lambda x: (
        np.sum(grad(lambda z: np.sum(z**2 * rng.normal(size=3) * x))(x + 0)) * (1 + rng.random())
    )


def drawn_by_the_former_generator():
    rng = np.random.RandomState(0)
    return lambda x: np.sum(grad(lambda z: np.sum(z**2 * rng.rand(3) * x))(x + 0)) * rng.rand()


def drawn_by_python():
    rng = random.Random(0)
    return lambda x: np.sum(grad(lambda z: np.sum(z**2 * rng.random() * x))(x + 0)) * rng.random()


def drawn_in_a_slope():
    rng = np.random.default_rng(0)
    return lambda x: (
        jvp(lambda z: np.sum(z**2 * rng.normal(size=3) * x), (x,), (x,))[1] * (1 + rng.random())
    )


def drawn_in_a_function_pulled_back():
    rng = np.random.default_rng(0)

    def program(x):
        y, pullback = vjp(lambda z: z**2 * rng.normal(size=3) * x, x + 0)
        rng.random()
        return np.sum(y) * np.sum(pullback(x)[0])

    return program


def drawn_about_the_argument():
    rng = np.random.default_rng(0)
    return lambda x: np.sum(hvp(lambda z: np.sum(z**3 * rng.normal(x, 1.0)), (x + 0,), x))


def drawn_in_forward_mode_over_reverse():
    rng = np.random.default_rng(0)

    def inner(z):
        return np.sum(grad(lambda w: np.sum(w**3 * rng.normal(size=3) * z))(z + 0))

    return lambda x: jvp(inner, (x,), (x,))[1] * (1 + rng.random())


def drawn_in_forwarddiff():
    rng = np.random.default_rng(0)
    return lambda x: np.sum(forwarddiff(lambda z: z * rng.normal(size=3), x) ** 2) * rng.random()


def shuffled():
    rng = np.random.default_rng(0)

    def inner(z):
        rng.shuffle(z)
        return np.sum(z * np.arange(3.0) * z[0])

    return lambda x: np.sum(grad(inner)(x + 0) * x) * rng.random()


DRAWS = [
    drawn_in_a_gradient, drawn_by_the_former_generator, drawn_by_python, drawn_in_a_slope,
    drawn_in_a_function_pulled_back, drawn_about_the_argument, drawn_in_forward_mode_over_reverse,
    drawn_in_forwarddiff, shuffled,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", DRAWS, ids=lambda f: f.__name__)
def test_the_same_numbers_are_drawn_again(make):
    expected = differences(lambda x: make()(x), (X.copy(),), 0)
    np.testing.assert_allclose(grad(make())(X.copy()), expected, rtol=1e-6)
    slope = jvp(make(), (X.copy(),), (X.copy(),))[1]
    np.testing.assert_allclose(slope, expected @ X, rtol=1e-6)


def test_generator_goes_on_as_if_run_once():
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    grad(lambda x: np.sum(grad(lambda z: np.sum(z**2 * rng.normal(size=3) * x))(x + 0)))(X.copy())
    other.normal(size=3)
    assert rng.random() == other.random()


def test_columns_of_a_jacobian_draw_the_same_numbers():
    rng = np.random.default_rng(0)
    for mode in ("forward", "reverse"):
        j = jacobian(lambda z: z[::-1] * rng.normal(), mode=mode)(X)
        assert np.count_nonzero(j) == 3
        assert len(set(j[j != 0])) == 1, mode


def test_pullback_called_again_draws_the_same_numbers():
    rng = np.random.default_rng(0)
    _, pullback = vjp(lambda z: z * rng.normal(size=3), X)
    np.testing.assert_array_equal(pullback(X)[0], pullback(X)[0])


def test_file_that_is_read_on_is_an_error():
    lines = io.StringIO("1.0\n2.0\n3.0\n")

    def program(x):
        return np.sum(grad(lambda z: np.sum(z**2 * float(lines.readline()) * x))(x + 0))

    with pytest.raises(NestedDerivativeError, match="returned another result") as caught:
        grad(program)(X.copy())
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_memory_changed_between_vjp_and_its_pullback_is_an_error():
    def program(x):
        held = x * 2
        _, pullback = vjp(lambda z: np.sum(z * z * held), x)
        held[...] = 1.0
        return np.sum(pullback(1.0)[0])

    with pytest.raises(NestedDerivativeError, match="after the call of vjp"):
        grad(program)(X.copy())


def test_variable_bound_anew_between_vjp_and_its_pullback():
    def program(x):
        s = 1.0

        def inner(z):
            return np.sum(z * z * x) * s

        _, pullback = vjp(inner, x + 0)
        s = 5.0
        return np.sum(pullback(1.0)[0]) + s

    np.testing.assert_allclose(grad(program)(X.copy()), 4 * X, rtol=1e-13)


SCALE = 1.0


def test_global_bound_anew_after_the_inner_derivative():
    def program(x):
        global SCALE
        SCALE = 2.0
        first = np.sum(grad(lambda z: np.sum(z**2 * x) * SCALE)(x + 0))
        _, pullback = vjp(lambda z: np.sum(z**2 * x) * SCALE, x + 0)
        SCALE = 5.0
        return first + np.sum(pullback(1.0)[0])

    np.testing.assert_allclose(grad(program)(X.copy()), 16 * X, rtol=1e-13)
    np.testing.assert_allclose(jvp(grad(program), (X,), (X,))[1], 16 * X, rtol=1e-13)
    assert SCALE == 1.0


def cube(x):
    return x**3


@pytest.mark.without_modes("the block has ended")
def test_rules_of_the_block_hold_on_the_way_back():
    def program(x):
        with local_rules():
            elementwise(cube, lambda x, y: 5 * x**2)
            return np.sum(grad(lambda z: np.sum(cube(z)))(x + 0))

    np.testing.assert_allclose(grad(program)(X.copy()), 10 * X, rtol=1e-13)


def test_memory_of_the_program_written_after_an_inner_derivative_has_read_it():
    def program(z):
        a: Any = np.expm1(z)
        np.add.at(a, 2, np.var(a))
        return np.sum(a)

    v = np.array([1.0, -0.5, 2.0])
    h = 1e-5
    expected = (grad(program)(X + h * v) - grad(program)(X - h * v)) / (2 * h)
    np.testing.assert_allclose(jvp(grad(program), (X.copy(),), (v,))[1], expected, rtol=1e-7)


def test_one_array_given_twice_to_vjp_inside_is_one_memory():
    def program(x):
        return np.sum(vjp(lambda a, b: np.sum(a * b**2), x, x)[1](1.0)[0])

    value, slope = jvp(program, (X.copy(),), (X,))
    np.testing.assert_allclose(value, program(X))
    np.testing.assert_allclose(slope, 2 * program(X))


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: lambda x: grad(f, mode="forward")(np.tile(x, 6)),
        lambda f: lambda x: jacobian(f, mode="forward")(np.tile(x, 6)),
        lambda f: lambda x: jacobian(lambda x: f(x) * np.ones(40))(np.tile(x, 6)),
        hessian_diagonal,
        lambda f: lambda x: sum(map(np.sum, value_grad_and_hessian(f)(x))),
        lambda f: grad(lambda x: forwarddiff(f, x)),
    ],
    ids=["gradient", "columns", "columns after a run", "diagonal", "all three", "forwarddiff"],
)
def test_runs_of_one_derivative_have_one_result(derivative):
    lines = io.StringIO("\n".join(map(str, range(1, 100))))
    f = lambda x: np.sum(x**3) * float(lines.readline())  # noqa: E731
    with pytest.raises(NestedDerivativeError, match="takes a run for each number"):
        derivative(f)(X)
    with pytest.raises(NestedDerivativeError, match="second run"):
        grad(lambda x: np.sum(derivative(f)(x)))(X)
