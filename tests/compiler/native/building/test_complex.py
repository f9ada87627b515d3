"""Complex numbers and arrays in compiled functions: their derivatives are those without."""

from __future__ import annotations

import copy
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.programs.comparing import function_of
from tests.support.marks import each_second

pytestmark = pytest.mark.plain

rng = np.random.default_rng(1)


def random(*shape: int) -> Any:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


# z, w and A are complex, x and y real; a and c are numbers of Python.
ARGUMENTS = (
    random(5), random(5), random(5, 5), rng.standard_normal(5), rng.standard_normal(5), 0.3,
    0.4 + 0.7j,
)  # fmt: skip
VECTORS = [
    "z * w",
    "z * x",
    "x * z",
    "z * a",
    "a * z",
    "z * c",
    "c * z",
    "z * 2",
    "z + w",
    "z + x",
    "x + z",
    "x - z",
    "z - 1",
    "1j * z",
    "z - 1j * w",
    "x + 1j * y",
    "z / w",
    "z / x",
    "x / z",
    "z / c",
    "c / z",
    "1 / z",
    "z / 2",
    "-z",
    "z ** 2",
    "z ** 3",
    "z ** (-1)",
    "z.conj()",
    "np.conj(z)",
    "np.exp(z)",
    "np.exp(1j * x)",
    "np.sin(z)",
    "np.cos(z)",
    "np.sqrt(z)",
    "np.log(z)",
    "z * w * z * w",
    "(z * w + c) * (z - w) / (w + 2)",
    "np.where(x > 0, z, w)",
    "np.where(x > 0, z, 0)",
    "np.where(x > 0, z, x)",
    "A @ z",
    "A @ x",
    "x @ A",
    "A[1] * A[:, 2]",
    "A.T[1]",
    "z[::-1] * w",
    "np.flip(z)",
    "np.diagonal(A) * z",
    "np.sum(A, axis=0)",
    "np.mean(A, axis=1) * z",
    "z.copy() * w",
    "np.zeros_like(z) + w",
    "np.ones_like(z) * w",
    "np.zeros(5, dtype=complex) + z",
    "np.ones(5, dtype=complex) * x",
    "np.multiply(z, w) + np.add(z, x) - np.subtract(1, z)",
    "np.square(z)",
    "z * w.real",
    "z.imag * w",
    "np.exp(np.exp(z * 0.1) * w)",
    "z",
    "z * z[0]",
    "z * (z[1] * w[2])",
    "z * abs(z[0])",
    "z * c.conjugate()",
    "z * c.real + c.imag",
    "np.conj(c) * z",
    "complex(x[0], x[1]) * z",
    "z[0] * w[1] / w[2] * z",
    "(c * c + 1j) * z",
    "c / a * z",
    "a / c * z",
    "c ** 3 * z",
    "(z == w) * x + x",
    "(z != w) * x",
    "z.real * 1.0",
    "z.T",
    "A @ A @ z",
    "A.conj().T @ z",
]
NUMBERS = [
    "np.sum(z * w).real",
    "np.sum(z).imag",
    "np.abs(np.sum(z * x))",
    "abs(z[0] * w[1])",
    "abs(c) * x[0]",
    "np.abs(z).sum()",
    "np.sum(np.angle(z) * x)",
    "np.sum(z.real * z.imag)",
    "np.sum(np.real(z) + np.imag(w))",
    "np.vdot(z, w).real",
    "np.vdot(z, z).real",
    "np.dot(z, w).imag",
    "(z @ w).real",
    "np.linalg.norm(z)",
    "np.linalg.norm(A)",
    "np.sum(np.abs(z) ** 2)",
    "np.sum((np.abs(z) < 1) * x)",
    "np.mean(z).real",
    "(z @ x).real",
    "np.sum(np.maximum(np.abs(z), np.abs(w)))",
    "np.sum(np.abs(np.exp(1j * np.sqrt(np.abs(x) + 1)) * z))",
]
PROGRAMS = {
    "iteration": """
        for _ in range(3):
            z[:] = z * z * 0.3 + w
        return np.sum(np.abs(z) ** 2)
    """,
    "iteration_bound_anew": """
        for _ in range(3):
            z = z * z * 0.3 + w
        return np.sum(np.abs(z) ** 2)
    """,
    "in_place": """
        z *= w
        z += x
        z -= 1j
        z /= w + 3
        w *= 2
        return np.sum(np.abs(z * w))
    """,
    "elements": """
        for i in range(1, 5):
            z[i] = z[i - 1] * w[i] * 0.5 + z[i] * 1j
        return np.sum(np.abs(z))
    """,
    "elements_in_place": """
        for i in range(1, 5):
            z[i] *= z[i - 1]
            z[i] += x[i]
            z[i - 1] /= w[i]
        return np.sum(np.abs(z))
    """,
    "recurrence": """
        s = 0j
        for i in range(5):
            s = s * s * 0.1 + z[i]
        return abs(s)
    """,
    "parts_exchanged": """
        s = c
        for i in range(5):
            s = complex(s.imag, s.real) * 0.5 + z[i]
        return abs(s) ** 2
    """,
    "numbers_of_python": """
        s = 0.1j
        for i in range(5):
            s += c * 0.5
        return abs(s) ** 2 * a
    """,
    "no_pass": """
        s = 0.1j
        for i in range(0):
            s += z[i]
        return abs(s / (1 + 1j)) * a
    """,
    "masks": """
        z[np.abs(z) > 1] = 0.5j
        w[x > 0] *= 2j
        w[x < 0.1] += z[0]
        return np.sum(np.abs(z * w))
    """,
    "named_mask": """
        inside = np.abs(z) < 1.5
        z[inside] = c
        return np.sum(np.abs(z * w))
    """,
    "shifted": """
        z[1:] = z[:-1] * w[1:]
        w[1:-1] += 0.1j * (w[2:] - 2 * w[1:-1] + w[:-2])
        return np.sum(np.abs(z * w))
    """,
    "parts_of_itself": """
        z[:] = z.conj() * 1j
        w[:] = w.imag + 1j * w.real
        return np.sum(np.abs(z + 2 * w) ** 2 * x)
    """,
    "views_of_parts": """
        r = z.real
        r[1:] = r[:-1] * 2
        z.imag[0] = x[0]
        z.real[2] += x[1]
        return np.sum(np.abs(z) ** 2 * r)
    """,
    "new_arrays_of_equal_elements": """
        u = z * 1.0
        v = w - 0.0
        r = (z + 1j).real
        s = (1j * x).imag
        t = (w ** 1).imag
        z *= 2
        x[1:] = 3.0
        w[0] = z[1]
        r[0] = 0.5
        return np.sum(np.abs(z + u * v)) + np.sum(r * s * t * x)
    """,
    "new_arrays": """
        u = np.empty_like(z)
        for i in range(5):
            u[i] = z[i] * z[4 - i]
        v = np.zeros((5, 2), dtype=complex)
        v[:, 0] = u
        v[:, 1] = w
        return np.sum(np.abs(v[:, 0] * v[:, 1]))
    """,
    "tridiagonal": """
        n = 5
        d = np.empty(n, dtype=complex)
        b = np.empty(n, dtype=complex)
        b[0] = 3 + 0.1j
        d[0] = z[0]
        for i in range(1, n):
            m = w[i] / b[i - 1]
            b[i] = 3 + x[i] * 1j - m * 0.5
            d[i] = z[i] - m * d[i - 1]
        d[n - 1] /= b[n - 1]
        for i in range(n - 2, -1, -1):
            d[i] = (d[i] - 0.5 * d[i + 1]) / b[i]
        return np.sum(np.abs(d) ** 2)
    """,
    "previous_array": """
        for _ in range(3):
            z, w = (w * 0.5 + z, z)
        return np.sum(np.abs(z - w) ** 2)
    """,
    "arrays_exchanged": """
        u = z.copy()
        v = w.copy()
        for _ in range(3):
            u[1:] += v[:-1] * 1j
            u, v = (v, u)
        return np.sum(np.abs(u - 2 * v) ** 2)
    """,
    "tuples": """
        z[0], w[1] = (w[1], z[0])
        p, q = (z[2], w[3])
        p, q = (q * 2, p)
        return abs(p * 3 + q) + np.sum(np.abs(z - w))
    """,
    "branch": """
        if x[0] > 0:
            s = z[0] * 2
        else:
            s = z[1] * 3
        return abs(s)
    """,
    "loops_over_arrays": """
        t = 0.0
        for v in z:
            t += abs(v) ** 2
        for i, v in enumerate(w):
            t += (v * z[i]).real
        for row in A:
            row *= 2j
            t += np.abs(row @ z)
        return t
    """,
    "changed_argument": """
        z *= w
        return np.sum(np.abs(z))
    """,
    "given_as_out": """
        np.multiply(z, w, out=z)
        np.exp(z * 0.1, out=w)
        return np.sum(np.abs(z * w))
    """,
    "split_steps": """
        z = z.copy()
        for _ in range(3):
            z = z * np.exp(-0.05j * x)
            z[1:-1] = z[1:-1] + 0.1j * (z[2:] - 2 * z[1:-1] + z[:-2])
            z = z * np.exp(-0.05j * (x + np.abs(z) ** 2))
        return np.sum(np.abs(z) ** 2 * y)
    """,
}


def function(body: str, name: str) -> Any:
    lines = [line[4:] if line.startswith("        ") else line for line in body.splitlines()]
    text = "\n".join(["def f(z, w, A, x, y, a, c):", *lines])
    return function_of(f"import numpy as np\n\n{text}\n", f"<{name}>")


def parts(value: Any) -> list[Any]:
    return [p for v in value for p in parts(v)] if isinstance(value, tuple) else [value]


def same(f: Any, of: Any, tried: list[bool], arguments: tuple[Any, ...], rtol: float) -> None:
    """Compare a derivative that is compiled with one that is not, and its types."""
    results: list[Any] = []
    for how in ({}, {"compile": True}):
        tried.clear()
        given = copy.deepcopy(arguments)
        with catch_warnings():
            simplefilter("ignore")
            results.append(parts(of(f, how)(*given)))
        for a, b in zip(arguments, given, strict=True):
            np.testing.assert_array_equal(a, b)
    assert tried, report(f)
    assert all(tried)
    for a, b in zip(*results, strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert_allclose(b, a, rtol=rtol, atol=rtol * (1 + np.max(np.abs(a))))


def check(
    f: Any,
    tried: list[bool],
    arguments: tuple[Any, ...] = ARGUMENTS,
    rtol: float = 1e-9,
    thoroughly: bool = True,
) -> None:
    """Compare gradients, tangents and second derivatives."""
    along = [np.cos(v) if isinstance(v, np.ndarray) else 0.5 for v in arguments[:6]]

    def tangent(f: Any, how: Any) -> Any:
        return lambda *given: jvp(lambda *p: f(*p, given[6]), given[:6], tuple(along), **how)

    def second(f: Any, how: Any) -> Any:
        def gradient(z: Any, x: Any, rest: Any) -> Any:
            return grad(f, (0, 3))(z, *rest[1:3], x, *rest[4:])

        return lambda *given: jvp(
            lambda z, x: gradient(z, x, given), (given[0], given[3]), (along[0], along[3]), **how
        )

    def product(f: Any, how: Any) -> Any:
        return lambda *given: hvp(f, given, (along[0], along[3]), (0, 3), **how)

    ways = [lambda f, how: value_and_grad(f, tuple(range(6)), **how), second]
    if thoroughly:
        ways += [lambda f, how: value_and_grad(f, (0, 3), **how), tangent, product]
    for way in ways:
        same(f, way, tried, arguments, rtol)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "first",
    [0, 4, *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, len(VECTORS), 4))],
)
def test_vectors(first: int, tried: list[bool]) -> None:
    terms = [f"np.sum(np.abs({text}) ** 2 * y)" for text in VECTORS[first : first + 4]]
    check(function(f"    return {' + '.join(terms)}", str(first)), tried, thoroughly=False)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("first", range(0, len(NUMBERS), 3))
def test_numbers(first: int, tried: list[bool]) -> None:
    terms = " + ".join(NUMBERS[first : first + 3])
    check(function(f"    return {terms}", str(first)), tried, thoroughly=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", each_second(PROGRAMS))
def test_programs(name: str, tried: list[bool]) -> None:
    check(function(PROGRAMS[name], name), tried)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["in_place", "parts_of_itself", "split_steps"])
def test_complex64(name: str, tried: list[bool]) -> None:
    z, w, A, x, *rest = ARGUMENTS
    narrow = z.astype(np.complex64), w, A, x.astype(np.float32), *rest
    check(function(PROGRAMS[name], name), tried, narrow, 1e-4)


def test_derivative_of_abs_is_zero_at_zero(tried: list[bool]) -> None:
    z = np.array([0j, 3 + 4j])
    g = grad(lambda z: np.sum(np.abs(z)), compile=True)(z)
    assert_allclose(g, [0, 0.6 + 0.8j], rtol=1e-15)
    assert tried == [True]


def test_root_on_its_cut(tried: list[bool]) -> None:
    z = np.array([-4 + 0j, complex(-4.0, -0.0), 3 + 4j])

    def f(z):
        return np.sum(np.sqrt(z).real) + 2 * np.sum(np.sqrt(z).imag)

    (value, g), (expected, h) = (value_and_grad(f, compile=how)(z) for how in (True, False))
    assert value == expected
    assert_allclose(g, h, rtol=1e-15)
    assert tried == [True]


@pytest.mark.parametrize(
    "f",
    [lambda x: np.sum(np.sqrt(x + 0j).real), lambda x: np.sqrt(x[0] + 1j * x[1]).imag],
)
def test_slope_of_the_root_of_zero_is_infinite(f: Any, tried: list[bool]) -> None:
    x = np.array([0.0, 0.0])
    for how in (True, False):
        with catch_warnings():
            simplefilter("ignore")
            (_, t), g = jvp(f, (x,), (np.ones(2),), compile=how), grad(f, compile=how)(x)
        assert not np.isfinite(t)
        assert not np.all(np.isfinite(g))
    assert tried == [False, False]


@pytest.mark.parametrize("w", [1e-170 + 1e-170j, 1e170 - 2e170j, 1e-200j, 3e200 + 0j])
def test_quotients_of_large_and_small_numbers(w: complex, tried: list[bool]) -> None:
    z = np.array([w * (1 + 2j)])
    value, g = value_and_grad(lambda z, w: np.sum((z / w).real), compile=True)(z, np.array([w]))
    assert value == pytest.approx(1.0, rel=1e-15)
    assert_allclose(g, np.conj([1 / w]), rtol=1e-15)
    assert tried == [True]


def test_results_that_are_complex(tried: list[bool]) -> None:
    def pair(z, c):
        return z * c, z[0] * c, c * 2

    def outer(z, c):
        u, v, d = pair(z, c)
        names = {"u": u}
        return np.sum(np.abs(names["u"]) ** 2) + abs(v) + abs(d)

    z, c = ARGUMENTS[0], ARGUMENTS[6]
    (value, g), (expected, h) = (value_and_grad(outer, compile=how)(z, c) for how in (True, False))
    assert value == pytest.approx(expected, rel=1e-14)
    assert_allclose(g, h, rtol=1e-13)
    assert tried == [True]


def test_division_by_zero_is_raised_as_by_python(tried: list[bool]) -> None:
    def f(x, c):
        return abs(x[0] * (1 / c))

    def g(x, c):
        return abs((1 + 1j) / c) * x[0]

    x = np.ones(2)
    for function in (f, g):
        with pytest.raises(ZeroDivisionError, match="complex division by zero"):
            grad(function, compile=True)(x, 0j)
    assert tried == [False, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["split_steps", "tridiagonal", "views_of_parts", "masks"])
def test_by_llvm(name: str) -> None:
    pytest.importorskip("llvmlite")
    f = function(PROGRAMS[name], name)
    results = [
        value_and_grad(f, tuple(range(6)), compile=compile)(*copy.deepcopy(ARGUMENTS))
        for compile in (False, True)
    ]
    for a, b in zip(*map(parts, results), strict=True):
        assert type(a) is type(b)
        assert_allclose(b, a, rtol=1e-10, atol=1e-12)


def test_a_product_with_a_complex_number(tried):
    def f(x):
        z = x * 1j
        return np.dot(z, z[0])[1].real

    x = np.arange(1.0, 4.0)
    assert_allclose(grad(f, compile=True)(x), grad(f)(x))
    assert tried == [True], report(f)


def test_the_length_of_nothing_has_no_slope(tried: list[bool]) -> None:
    z = np.zeros(2, complex)
    value, g = value_and_grad(lambda z: np.linalg.norm(z), compile=True)(z)
    assert tried == [True]
    assert value == 0.0
    np.testing.assert_array_equal(g, z)
