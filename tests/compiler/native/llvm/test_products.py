"""Products of matrices in compiled functions: by BLAS or by loops."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.llvm import printer, products
from mooncake_py.compiler.native.regions.contractions import Window, window
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.regions.ir import Load, Name, Op
from tests.compiler.native.agreeing import FLOATS, agree, copies, function
from tests.support.interpreted import QUICKLY
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain


def by_llvm(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Have LLVM compile, quickly, and BLAS compute products of more numbers than a limit."""
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(form, "COMPILER", QUICKLY)
    monkeypatch.setattr(products, "LARGE", limit)


COMPILED = [
    "np.sum((A @ B) ** 2)",
    "np.sum((A @ A.T) ** 2)",
    "np.sum((A @ A) ** 2)",
    "np.sum((A.T @ B.T) * A)",
    "np.sum(np.dot(A, B) @ A @ B[:, :3])",
    "np.sum(A[1:, :] @ B[:, 2:] @ B[1:, :].T[2:])",
    "np.sum(A[:4, :4] @ B[1:5, 1:5])",
    "np.matmul(A, B, out=A); np.sum(A * B)",
    "np.dot(A, A, out=A); np.sum(A * B)",
    "np.matmul(A, B, out=T[1]); np.sum(T * T)",
    "np.sum((A * 2 + 1) @ np.sin(B))",
    "np.sum(np.outer(x, y) @ A @ np.outer(y, x))",
    "np.sum(T[1] @ T[2].T @ T[0])",
    "np.sum(T[:, 1] @ T[2])",
    "np.sum(T[:, :, 1] @ T[:, 2, :])",
    "np.sum(A[::-1] @ B[:, ::2])",
    "np.sum(x[:, None] @ y[None, :]) + np.sum(x[None, :] @ A @ y[:, None])",
    "np.sum(-A @ B - B @ A)",
    "np.sum((A @ I) ** 2 + (I @ B) ** 2)",
    "np.sum(A[:0] @ B) + np.sum((A[:, :0] @ B[:0]) * A)",
]
REFUSED = ["np.sum(np.dot(A, B, out=T[0]))", "np.sum(I @ I) * x[0]"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_products_agree(text: str, tried: list[bool]) -> None:
    agree(function(text))
    assert tried
    assert all(tried)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("text", "limit"), rotating(COMPILED, [0, 10**9]))
def test_gradients_by_llvm(
    text: str, limit: int, tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_llvm(monkeypatch, limit)
    f = function(text)
    (value, g), (compiled, h) = (
        value_and_grad(f, FLOATS, compile=way)(*copies()) for way in (False, True)
    )
    assert_allclose(compiled, value, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(b, a, rtol=1e-11, atol=1e-11)
    assert tried == [True]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tried: list[bool]) -> None:
    f = function(text)
    ways = []
    for way in (False, True):
        try:
            ways.append(value_and_grad(f, FLOATS, compile=way)(*copies()))
        except Exception as error:
            ways.append((type(error), str(error)))
    assert repr(ways[0]) == repr(ways[1])
    assert tried == []


@pytest.mark.parametrize("text", ["A @ B[1:]", "np.matmul(A, 2.0)", "np.dot(A, B, out=A[:3])"])
def test_errors_are_those_of_the_plain_call(text: str, tried: list[bool]) -> None:
    with pytest.raises(ValueError) as plain:
        function(f"np.sum({text})")(*copies())
    with pytest.raises(ValueError) as compiled:
        value_and_grad(function(f"np.sum({text})"), 2, compile=True)(*copies())
    assert str(compiled.value) == str(plain.value)
    assert True not in tried


@pytest.mark.parametrize("limit", [0, 10**9])
def test_zero_cotangents_stay_zero_beside_infinite_factors(
    limit: int, tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    by_llvm(monkeypatch, limit)

    def f(A, B, C, D, E):
        return np.sum((A @ B)[:, 0]) + np.sum((C @ A)[0]) + np.sum((D @ E)[0])

    rng = np.random.default_rng(0)
    A, B, C = rng.standard_normal((3, 4, 4))
    B[1, 2] = np.inf
    C[3, 1] = np.nan
    D, E = rng.standard_normal((2, 12)), rng.standard_normal((12, 12))
    D[1, 3] = np.inf  # of D there are fewer numbers than of its product with a cotangent
    with catch_warnings():
        simplefilter("ignore")
        plain, compiled = (
            value_and_grad(f, (0, 1, 2, 3, 4), compile=way)(A, B, C, D, E)[1]
            for way in (False, True)
        )
    for a, b in zip(plain, compiled, strict=True):
        assert_allclose(b, a, rtol=1e-13)
        assert np.all(np.isfinite(b))
    assert tried == [True]


def filtered(P, F, H, steps):
    for _ in range(steps):
        P = F @ P @ F.T + H
        K = P @ H.T
        P[1:, 1:] -= 0.1 * (K @ K.T)[1:, 1:]
    return np.sum(P * P)


def test_products_in_loops(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    P, F, H = 0.3 * np.random.default_rng(0).standard_normal((3, 4, 4))
    for limit in (0, 10**9):
        by_llvm(monkeypatch, limit)
        plain, compiled = (
            value_and_grad(filtered, (0, 1, 2), compile=way)(P, F, H, 3) for way in (False, True)
        )
        assert_allclose(compiled[0], plain[0], rtol=1e-13)
        for a, b in zip(plain[1], compiled[1], strict=True):
            assert_allclose(b, a, rtol=1e-11, atol=1e-13)
    assert all(tried)


def several(A, B, T, v):
    C = A @ B.T - (B[2:].T @ A[2:]) @ A
    C += A[:, :1] @ B[:1] + T[:, :, 1] @ T[:, 1].T + v @ (v.T @ A)
    return np.sum(C * C)


def one(A, B, T, v):
    return np.sum((A @ B.T) * T[0]) * np.sum(v)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(("f", "has_blas"), [(several, True), (one, False)])
def test_widths(f: Any, has_blas: bool, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if has_blas:
        pytest.importorskip("scipy")
    by_llvm(monkeypatch, 0)
    monkeypatch.setattr(printer, "has_blas", lambda: has_blas)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(n).astype(kind) for n in ((6, 6), (6, 6), (6, 6, 6), (6, 1))]
    plain, compiled = (
        value_and_grad(f, (0, 1, 2, 3), compile=way)(*inputs) for way in (False, True)
    )
    accuracy = 1e-11 if kind is np.float64 else 1e-3
    for a, b in zip(plain[1], compiled[1], strict=True):
        assert b.dtype == kind
        assert_allclose(b, a, rtol=accuracy, atol=accuracy * np.max(abs(a)))


def test_windows() -> None:
    i, j, k = map(Name, "ijk")
    assert window(Load("x", (i, j)), "i", "j") == Window("x", ((ZERO, "i"), (ZERO, "j")), False)
    assert window(Load("x", (j, i)), "i", "j") == Window("x", ((ZERO, "j"), (ZERO, "i")), True)
    shifted = Load("x", (k, Op("add", (i, k)), Op("add", (ONE, j))))
    assert window(shifted, "i", "j") == Window("x", (k, (k, "i"), (ONE, "j")), False)
    for index in (
        (i, i),
        (i, ZERO),
        (i, Op("sub", (k, j))),
        (Op("mul", (Op("float", (ONE,)), i)), j),
        (Op("add", (i, j)), j),
        (Op("add", (i, Load("c", (i,)))), j),
        (Load("c", (i,)), j),
    ):
        assert window(Load("x", index), "i", "j") is None
