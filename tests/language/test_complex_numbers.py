"""Complex numbers made of real ones: cotangents are real again, tangents are not conjugated."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from mooncake_py import grad
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
