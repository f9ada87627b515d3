"""The log of writes: large parts of a block are saved once until the tape refers to the block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, tape_of, value_and_grad, vjp
from mooncake_py.modes.reverse.tape import LARGE
from tests.support.directions import sixth_order

N = 100  # the inner part of a square has more than LARGE bytes
UNDOES = "undo: overwritten elements"
assert 8 * (N - 2) ** 2 > LARGE


def undone(f: Any, *args: Any) -> list[int]:
    """Return the bytes that each entry saves of what a write overwrites."""
    return [e.nbytes for e in tape_of(f, *args).entries if e.operation == UNDOES]


def square() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(N, N))


def jacobi(u, steps=4):
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def two_parts(u):
    for _ in range(3):
        u[1:-1, 1:-1] += 0.1 * u[2:, 1:-1]
        u[:, : N // 2] *= 0.5
        u[1:-1, 1:-1] -= u[:-2, 1:-1]
    return np.sum(u * u)


def nonlinear(u):
    total = 0.0
    for _ in range(3):
        u[1:-1, 1:-1] += 0.1 * u[2:, 1:-1]
        u[1:-1, 1:-1] *= 0.9
        total += np.sum(np.sin(u[:, 2:]))
    return total


def read_between(u):
    """The product refers to the part that was logged before, and is written again."""
    u[1:-1, 1:-1] *= 0.5
    product = u[1:-1, 1:-1] * u[2:, 1:-1]
    u[1:-1, 1:-1] += product
    u[1:-1, 1:-1] *= 0.5
    return np.sum(u * u)


def into_out(u):
    inner = u[1:-1, 1:-1]
    np.add(inner, u[2:, 1:-1], out=inner)
    np.multiply(inner, 0.3, out=inner)
    np.sin(inner, out=inner)
    np.add(inner, 1.0, out=inner)
    return np.sum(u * u)


PROGRAMS = [jacobi, two_parts, nonlinear, read_between, into_out]


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_and_restored_arguments(f):
    u, direction = square(), square()[::-1]
    before = u.copy()
    expected = sixth_order(lambda t: f(u + t * direction))
    for _ in range(2):
        value, du = value_and_grad(f)(u)
        assert value == f(before.copy())
        np.testing.assert_allclose(np.sum(du * direction), expected, rtol=1e-9)
        np.testing.assert_array_equal(u, before)


@pytest.mark.parametrize("f", PROGRAMS)
def test_in_parts_that_run_again(f):
    u = square()

    def twice(u):
        u[1:-1, 1:-1] *= 0.9
        return checkpoint(lambda: f(u) + checkpoint(f, u) * checkpoint(f, u))

    def plain(u):
        u[1:-1, 1:-1] *= 0.9
        return f(u) + f(u) * f(u)

    before = u.copy()
    np.testing.assert_allclose(grad(twice)(u), grad(plain)(u), rtol=1e-12)
    np.testing.assert_array_equal(u, before)


@pytest.mark.without_modes("about a tape where nothing is compiled", "compiled")
def test_linear_sweep_saves_what_it_overwrites_once():
    assert undone(jacobi, square()) == [8 * (N - 2) ** 2]
    assert undone(two_parts, square()) == [8 * (N - 2) ** 2, 8 * N * N]


@pytest.mark.without_modes("about a tape where nothing is compiled", "compiled")
def test_a_part_is_saved_again_when_the_tape_has_referred_to_it():
    assert undone(read_between, square()) == [8 * (N - 2) ** 2, 8 * N * N]
    u = square()
    np.testing.assert_array_equal(vjp(read_between, u)[1](1.0)[0], grad(read_between)(u))


def test_real_parts_are_another_part_than_the_whole():
    def f(z):
        inner = z[1:-1]
        inner.real[...] *= 2.0
        inner[...] *= 1j
        inner.real[...] *= 3.0
        return np.sum(z.real**2 + 2.0 * z.imag**2)

    z = np.random.default_rng(4).normal(size=(2, 9000)).T.copy().view(complex)[:, 0]
    before = z.copy()
    # inner: real 3 * -imag, imag 2 * real
    expected = 8.0 * 2.0 * z.real + 9.0 * 2.0 * 1j * z.imag
    expected[[0, -1]] = 2.0 * z.real[[0, -1]] + 4.0j * z.imag[[0, -1]]
    np.testing.assert_allclose(grad(f)(z), expected, rtol=1e-12)
    np.testing.assert_array_equal(z, before)


def test_all_is_restored_after_an_exception():
    def fails(u):
        two_parts(u)
        raise ArithmeticError

    u = square()
    before = u.copy()
    with pytest.raises(ArithmeticError):
        value_and_grad(fails)(u)
    np.testing.assert_array_equal(u, before)


# An index in the memory that is written.

INDEX = np.array([1, 0, 3, 2, 4, 6, 5, 7])
WRITES = {
    "slice": lambda p: p.__setitem__(p[:2], 5),
    "values": lambda p: p.__setitem__(p[:3], p[3:6]),
    "tuple": lambda p: p.reshape(2, 4).__setitem__((p[:2] % 2, p[2:4]), 3),
    "along axis": lambda p: np.put_along_axis(p, p[:2], 1, 0),
    "put": lambda p: np.put(p, p[:2], 5),
    "at": lambda p: np.add.at(p, p[:2], 1),
}


@pytest.mark.parametrize("again", [False, True], ids=["recorded", "checkpointed"])
@pytest.mark.parametrize("name", WRITES)
def test_an_index_in_the_memory_that_is_written(name: str, again: bool) -> None:
    def f(x: Any, p: Any) -> Any:
        y = x[p]
        WRITES[name](p)
        z = x[p % 8]
        WRITES[name](p)
        return y @ z * x[p[0] % 8]

    def run(x: Any, p: Any) -> Any:
        return checkpoint(f, x, p) if again else f(x, p)

    x, p = np.arange(1.0, 9.0), INDEX.copy()
    found = grad(run)(x, p)
    np.testing.assert_array_equal(p, INDEX)
    h = 1e-6 * np.eye(8)
    expected = [(f(x + e, INDEX.copy()) - f(x - e, INDEX.copy())) / 2e-6 for e in h]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_mask_that_is_written_where_it_is_true() -> None:
    def f(x: Any, k: Any) -> Any:
        y = x[k]
        k[k] = False
        return np.sum(y**2) + x[~k][0]

    k = np.array([True, False, True, True])
    np.testing.assert_array_equal(grad(f)(np.arange(1.0, 5.0), k), [3.0, 0.0, 6.0, 8.0])
    assert k.tolist() == [True, False, True, True]
