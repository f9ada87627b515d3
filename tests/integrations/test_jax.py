"""Functions of JAX as functions with rules."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.errors import MissingRuleError
from mooncake_py.testing import rule_cases, test_rule
from tests.support.gradients import check

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
from_jax = pytest.importorskip("mooncake_py.integrations.jax").from_jax


@from_jax
@jax.jit
def quadratic(a, x):
    return x @ a @ x


@from_jax
def several(x, s):
    return jnp.sin(x) * s, [jnp.sum(x), x.astype(int)]


@from_jax
def squares(z):
    return z * z * jnp.conj(z)


@from_jax
def powers(x, n):
    return x**n


A = np.array([[1.0, 2.0], [0.5, -1.0]])
X = np.array([0.5, 1.5])
CASES = rule_cases(
    (quadratic, A, X),
    (powers, X, 3),
    (powers, 2.0, 3),
    (squares, np.array([1.0 + 2.0j, -0.5j])),
    layouts=False,
    dtypes=False,
    order=1,
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule_of_jax(case):
    case.check()


def test_layouts_of_numpy_are_taken():
    test_rule(quadratic, A, X, dtypes=False, order=1)


def test_double_precision_and_types_are_kept():
    y = quadratic(A, X)
    assert type(y) is np.float64
    assert y == pytest.approx(X @ A @ X, rel=1e-15)
    assert quadratic(A.astype(np.float32), X.astype(np.float32)).dtype == np.float32
    assert grad(quadratic)(A.astype(np.float32), X.astype(np.float32)).dtype == np.float32


def test_in_the_middle_of_code_in_place():
    def f(a, x):
        x[0] *= 3.0
        y = quadratic(a, x)
        a[1] += x * y
        return quadratic(a, x) * y

    check(f, A.copy(), X.copy())


def test_output_that_is_nested_and_used_in_part():
    def f(x, s):
        y, (_total, whole) = several(x, s)
        assert whole.dtype.kind == "i"
        return np.sum(y[1:]) + 0.0 * whole[0]

    check(f, X, 2.0)
    check(lambda x, s: several(x, s)[1][0] ** 2, X, 2.0, argnums=(0,))


def test_complex_gradients_follow_our_convention():
    z = np.array([1.0 + 2.0j])
    assert grad(lambda z: np.sum(np.abs(squares(z)) ** 2))(z) == pytest.approx(
        grad(lambda z: np.sum(np.abs(z * z * np.conj(z)) ** 2))(z)
    )
    assert grad(lambda x: squares(x * (1 + 1j)).real)(1.0) == pytest.approx(
        grad(lambda x: (2 * (1 + 1j) * x**3).real)(1.0)
    )


def test_pullback_may_be_called_again():
    y, pullback = vjp(quadratic, A, X)
    assert y == X @ A @ X
    np.testing.assert_allclose(pullback(1.0)[1], (A + A.T) @ X)
    np.testing.assert_allclose(pullback(2.0)[1], 2 * (A + A.T) @ X)


def test_keywords_are_refused():
    with pytest.raises(MissingRuleError, match="positional arguments only"):
        quadratic(A, x=X)
    with pytest.raises(MissingRuleError, match="positional arguments only"):
        grad(lambda x: quadratic(A, x=x))(X)
    with pytest.raises(MissingRuleError, match="positional arguments only"):
        grad(lambda a: quadratic(a, x=X))(A)
    cubes = from_jax(partial(lambda x, n: x**n, n=3))
    assert value_and_grad(cubes)(2.0) == (8.0, 12.0)


def test_forward_mode():
    da, dx = np.ones((2, 2)), np.array([1.0, -2.0])
    y, dy = jvp(quadratic, (A, X), (da, dx))
    assert y == pytest.approx(X @ A @ X)
    assert dy == pytest.approx(X @ da @ X + dx @ (A + A.T) @ X)

    def f(x):
        x[0] *= 3.0
        y, (total, _) = several(x, 2.0)
        return np.sum(y) + total

    assert jvp(f, (X,), (dx,))[1] == pytest.approx(float(grad(f)(X.copy()) @ dx))
