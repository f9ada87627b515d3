"""`numpy.linalg` in compiled functions: derivatives are those without, and so are errors."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.sweeps.applied import Derivatives
from mooncake_py.compiler.native.sweeps.pull import NOTHING
from mooncake_py.compiler.regions.ir import Apply, Assign, Const, ForAll, Load, Name
from mooncake_py.compiler.regions.steps import Names
from tests.compiler.native.agreeing import agree, copies, function
from tests.support.marks import each_second

pytestmark = pytest.mark.plain

REGULAR = "S = A + 4 * np.eye(5); "
COMPILED = [
    "np.sum(np.linalg.solve(S, x) * y)",
    "np.sum(np.linalg.solve(S, A) ** 2)",
    "np.sum(np.linalg.solve(S.T * 2.0, A[:, ::2]) ** 2)",
    "np.sum(np.linalg.solve(S, T[:, 1]) @ np.linalg.solve(T[1] + S, x[:, None]))",
    "A += 4 * np.eye(5); z = np.linalg.solve(A, x); A *= 0.5; np.sum(z * z) + np.sum(A * A)",
    "np.sum(np.linalg.solve(S, S) + np.linalg.solve(S @ S, S))",
    "np.sum(np.linalg.inv(S) * A)",
    "np.sum(np.linalg.inv(S) @ S.T + np.linalg.inv(S)[1])",
    "np.linalg.det(S[:3, :3]) * x[0] + np.linalg.det(S) ** 2 * 1e-6",
    "s, l = np.linalg.slogdet(S); s * l * x[0] + np.linalg.slogdet(S @ S.T)[1] ** 2",
    "np.sum(np.linalg.cholesky(S @ S.T) * A)",
    "np.sum(np.log(np.diag(np.linalg.cholesky(S @ S.T + np.eye(5)))))",
    "np.sum(np.linalg.solve(np.linalg.cholesky(S @ S.T), x) ** 2)",
    "S[:] = np.linalg.cholesky(S @ S.T) + np.triu(S, k=1); np.sum(S * S * A)",
    "L = np.linalg.cholesky(S @ S.T); L *= 2.0; L[1] = x; np.sum(L * L)",
    "z = np.linalg.solve(S, x); S *= 0.0; x *= 2.0; np.sum(z * z) + np.sum(S * x)",
    "np.sum(np.linalg.solve(S[:0, :0], x[:0])) + np.linalg.det(S[:1, :1]) * x[0]",
]
CALLED = [
    "np.sum(np.linalg.solve(I + 4 * np.eye(5, dtype=int), x))",
    "np.sum(np.linalg.inv(T + np.eye(5)))",
    "np.sum(np.linalg.cholesky(S @ S.T, upper=True))",
]
ERRORS = [
    "np.sum(np.linalg.solve(0 * A, x))",
    "np.sum(np.linalg.inv(0 * A))",
    "np.sum(np.linalg.cholesky(-S @ S.T))",
    "np.sum(np.linalg.solve(S[:3], x))",
    "np.sum(np.linalg.solve(S, x[:3]))",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("block", [2, 48])
@pytest.mark.parametrize("text", each_second(COMPILED))
def test_agree(text: str, block: int, tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "BLOCK", block)
    agree(function(REGULAR + text))
    assert tried
    assert all(tried)


@pytest.mark.parametrize("text", CALLED)
def test_what_is_not_read_is_called(text: str, tried: list[bool]) -> None:
    agree(function(REGULAR + text))
    assert tried
    assert all(tried)


@pytest.mark.parametrize("text", ERRORS)
def test_errors_are_those_of_the_plain_call(text: str, tried: list[bool]) -> None:
    f = function(REGULAR + text)
    with pytest.raises((np.linalg.LinAlgError, ValueError)) as plain:
        f(*copies())
    with pytest.raises(type(plain.value)) as compiled:
        value_and_grad(f, 2, compile=True)(*copies())
    assert str(compiled.value) == str(plain.value)
    assert True not in tried


def test_singular_determinants_run_as_before(tried: list[bool]) -> None:
    def f(A):
        return np.linalg.det(A)

    A = np.diag([1.0, 2.0, 0.0])
    plain, compiled = (value_and_grad(f, compile=way)(A) for way in (False, True))
    assert_allclose(compiled[1], plain[1])
    assert tried == [False]


@pytest.mark.parametrize("place", [(0, 1), (2, 2)])
def test_what_is_not_finite(place: Any, tried: list[bool]) -> None:
    def f(A, b):
        return np.sum(np.linalg.solve(A, b)[:, 0]) + np.sum(np.linalg.inv(A)[0])

    A, b = np.random.default_rng(0).standard_normal((2, 3, 3))
    for changed in (A, b):
        old = changed[place]
        changed[place] = np.inf
        with catch_warnings():
            simplefilter("ignore")
            plain, compiled = (
                value_and_grad(f, (0, 1), compile=way)(A, b) for way in (False, True)
            )
        for p, c in zip(plain[1], compiled[1], strict=True):
            assert_allclose(c, p)
        changed[place] = old
    assert True not in tried


@pytest.mark.thorough
def test_third_derivatives(tried: list[bool]) -> None:
    def f(A):
        L = np.linalg.cholesky(A @ A.T + np.eye(len(A)))
        return np.sum(np.linalg.inv(L) ** 2) + np.linalg.det(A) + L[1, 0] ** 3

    A, V, W = np.random.default_rng(0).standard_normal((3, 3, 3))

    def along(A):
        return jvp(f, (A,), (V,))[1]

    plain, compiled = (hvp(along, (A,), W, compile=way) for way in (False, True))
    assert_allclose(compiled, plain, rtol=1e-10)
    assert all(tried)


def fitted(A, b, steps):
    x = np.zeros(len(b))
    total = 0.0
    for k in range(steps):
        H = A @ A.T + (1.0 + k) * np.eye(len(b))
        x = x + np.linalg.solve(H, b - H @ x * 0.5)
        if k % 2 == 0:
            total += np.linalg.det(H[:2, :2])
        A = A * 0.9
    return total + np.sum(x * x)


def test_in_loops(tried: list[bool]) -> None:
    A, b = np.random.default_rng(0).standard_normal((4, 4)), np.arange(4.0)
    plain, compiled = (
        value_and_grad(fitted, (0, 1), compile=way)(A, b, 3) for way in (False, True)
    )
    assert_allclose(compiled[0], plain[0], rtol=1e-12)
    for p, c in zip(plain[1], compiled[1], strict=True):
        assert_allclose(c, p, rtol=1e-10)
    assert all(tried)


def test_results_that_become_active_later(tried: list[bool]) -> None:
    def f(x, A):
        L = np.linalg.cholesky(A @ A.T)
        w = np.linalg.solve(A, A[0])
        L[1, 0] = x[0] * 2.0
        w[1] = x[1]
        return np.sum(L * L) + w @ w

    x, A = np.arange(3.0), np.eye(3) + np.arange(9.0).reshape(3, 3) / 9
    plain, compiled = (value_and_grad(f, compile=how)(x, A) for how in (False, True))
    assert_allclose(compiled[0], plain[0])
    assert_allclose(compiled[1], plain[1])
    assert all(tried)


def test_tangents_of_what_does_not_move_are_zero() -> None:
    s = Apply(systems.cholesky, "L", ("A",))
    derivatives = Derivatives(Names("v"))
    assert derivatives.push(s, {}) == (s,)
    first, zero = derivatives.push(s, {"L": "t_L"})
    assert first == s
    assert isinstance(zero, ForAll)
    assert zero.body == (Assign(Load("t_L", (Name("v0"), Name("v1"))), Const(0.0)),)


def test_cotangents_are_zero_before_what_is_computed() -> None:
    derivatives = Derivatives(Names("v"))
    s = Apply(systems.determinant, "D", ("A",))
    *_, last = derivatives.pull(s, {"A", "D"}, clears=True).back
    assert isinstance(last, ForAll)
    (cleared,) = last.body
    assert isinstance(cleared, Assign)
    assert cleared.value == Const(0.0)
    assert len(derivatives.pull(s, {"A", "D"}, clears=False).back) == 3
    assert derivatives.pull(s, {"A"}, clears=True) is NOTHING


@pytest.mark.parametrize("n", [0, 1, 2, 5, 7])
@pytest.mark.parametrize("block", [3, 48])
def test_systems(n: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "BLOCK", block)
    rng = np.random.default_rng(n)
    a, b, y = rng.standard_normal((n, n)), rng.standard_normal((n, 2)), np.empty((n, 2))
    assert systems.solve(y, a, b)
    assert_allclose(a @ y, b, atol=1e-10)
    assert systems.solve_transposed(y, a, b)
    assert_allclose(a.T @ y, b, atol=1e-10)
    det, c = np.empty(1), np.empty((n, n))
    assert systems.determinant(det, a)
    assert_allclose(det[0], np.linalg.det(a))
    assert systems.cofactors(c, a, det)
    assert_allclose(c.T @ a, det * np.eye(n), atol=1e-10)
    p, low, da = a @ a.T + np.eye(n), np.empty((n, n)), np.zeros((n, n))
    assert systems.cholesky(low, p)
    assert_allclose(low, np.linalg.cholesky(p), atol=1e-10)
    assert systems.solve_lower(y, low, b)
    assert_allclose(low @ y, b, atol=1e-10)
    assert systems.solve_lower_transposed(y, low, b)
    assert_allclose(low.T @ y, b, atol=1e-10)
    dlow = rng.standard_normal((n, n))
    assert systems.cholesky_back(da, low, dlow.copy())
    (expected,) = vjp(np.linalg.cholesky, p)[1](dlow)
    assert_allclose(da, expected, atol=1e-9)


def test_systems_without_solution() -> None:
    y = np.empty((2, 1))
    with np.errstate(all="ignore"):
        assert not systems.solve(y, np.ones((2, 2)), np.ones((2, 1)))
        assert np.isnan(y).all()
        assert not systems.solve(y, np.diag([1.0, np.inf]), np.ones((2, 1)))
        assert not systems.solve(y, np.diag([1.0, np.nan]), np.ones((2, 1)))
        assert not systems.solve(y, np.eye(2), np.full((2, 1), np.nan))
    assert not systems.cholesky(np.empty((2, 2)), np.diag([1.0, -1.0]))
    assert not systems.determinant(np.empty(1), np.diag([1.0, 0.0]))
    assert not systems.determinant(np.empty(1), np.diag([1.0, 1e-7]))


def test_compiled_by_llvm() -> None:
    pytest.importorskip("llvmlite")

    def f(A, x):
        S = A @ A.T + np.eye(len(A))
        z = np.linalg.solve(np.linalg.cholesky(S), x) + np.linalg.inv(S) @ x
        return z @ z + np.linalg.det(S[:3, :3])

    A, x = np.random.default_rng(0).standard_normal((60, 60)) / 8, np.ones(60)
    plain, compiled = (value_and_grad(f, (0, 1), compile=way)(A, x) for way in (False, True))
    for p, c in zip(plain[1], compiled[1], strict=True):
        assert_allclose(c, p, rtol=1e-8, atol=1e-10)
