"""An argument and a captured or global array of the same memory are two variables."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    SharedArgumentsError,
    checkpoint,
    debug_mode,
    grad,
    gradient,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    pullback,
    value_and_grad,
    value_and_hvp,
    value_grad_and_hessian,
    vjp,
)
from tests.support.pairs import rotating

X = np.array([0.5, -1.5, 2.0])
V = np.array([1.0, 0.25, -2.0])
W = np.array([0.5, -1.5, 2.0])
MODEL = SimpleNamespace(weights=W, held=[W[:]])
ONE = np.ones(3)


def cubic(x):
    return np.sum(x * x * W)


def by_view(x):
    return np.sum(x * x * W[::-1][::-1])


def by_attribute(x):
    return np.sum(x * x * MODEL.weights)


def by_container(x):
    return np.sum(x * x * MODEL.held[0])


def by_call(x):
    return by_default(x)


def by_default(x, w=W):
    return np.sum(x * x * w)


def by_elements(x):
    total = 0.0
    for i in range(3):
        total += x[i] ** 2 * W[i]
    return total


def by_numbers(x):
    return sum(a * a * b for a, b in zip(x, W.tolist(), strict=True))


def checkpointed(x):
    return checkpoint(cubic, x)


NAMES = [
    cubic, by_view, by_attribute, by_container, by_call, by_elements, by_numbers, checkpointed,
]  # fmt: skip


def pulled_twice(back):
    back(1.0)
    return back(1.0)[0]


GRADIENTS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: grad(f)(W),
    "grad_by_name": lambda f: grad(f, "x")(x=W),
    "grad_of_view": lambda f: grad(lambda x: f(x))(W[:]),
    "grad_forward": lambda f: grad(f, mode="forward")(W),
    "value_and_grad": lambda f: value_and_grad(f)(W)[1],
    "debug": lambda f: grad(f, debug=True)(W),
    "vjp": lambda f: vjp(f, W)[1](1.0)[0],
    "vjp_twice": lambda f: pulled_twice(vjp(f, W)[1]),
    "jvp": lambda f: [jvp(f, (W,), (row,))[1] for row in np.eye(3)],
    "gradient": lambda f: gradient(f, W)[0],
    "pullback": lambda f: pullback(f, W)[1](1.0)[0],
    "jacobian_forward": lambda f: jacobian(f, mode="forward")(W),
    "jacobian_reverse": lambda f: jacobian(f, mode="reverse")(W),
    "value_and_hvp": lambda f: value_and_hvp(f, (W,), V)[1],
    "value_grad_and_hessian": lambda f: value_grad_and_hessian(f)(W)[1],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("take", "f"), rotating(GRADIENTS.values(), NAMES, times=2))
def test_gradients_are_partial(take: Any, f: Any) -> None:
    np.testing.assert_allclose(take(f), 2 * X * X)
    np.testing.assert_array_equal(W, X)


SECOND: dict[str, Callable[..., Any]] = {
    "hessian": lambda f: hessian(f)(W),
    "value_grad_and_hessian": lambda f: value_grad_and_hessian(f)(W)[2],
    "hessian_diagonal": lambda f: np.diag(hessian_diagonal(f)(W)),
    "hvp": lambda f: [hvp(f, (W,), row) for row in np.eye(3)],
    "value_and_hvp": lambda f: [value_and_hvp(f, (W,), row)[2] for row in np.eye(3)],
    "jvp_of_grad": lambda f: [jvp(grad(f), (W,), (row,))[1] for row in np.eye(3)],
    "vjp_of_grad": lambda f: [vjp(grad(f), W)[1](row)[0] for row in np.eye(3)],
    "grad_of_grad": lambda f: [grad(lambda x, r: r @ grad(f)(x))(W, row) for row in np.eye(3)],
    "grad_of_jvp": lambda f: [
        grad(lambda x, r: jvp(f, (x,), (r,))[1])(W, row) for row in np.eye(3)
    ],
    "jacobian_of_vjp": lambda f: jacobian(lambda x: vjp(f, x)[1](1.0)[0])(W),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("take", "f"), rotating(SECOND.values(), NAMES))
def test_second_derivatives_are_partial(take: Any, f: Any) -> None:
    np.testing.assert_allclose(take(f), 2 * np.diag(X))


def test_the_hessian_of_a_distance_from_where_it_is_taken() -> None:
    np.testing.assert_array_equal(hessian(lambda x: np.sum((x - W) ** 2))(W), 2 * np.eye(3))
    start = SimpleNamespace(x=X.copy())

    def distance(x):
        return np.sum((x - start.x) ** 2)

    np.testing.assert_array_equal(hessian(distance)(start.x), 2 * np.eye(3))
    np.testing.assert_array_equal(hvp(distance, (start.x,), V), 2 * V)


def test_an_inner_derivative_with_respect_to_what_it_captures() -> None:
    def inner(x):
        return np.sum(V * grad(lambda z: np.sum(z * z * x))(x))

    np.testing.assert_allclose(grad(inner)(X), 4 * V * X)  # of 2 x x
    np.testing.assert_allclose(jvp(inner, (X,), (ONE,))[1], np.sum(4 * V * X))
    np.testing.assert_allclose(hessian(inner)(X), np.diag(4 * V))
    for take in (
        lambda x: vjp(lambda z: z * z * x, x)[1](V)[0],
        lambda x: jvp(lambda z: z * z * x, (x,), (V,))[1],
        lambda x: 0.5 * hvp(lambda z: np.sum(z * z * z * x), (x,), V) / 1.5,
    ):
        np.testing.assert_allclose(grad(lambda x, take=take: np.sum(take(x)))(X), 4 * V * X)
        np.testing.assert_allclose(jvp(take, (X,), (ONE,))[1], 4 * V * X)


def test_complex_arrays_views_and_layouts() -> None:
    z = np.array([1.0 + 2.0j, -0.5j])
    np.testing.assert_allclose(grad(lambda x: np.sum((x * z).real))(z), z.conj())
    for a in (np.arange(6.0).reshape(2, 3).T, np.arange(12.0)[::2], np.broadcast_to(X, (2, 3))):

        def f(x, a=a):
            return np.sum(x * a), (x.strides, x.flags.writeable)

        found, seen = grad(f, has_aux=True)(a)
        assert seen == (a.strides, a.flags.writeable)
        np.testing.assert_array_equal(found, a * a.size / X.size if a.strides[0] == 0 else a)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("view", [
    lambda x: x[::2], lambda x: x[::-1], lambda x: x.reshape(2, 4)[:, ::2],
    lambda x: x.reshape(2, 2, 2).transpose(1, 0, 2), lambda x: np.asfortranarray(x.reshape(2, 4)),
])  # fmt: skip
def test_views_of_any_layout_as_arguments_of_inner_derivatives(view: Any) -> None:
    x = np.linspace(0.5, 2.0, 8)

    def cubes(z):
        return np.sum(z**3)

    expected = grad(lambda x: np.sum(3.0 * view(x) ** 4))(x)
    for take in (
        lambda v: grad(cubes)(v) * v * v,
        lambda v: vjp(lambda z: z**3, v)[1](v * v)[0],
        lambda v: jvp(cubes, (v,), (v * v,))[1],
        lambda v: hvp(cubes, (v,), v) * v * v / 2.0,
    ):

        def total(x, take=take):
            return np.sum(take(view(x)))

        np.testing.assert_allclose(grad(total)(x), expected)
        np.testing.assert_allclose(jvp(total, (x,), (x,))[1], expected @ x)

        def of_view(v, take=take):
            return np.sum(take(v))

        v = view(x)
        np.testing.assert_allclose(grad(of_view)(v), 12.0 * v**3)
        np.testing.assert_allclose(jvp(of_view, (v,), (v,))[1], np.sum(12.0 * v**4))
        np.testing.assert_allclose(vjp(of_view, v)[1](1.0)[0], 12.0 * v**3)


# Writes.


def write_then_read(x):
    x[0] = 5.0
    return np.sum(x * W)


def read_then_write(x):
    y = np.sum(x * W)
    x[0] = 5.0
    return y + np.sum(x)


def write_the_other(x):
    W[0] = 5.0
    return np.sum(x)


def write_whole(x):
    np.multiply(x, 2.0, out=x)
    return np.sum(x) + float(W[0])


def sort(x):
    x.sort()
    return np.sum(x) + float(W[0])


def loop(x):
    for i in range(3):
        x[i] = x[i] * W[i]
    return np.sum(x)


def loop_over_inactive(x):
    for i in range(1, 3):
        W[i] = W[i - 1] + 1.0
    return np.sum(x * x)


def write_for_a_while(x):
    total = 0.0
    for i in range(3):
        x[i] += 0.5
        total += np.sum(W)
        x[i] -= 0.5
    return total * x[0]


def in_a_test(x):
    if W[0] > 0.0:
        x *= 2.0
    return np.sum(x)


def write_in_call(x):
    def halve(a):
        a *= 0.5

    halve(x[1:])
    return np.sum(x * MODEL.weights)


def write_into_both(x):
    W[1:] = x[1:] * 2.0
    return np.sum(x * W)


def write_for_a_while_after_reading(x):
    total = np.sum(W)
    for i in range(3):
        x[i] += 0.5
        total += np.sum(W)
        x[i] -= 0.5
    return total * x[0]


def write_the_other_for_a_while(x):
    W[...] = W + 0.5
    total = np.sum(x)
    W[...] = W - 0.5
    return total


def write_for_a_while_twice(x):
    x += 0.5
    x -= 0.5
    total = np.sum(W)
    x += 0.5
    total += np.sum(W)
    x -= 0.5
    return total * x[0]


WRITES = [
    write_for_a_while_after_reading, write_the_other_for_a_while, write_for_a_while_twice,
    write_then_read, read_then_write, write_the_other, write_whole, sort, loop,
    loop_over_inactive, write_for_a_while, in_a_test, write_in_call, write_into_both,
]  # fmt: skip

WAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: grad(f)(W),
    "forward": lambda f: grad(f, mode="forward")(W),
    "vjp": lambda f: vjp(f, W),
    "jvp": lambda f: jvp(f, (W,), (V,)),
    "hessian": lambda f: hessian(f)(W),
    "hvp": lambda f: hvp(f, (W,), V),
    "inside_reverse": lambda f: grad(lambda x: np.sum(grad(f)(x)))(W),
    "inside_forward": lambda f: jvp(grad(f), (W,), (V,)),
    "vjp_inside": lambda f: grad(lambda x: vjp(f, x)[0])(W),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(W),
}


@pytest.mark.parametrize(("take", "f"), rotating(WAYS.values(), WRITES, times=2))
def test_a_write_into_what_both_names_reach_is_an_error(take: Any, f: Any) -> None:
    with pytest.raises(SharedArgumentsError, match="a captured or global name share"):
        take(f)
    np.testing.assert_array_equal(W, X)


def test_the_error_names_the_argument_and_the_line() -> None:
    with pytest.raises(SharedArgumentsError) as caught:
        grad(write_then_read)(W)
    text = str(caught.value)
    assert "write_then_read writes into memory that argument 0 ('x') and a captured" in text
    assert "fix:   read and write it by the name of the argument alone, or pass a copy" in text
    with debug_mode(), pytest.raises(SharedArgumentsError):
        grad(write_then_read)(W)


STATE = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -2.0]])


def of_both(u, v):
    u *= 2.0
    v += u * v
    v[1:] *= 0.5
    return np.sum(u * v * v)


BOTH: dict[str, Callable[..., Any]] = {
    "grad": lambda u, v: grad(of_both)(u, v),
    "grad_by_second": lambda u, v: grad(of_both, 1)(u, v),
    "grad_by_both": lambda u, v: np.concatenate(grad(of_both, (0, 1))(u, v)),
    "forward": lambda u, v: grad(of_both, mode="forward")(u, v),
    "vjp": lambda u, v: np.concatenate(vjp(of_both, u, v)[1](1.0)),
    "jvp": lambda u, v: jvp(of_both, (u, v), (ONE, None))[1],
    "jvp_by_both": lambda u, v: jvp(of_both, (u, v), (v, u))[1],
    "hessian": lambda u, v: hessian(of_both)(u, v),
    "hvp": lambda u, v: hvp(of_both, (u, v), ONE, 1),
    "inside_reverse": lambda u, v: grad(lambda u, v: np.sum(grad(of_both)(u, v)))(u, v),
    "inside_forward": lambda u, v: jvp(grad(of_both, (0, 1)), (u, v), (ONE, ONE))[1][1],
    "vjp_inside": lambda u, v: grad(lambda u, v: np.sum(vjp(of_both, u, v)[1](1.0)[1]))(u, v),
    "debug": lambda u, v: grad(of_both, debug=True)(u, v),
    "vjp_captured": lambda u, v: vjp(lambda u: of_both(u, v), u)[1](1.0)[0],
    "vjp_of_list": lambda u, v: vjp(lambda p: of_both(p[0], v), [u])[1](1.0)[0][0],
    "captured_too": lambda u, v: grad(lambda u: of_both(u, v))(u),
}


@pytest.mark.parametrize("take", BOTH.values(), ids=list(BOTH))
def test_views_of_one_block_that_do_not_overlap_may_be_written(take: Any) -> None:
    state = STATE.copy()
    expected = take(*(row.copy() for row in state))
    np.testing.assert_allclose(take(*state), expected, rtol=1e-14)
    np.testing.assert_array_equal(state, STATE)


def test_captured_views_beside_an_argument_are_as_before_while_a_pullback_waits() -> None:
    state = STATE.copy()
    u, v = state
    ways = []
    for _ in range(2):
        y, pullback = vjp(lambda u: of_both(u, v), u)
        np.testing.assert_array_equal(state, STATE)
        ways.append((y, pullback))
    expected = value_and_grad(lambda u: of_both(u, v), compile=False)(u)
    for y, pullback in ways:
        assert y == expected[0]
        for _ in range(2):
            np.testing.assert_allclose(pullback(1.0)[0], expected[1], rtol=1e-14)
            np.testing.assert_array_equal(state, STATE)


def test_views_of_one_block_that_overlap_may_not() -> None:
    flat = STATE.ravel().copy()
    for take in (BOTH["captured_too"], BOTH["grad"], BOTH["inside_reverse"], BOTH["jvp"]):
        with pytest.raises(SharedArgumentsError):
            take(flat[:3], flat[2:5])


def test_elements_beside_an_argument_that_is_a_view_may_be_written() -> None:
    state = np.arange(6.0).reshape(2, 3)

    def beside(u):
        state[1, 2] = 7.0
        state[1][0] = u[0]
        state[1, ...] *= 2.0
        return np.sum(u * state[1])

    expected = grad(beside)(state[0].copy())
    np.testing.assert_allclose(grad(beside)(state[0]), expected)
    np.testing.assert_array_equal(state, np.arange(6.0).reshape(2, 3))


def test_a_write_by_an_index_that_copies_is_seen_although_it_is_undone() -> None:
    state = np.arange(12.0).reshape(3, 4)

    def in_between(u):
        old = state[:, [0, 1]]
        state[:, [0, 1]] = 0.0
        value = np.sum(u * u)
        state[:, [0, 1]] = old
        return value

    assert state[:, [0, 1]].base is not None  # and yet no view of it
    with pytest.raises(SharedArgumentsError):
        grad(in_between)(state)


def test_a_tangent_may_be_the_very_array_of_the_argument() -> None:
    def doubled(x):
        x *= 2.0
        return np.sum(x**3)

    expected = np.sum(24.0 * X**3)
    np.testing.assert_allclose(jvp(doubled, (W,), (W,))[1], expected)
    np.testing.assert_allclose(hvp(doubled, (W,), W), 48.0 * X**2)
    np.testing.assert_allclose(grad(lambda x: jvp(doubled, (x,), (x,))[1])(W), 72.0 * X**2)
    np.testing.assert_allclose(
        jvp(lambda x: jvp(doubled, (x,), (x,))[1], (W,), (W,))[1], 3.0 * expected
    )
    with pytest.raises(SharedArgumentsError):
        grad(lambda x: jvp(write_then_read, (x,), (x,))[1])(W)


def test_writes_into_what_no_other_name_reaches() -> None:
    other = X.copy()

    def f(x):
        x[0] = 5.0
        other[1:] *= 2.0
        return np.sum(x * other)

    np.testing.assert_array_equal(grad(f)(W), [0.0, *(2.0 * X[1:])])
    np.testing.assert_array_equal(other, X)
    whole = np.arange(6.0)

    def beside(x):
        whole[3:] = x * 2.0
        return np.sum(whole[3:] ** 2)

    np.testing.assert_array_equal(grad(beside)(whole[:3]), 8.0 * whole[:3])
    np.testing.assert_array_equal(whole, np.arange(6.0))


def test_a_pullback_reads_the_other_name_when_it_is_called() -> None:
    x = X.copy()
    _, back = vjp(lambda z: z * x, x)
    np.testing.assert_array_equal(back(ONE)[0], X)
    np.testing.assert_array_equal(back(ONE)[0], X)


def test_the_argument_that_the_function_sees_is_a_copy_which_stands_for_it() -> None:
    def f(x):
        assert x is W
        assert np.shares_memory(x, W[::-1])
        assert not np.may_share_memory(x[:1], W[1:])
        return np.sum(x)

    for take in WAYS.values():
        take(f)


def test_arguments_of_an_inner_derivative_that_share_memory_with_a_captured_array() -> None:
    def f(u, v):
        u[0] = 5.0
        return np.sum(u) * np.sum(v) * W[0]

    def inner(x):
        return np.sum(grad(f, (0, 1))(x[:2], x[1:])[0])

    for take in (inner, grad(inner), lambda x: jvp(inner, (x,), (V,))):
        with pytest.raises(SharedArgumentsError, match="a captured or global name share"):
            take(W)
    np.testing.assert_array_equal(W, X)
