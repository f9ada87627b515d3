"""Functions of PyTorch as functions with rules."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, jvp, vjp
from mooncake_py.errors import MissingRuleError
from mooncake_py.testing import rule_cases, test_rule
from tests.support.gradients import check

torch = pytest.importorskip("torch")
from_torch = pytest.importorskip("mooncake_py.integrations.torch").from_torch


@from_torch
def quadratic(a, x):
    return x @ a @ x


@from_torch
def several(x, s):
    return torch.sin(x) * s, [x.sum(), x.long()]


@from_torch
def squares(z):
    return z * z * z.conj()


@from_torch
def in_place(x):
    x.mul_(2.0)
    return x * x


A = np.array([[1.0, 2.0], [0.5, -1.0]])
X = np.array([0.5, 1.5])
CASES = rule_cases(
    (quadratic, A, X),
    (in_place, X),
    (squares, np.array([1.0 + 2.0j, -0.5j])),
    layouts=False,
    dtypes=False,
    order=1,
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule_of_torch(case):
    case.check()


def test_layouts_of_numpy_are_taken():
    test_rule(quadratic, A, X, dtypes=False, order=1)


def test_types_are_kept():
    assert type(quadratic(A, X)) is np.float64
    assert grad(quadratic)(A.astype(np.float32), X.astype(np.float32)).dtype == np.float32


def test_in_the_middle_of_code_in_place():
    def f(a, x):
        x[0] *= 3.0
        y = quadratic(a, x)
        a[1] += x * y
        return np.sum(in_place(x)) + quadratic(a, x) * y

    check(f, A.copy(), X.copy())


def test_output_that_is_nested_and_used_in_part():
    def f(x, s):
        y, (_, whole) = several(x, s)
        assert whole.dtype.kind == "i"
        return np.sum(y[1:]) + 0.0 * whole[0]

    check(f, X, 2.0)
    check(lambda x, s: several(x, s)[1][0] ** 2, X, 2.0, argnums=(0,))


def test_complex_gradients_follow_our_convention():
    z = np.array([1.0 + 2.0j])
    assert grad(lambda z: np.sum(np.abs(squares(z)) ** 2))(z) == pytest.approx(
        grad(lambda z: np.sum(np.abs(z * z * np.conj(z)) ** 2))(z)
    )


def test_module_with_parameters():
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 3, dtype=torch.float64)
    apply = from_torch(layer)
    check(lambda x: np.sum(apply(x * x) ** 2), X)
    assert all(p.grad is None for p in layer.parameters())


def test_pullback_may_be_called_again():
    y, pullback = vjp(quadratic, A, X)
    assert y == X @ A @ X
    np.testing.assert_allclose(pullback(1.0)[1], (A + A.T) @ X)
    np.testing.assert_allclose(pullback(2.0)[1], 2 * (A + A.T) @ X)


def test_keywords_are_refused():
    with pytest.raises(MissingRuleError, match="positional arguments only"):
        grad(lambda x: quadratic(A, x=x))(X)
    with pytest.raises(MissingRuleError, match="positional arguments only"):
        grad(lambda a: quadratic(a, x=X))(A)


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
