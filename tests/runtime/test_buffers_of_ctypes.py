"""Numbers that objects of ctypes read from memory that an array has made active are refused."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp

X = np.array([0.7, 1.3, -0.4])
Three: Any = ctypes.c_double * 3


class Model(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_double), ("values", Three)]


def filled(x: Any) -> Any:
    buffer = Three()
    np.ctypeslib.as_array(buffer)[:] = x
    return buffer


def looped(x):
    total = 0.0
    for value in filled(x):
        total = total + value
    return total


def of_a_structure(x):
    model = Model()
    np.ctypeslib.as_array(model.values)[:] = x
    return model.values[1]


def of_an_attribute(x):
    model = Model()
    memory: Any = model
    np.frombuffer(memory)[:3] = x
    return model.scale


def by_a_pointer(x):
    buffer = Three()
    pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_double))
    np.ctypeslib.as_array(buffer)[:] = x
    return pointer[1]


def of_borrowed_memory(x):
    a = np.zeros(3)
    buffer = Three.from_buffer(a)
    a[:] = x
    return buffer[1]


def through_an_array_of_a_pointer(x):
    buffer = Three()
    pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_double))
    np.ctypeslib.as_array(pointer, (3,))[:] = x
    return buffer[1]


def by_reference(x):
    reference: Any = ctypes.byref(filled(x))
    return reference._obj[0]


def written(x):
    buffer = Three()
    a = np.ctypeslib.as_array(buffer)
    a[:] = x
    buffer[0] = 5.0
    return np.sum(a)


REFUSED = [
    lambda x: filled(x)[1], lambda x: filled(x)[:][1], lambda x: sum(filled(x)),
    lambda x: max(list(filled(x))), lambda x: struct.unpack("3d", filled(x))[0],
    lambda x: bytes(filled(x))[0] * x[0], lambda x: by_reference(x),
    looped, of_a_structure, of_an_attribute, by_a_pointer, of_borrowed_memory,
    through_an_array_of_a_pointer, written,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED)
def test_what_is_read_past_the_array_is_refused(f: Any) -> None:
    for derivative in (
        lambda: grad(f)(X.copy()),
        lambda: jvp(f, (X.copy(),), (X,)),
        lambda: grad(f, debug=True)(X.copy()),
    ):
        with pytest.raises(MooncakeError):
            derivative()


def test_the_array_itself_and_constants_are_read() -> None:
    def f(x):
        buffer, model = Three(1.0, 2.0, 3.0), Model(2.0)
        other = np.ctypeslib.as_array(Three())
        other[:] = x * buffer[1]
        total = 0.0
        for value in buffer:
            total += value
        return np.sum(other * x) * model.scale + total

    np.testing.assert_allclose(grad(f)(X.copy()), 8.0 * X)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (X,))[1], 8.0 * X @ X)


@pytest.mark.parametrize("read", [
    lambda b: b[1], lambda b: np.ctypeslib.as_array(b)[1], lambda b: np.frombuffer(b)[1],
    lambda b: np.array(b)[1], lambda b: np.asarray(memoryview(b))[1], lambda b: sum(b) / 3.0,
])  # fmt: skip
def test_arguments_that_are_written_have_nothing_to_do_with_other_buffers(read: Any) -> None:
    buffer = Three(2.0, 2.0, 2.0)

    def f(x, y):
        x[:] = x * y
        return np.sum(x) * read(buffer)

    options: dict[str, Any]
    for options in ({}, {"debug": True}, {"mode": "forward"}):
        gx, gy = grad(f, (0, 1), **options)(X.copy(), X + 1.0)
        np.testing.assert_allclose(gx, 2.0 * (X + 1.0))
        np.testing.assert_allclose(gy, 2.0 * X)


def test_a_buffer_that_borrows_the_memory_of_an_argument_is_found() -> None:
    x = X.copy()
    borrowed = Three.from_buffer(x)

    def f(x):
        x[:] = x * 3.0
        return np.sum(x) * borrowed[1]

    for derivative in (lambda: grad(f)(x), lambda: jvp(f, (x,), (X,))):
        with pytest.raises(MooncakeError):
            derivative()
