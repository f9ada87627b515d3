"""The formulas of linalg and norms, checked directly against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mooncake_py.rules.norms  # noqa: F401  (registers the rule)
from mooncake_py.rules import matrices, registry
from tests.rules.direct import check_rule
from tests.support.pairs import rotating

DTYPES = (float, complex)


def draw(shape: tuple[int, ...], dtype: Any = float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return np.asarray(x + 1j * rng.standard_normal(shape) if dtype is complex else x, dtype)


def definite(shape: tuple[int, ...], dtype: Any = float) -> np.ndarray:
    x = draw(shape, dtype)
    return x @ x.conj().swapaxes(-1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((4, 3, 3), (3,)), ((4, 3, 3), (4, 3, 2)),
     ((3, 3), (4, 3, 2)), ((1, 3, 3), (4, 3, 1)), ((4, 3, 3), (3, 2))],
    ids=str,
)  # fmt: skip
def test_solve_matches_differences(a: Any, b: Any, dtype: Any) -> None:
    check_rule(np.linalg.solve, draw(a, dtype), draw(b, dtype, 1), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 3)], ids=str)
@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.det, np.linalg.slogdet])
def test_square_matrices_match_differences(function: Any, shape: Any, dtype: Any) -> None:
    check_rule(function, draw(shape, dtype), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinant_of_singular_matrices(dtype: Any) -> None:
    row = draw((3,), dtype)
    one_lost = np.stack([row, 2 * row, draw((3,), dtype, 1)])
    one_lost[:, 1] = 0
    check_rule(np.linalg.det, np.stack([one_lost, draw((3, 3), dtype), np.zeros((3, 3), dtype)]))


def test_slogdet_of_singular_matrix_counts_as_constant() -> None:
    rule = registry.find(np.linalg.slogdet).rule  # type: ignore[union-attr]
    (_, logdet), pullback = rule(np.stack([np.zeros((2, 2)), np.eye(2)]))
    assert logdet[0] == -np.inf
    da = pullback((None, np.ones(2)))
    assert_allclose(da, [np.zeros((2, 2)), np.eye(2)])
    assert_allclose(pullback((None, np.zeros(2))), np.zeros((2, 2, 2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3), (2, 3, 2)], ids=str)
def test_pinv_matches_differences(shape: Any, dtype: Any) -> None:
    check_rule(np.linalg.pinv, draw(shape, dtype), rtol=1e-5)


def test_pinv_of_hermitian_matches_differences() -> None:
    for a in (definite((3, 3), complex), draw((3, 3), complex)):
        check_rule(np.linalg.pinv, a, kwargs={"hermitian": True}, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 3)], ids=str)
def test_cholesky_matches_differences(shape: Any, upper: bool, dtype: Any) -> None:
    check_rule(np.linalg.cholesky, definite(shape, dtype), kwargs={"upper": upper}, rtol=1e-5)


@pytest.mark.parametrize("uplo", ["L", "U", "l"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 3, 3)], ids=str)
def test_eigh_matches_differences(shape: Any, uplo: str) -> None:
    check_rule(np.linalg.eigh, draw(shape), kwargs={"UPLO": uplo}, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigvalsh_matches_differences(uplo: str, dtype: Any) -> None:
    check_rule(np.linalg.eigvalsh, draw((2, 3, 3), dtype), kwargs={"UPLO": uplo}, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3), (2, 4, 3)], ids=str)
def test_svd_matches_differences(shape: Any) -> None:
    check_rule(np.linalg.svd, draw(shape), kwargs={"full_matrices": False}, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 4, 3)], ids=str)
def test_singular_values_match_differences(shape: Any, dtype: Any) -> None:
    check_rule(np.linalg.svd, draw(shape, dtype), kwargs={"compute_uv": False}, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3)], ids=str)
def test_complex_svd_matches_differences_where_phases_cancel(shape: Any) -> None:
    """f(A) = Re<W, U[:, 0] V[:, 0]^H> depends on both vectors but not on their common phase."""
    a, w = draw(shape, complex), draw(shape, complex, 1)
    rule = registry.find(np.linalg.svd).rule  # type: ignore[union-attr]
    (u, _, vh), pullback = rule(a, False)
    du, dvh = np.zeros_like(u), np.zeros_like(vh)
    du[:, 0] = w @ vh[0].conj()
    dvh[0] = u[:, 0].conj() @ w
    da = pullback((du, None, dvh))

    def value(x: np.ndarray) -> float:
        p, _, q = np.linalg.svd(x, full_matrices=False)
        return np.vdot(w, np.outer(p[:, 0], q[0])).real

    for seed in (2, 3):
        dx = draw(shape, complex, seed)
        expected = (value(a + 1e-6 * dx) - value(a - 1e-6 * dx)) / 2e-6
        assert_allclose(np.vdot(da, dx).real, expected, rtol=1e-6)


NORMS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((4,), {}), ((2, 3), {}), ((2, 3, 2), {}), ((4,), {"ord": 2}), ((4,), {"ord": 1}),
    ((4,), {"ord": 3}), ((4,), {"ord": 1.5}), ((4,), {"ord": -2}), ((4,), {"ord": np.inf}),
    ((4,), {"ord": -np.inf}), ((4,), {"ord": 0.5}), ((2, 3), {"axis": 0}),
    ((2, 3), {"axis": -1, "ord": 3}),
    ((2, 3), {"axis": 1, "ord": np.inf, "keepdims": True}), ((2, 3), {"ord": "fro"}),
    ((2, 3), {"ord": 1}), ((2, 3), {"ord": -1}), ((2, 3), {"ord": np.inf}),
    ((2, 3), {"ord": -np.inf}),
    ((2, 3), {"ord": 2}), ((2, 3), {"ord": -2}), ((3, 3), {"ord": "nuc"}),
    ((2, 3, 4), {"axis": (0, 2)}), ((2, 3, 4), {"axis": (2, 0), "ord": 1}),
    ((2, 3, 4), {"axis": (0, -1), "ord": 2, "keepdims": True}),
    ((2, 3, 4), {"axis": (2, 1), "ord": "nuc"}),
    ((2, 3), {"keepdims": True}), ((2, 3, 4), {"axis": 1}), ((2, 3, 4), {"axis": (1,), "ord": 1}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "kwargs", "dtype"),
    [(*given, dtype) for given, dtype in rotating(NORMS, DTYPES)],
    ids=str,
)
def test_norm_matches_differences(shape: Any, kwargs: dict[str, Any], dtype: Any) -> None:
    check_rule(np.linalg.norm, draw(shape, dtype), kwargs=kwargs, rtol=1e-5)


@pytest.mark.parametrize(("shape", "kwargs"), NORMS, ids=str)
def test_norm_at_zero_has_zero_derivative(shape: Any, kwargs: dict[str, Any]) -> None:
    rule = registry.find(np.linalg.norm).rule  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        y, pullback = rule(np.zeros(shape, np.float32), **kwargs)
        dx, *_ = pullback(np.ones_like(y))
    assert dx.dtype == np.float32
    assert_allclose(dx, np.zeros(shape, np.float32))


def test_maximum_norm_shares_ties() -> None:
    y, pullback = registry.find(np.linalg.norm).rule(  # type: ignore[union-attr]
        np.array([3.0, -3.0, 1.0]), np.inf
    )
    assert y == 3.0
    assert_allclose(pullback(1.0)[0], [0.5, -0.5, 0.0])


def test_fold_triangle_keeps_one_triangle() -> None:
    s = draw((3, 3), complex)
    assert_allclose(np.triu(matrices.fold_triangle(s, lower=True), 1), 0)
    assert_allclose(np.tril(matrices.fold_triangle(s, lower=False), -1), 0)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.linalg.norm, (np.array([np.inf, 1.0]),)),
        (np.linalg.norm, (np.array([np.inf, 1.0]), 3)),
        (np.linalg.solve, (np.eye(2), np.array([np.inf, 1.0]))),
        (np.linalg.solve, (np.eye(2), np.array([[np.inf], [1.0]]))),
        (np.linalg.det, (np.array([[np.inf, 1.0], [1.0, 2.0]]),)),
        (np.linalg.slogdet, (np.zeros((2, 2)),)),
        (np.linalg.cond, (np.zeros((2, 2)), 1)),
        (np.linalg.eigvals, (np.array([[0.0, 1.0], [0.0, 0.0]]),)),
        (np.linalg.qr, (np.zeros((2, 2)),)),
    ],
)
def test_zero_cotangent_gives_zero_where_the_derivative_is_infinite(
    function: Any, args: Any
) -> None:
    rule: Any = registry.find(function)
    with np.errstate(all="ignore"):
        y, pullback = rule.rule(*args)
        dy = tuple(map(np.zeros_like, y)) if isinstance(y, tuple) else np.zeros_like(y)
        cotangents = pullback(dy)
    da = cotangents[0] if isinstance(cotangents, tuple) else cotangents
    assert_allclose(da, np.zeros(np.shape(args[0])))
