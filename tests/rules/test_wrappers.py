"""Wrappers of BLAS and LAPACK return, and leave in their arguments, what they do by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp, value_and_grad
from tests.support.gradients import check

lapack = pytest.importorskip("scipy.linalg.lapack")
blas = pytest.importorskip("scipy.linalg.blas")

X = np.array([1.0, -0.5, 2.0])
A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, -0.8], [0.2, 0.6, 5.0]])
LAYOUTS = {
    "vector": np.ones(3),
    "column": np.ones((3, 1)),
    "Fortran": np.asfortranarray(np.ones((3, 2))),
    "C": np.ones((3, 2)),
    "float32": np.ones(3, np.float32),
    "ints": np.ones(3, int),
}


@pytest.mark.parametrize("overwrite", [0, 1])
@pytest.mark.parametrize("constant", LAYOUTS.values(), ids=LAYOUTS)
def test_what_is_left_in_the_right_side_and_the_matrix(constant, overwrite):
    def f(x):
        a, b = np.asfortranarray(A * x), constant.copy(order="K")
        lu, _, solution, _ = lapack.dgesv(a, b, overwrite_a=overwrite, overwrite_b=overwrite)
        solution = solution * x[0]
        return np.sum(b * 2.0) + np.sum(a) * x[1] + np.sum(solution**2) + np.sum(lu)

    check(f, X)


def test_a_constant_that_is_overwritten_between_two_uses():
    def f(x):
        b = np.asfortranarray(np.ones((3, 1)))
        y = x * b[:, 0]
        lapack.dgesv(np.asfortranarray(A), b, overwrite_b=1)
        return np.sum(y * b[:, 0] * x)

    check(f, X)


@pytest.mark.parametrize("overwrite", [0, 1])
def test_products(overwrite):
    def f(x):
        a = np.asfortranarray(A * x)
        c, y = np.asfortranarray(A.copy()), np.ones(3)
        product = blas.dgemm(1.5, a, a, 0.5, c, trans_a=1, overwrite_c=overwrite)
        vector = blas.dgemv(2.0, a, x, 0.7, y, overwrite_y=overwrite)
        return np.sum(product * c) + np.sum(vector * y) + blas.ddot(vector, y) * blas.dnrm2(x)

    check(f, X)


def test_results_have_the_type_of_the_wrapper():
    low = X.astype(np.float32)

    def f(x):
        product = blas.dgemm(1.0, np.outer(low, low), np.outer(x, x))
        assert product.dtype == np.float64
        assert blas.zgemm(1.0, np.outer(x, x), np.outer(x, x)).dtype == np.complex128
        assert type(blas.zdotu(x, x)) is complex
        return np.sum(product) + blas.ddot(low, x)

    value, _ = value_and_grad(f)(X)
    assert value == f(X)


@pytest.mark.without_modes("forward modes need tangents of the factors, read or not")
def test_a_singular_matrix_leaves_the_right_side():
    def f(x):
        _, _, solution, info = lapack.dgesv(np.outer(x, x), x)
        assert info > 0
        return np.sum(solution)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])


def test_a_band_matrix_that_is_overwritten():
    def f(x):
        ab = np.zeros((4, 3), order="F")
        ab[1:] = A
        b = x.copy()
        solution = lapack.dgbsv(1, 1, ab, b, overwrite_ab=1, overwrite_b=1)[2]
        return np.sum(b**2) + np.sum(solution)

    value, gradient = value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    step = 1e-6 * np.ones(3)
    assert gradient.sum() == pytest.approx((f(X + step) - f(X - step)) / 2e-6, rel=1e-8)


@pytest.mark.parametrize("layout", ["own", "strided", "float32", "list"])
def test_vectors_that_are_changed_in_any_case(layout):
    def f(x):
        rest = np.ones(6)[::2] if layout == "strided" else np.ones(3)
        rest = {"float32": rest.astype(np.float32), "list": [1.0, 1.0, 1.0]}.get(layout, rest)
        total = blas.daxpy(x, rest, a=x[0])
        total *= 2.0  # the argument too, if it is the same memory
        scaled = blas.dscal(x[1], np.asarray(rest))
        return np.sum(np.asarray(rest) * x) + np.sum(total**2) + np.sum(scaled**2)

    check(f, X)


def calls_with_steps(kind, x_steps, steps):
    """Return calls of the wrappers for vectors, none of which says how many elements it takes."""
    real = "d" if kind == "d" else "dz"
    f = {n: getattr(blas, kind + n) for n in ("scal", "axpy", "copy", "swap")}
    return [
        lambda x, y: getattr(blas, real + "asum")(x, **x_steps),
        lambda x, y: getattr(blas, real + "nrm2")(x, **x_steps),
        lambda x, y: [f["scal"](1.5, x, **x_steps), x],
        lambda x, y: [blas.zdscal(1.5, x, **x_steps), x] if kind == "z" else x,
        lambda x, y: getattr(blas, "zdotc" if kind == "z" else "ddot")(x, y, **steps),
        lambda x, y: getattr(blas, "zdrot" if kind == "z" else "drot")(x, y, 0.6, 0.8, **steps),
        lambda x, y: [f["axpy"](x, y, **steps), y],
        lambda x, y: [f["copy"](x, y, **steps), y],
        lambda x, y: [f["swap"](x, y, **steps), x, y],
    ]


@pytest.mark.parametrize(("kind", "unit"), [("d", 1.0), ("z", 1 + 0.5j)])
def test_how_many_elements_are_taken_by_default(kind, unit):
    """SciPy rounds down, for rotations up; some do nothing for negative steps."""
    rng, accepted = np.random.default_rng(3), 0
    for _ in range(8):
        x, y, u, v = rng.normal(size=(4, rng.integers(3, 9)))
        x_steps = {"incx": int(rng.choice([-2, -1, 2, 3])), "offx": int(rng.integers(3))}
        steps = {**x_steps, "incy": int(rng.choice([-1, 1, 2])), "offy": int(rng.integers(2))}
        for call in calls_with_steps(kind, x_steps, steps):

            def f(x, y, call=call):
                found = call(x * unit, y * np.conj(unit))
                parts = [
                    np.ravel(p) for p in (found if isinstance(found, (list, tuple)) else [found])
                ]
                return sum(np.real(p) @ np.cos(np.arange(len(p))) for p in parts)

            try:
                expected = f(x, y)
            except Exception:  # the arguments do not fit: `error` of another module for each kind
                continue
            value, slope = jvp(f, (x, y), (u, v))
            h = 1e-6
            difference = (f(x + h * u, y + h * v) - f(x - h * u, y - h * v)) / (2 * h)
            assert value == expected, (x_steps, steps)
            assert slope == pytest.approx(difference, rel=1e-6, abs=1e-6), (x_steps, steps)
            accepted += 1
    assert accepted > 40


def test_two_vectors_that_change_places():
    def f(x):
        a, b = x * 2, np.ones(3)
        blas.dswap(a, b)
        c = np.asfortranarray(A.copy())
        blas.dtrsm(1.0, np.outer(x, x) + A, c, overwrite_b=1)
        blas.dsyrk(x[0], c.T, 0.5, c, overwrite_c=1)
        return np.sum(a * x) + np.sum(b**2) + np.sum(c**3)

    check(f, X)


def test_a_factorization_that_fails_is_tried_again():
    def f(x):
        a, shift = np.outer(x, x) - np.eye(3), 0.0
        c, info = lapack.dpotrf(a)
        while info:
            shift += 1.0
            c, info = lapack.dpotrf(a + shift * np.eye(3), lower=1)
        return np.sum(np.diagonal(c) ** 4)

    check(f, X)


@pytest.mark.parametrize(
    "output",
    [
        lambda x: np.sum(lapack.dpotrf(-np.outer(x, x))[0]),
        lambda x: np.sum(lapack.zpotri(A + 1e-5j * np.outer(x, x))[0].real),
        lambda x: np.sum(lapack.dgtsv(x[1:], x, x[1:], x)[1]),
        lambda x: np.sum(lapack.dsysv(A + np.outer(x, x), x)[0]),
        lambda x: np.sum(lapack.dsyevr(np.outer(x, x), range="I", il=1, iu=2)[0]),
        lambda x: np.sum(lapack.dgeev(A + np.outer(x, x))[2]),
    ],
    ids=["failed", "factor", "tridiagonal", "indefinite", "range", "left"],
)
def test_an_output_without_a_derivative(output):
    value = output(X)
    with pytest.raises(MissingRuleError, match="BLAS or LAPACK"):
        grad(output)(X)
    assert grad(lambda x: x[0] + 0.0 * np.isnan(output(x)))(X)[0] == 1.0
    y, dy = jvp(output, (X,), (X,))
    assert y == value
    assert np.isnan(dy)


def test_single_precision():
    low = X.astype(np.float32)

    def f(x):
        a = blas.ssyrk(1.0, np.outer(x, x), lower=1) + 4 * np.eye(3, dtype=np.float32)
        c, _ = lapack.spotrf(a, lower=1)
        return np.sum(lapack.spotrs(c, x, lower=1)[0])

    value, gradient = value_and_grad(f)(low)
    assert value == f(low)
    assert gradient.dtype == np.float32

    def in_double(x):
        a = np.outer(x, x) @ np.outer(x, x).T + 4 * np.eye(3)
        return np.sum(np.linalg.solve(a, x))

    np.testing.assert_allclose(gradient, grad(in_double)(X), rtol=1e-3)


@pytest.mark.parametrize("n", [3, 5])
def test_tridiagonal_factors_are_used_again_and_again(n):
    """Steps of Crank and Nicolson: the right side is overwritten, the factors are not."""

    def f(x):
        side, middle = np.full(n - 1, -x[0]), np.full(n, 0.5 + x[2])
        dl, d, du, du2, ipiv, info = lapack.dgttrf(side * 9, middle, side, overwrite_d=1)
        u = np.arange(1.0, n + 1) * x[1]
        for _ in range(3):
            u, _ = lapack.dgttrs(dl, d, du, du2, ipiv, u, overwrite_b=1)
        diagonal, below, _ = lapack.dpttrf(np.full(n, 9.0 + x[2]), side)
        lapack.dpttrs(diagonal, below, u, overwrite_b=True)
        assert info == 0
        return np.sum(u**2) + np.sum(middle)

    check(f, X)
