"""``x.real``, ``x.imag`` and ``x.conjugate()`` of numbers in loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.reflecting import tape_of
from tests.compiler.regions_of import read_body

X = np.array([0.5, 0.8, 1.1])


def of_an_argument(x: Any) -> Any:
    s = 0.0
    for _ in range(4):
        s = s * 0.5 + x.real * x + x.imag
    return s


def of_elements(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i].real > 0.6:
            s = (s + x[i]).real * x[i].conjugate() + s.imag + x[i].imag
        else:
            s = s + x[i].real
    return s


def doubled(v: Any) -> Any:
    return v.real * 2.0 + v.imag


def of_what_is_passed(x: Any) -> Any:
    s = 0.1
    for i in range(len(x)):
        s = s + doubled(s * x[i])
    return s


def of_ints(x: Any) -> Any:
    s, n = 0.0, 3
    for i in range(len(x)):
        n = n.real + i.imag + i.conjugate()
        s = s + x[i] * n
    return s


class Parts:
    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag = real, imag


def of_an_object(x: Any) -> Any:
    z, s = Parts(x[0], 2.0), 0.0
    for i in range(len(x)):
        s = s + z.real * x[i] * z.imag
    return s


def of_a_complex_number(x: Any) -> Any:
    z, s = complex(x[0], x[1]), 0.0
    for i in range(3):
        s = s + z.real * i + z.conjugate().imag * x[i]
    return s


CASES = [
    (of_an_argument, 0.7), (of_an_argument, np.float64(0.7)), (of_elements, X),
    (of_elements, X.astype(np.float32)), (of_what_is_passed, X), (of_ints, X), (of_an_object, X),
    (of_a_complex_number, X),
]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"compile": True}], ids=["", "compiled"])
@pytest.mark.parametrize(("f", "x"), CASES)
def test_parts_of_numbers_are_read(f: Any, x: Any, options: Any) -> None:
    value, gradient = value_and_grad(f, **options)(x)
    assert type(value) is type(f(x))
    np.testing.assert_allclose(value, f(x), rtol=1e-6 if x is CASES[3][1] else 1e-14)
    if np.asarray(x).dtype == np.float32:
        return
    step = 1e-6
    for i in np.ndindex(np.shape(x)):
        d = np.zeros(np.shape(x))
        d[i] = step
        slope = (f(x + d) - f(x - d)) / (2 * step)
        np.testing.assert_allclose(np.asarray(gradient)[i], slope, rtol=1e-7)
        tangent = d[()] / step if np.ndim(x) == 0 else d / step
        np.testing.assert_allclose(jvp(f, (x,), (tangent,), **options)[1], slope, rtol=1e-7)


@pytest.mark.parametrize(
    "body",
    ["s = x[i].real", "s = s + x[i]\ns = s.real", "s = (a + x[i]).imag", "s = x[i].conjugate()"],
)
def test_loops_with_parts_of_numbers_are_regions(body: str) -> None:
    assert read_body(body, "s = 0.0") is not None


def test_a_loop_with_parts_of_an_active_number_is_one_entry() -> None:
    def entries(f: Any) -> int:
        return len(tape_of(f, 0.7).entries)

    def plain(x: Any) -> Any:
        s = 0.0
        for _ in range(4):
            s = s * 0.5 + x * x
        return s

    assert entries(of_an_argument) == entries(plain)
