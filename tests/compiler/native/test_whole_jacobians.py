"""Jacobians, and derivatives along several directions, of functions compiled whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import hessian, jacobian, jvp, value_and_jacobian, value_grad_and_hessian
from mooncake_py.errors import NonDifferentiableArgumentError
from mooncake_py.modes.forward import whole

pytestmark = [pytest.mark.plain, pytest.mark.usefixtures("tried")]

U = np.array([0.3, -0.8, 0.5, 1.1, 0.9])


@pytest.fixture
def directions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return for each call that ran compiled the number of its directions."""
    found: list[int] = []
    along = whole.push_whole_along

    def noted(f: Any, primals: Any, tangents: Any, in_text: bool = False) -> Any:
        result = along(f, primals, tangents, in_text)
        if result is not None:
            found.append(len(tangents))
        return result

    monkeypatch.setattr(whole, "push_whole_along", noted)
    return found


def smoothed(u, c):
    for i in range(1, len(u)):
        u[i] = c * u[i] + 0.3 * u[i - 1] * u[i - 1]
    return u * u


def several(u, c, w):
    y = np.zeros(len(u))
    for i in range(len(u)):
        y[i] = u[i] * c + w[0] * w[1]
    return y, y[0] * c


def total(u, c):
    s = 0.0
    for i in range(len(u)):
        s += c * u[i] * u[i]
    return s


def same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(found, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        assert np.shape(found) == np.shape(expected)
        assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("mode", ["auto", "forward"])
@pytest.mark.parametrize("argnums", [0, 1, (1, 0), -1, (0, 1)])
def test_columns(argnums: Any, mode: Any, directions: list[int]) -> None:
    u = U.copy()
    found = value_and_jacobian(smoothed, argnums, mode, compile=True)(u, 0.7)
    size = len(U) * (0 in np.atleast_1d(argnums)) + (argnums != 0)
    assert sum(directions) == size or (mode == "auto" and size > len(U))
    assert_array_equal(u, U)
    same(found, value_and_jacobian(smoothed, argnums, mode, compile=False)(u, 0.7))


def test_structures_and_several_outputs(directions: list[int]) -> None:
    w = (2.0, np.array(3.0))
    for argnums in (0, (0, 2), 2):
        found = jacobian(several, argnums, "forward", compile=True)(U, 0.7, w)
        same(found, jacobian(several, argnums, "forward", compile=False)(U, 0.7, w))


def test_rows_are_computed_for_few_outputs(directions: list[int]) -> None:
    found = jacobian(total, compile=True)(U, 0.7)
    assert directions == [1]  # which tells the number of outputs
    same(found, 1.4 * U)


def test_rows_of_many_inputs_take_no_memory_for_columns(directions: list[int]) -> None:
    u = np.linspace(0.1, 1.0, 100_000)
    same(jacobian(total, compile=True)(u, 0.7), 1.4 * u)  # all columns would be 80 GB
    assert directions == [1]


def test_views_of_one_array(directions: list[int]) -> None:
    base = np.linspace(0.5, 1.0, 8)
    for view in (base[1:6], base[::2], base[5::-1]):
        same(
            jacobian(smoothed, 0, "forward", compile=True)(view, 0.7),
            jacobian(smoothed, 0, "forward", compile=False)(view.copy(), 0.7),
        )
    assert_array_equal(base, np.linspace(0.5, 1.0, 8))


def test_float32(directions: list[int]) -> None:
    found = jacobian(smoothed, 0, "forward", compile=True)(U.astype(np.float32), 0.5)
    assert found.dtype == np.float32
    expected = jacobian(smoothed, 0, "forward", compile=False)(U, 0.5)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(NonDifferentiableArgumentError):
        jacobian(total, compile=True)(np.arange(3), 0.7)


def test_an_argument_without_elements() -> None:
    assert jacobian(smoothed, 0, "forward", compile=True)(np.zeros(0), 0.7).shape == (0, 0)
    assert hessian(total, compile=True)(np.zeros(0), 0.7).shape == (0, 0)
    value, g, second = value_grad_and_hessian(total, compile=True)(np.zeros(0), 0.7)
    assert (value, g.shape, second.shape) == (0.0, (0,), (0, 0))


def test_several_directions(directions: list[int]) -> None:
    along = [(np.cos(U), None), (np.sin(U), None), (U, None)]
    y, found = jvp(smoothed, (U, 0.7), along, compile=True)
    assert directions == [3]
    expected, columns = jvp(smoothed, (U, 0.7), along, compile=False)
    assert_allclose(y, expected, rtol=1e-14)
    assert_allclose(found, columns, rtol=1e-13)


def test_directions_of_different_arguments(directions: list[int]) -> None:
    along = [(np.cos(U), None), (None, 1.0), (U, 2.0)]
    found = jvp(smoothed, (U, 0.7), along, compile=True)
    assert directions == []
    same(found, jvp(smoothed, (U, 0.7), along, compile=False))


def energy(u, c):
    s = 0.0
    for i in range(1, len(u)):
        s += c * u[i] * u[i - 1] ** 2
    return s


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_hessians(argnums: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    products = whole.products_of_whole

    def noted(f: Any, chosen: Any, args: Any, along: Any, **options: Any) -> Any:
        found = products(f, chosen, args, along, **options)
        ran.append(0 if found is None else len(along))
        return found

    monkeypatch.setattr(whole, "products_of_whole", noted)
    size = {0: len(U), 1: 1}.get(argnums, len(U) + 1)
    found = hessian(energy, argnums, compile=True)(U, 0.7)
    assert ran == [size]
    same(found, hessian(energy, argnums, compile=False)(U, 0.7))
    all_three = value_grad_and_hessian(energy, argnums, compile=True)(U, 0.7)
    same(all_three, value_grad_and_hessian(energy, argnums, compile=False)(U, 0.7))
