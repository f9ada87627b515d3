"""Sparse Jacobians and Hessians are the dense ones, and patterns that lack entries are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import SparsityError, grad, hessian, jacobian, sparse_hessian, sparse_jacobian
from mooncake_py.errors import InvalidTangentError

pytest.importorskip("scipy")
from scipy import integrate, optimize, sparse

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=12)


def step(u: Any, rate: float = 0.5) -> Any:
    u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return u


def of_plane(u: Any) -> Any:
    v = u.copy()
    v[1:] += np.sin(u[:-1])
    v[:, 1:] *= u[:, :-1]
    return v[:, ::2]


def energy(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1] ** 2) + x[0] * np.exp(x[-1])


@pytest.mark.parametrize("compile", [False, True])
def test_they_are_the_dense_ones(compile: bool) -> None:
    J = sparse_jacobian(step, compile=compile)(X, 0.25)
    assert isinstance(J, sparse.csr_array)
    np.testing.assert_allclose(J.toarray(), jacobian(step)(X, 0.25), rtol=1e-14)
    assert J.nnz == 3 * 10 + 2
    H = sparse_hessian(energy, compile=compile)(X)
    np.testing.assert_allclose(H.toarray(), hessian(energy)(X), rtol=1e-13, atol=1e-15)
    U = RANDOM.normal(size=(3, 4))
    np.testing.assert_allclose(
        sparse_jacobian(of_plane)(U).toarray(), jacobian(of_plane)(U).reshape(6, 12), rtol=1e-14
    )
    np.testing.assert_allclose(sparse_jacobian(energy)(X).toarray(), [grad(energy)(X)], rtol=1e-14)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_pattern_may_be_given(kind: str) -> None:
    pattern = sparse.diags_array([np.ones(11), np.ones(12), np.ones(11)], offsets=[-1, 0, 1])
    J = sparse_jacobian(step, pattern if kind == "sparse" else pattern.toarray())
    for x in (X, 1.0 - X):
        np.testing.assert_allclose(J(x).toarray(), jacobian(step)(x), rtol=1e-14)
    np.testing.assert_array_equal(X, np.random.default_rng(0).normal(size=12))


def test_a_pattern_that_lacks_entries_is_an_error() -> None:
    with pytest.raises(SparsityError, match="the pattern lacks entries of the derivative of step"):
        sparse_jacobian(step, np.eye(12))(X)
    with pytest.raises(SparsityError, match=r"has shape \(11, 12\), the matrix \(12, 12\)"):
        sparse_jacobian(step, np.ones((11, 12)))(X)
    sparse_jacobian(step, np.eye(12), check=False)(X)


def test_entries_that_become_nonzero_elsewhere_are_detected_there() -> None:
    def f(x: Any) -> Any:
        y = x * x
        if x[0] > 0.0:
            y[3] += x[5] ** 3
        return y

    J = sparse_jacobian(f)
    for x in (-np.abs(X), np.abs(X), -np.abs(X)):
        np.testing.assert_allclose(J(x).toarray(), jacobian(f)(x), rtol=1e-14)


@pytest.mark.parametrize("x", [3.0, np.arange(3), [1.0, 2.0]])
def test_arguments_are_arrays_of_floats(x: Any) -> None:
    with pytest.raises(InvalidTangentError, match="is by an array of floats"):
        sparse_jacobian(step)(x)


def test_single_precision_and_derivatives_of_it() -> None:
    x = X.astype(np.float32)
    J = sparse_jacobian(step)(x)
    assert J.dtype == np.float32
    np.testing.assert_allclose(J.toarray(), jacobian(step)(x), rtol=1e-5)


def test_solvers_take_them() -> None:
    """A stiff reaction with diffusion, and a nonlinear system, against the dense ones."""

    def rate(t: float, u: Any) -> Any:
        du = -50.0 * u**3
        du[1:-1] += 30.0 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return du

    start = np.sin(np.linspace(0.0, 3.0, 12))
    jac = sparse_jacobian(rate, argnum=1)
    found = integrate.solve_ivp(rate, (0.0, 0.1), start, method="BDF", jac=jac)
    dense = integrate.solve_ivp(rate, (0.0, 0.1), start, method="BDF", jac=jacobian(rate, 1))
    np.testing.assert_allclose(found.y[:, -1], dense.y[:, -1], rtol=1e-8)

    def residual(x: Any) -> Any:
        r = x**3 + x - 1.0
        r[1:] += 0.1 * x[:-1]
        return r

    solved = optimize.least_squares(residual, X, jac=sparse_jacobian(residual), tr_solver="lsmr")
    np.testing.assert_allclose(residual(solved.x), 0.0, atol=1e-7)


@pytest.mark.parametrize(("f", "x", "shape"), [
    (lambda x: x * 2.0, np.zeros(0), (0, 0)), (lambda x: x[:0], np.ones(3), (0, 3)),
    (lambda x: np.zeros(2), np.ones(3), (2, 3)),
])  # fmt: skip
def test_matrices_without_entries(f: Any, x: Any, shape: tuple[int, int]) -> None:
    for _ in range(2):
        J = sparse_jacobian(f)(x)
        assert (J.shape, J.nnz) == (shape, 0)


@pytest.mark.parametrize(("f", "message"), [
    (lambda x: (x, x[:1]), "returned a tuple, which has no sparse derivative"),
    (lambda x: x * 1j, "returned an array of complex128"),
    (lambda x: np.arange(2), "returned an array of int64"),
])  # fmt: skip
def test_outputs_are_floats(f: Any, message: str) -> None:
    with pytest.raises(InvalidTangentError, match=message):
        sparse_jacobian(f)(X)


def test_a_pattern_has_two_axes() -> None:
    with pytest.raises(SparsityError, match="has two axes, not 1"):
        sparse_jacobian(step, np.ones(3))
