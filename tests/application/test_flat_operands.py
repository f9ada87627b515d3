"""Rules by pullback whose arguments are surveyed in one pass do what the general way does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.application import apply
from mooncake_py.modes.forward import apply as forward
from mooncake_py.rules import registry
from mooncake_py.tangents.bits import bits_of

A = np.array([0.5, -1.5, 2.5])
M = np.array([[3.0, 0.5, -0.5], [0.25, 2.0, 1.0], [0.5, -1.0, 4.0]])


def of_lists(a: Any, m: Any, s: float) -> Any:
    return np.concatenate([a, [s, 2.0, s], (1.0, 2.0), m[0]]) * np.arange(11.0)


def of_tuples(a: Any, m: Any, s: float) -> Any:
    return np.stack((a, m[:, 1], [s, 1.0, s * s]), axis=1) @ a


def of_nested_lists(a: Any, m: Any, s: float) -> Any:
    return np.vstack(([[s, 1.0, 2.0], [3.0, s, s]], a)) * np.arange(9.0).reshape(3, 3)


def of_an_array(a: Any, m: Any, s: float) -> Any:
    return np.concatenate(m) * np.hstack(m[None]).ravel()


def of_ints(a: Any, m: Any, s: float) -> Any:
    return np.concatenate([np.arange(3), a, [True, False]]) * s


def of_other_precision(a: Any, m: Any, s: float) -> Any:
    return (
        np.hstack([a.astype(np.float32), np.float32(2.0), a])
        * np.linalg.norm(m.astype(np.float32), axis=1).sum()
    )


def of_complex(a: Any, m: Any, s: float) -> Any:
    y = np.concatenate([a * (1 + 2j), a, [s * 1j]])
    return np.linalg.norm(y) * np.real(y) + np.imag(y)


def of_keywords(a: Any, m: Any, s: float) -> Any:
    return np.linalg.norm(m, ord=2, axis=(0, 1)) + np.linalg.norm(m, axis=1, keepdims=True)


def of_dtype(a: Any, m: Any, s: float) -> Any:
    return np.concatenate([a, m[1]], dtype=np.float32) * np.prod(a)


def of_views(a: Any, m: Any, s: float) -> Any:
    return np.linalg.solve(m.T[:, ::-1], a[::-1]) * np.linalg.det(m)


def of_several_outputs(a: Any, m: Any, s: float) -> Any:
    sign, logarithm = np.linalg.slogdet(m)
    w, v = np.linalg.eigh(m + m.T)
    return sign * logarithm * w + np.abs(v) @ a


def of_numbers(a: Any, m: Any, s: float) -> Any:
    return np.linalg.norm([s, 2.0, s * s]) * np.einsum("i,i->", a, np.stack([s, s, 1.0]))


def written_afterwards(a: Any, m: Any, s: float) -> Any:
    y = np.linalg.norm(a)
    z = np.concatenate([a, m[0]])
    a[0] = s * y
    m[0] *= 2.0
    z[1] = 0.0
    return np.linalg.norm(a) * y * z * np.concatenate([m[0], a])


def with_output(a: Any, m: Any, s: float) -> Any:
    out = np.zeros(6)
    y = np.concatenate([a, m[2]], 0, out)
    return y * out


def not_finite(a: Any, m: Any, s: float) -> Any:
    return np.where(a > 0, np.concatenate([a[:1] * np.inf, a[1:]]), 0.0)[1:] * np.prod(a - 0.5)


PROGRAMS = [
    of_lists, of_tuples, of_nested_lists, of_an_array, of_ints, of_other_precision, of_complex,
    of_keywords, of_dtype, of_views, of_several_outputs, of_numbers, written_afterwards,
    with_output, not_finite,
]  # fmt: skip


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, m: Any, s: float) -> Any:
        y = f(a, m, s)
        return np.sum(np.cos(np.arange(float(np.size(y)))) * np.ravel(y))

    return run


def generally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "flat", lambda *args: None)
    monkeypatch.setattr(forward, "push_flat", lambda *args: None)


def found(f: Callable[..., Any]) -> Any:
    args = A.copy(), M.copy(), 1.5
    tangents = np.array([1.0, 2.0, -1.0]), M[::-1].copy(), 0.5
    y, gradients = value_and_grad(total(f), argnums=(0, 1, 2))(*args)
    value, tangent = jvp(f, args, tangents)
    assert bits_of(args[0]) == bits_of(A)
    assert bits_of(args[1]) == bits_of(M)
    return [np.asarray(v) for v in (y, *gradients, value, tangent)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_pass_is_the_general_way(
    f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.errstate(all="ignore"):
        quick = found(f)
        generally(monkeypatch)
        slow = found(f)
    for x, y in zip(quick[:-1], slow[:-1], strict=True):
        assert x.dtype == y.dtype
        assert bits_of(x) == bits_of(y)
    np.testing.assert_allclose(quick[-1], slow[-1], rtol=1e-12)


@pytest.mark.parametrize("f", [of_tuples, of_views, of_keywords], ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def of_array(a: Any) -> Any:
        return total(f)(a, M * a, a[0])

    quick = hvp(of_array, (A,), A[::-1].copy())
    generally(monkeypatch)
    np.testing.assert_allclose(quick, hvp(of_array, (A,), A[::-1].copy()), rtol=1e-13)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.concatenate([a, a[None]]),
        lambda a: np.concatenate([]),
        lambda a: np.stack([a, a[:1]]),
        lambda a: np.linalg.solve(a, a),
        lambda a: np.linalg.norm(a, 3, 5),
        lambda a: np.concatenate(a[0]),
    ],
)
def test_errors_are_those_of_numpy(call: Callable[..., Any]) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)) as plain:
        call(A)
    for run in (lambda: grad(lambda a: np.sum(call(a)))(A), lambda: jvp(call, (A,), (A,))):
        with pytest.raises(plain.type) as differentiated:
            run()
        assert str(differentiated.value) == str(plain.value)


def test_subclasses_take_over() -> None:
    class Own(np.ndarray):
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return 2.0

    def f(a: Any) -> Any:
        return np.sum(a) * np.concatenate([np.zeros(2).view(Own), A])  # type: ignore[operator]

    np.testing.assert_array_equal(grad(f)(A), [2.0, 2.0, 2.0])


def test_arrays_that_are_joined_need_no_log() -> None:
    rule: Any = registry.find(np.concatenate)
    assert rule.reads_shapes_only
    rule = registry.find(np.linalg.norm)
    assert not rule.reads_shapes_only
