"""Buffers that lend their memory to arrays: what goes through the array counts, the rest raises."""

from __future__ import annotations

import array
import mmap
import struct
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, MooncakeError, checkpoint, grad, jacobian, jvp
from tests.support.gradients import Program, Programs
from tests.support.pairs import rotating

programs = Programs()
X = np.array([0.3, 1.2, 0.7])
BUFFERS = [lambda: array.array("d", [0.0] * 3), lambda: bytearray(24), lambda: mmap.mmap(-1, 24)]


@programs(X)
def through_one_array(x):
    y = np.frombuffer(array.array("d", [1.0, 2.0, 3.0]))
    y *= x
    return y.sum() * np.frombuffer(bytearray(8))[0] + y[0] * y[1]


@programs(X)
def constants_in_buffers(x):
    a = array.array("d", [1.0, 2.0])
    a.append(3.0)
    a[0] = 5.0
    a += array.array("d", [4.0])
    return x[0] * sum(a) * len(a) + x[1] * a[0]


@programs(X)
def through_two_arrays(x):
    buffer = bytearray(24)
    y, z = np.frombuffer(buffer), np.frombuffer(buffer)
    y[:] = x
    z[1:] *= x[0]
    y *= z
    return z.sum() + y[0] * x[1]


@programs(X)
def through_parts(x):
    buffer = array.array("d", [1.0, 2.0, 3.0])
    y, z = np.asarray(buffer), np.frombuffer(memoryview(buffer), offset=8)
    z[0] = x[0] * x[1]
    y[2] += z[0] * x[2]
    return y @ x + z[1]


@programs(X)
def in_turns(x):
    buffer = bytearray(24)
    y, z = np.frombuffer(buffer), np.frombuffer(buffer)
    y[:] = x
    total = 0.0
    for i in range(40):
        y[i % 3] = 0.5 * z[(i + 1) % 3] * x[0] + x[1]
        total = total + z[i % 3]
    return total


@programs(X)
def grown_after_it_was_read(x):
    a, b, total = array.array("d", [1.0, 2.0]), bytearray(np.ones(2).tobytes()), 0.0
    for k in range(3):
        total = total + (np.asarray(a).sum() + np.mean(a) + np.frombuffer(b).sum()) * x[k]
        a.append(4.0)
        b += np.ones(1).tobytes()
    a.pop()
    return total + np.asarray(a).sum() * x[0]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


READS = [
    lambda a: a[0],
    lambda a: sum(v for v in a),
    lambda a: list(a)[0],  # noqa: RUF015
    lambda a: np.array(a)[0],
    lambda a: np.asarray(a)[0] + max(a),
    lambda a: struct.unpack_from("d", a)[0],
    lambda a: bytes(a)[0],
    lambda a: a[:8][0],
    lambda a: memoryview(a)[0],
]


@pytest.mark.parametrize(("read", "make"), rotating(READS, BUFFERS))
def test_a_read_past_the_array_is_refused(make: Any, read: Any) -> None:
    def f(x: Any) -> Any:
        buffer = make()
        np.frombuffer(buffer)[:] = x
        return read(buffer) * 1.0 + x[0]

    with pytest.raises(MooncakeError):
        grad(f)(X)


@pytest.mark.parametrize("make", BUFFERS)
def test_a_write_past_the_array_is_refused(make: Any) -> None:
    def f(x: Any) -> Any:
        buffer = make()
        y = np.frombuffer(buffer)
        z = x * y
        buffer[0] = 1
        return z.sum()

    with pytest.raises(MooncakeError, match="whose memory an array uses"):
        grad(f)(X)


def test_a_captured_buffer_is_restored() -> None:
    a = array.array("d", [1.0, 2.0])

    def f(x: Any) -> Any:
        a.append(3.0)
        a[0] = 7.0
        return x[0] * len(a)

    assert grad(f)(X)[0] == 3.0
    assert a == array.array("d", [1.0, 2.0])


@pytest.mark.parametrize("make", BUFFERS)
def test_arrays_of_a_captured_buffer_in_parts_that_run_again(make: Any) -> None:
    buffer = make()
    np.frombuffer(buffer)[:] = [1.0, 2.0, 3.0]

    def product(x: Any) -> Any:
        return np.frombuffer(buffer) @ x**2 + np.asarray(np.frombuffer(buffer))[0] * x[1]

    expected = [2 * X[0], 4 * X[1] + 1.0, 6 * X[2]]
    for f in product, lambda x: checkpoint(product, x) * 1.0, lambda x: jvp(product, (x,), (x,))[0]:
        np.testing.assert_allclose(grad(f)(X), expected)
        np.testing.assert_allclose(jacobian(f)(X), expected)
    second = grad(lambda x: np.sum(grad(product)(x) * X))(X)
    np.testing.assert_allclose(second, [2 * X[0], 4 * X[1], 6 * X[2]])


def test_an_array_of_more_than_the_first_is_refused() -> None:
    def f(x: Any) -> Any:
        buffer = bytearray(24)
        part, whole = np.frombuffer(buffer, offset=8), np.frombuffer(buffer)
        whole[:] = x
        return part.sum()

    with pytest.raises(DerivativeDropError, match="different views of one buffer"):
        grad(f)(X)


GROWING = array.array("d", [1.0, 2.0])


def test_a_captured_buffer_grows_and_is_restored() -> None:
    def f(x: Any) -> Any:
        np.asarray(GROWING)
        GROWING.append(3.0)
        return np.asarray(GROWING).sum() * x

    for debug in (False, True):
        assert grad(f, debug=debug)(2.0) == 6.0
    assert jvp(f, (2.0,), (1.0,)) == (12.0, 6.0)
    assert GROWING.tolist() == [1.0, 2.0]


def test_a_buffer_that_holds_active_data_is_kept_by_its_array() -> None:
    def f(x: Any) -> Any:
        a = bytearray(16)
        view = np.frombuffer(a)
        view[0] = x * 3
        del view
        return np.frombuffer(a)[0] * x

    with pytest.raises(MooncakeError, match="frombuffer"):
        grad(f)(2.0)


def test_a_buffer_that_grows_while_its_array_is_needed_is_refused() -> None:
    def f(x: Any) -> Any:
        b = bytearray(16)
        np.frombuffer(b)[:] = 2.0
        b.extend(bytes(8))
        return np.frombuffer(b).sum() * x

    with pytest.raises(MooncakeError, match="a bytearray changes its size while an array uses"):
        grad(f)(2.0)
