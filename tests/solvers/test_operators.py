"""Iterations with operators and preconditioners whose methods change what they reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

sp = pytest.importorskip("scipy.sparse")
spl = pytest.importorskip("scipy.sparse.linalg")

from mooncake_py import (  # noqa: E402
    MissingRuleError,
    SolverError,
    checkpoint,
    grad,
    hessian,
    jvp,
    value_and_grad,
    vjp,
)

A = np.diag([4.0, 5.0, 6.0, 7.0]) + 1
B = np.array([1.0, 2.0, 3.0, 4.0])
NAMES = ["bicg", "bicgstab", "cg", "cgs", "gmres", "lgmres", "minres", "qmr", "tfqmr"]


class Counting(spl.LinearOperator):
    def __init__(self) -> None:
        super().__init__(np.dtype(float), A.shape)
        self.calls = 0
        self.last: Any = None

    def _matvec(self, v: Any) -> Any:
        self.calls += 1
        self.last = v.copy()
        return A @ v.ravel()

    _rmatvec = _matvec


class Work:
    def __init__(self) -> None:
        self.calls, self.work, self.log = [0], np.zeros(4), []

    def matvec(self, v: Any) -> Any:
        self.calls[0] += 1
        np.matmul(A, v.ravel(), out=self.work)
        self.log.append(v.copy())
        return self.work.copy()

    def operator(self) -> Any:
        return spl.LinearOperator((4, 4), matvec=self.matvec, rmatvec=self.matvec, dtype=float)


def right(b: Any) -> Any:
    return 2 * np.linalg.solve(A, np.linalg.solve(A, b))


MODES: dict[str, Any] = {
    "grad": lambda f: grad(f)(B),
    "debug": lambda f: grad(f, debug=True)(B),
    "compile": lambda f: grad(f, compile=True)(B),
    "vjp": lambda f: vjp(f, B)[1](1.0)[0],
    "jvp": lambda f: np.array([jvp(f, (B,), (e,))[1] for e in np.eye(4)]),
    "checkpoint": lambda f: grad(lambda b: checkpoint(f, b))(B),
}


@pytest.mark.parametrize("name", NAMES)
def test_state_is_that_of_a_plain_call_and_put_back(name: str) -> None:
    made = Work()

    def f(b: Any) -> Any:
        x, _ = getattr(spl, name)(made.operator(), b, rtol=1e-12)
        return np.sum(x * x) * made.calls[0]

    value, calls = f(B), made.calls[0]
    made.calls[0], made.work[:], made.log[:] = 0, 0.0, []
    for _ in range(2):
        found, gradient = value_and_grad(f)(B)
        assert found == pytest.approx(value)
        np.testing.assert_allclose(gradient, right(B) * calls, rtol=1e-8)
        assert (made.calls, made.work.tolist(), made.log) == ([0], [0.0] * 4, [])


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    operator = Counting()

    def f(b: Any) -> Any:
        x, _ = spl.cg(operator, b, rtol=1e-12)
        return np.sum(x * x) * operator.calls

    f(B)
    calls, operator.calls, operator.last = operator.calls, 0, None
    np.testing.assert_allclose(MODES[mode](f), right(B) * calls, rtol=1e-8)
    assert (operator.calls, operator.last) == (0, None)


def test_second_derivatives_put_it_back_too() -> None:
    operator = Counting()

    def f(b: Any) -> Any:
        x, _ = spl.cg(operator, b, rtol=1e-12)
        return np.sum(x * x)

    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(hessian(f)(B), 2 * inverse @ inverse, rtol=1e-7)
    assert (operator.calls, operator.last) == (0, None)


def test_preconditioners() -> None:
    made = Work()

    def f(b: Any) -> Any:
        x, _ = spl.gmres(A, b, M=made.operator(), rtol=1e-12)
        return np.sum(x * x) * made.calls[0]

    value = f(B)
    calls, made.calls[0], made.work[:], made.log[:] = made.calls[0], 0, 0.0, []
    found, gradient = value_and_grad(f)(B)
    assert found == pytest.approx(value)
    np.testing.assert_allclose(gradient, right(B) * calls, rtol=1e-8)
    assert (made.calls, made.work.tolist(), made.log) == ([0], [0.0] * 4, [])


def test_what_depends_on_the_right_hand_side_has_no_derivative() -> None:
    operator = Counting()

    def f(b: Any) -> Any:
        spl.cg(operator, b)
        return np.sum(operator.last)

    with pytest.raises(SolverError, match="stored has no derivative"):
        grad(f)(B)
    with pytest.raises(SolverError, match="stored has no derivative"):
        jvp(f, (B,), (B,))
    assert operator.last is None


CONSTANT = np.diag([2.0, 3.0, 4.0]) + 0.1


@pytest.mark.parametrize("name", ["cg", "gmres"])
@pytest.mark.parametrize("matrix", [CONSTANT, sp.csr_array(CONSTANT)], ids=["dense", "sparse"])
def test_callbacks_of_a_system_of_constants(matrix: Any, name: str) -> None:
    options: Any = {"callback_type": "x"} if name == "gmres" else {}

    def f(p):
        seen = []
        x, _ = getattr(spl, name)(
            matrix,
            np.ones(3),
            rtol=1e-12,
            callback=lambda x: seen.append(p[0] * x.sum()),
            **options,
        )
        return (x @ p) ** 2 * len(seen) + seen[0]

    p = np.array([1.0, 0.5, 2.0])
    value, g = value_and_grad(f)(p)
    assert value == f(p)
    x = np.linalg.solve(CONSTANT, np.ones(3))
    calls, first = [], []
    getattr(spl, name)(
        matrix, np.ones(3), rtol=1e-12, callback=lambda x: (calls.append(1), first.append(x.sum())),
        **options,
    )  # fmt: skip
    expected = 2 * (x @ p) * x * len(calls) + np.array([first[0], 0.0, 0.0])
    np.testing.assert_allclose(g, expected, rtol=1e-9)


def test_other_callbacks_of_iterations_are_refused() -> None:
    operator = spl.aslinearoperator(CONSTANT)
    for f in (
        lambda p: spl.cg(CONSTANT, p, callback=print)[0].sum(),
        lambda p: spl.cg(operator, np.ones(3), callback=print)[0] @ p,
    ):
        with pytest.raises(MissingRuleError, match="cg with a callback has no rule"):
            grad(f)(np.ones(3))


ACTIVE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "operator": (
        "cg with an operator that depends on active data has no rule",
        lambda x: spl.cg(spl.LinearOperator((3, 3), matvec=lambda v: v * x[0]), x)[0],
    ),
    "preconditioner": (
        "cg has no rule for an active M",
        lambda x: spl.cg(np.eye(3), x, M=spl.LinearOperator((3, 3), matvec=lambda v: v * x[0]))[0],
    ),
}


@pytest.mark.parametrize("name", ACTIVE)
def test_active_operators_are_refused_by_the_name_of_the_solver(name: str) -> None:
    text, solve = ACTIVE[name]
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(MissingRuleError, match=text):
        grad(lambda x: np.sum(solve(x)))(x)
    with pytest.raises(MissingRuleError, match=text):
        jvp(lambda x: np.sum(solve(x)), (x,), (x,))
