"""Sparse matrices: constant ones, and those whose elements are active."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import MissingRuleError, SolverError, grad, value_and_grad
from tests.support.gradients import check
from tests.support.pairs import pairwise

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
X = np.array([0.3, 1.2, 0.7])
DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.5, -1.0, 0.0], [0.0, 3.0, 0.0]])


def in_steps(a: Any, x: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        u[:] = u - 0.1 * (a.T @ (a @ u))
        x *= 0.5
    return np.sum(u * u) + x[0]


USES = {
    "vector": lambda a, x: np.sum((a @ x) ** 2),
    "dot": lambda a, x: np.sum(a.dot(x) ** 2),
    "from both sides": lambda a, x: np.sum(np.sin(a @ x) @ a),
    "matrix": lambda a, x: np.sum((a @ np.outer(x, x)) ** 2),
    "complex": lambda a, x: np.abs(np.sum((1j * a) @ (x * (1 + 2j)))),
    "in steps": in_steps,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("use", "form", "kind"), pairwise(USES, ["csr", "csc", "coo", "dia"], ["array", "matrix"])
)
def test_gradient(use: str, form: str, kind: str) -> None:
    a = getattr(sparse, f"{form}_{kind}")(DENSE)
    check(lambda x: USES[use](a, x), X)


def test_elements_of_a_copy_may_be_written() -> None:
    a = sparse.csr_array(np.eye(3))

    def f(x: Any) -> Any:
        b = a.copy()
        b.data[:] = x
        return np.sum(b @ x)

    check(f, X)
    assert_array_equal(a.toarray(), np.eye(3))


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia"])
def test_elements_that_vanish_keep_their_derivative(form: str) -> None:
    a = sparse.csr_array(np.diag(X)).asformat(form)

    def f(x: Any) -> Any:
        b = sparse.coo_array((x, ([0, 1, 2], [0, 1, 2])), shape=(3, 3)).asformat(form)
        return (b - a).sum() + (a @ (b - a)).sum() + sparse.csr_array(b - a).multiply(a).sum()

    assert_allclose(grad(f)(X), 1 + X + X)


def test_a_zero_cotangent_meets_an_infinite_element() -> None:
    def f(x: Any) -> Any:
        y = sparse.csr_array((x, [0, 1, 1], [0, 2, 3, 3]), shape=(3, 3)) @ np.ones(3)
        return y[1]

    assert_array_equal(grad(f)(np.array([np.inf, np.nan, 2.0])), [0.0, 0.0, 1.0])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["csr", "bsr", "lil", "dia"])
def test_matrices_of_ints_and_truths_are_made_beside(form: str) -> None:
    whole = DENSE[1:].astype(int)

    def f(x: Any) -> Any:
        a = sparse.csr_array(whole).asformat(form)
        b = (a > a.T).astype(int) - 2 * (a != a.T) + a.maximum(a.T) + a @ a
        truths = sparse.csr_array(whole > 0).asformat(form)
        return np.sum((b @ x) ** 2) + np.sum((truths.T + truths) @ x) + (a - a).nnz * x[0]

    check(f, X)


def test_a_sparse_matrix_is_an_argument() -> None:
    a = sparse.csr_array(DENSE[1:])
    gradient = grad(lambda a: np.sum((a @ X) ** 2))(a)
    i, j = a.nonzero()
    assert_allclose(gradient.data, (2 * (a @ X))[i] * X[j])


SQUARE = DENSE[1:] + 4 * np.eye(3)

SOLVES = {
    "spsolve": lambda a, x: linalg.spsolve(a, x),
    "matrix": lambda a, x: linalg.spsolve(a, np.outer(x, x[:2])),
    "column": lambda a, x: linalg.spsolve(a, x[:, None]),
    "complex": lambda a, x: np.abs(linalg.spsolve((1 + 2j) * a, x * (1 - 1j))),
    "splu": lambda a, x: linalg.splu(a).solve(x),
    "splu-transposed": lambda a, x: linalg.splu(a).solve(np.outer(x, x), trans="T"),
    "splu-adjoint": lambda a, x: linalg.splu(a).solve(rhs=x, trans="H"),
    "factorized": lambda a, x: linalg.factorized(a)(x),
}


@pytest.mark.parametrize("solve", SOLVES)
def test_gradient_of_systems(solve: str) -> None:
    a = sparse.csc_array(SQUARE)

    def f(x: Any) -> Any:
        y = x * x
        z = SOLVES[solve](a, y)
        y[:] = 0.0
        return np.sum(z * z) + np.sum(y)

    check(f, X)


def shifted(x: Any) -> Any:
    """Return a matrix whose elements are active."""
    a = sparse.csc_array(SQUARE)
    a.data[:3] = x
    return a


def test_gradient_of_the_solution_of_an_active_matrix() -> None:
    check(lambda x: np.sum(linalg.spsolve(shifted(x), x)), X)


@pytest.mark.without_modes("differences of nan say nothing")
@pytest.mark.filterwarnings("ignore:Matrix is exactly singular")
def test_a_singular_system_is_nan_and_so_is_its_derivative() -> None:
    def f(x: Any) -> Any:
        return np.sum(linalg.spsolve(sparse.csc_array((x, [0, 1, 2], [0, 1, 2, 3])), x))

    value, gradient = value_and_grad(f)(np.array([1.0, 0.0, 2.0]))
    assert np.isnan(value)
    assert np.isnan(gradient).all()
    with pytest.raises(RuntimeError, match="singular"):
        grad(lambda x: linalg.splu(sparse.csc_array((x, [0, 1], [0, 1, 2]))).solve(x).sum())(
            np.array([1.0, 0.0])
        )


REFUSED = {
    "factor": lambda x: linalg.splu(shifted(x)).L.sum(),
    "incomplete": lambda x: linalg.spilu(shifted(x)).solve(x).sum(),
    "not triangular": lambda x: linalg.spsolve_triangular(shifted(x), x, lower=False).sum(),
    "eigenvalues": lambda x: linalg.eigsh(shifted(x), k=1, return_eigenvectors=False).sum(),
    "eigenvalues by blocks": lambda x: linalg.lobpcg(shifted(x), np.ones((3, 1)))[0].sum(),
    "least squares": lambda x: linalg.lsqr(shifted(x), x)[0].sum(),
    "active operator": lambda x: linalg.gmres(linalg.aslinearoperator(shifted(x)), x)[0].sum(),
    "operator without adjoint": lambda x: linalg.gmres(
        linalg.LinearOperator((3, 3), matvec=lambda v: SQUARE @ v), x
    )[0].sum(),
    "exponentials at several times": lambda x: linalg.expm_multiply(
        shifted(x), x, start=0.0, stop=1.0, num=3
    ).sum(),
    "callback": lambda x: linalg.cg(shifted(x), x, callback=print)[0].sum(),
    "blocks with duplicates": lambda x: (
        sparse.csr_array((x[:2], [0, 0], [0, 2, 2]), shape=(2, 2)).tobsr((2, 2)).sum()
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(MissingRuleError):
        grad(REFUSED[name])(X)


def test_factors_of_a_constant_matrix_may_be_read() -> None:
    def f(x: Any) -> Any:
        factors = linalg.splu(sparse.csc_array(SQUARE))
        return np.sum(factors.L @ x) * factors.perm_r[0] + factors.nnz * x[0] + factors.U[0, 0]

    check(f, X)


@pytest.mark.parametrize("method", ["cg", "gmres", "minres", "bicgstab"])
def test_a_solution_that_one_iteration_finds_has_its_derivative(method: str) -> None:
    solve = getattr(linalg, method)

    def f(x: Any) -> Any:
        a = 5 * sparse.eye_array(3) + sparse.diags_array(x - X)
        return np.sum(solve(a, np.array([1.0, -2.0, 0.5]), rtol=1e-12)[0] * X)

    check(f, X)


@pytest.mark.parametrize(("method", "options"), [("cg", {}), ("gmres", {"restart": 1})])
def test_the_result_of_a_method_that_has_not_converged_is_refused(
    method: str, options: dict[str, Any]
) -> None:
    solve = getattr(linalg, method)

    def f(x: Any) -> Any:
        y, info = solve(sparse.csr_array(SQUARE @ SQUARE.T), x, maxiter=1, rtol=1e-15, **options)
        return np.sum(y) + info

    with pytest.raises(SolverError, match=f"{method} has not solved the system"):
        grad(f)(X)
