"""Complex numbers made of real ones: cotangents are real again, tangents are not conjugated."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from mooncake_py import grad, jvp, vjp
from tests.support.directions import check_jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([-1.3, 0.6])


@programs(X)
def point_on_a_circle(x):
    return cmath.rect(2.0, x[0]).imag * x[1]


@programs(X)
def root_of_a_negative_number(x):
    return cmath.sqrt(x[0]).imag


@programs(X)
def several_functions_in_one_expression(x):
    return abs(cmath.sqrt(x[0]) * cmath.exp(1j * x[1]) + 2.0) ** 2


@programs(X)
def converted_expression(x):
    return (1j + complex(x[0] ** 2)).imag * x[1]


@programs(X)
def converted_product_of_vectors(x):
    return complex(x[:1] @ x[1:]).imag + x[0]


@programs(X)
def converted_results_of_functions(x):
    y = complex(math.atan2(x[0], x[1])) * 1j
    return y.imag + complex(math.ldexp(x[1], 2)).imag + complex(math.frexp(x[0])[0]).real


@programs(X)
def converted_items(x):
    return (complex(x.item(1)) * (1 + 2j) + np.complex128(x.tolist()[0]) * 1j).imag


@programs(X)
def converted_parts_of_a_complex_number(x):
    r, p = cmath.polar(x[0] + 1j)
    return (complex(p) * 1j + complex(r)).imag


@programs(X)
def converted_real_part(x):
    return complex((x[0] * 1j + x[0]).real).imag + x[1]


@programs(X)
def numbers_of_two_parts(x):
    z = np.complex128(x[0], x[1]) * complex(x[1], imag=x[0] ** 2)
    return (z * complex(imag=x[1])).imag + np.complex128(2.0, x[0]).imag


@programs(X)
def numbers_of_two_arrays_without_axes(x):
    re, im = np.sum(x), np.asarray(x[0])
    z = complex(np.asarray(re), im) * np.complex128(im, x[1]) * complex(x[1], np.asarray(re))
    return z.imag + complex(im, imag=im * re).imag


class Scale:
    def __init__(self, size):
        self.size = size

    def __float__(self):
        return float(self.size)

    def __complex__(self):
        return complex(self.size * (1 + 2j))


@programs(X)
def numbers_of_objects(x):
    return complex(Scale(x[0]), Scale(x[1])).imag * complex(Scale(x[1]), imag=x[0]).real


@pytest.mark.parametrize("program", programs, ids=str)
def test_complex_numbers(program: Program) -> None:
    program.check()
    check_jvp(program.f, *program.args)


@pytest.mark.parametrize("dtype", [complex, np.complex64, np.float32])
def test_cotangents_of_arrays_without_axes_have_their_dtype(dtype: type) -> None:
    def f(a):
        return float(np.real(1j * a) + np.imag(a * 2j) + np.real(a * 0.5) + np.real(a + 1.0))

    gradient = grad(f)(np.array(1.5, dtype))
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, 3.5 - 1j * (dtype is not np.float32), rtol=1e-6)


def test_numbers_of_two_parts_have_their_precision() -> None:
    x = np.array([0.3, 0.7], np.float32)
    y, dy = jvp(lambda a: np.complex64(a[0], a[1]), (x,), (x,))
    assert type(y) is type(dy) is np.complex64
    assert dy == y == np.complex64(0.3 + 0.7j)
    assert vjp(lambda a: np.complex64(a[0], a[1]), x)[1](2 + 3j)[0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda a: complex(a, 1, 2),
        lambda a: complex(a, foo=1),
        lambda a: complex(a, real=a),
        lambda a: np.complex128(a, imag=1),
        lambda a: np.complex128(a[None], a),
        lambda a: np.complex128(a * 1j, a),
        lambda a: np.clongdouble(a, a),
        lambda a: float(a, a),
    ],
)
def test_numbers_of_unfit_parts_raise_as_in_the_plain_call(f) -> None:
    x = np.array(0.4)
    with pytest.raises(TypeError) as plain:
        f(x)
    with pytest.raises(TypeError) as derived:
        vjp(f, x)
    assert str(derived.value)[:40] == str(plain.value)[:40]
