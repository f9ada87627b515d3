"""Statements on complex arrays, together with real ones and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp
from mooncake_py.compiler.statements.array_adjoint import Adjoint, checks
from mooncake_py.compiler.statements.complexes import COMPLEX128, conjugated
from mooncake_py.compiler.statements.dtypes import beside_complex, dtype_of
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.cores import core_of, plan_of, read, text_of
from tests.compiler.statements.derivatives import check_to_second_order
from tests.compiler.statements.test_array_adjoint import totals

Z = np.array([1.0 + 0.5j, -0.25j, 2.0 - 1.0j])
X = np.array([0.5, -1.25, 2.0])
M = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0], [-1.25, 0.75, 0.5]])


# What operands receive.


@pytest.mark.parametrize(
    ("text", "complexes", "expected"),
    [
        ("a * b", "0,1", {0: "g * v1.conjugate()", 1: "g * v0.conjugate()"}),
        ("a * b", "0", {0: "g * v1", 1: "(g * v0.conjugate()).real"}),
        ("a + b", "0", {0: "g", 1: "g.real"}),
        ("a - b", "0", {0: "g", 1: "-g.real"}),
        ("a / b", "0,1", {0: "g / v1.conjugate()", 1: "-(t0.conjugate() * (g / v1.conjugate()))"}),
        ("1j * a - 2.0 * b", "0", {0: "g * (-1j)", 1: "g.real * (-2.0)"}),
        ("a ** 2 + b", "0,1", {0: "g * (2 * v0.conjugate())", 1: "g"}),
        ("np.conj(a) * b", "0", {0: "(g * v1).conjugate()", 1: "(g * t0.conjugate()).real"}),
        ("a - np.conj(b)", "0", {0: "g", 1: "-g.real"}),
        ("a * b", "", {0: "g * v1", 1: "g * v0"}),
    ],
)
def test_products_with_conjugates(text: str, complexes: str, expected: dict[int, str]) -> None:
    plan = plan_of(core_of(text), "array, array", "0,1", complexes=complexes)
    found = totals(Adjoint(plan).received())
    assert found == {k: expected[k] for k in sorted(found)}


def test_functions_are_left_to_the_general_product() -> None:
    plan = plan_of(core_of("np.exp(a) * b"), "array, array", "0", complexes="0")
    assert totals(Adjoint(plan).received()) == {0: "f_product(g * v1, f_rule(None, t0))"}


def test_real_parts_do_not_tell_of_what_is_not_finite() -> None:
    plan = plan_of(core_of("a * b"), "array, array", "0,1", complexes="0")
    assert len(checks(Adjoint(plan).received())) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "v0.conjugate()"),
        ("2.0 * a - b", "2.0 * v0.conjugate() - v1"),
        ("a ** 2", "(v0 ** 2).conjugate()"),
        ("a * 1j", "v0.conjugate() * (-1j)"),
        ("-a * 2.0", "(-v0.conjugate()) * 2.0"),
    ],
)
def test_conjugates(text: str, expected: str) -> None:
    found = read(text)
    assert found is not None
    assert text_of(conjugated(found[1], {"v0"})) == expected


# Supported statements.


def test_dtypes_of_statements() -> None:
    assert dtype_of([X, 1.0]) is X.dtype
    assert dtype_of([X, Z]) is dtype_of([X, 1j]) is dtype_of([Z, 1]) is COMPLEX128
    for other in (X.astype(np.float32), np.arange(3), Z.astype(np.complex64)):
        assert dtype_of([other, Z]) is None
    assert beside_complex(X.dtype) is beside_complex(COMPLEX128) is COMPLEX128
    assert beside_complex(np.dtype(np.float32)) is None
    assert core_of("a + 1j").statement.has_complex


def test_what_is_complex_is_not_written_to_what_is_real() -> None:
    for complexes, expected in (("0,1", True), ("0", True), ("1", False), ("", True)):
        plan = plan_of(core_of("*= b", "a"), "array, array", "0,1", complexes=complexes)
        assert plan.can_be_written() is expected


@pytest.mark.parametrize(
    "text", ["np.maximum(a, b)", "a.imag * b", "np.cbrt(a) * b", "np.sign(a) * b"]
)
def test_what_has_no_form(text: str) -> None:
    complexes = "1" if ".imag" in text else "0,1"
    plan = plan_of(core_of(text), "array, array", "0,1", complexes=complexes)
    assert not plan.can_be_written()


# What they compute.


def statements(z: Any, c: Any, x: Any) -> Any:
    y = z * c + x * (0.5 - 1j) - c / (z + 3.0)
    y[1:] -= 1j * 0.1 * (z[1:] - 2 * z[:-1]) * x[:-1]
    y *= x
    y /= c + 4.0
    z[...] = x * 2.0 - x[::-1]
    z += z.real * c - c.imag
    h = np.abs(y) < 2.0
    y[h] = y[h] ** 2 + c[h] * 0.5
    return np.exp(y * 0.1) * np.abs(c) + np.conj(z)


def test_statements_are_entries_of_their_own() -> None:
    ctx = ReverseContext()
    arrays = [Z.copy(), Z[::-1].copy(), X.copy()]
    nodes = [ctx.registry.activate(a) for a in arrays]
    y = ctx.call(statements, *arrays)
    assert np.array_equal(y, statements(Z.copy(), Z[::-1].copy(), X.copy()))
    written = [entry for entry in ctx.tape if entry[0].__name__ == "pull"]
    assert len(written) == 7  # one step is a single operation
    ctx.registry.activate(y).shadow()[...] = 1.0
    ctx.run_backwards()
    assert [node.grad.dtype for node in nodes] == [COMPLEX128, COMPLEX128, X.dtype]  # type: ignore[union-attr]


def test_cotangents_of_parts_have_memory_of_their_own() -> None:
    ctx = ReverseContext()
    z, x = Z.copy(), X.copy()
    nodes = [ctx.registry.activate(a) for a in (z, x)]
    y = ctx.call(lambda z, x: z + x * 1.0 + 0j, z, x)
    ctx.registry.activate(y).shadow()[...] = 1.0
    ctx.run_backwards()
    assert not np.may_share_memory(*[node.shadow() for node in nodes])


def test_parts_of_a_cotangent_are_read_before_it_is_kept() -> None:
    def total(x: Any) -> Any:
        z = x * (1.0 + 2.0j)
        y = z.real + z + z.imag
        return np.sum((y * (1.0 - 0.5j)).real)

    assert_allclose(grad(total)(X), [1.0 + 1.0 + 1.0 + 2.0] * 3)


def energy(x: Any, m: Any) -> Any:
    z = np.zeros(3, complex)
    for _ in range(2):
        z[...] = z * x + 1j * m[0] - np.exp(0.1j * m[1] * z)
        z[1:] += 0.5j * (z[:-1] * x[1:] - z[1:].real)
        inside = np.abs(z) < 1.5
        z[inside] = z[inside] ** 2 + 0.5 * z[inside]
        z = z / (x + 3.0 - 1j) + m[2] * z.imag
        z += np.conj(z * m[0]) * 0.5 - np.conj(x)
    return np.sum(z.real * z.imag) + np.sum(np.abs(z) ** 2)


def test_values_and_derivatives_to_second_order() -> None:
    check_to_second_order(energy, X, M)


def test_one_site_meets_real_and_complex_arrays() -> None:
    def scaled(a: Any) -> Any:
        return a * 0.5 + a

    def total(x: Any) -> Any:
        real, more = scaled(x), scaled(1j * x + 1.0)
        return np.sum(scaled(real)) + np.sum(np.abs(scaled(more)) ** 2)

    size = 1.5**4
    assert_allclose(grad(total)(X), 1.5**2 + 2.0 * size * X)


def test_zero_cotangents_remain_zero_beside_what_is_not_finite() -> None:
    def total(x: Any) -> Any:
        z = 1j * x + 0.0
        y = z / np.array([1.0 + 0j, 0.0, 2.0])
        return np.sum(np.abs(y[::2]) ** 2)

    with np.errstate(all="ignore"):
        assert np.array_equal(grad(total)(X), [1.0, 0.0, 1.0])


def test_complex_constants_are_conjugated_beside_what_is_not_finite() -> None:
    def total(z: Any) -> Any:
        z /= z[:, :1] * 1j
        return np.sum((z * z).real)

    with np.errstate(all="ignore"):
        z = np.array([[0.0, 2.0], [1.0 + 1j, 3.0]])
        expected = grad(total)(z[1:].copy())
        assert_allclose(grad(total)(z)[1:], expected, rtol=1e-14)


def test_signs_of_numbers_that_are_complex_have_no_form() -> None:
    plan = plan_of(core_of("np.sign(1j * a) * b"), "Active, array", "1", complexes="1")
    assert not plan.can_be_written()
    assert plan_of(
        core_of("np.sin(1j * a) * b"), "Active, array", "1", complexes="1"
    ).can_be_written()


def test_signs_of_complex_numbers_have_a_derivative() -> None:
    def total(x: Any) -> Any:
        z = x * (1.0 + 0.5j) + 0.5j
        return np.sum((np.sign(z) * (2.0 - 1j) + x).real)

    z = X * (1.0 + 0.5j) + 0.5j
    turn = (1.0 + 0.5j) / np.abs(z) - z * (X + 0.5 * (0.5 * X + 0.5)) / np.abs(z) ** 3
    expected = 1.0 + ((2.0 - 1j) * turn).real
    assert_allclose(grad(total)(X), expected)
    assert_allclose(jvp(total, (X,), (X,))[1], X @ expected)


def test_products_of_what_a_mask_picks_have_no_form() -> None:
    def scaled(z: Any, c: Any, h: Any) -> Any:
        z[h] *= c[h] * 0.5 + c[h]
        z[h] -= c[h] * 0.5
        return z

    ctx = ReverseContext()
    z, c = np.resize(Z, 50), np.resize(Z[::-1] * 1.1, 50)
    h = np.abs(z) > 0.1
    expected = scaled(z.copy(), c, h)
    ctx.registry.activate(z)
    ctx.registry.activate(c)
    assert np.array_equal(ctx.call(scaled, z, c, h), expected)
    assert "pull_assign" in [entry[0].__name__ for entry in ctx.tape]


# In forward mode.


def test_tangents_of_empty_complex_values_are_complex() -> None:
    y, t = jvp(lambda x: x * 2.0 - 1j, (X[:0],), (X[:0],))
    assert y.dtype is t.dtype is COMPLEX128


def test_active_complex_numbers_of_the_mode_below_run_step_by_step() -> None:
    def total(a: Any, x: Any) -> Any:
        return np.sum(np.abs(a * x)) ** 2

    def in_parts(a: Any, x: Any) -> Any:
        return np.sum(np.abs(x)) ** 2 * (a.real**2 + a.imag**2)

    a, v = 1.0 + 2.0j, 0.5 - 0.25j
    for position, direction in ((0, v), (1, X)):
        found = hvp(total, (a, X), direction, position)
        assert_allclose(found, hvp(in_parts, (a, X), direction, position), rtol=1e-13)
