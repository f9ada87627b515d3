"""Matrices that compiled functions give back have the strides and the flags of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad, vjp
from mooncake_py.compiler.native.site import report
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain

ORDERS = {
    "C": np.copy,
    "fortran": np.asfortranarray,
    "transposed": lambda a: a.copy().T,
    "strided": lambda a: a.repeat(2, 0).repeat(2, 1)[::2, ::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "fortran_backwards": lambda a: np.asfortranarray(a[::-1])[::-1],
}
IN_ORDER = [  # of what is in C order, and compiled then
    "M * 2", "np.exp(M)", "-M", "M + M[0]", "M**2", "np.zeros_like(M)", "np.ones_like(M)",
    "np.copy(M)", "np.array(M)", "M.astype(float)", "np.where(M > 0, M, 0.0)", "np.maximum(M, 0.5)",
    "np.cumsum(M, axis=0)", "np.concatenate((M, M))", "np.stack((M, M))", "M[::-1, ::-1] * 1",
    "M + M.T", "M.T @ M", "np.dot(M.T, M.T)", "M.T.copy()", "np.where(M.T > 0, M, 0.0)",
    "np.column_stack((M[0], M[1]))", "np.array([M.T[0], M.T[1]])", "np.outer(M[0], M[1])",
    "M[0][:, None] * M[1]", "M[np.array([1, 0])]", "M.T[np.array([1, 0])]",
    "np.einsum('ij,jk->ik', M, M)", "np.roll(M, 1, axis=0)", "np.diff(M, axis=0)",
    "np.linalg.inv(M.T)", "np.linalg.solve(M, M.T)", "np.eye(4) * M[0, 0]", "np.triu(M)",
    "M[0].reshape(2, 2) * 2", "np.stack((M, M)).sum(axis=1)", "np.stack((M, M)) + M",
    "M.sum(axis=1, keepdims=True) * M", "np.zeros((3, 2)) + M[0, 0]", "M.T[1:, :-1].T * 1",
    "np.tanh(M).T @ np.tanh(M)", "M * 1j", "np.exp(1j * M)", "np.exp(1j * np.outer(M[0], M[1]))",
]  # fmt: skip
TURNED = [
    "M.T * 2", "(M + M.T).T * 2", "np.zeros_like(M.T)", "np.copy(M.T)", "np.array(M.T)",
    "M.T.astype(float)", "np.where(M.T > 0, M.T, 0.0)", "np.clip(M.T, -0.5, 0.5)",
    "np.cumsum(M.T, axis=0)", "np.concatenate((M.T, M.T))", "np.concatenate((M, M.T))",
    "np.stack((M.T, M.T))", "np.flip(M.T) * 1.0", "np.outer(M[0], M[1]).T * 2",
    "(M[0][:, None] * M[1]).T * 3", "M[:, np.array([1, 0])] * 2",
    "(M[0][:, None] * M[1])[:, np.array([1, 0])] * 2",
    "M[0][np.array([[0, 1], [1, 0], [0, 0]])]", "M[:, np.array([[0, 1], [1, 0], [0, 0]])] * 1",
    "np.einsum('ij,jk->ki', M, M)", "np.einsum('ij,j->ji', M, M[0])",
    "np.einsum('ij,jk->ik', M, M, optimize=True)", "np.roll(M.T, 1, axis=0)", "np.diff(M.T)",
    "np.triu(M.T)", "M[0].reshape(2, len(M) // 2).T * 2", "np.stack((M, M)).T.sum(axis=0)",
    "np.max(np.stack((M, M)).T, axis=0)", "M.T - M.mean(axis=0)", "np.hypot(M.T, M.T)",
    "np.outer(M[0], M[1]) + M.T", "np.exp(M.T * 1j)", "(M.T * 1j).real * 1", "(1j * M.T) ** 2",
    "np.exp(1j * np.outer(M[0], M[1])).T * 1", "np.angle(1j * M.T)",
]  # fmt: skip
BOUND_ANEW = [
    f"y = {first}; {then}"
    for first in ("M * 1", "M.T * 1", "np.zeros((4, 4))", "np.zeros_like(M)")
    for then in (
        "for i in range(3): y = y * 0.5 + M", "for i in range(3): y = y.T * 0.5",
        "for i in range(3): y = M.T * 0.5", "if M[0, 0] > 0: y = M.T * 2", "y[:] = M.T",
        "y += M.T", "y[0] = M.T[1]",
    )
]  # fmt: skip


def maker(text: str) -> Any:
    """Return a function that makes a matrix: the value of an expression, or ``y``."""
    lines = text.split("; ") if text.startswith("y =") else [f"y = {text}"]
    body = "".join(f"    {line}\n" for line in [*lines, "return y"])
    return function_of(f"import numpy as np\ndef f(M):\n{body}", f"<made {text}>")


def layout_of(a: np.ndarray) -> tuple[Any, ...]:
    steps = [step for step, n in zip(a.strides, a.shape, strict=True) if n != 1]
    return a.shape, steps, a.flags.c_contiguous, a.flags.f_contiguous


def of_order(order: str) -> np.ndarray:
    return ORDERS[order](np.random.default_rng(1).normal(size=(4, 4)) + 3 * np.eye(4))


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("text", "order"), rotating(IN_ORDER + TURNED + BOUND_ANEW, ORDERS, times=2)
)
def test_results_are_kept_as_numpy_keeps_them(text: str, order: str, tried: list[bool]) -> None:
    made = maker(text)
    M = of_order(order)
    before = M.copy()
    want = made(of_order(order))
    got, _ = vjp(made, M, compile=True)
    assert layout_of(got) == layout_of(want)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    got = jvp(made, (M,), (np.ones_like(M),), compile=True)[0]
    assert layout_of(got) == layout_of(want)
    np.testing.assert_array_equal(M, before)
    if text in IN_ORDER and order == "C":
        assert report(made)[0].found == "compiled", report(made)
        assert tried
        assert all(tried)


@pytest.mark.parametrize("text", ["M.T * 2", "np.copy(M.T)", "np.exp(M)", "M + M.T"])
@pytest.mark.parametrize("order", ["C", "fortran"])
def test_later_views_and_copies_are_those_of_numpy(text: str, order: str) -> None:
    made = maker(text)

    def f(M):
        names = {}  # so it is not compiled whole
        r = made(M)
        names["flat"] = r.ravel()
        names["flat"][1] = 0.0
        second = r.ravel(order="K")[2] * r.reshape(-1, order="A")[6]
        return np.sum(r * r) + 3 * names["flat"][2] + second + r.strides[0] * M[0, 1]

    value, g = value_and_grad(f, compile=True)(of_order(order))
    expected, h = value_and_grad(f)(of_order(order))
    assert expected == pytest.approx(f(of_order(order)), rel=1e-13)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(g, h, rtol=1e-11)
    pushed = jvp(f, (of_order(order),), (np.cos(of_order(order)),), compile=True)
    np.testing.assert_allclose(pushed, [value, np.sum(h * np.cos(of_order(order)))], rtol=1e-11)
