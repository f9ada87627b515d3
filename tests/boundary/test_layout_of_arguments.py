"""The copy of an argument owns its memory, and has strides, as the argument does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.boundary import overwritten
from tests.support.gradients import differences
from tests.support.pairs import pairwise

RECORDS = np.zeros(4, dtype=[("flag", "i1"), ("v", "f8")])
RECORDS["v"] = [1.0, 2.0, 3.0, 4.0]
PACKED = np.ndarray(4, float, np.zeros(48, np.uint8), 1, (9,))
PACKED[...] = [1.0, 2.0, 3.0, 4.0]
BYTES = np.zeros(64, np.uint8)
BYTES[1:33].view(float)[...] = [1.0, 2.0, 3.0, 4.0]
ARGUMENTS = {
    "owner": np.arange(1.0, 7.0),
    "reshaped": np.arange(1.0, 7.0).reshape(2, 3),
    "transposed": np.arange(1.0, 7.0).reshape(2, 3).T,
    "slice": np.arange(6.0)[1:3],
    "element": np.arange(6.0)[2:3].reshape(()),
    "strided": np.arange(6.0)[::2],
    "reversed": np.arange(6.0)[::-1],
    "field": RECORDS["v"],
    "packed": PACKED,
    "misaligned": BYTES[1:33].view(float),
    "misaligned read-only": np.frombuffer(BYTES.tobytes(), float, 4, 1),
    "aligned bytes": np.arange(1.0, 5.0).view(np.uint8).view(float),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3) + 0.5),
}


def value_in_debug_mode(f: Any, x: Any) -> Any:
    with debug_mode():
        return value_and_grad(f)(x)[0]


MODES: dict[str, Callable[[Any, Any], Any]] = {
    "value_and_grad": lambda f, x: value_and_grad(f)(x)[0],
    "jvp": lambda f, x: jvp(f, (x,), (np.ones_like(x),))[0],
    "vjp": lambda f, x: vjp(f, x)[0],
    "debug": value_in_debug_mode,
}


def unless_own(x):
    """Write into what nobody else has."""
    y = x if x.flags.owndata else x.copy()
    y *= 2.0
    return x.sum() + 10.0 * y.sum()


def by_base(x):
    return x.sum() * (2.0 if x.base is None else 3.0)


def by_strides(x):
    return x.sum() * (1.0 + sum(x.strides)) * (1 + 2 * x.flags.c_contiguous)


def by_copies(x):
    y = np.ascontiguousarray(x)
    if y is not x:
        y *= 2.0
    return (x * y).sum() + np.ravel(x, "K").sum()


def by_alignment(x):
    y = np.require(x, requirements="A")
    return y.sum() * (2.0 if x.flags.aligned else 3.0) * (1 + (y is x))


def by_ravel(x):
    y = x.ravel()
    if y.flags.writeable:
        y *= 2.0
    return x.sum()


@pytest.mark.parametrize(
    ("mode", "name", "f"),
    pairwise(
        MODES, ARGUMENTS, [unless_own, by_base, by_strides, by_copies, by_alignment, by_ravel]
    ),
)
def test_values_are_those_of_the_plain_call(mode: str, name: str, f: Any) -> None:
    x = ARGUMENTS[name]
    before = x.copy()
    expected = f(np.array(x) if x.base is None else x)
    if x.flags.writeable:
        x[...] = before
    assert MODES[mode](f, x) == expected
    np.testing.assert_array_equal(x, before)


def stepped(x):
    y = np.array(x)
    y *= 2.0
    x[1:] *= x[:-1]
    return np.sum(x * y * x)


@pytest.mark.parametrize("name", ["field", "packed", "misaligned", "aligned bytes"])
def test_derivatives_of_packed_records(name: str) -> None:
    x, v = ARGUMENTS[name], np.array([1.0, -0.5, 0.25, 2.0])
    expected = differences(stepped, (np.array(x),), 0)
    np.testing.assert_allclose(grad(stepped)(x), expected, rtol=1e-7)
    np.testing.assert_array_equal(hvp(stepped, (x,), v), hvp(stepped, (np.array(x),), v))
    inner = grad(lambda a: np.sum(v * grad(stepped)(a)))
    np.testing.assert_array_equal(inner(x), inner(np.array(x)))
    inner = grad(lambda a: np.sum(v * vjp(stepped, a)[1](1.0)[0]))
    np.testing.assert_array_equal(inner(x), inner(np.array(x)))


def test_calls_that_use_memory_of_earlier_ones() -> None:
    x = np.linspace(0.0, 1.0, overwritten.LARGE // 4)
    assert x.base is not None

    def steps(u):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(u * u), u[:2]

    expected, (_, first) = value_and_grad(steps, has_aux=True)(x)[1], steps(x.copy())
    for k in range(3):
        (_, aux), found = value_and_grad(steps, has_aux=True)(x * 1.0 if k else x)
        np.testing.assert_array_equal(found, expected)
        value_and_grad(steps, has_aux=True)(np.flip(x[::-1] * 3.0))
        np.testing.assert_array_equal(aux, first)


def with_an_inner_one(x):
    return np.sum(grad(lambda w: np.sum(w * w * x))(x * 2.0)) + np.sum(x * x * x)


def with_an_inner_one_of_the_argument(x):
    x[1:] *= x[:-1]
    return np.sum(vjp(lambda w: np.sum(w * w * x[::-1]), x)[1](1.0)[0] * x) + np.sum(x[1:] * x[:-1])


@pytest.mark.parametrize("f", [with_an_inner_one, with_an_inner_one_of_the_argument])
@pytest.mark.parametrize("name", ["field", "packed", "misaligned", "aligned bytes"])
def test_inner_derivatives_add_to_the_cotangents_of_packed_records(name: str, f: Any) -> None:
    x, v = ARGUMENTS[name], np.array([1.0, -0.5, 0.25, 2.0])
    expected = differences(f, (np.array(x),), 0)
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], np.dot(expected, v), rtol=1e-6)
    np.testing.assert_array_equal(hvp(f, (x,), v), hvp(f, (np.array(x),), v))
