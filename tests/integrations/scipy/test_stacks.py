"""Functions of `scipy.linalg` of stacks of matrices, of numbers and of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp, value_and_grad

sl = pytest.importorskip("scipy.linalg")

R = np.random.default_rng(0)
Maker = Callable[..., np.ndarray]


def general(*stack: int) -> np.ndarray:
    return R.normal(size=(*stack, 3, 3)) + 2 * np.eye(3)


def definite(*stack: int) -> np.ndarray:
    a = R.normal(size=(*stack, 3, 3))
    return a @ a.swapaxes(-1, -2) + np.eye(3)


def vectors(*stack: int) -> np.ndarray:
    return R.normal(size=(*stack, 3)) + [4, 0, 0]


def diagonals(*stack: int) -> np.ndarray:
    a = 0.3 * R.normal(size=(*stack, 2, 3))
    a[..., 1, :] += 3
    return a


def three_diagonals(*stack: int) -> np.ndarray:
    a = 0.3 * R.normal(size=(*stack, 3, 3))
    a[..., 1, :] += 3
    return a


Case = tuple[Callable[[Any, Any], Any], Maker, Maker | None]
CASES: dict[str, Case] = {
    "eigh": (lambda a, b: sl.eigh(a)[1] ** 2, definite, None),
    "values of eigh of two": (lambda a, b: sl.eigh(a, b)[0], definite, definite),
    "vectors of eigh of two": (lambda a, b: sl.eigh(a, b)[1] ** 2, definite, definite),
    "eigvalsh": (lambda a, b: sl.eigvalsh(a, b, lower=False), definite, definite),
    "eig": (lambda a, b: np.real(sl.eig(a)[0]), definite, None),
    "eigvals": (lambda a, b: sl.eigvals(a, b).sum(-1).real, general, general),
    "schur": (lambda a, b: sl.schur(a)[1] ** 2, definite, None),
    "hessenberg": (lambda a, b: sl.hessenberg(a, calc_q=True)[1], general, None),
    "ldl": (lambda a, b: sl.ldl(a)[0], definite, None),
    "lu": (lambda a, b: sl.lu(a)[2], general, None),
    "lu_factor": (lambda a, b: sl.lu_factor(a)[0], general, None),
    "lu_solve": (lambda a, b: sl.lu_solve(sl.lu_factor(a), b), general, general),
    "lu_solve of vectors": (lambda a, b: sl.lu_solve(sl.lu_factor(a), b, 1), general, vectors),
    "cho_solve": (lambda a, b: sl.cho_solve(sl.cho_factor(a), b), definite, general),
    "cho_solve, lower": (
        lambda a, b: sl.cho_solve((sl.cholesky(a, lower=True), True), b), definite, vectors,
    ),
    "qr with pivots": (lambda a, b: sl.qr(a, pivoting=True)[1], general, None),
    "cholesky_banded": (lambda a, b: sl.cholesky_banded(a), diagonals, None),
    "cho_solve_banded": (lambda a, b: sl.cho_solve_banded((a, False), b), diagonals, general),
    "solveh_banded": (lambda a, b: sl.solveh_banded(a, b), diagonals, general),
    "solveh_banded of vectors": (lambda a, b: sl.solveh_banded(a, b), diagonals, vectors),
    "solve_banded": (lambda a, b: sl.solve_banded((1, 1), a, b), three_diagonals, general),
    "solve_toeplitz": (lambda a, b: sl.solve_toeplitz(a, b), vectors, general),
    "solve_toeplitz of two": (lambda a, b: sl.solve_toeplitz((a, b), np.ones(3)), vectors, vectors),
    "lstsq": (lambda a, b: sl.lstsq(a[..., :2], b)[0], general, general),
    "fractional power": (lambda a, b: sl.fractional_matrix_power(a, 0.3).real, definite, None),
    "signm": (lambda a, b: sl.signm(a), general, None),
    "logm": (lambda a, b: sl.logm(a).real, definite, None),
    "sylvester": (lambda a, b: sl.solve_sylvester(a, b, np.eye(3)), general, general),
    "lyapunov": (lambda a, b: sl.solve_continuous_lyapunov(a, b), general, general),
    "riccati": (
        lambda a, b: sl.solve_continuous_are(a, np.eye(3), b + b.swapaxes(-1, -2), np.eye(3)),
        general, definite,
    ),
}  # fmt: skip
STACKS = [((), (2,)), ((1,), ()), ((2, 1), (3,)), ((2,), (2,))]


@pytest.mark.parametrize("name", CASES)
def test_stacks(name: str) -> None:
    f, make_a, make_b = CASES[name]
    for of_a, of_b in STACKS:
        if make_b is not definite and make_b is not general:  # one vector for all
            of_b = ()
        a = make_a(*of_a)
        b = np.zeros(1) if make_b is None else make_b(*of_b)
        try:
            f(a, b)
        except ValueError:
            pytest.skip("this version of SciPy takes one matrix")
        check(f, a, b)


def test_an_eigenvalue_problem_with_one_matrix_by_keyword() -> None:
    b = definite(2)
    check(lambda a, _: sl.eigvalsh(a, b=b), definite(), np.zeros(1))


NUMBERS: list[Callable[[Any], Any]] = [
    lambda x: sl.solve_continuous_lyapunov(x[0], x[1]),
    lambda x: sl.solve_continuous_are(x[2], 3.0, x[1], x[0]),
    lambda x: sl.solve_discrete_are(2.0, x[1], 1.5, x[0], e=x[2], s=0.1),
    lambda x: sl.lu_factor(x[0])[0],
    lambda x: sl.lu_factor(x)[0],
    lambda x: sl.lu_solve((x[:1], [0]), x[1:2]),
    lambda x: sl.matrix_balance(x[0])[0],
    lambda x: sl.cholesky_banded(x[0]),
    lambda x: sl.cholesky_banded(x, lower=True),
    lambda x: sl.ldl(x[0])[1],
    lambda x: sl.cholesky(x[0]),
    lambda x: sl.expm(x[0]),
    lambda x: sl.solve_toeplitz(x, np.ones((3, 0))),
]
LISTS: list[Callable[[Any], Any]] = [
    lambda x: sl.hessenberg([[x[0], x[1], 1], [x[1], 2, x[2]], [3, x[0], 1]]),
    lambda x: sl.solve_banded((1, 0), [[x[0], x[1]], [1.0, 0.0]], [x[2], 3.0]),
    lambda x: sl.solveh_banded([[0.0, x[1]], [x[0], 3.0]], [x[2], 3.0]),
    lambda x: sl.cho_solve_banded(([[x[0], x[1]], [1.0, 2.0]], 0), [x[0], 3.0]),
    lambda x: sl.cho_solve(([[x[0], 0.0], [x[1], 1.0]], True), [x[0], 1.0]),
    lambda x: sl.lu_solve(([[x[0], x[2]], [x[1], 1.0]], [0, 1]), [x[0], 1.0]),
    lambda x: sl.solve_toeplitz(([x[0], x[1]], [x[0], 0.2]), [1.0, x[2]]),
    lambda x: sl.eigvalsh([[x[0], 1.0], [1.0, 3.0]], [[2.0, x[1]], [x[1], 3.0]]),
    lambda x: sl.lstsq([[x[0], 1.0], [1.0, x[1]], [1.0, 2.0]], [1.0, x[2], 3.0])[0],
]


@pytest.mark.parametrize("f", [*NUMBERS, *LISTS])
def test_numbers_and_lists_for_matrices(f: Callable[[Any], Any]) -> None:
    x = np.array([1.3, 0.7, 0.9])
    try:
        f(x)
    except (ValueError, TypeError, IndexError):
        pytest.skip("this version of SciPy takes matrices only")
    check(lambda x, _: f(x), x, np.zeros(1))


@pytest.mark.parametrize("differentiate", [grad, lambda f: lambda x: jvp(f, (x,), (x,))])
def test_a_vector_for_diagonals(differentiate: Any) -> None:
    with pytest.raises(MissingRuleError, match="cho_solve_banded"):
        differentiate(lambda x: sl.cho_solve_banded((x, True), x).sum())(np.array([1.3, 0.7]))


@pytest.mark.parametrize("name", ["lu_factor", "lu_solve"])
def test_second_derivatives_of_stacks(name: str) -> None:
    solve, _, _ = CASES[name]
    try:
        a, b = general(2), general(2)
        solve(a, b)
    except ValueError:
        pytest.skip("this version of SciPy takes one matrix")
    v = R.normal(size=a.shape)

    def total(a: Any) -> Any:
        return np.sum(solve(a, b) ** 2)

    h = 1e-5
    expected = (grad(total)(a + h * v) - grad(total)(a - h * v)) / (2 * h)
    for found in (
        jvp(grad(total), (a,), (v,))[1],
        grad(lambda a: jvp(total, (a,), (v,))[1])(a),
        grad(lambda a: np.sum(grad(total)(a) * v))(a),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_logarithms_on_the_branch_cut() -> None:
    a = np.array([[-2.0, 0.3], [0.1, 1.5]])
    for f in (lambda a: sl.logm(a).imag.sum(), lambda a: (np.abs(sl.logm(a)) ** 2).sum()):
        h = 1e-6
        expected = [(f(a + h * e) - f(a - h * e)) / (2 * h) for e in np.eye(4).reshape(4, 2, 2)]
        np.testing.assert_allclose(grad(f)(a).ravel(), expected, rtol=1e-7)


def test_signs_of_matrices_with_eigenvalues_near_the_axis() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        a, w = generator.normal(size=(2, 3, 3))
        check(lambda a, _, w=w: w * sl.signm(a), a, np.zeros(1))


def check(f: Callable[[Any, Any], Any], a: np.ndarray, b: np.ndarray) -> None:
    """Compare value, tangent and gradient with the plain function and its differences."""
    weights = np.random.default_rng(1).normal(size=np.shape(f(a, b)))

    def total(a: Any, b: Any) -> Any:
        return (weights * f(a, b)).sum()

    va, vb = R.normal(size=a.shape), R.normal(size=b.shape)
    h = 1e-5
    expected = (total(a + h * va, b + h * vb) - total(a - h * va, b - h * vb)) / (2 * h)
    value, slope = jvp(total, (a, b), (va, vb))
    assert value == total(a, b)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)
    value, (da, db) = value_and_grad(total, argnums=(0, 1))(a, b)
    assert value == total(a, b)
    np.testing.assert_allclose((da * va).sum() + (db * vb).sum(), slope, rtol=1e-7, atol=1e-9)
