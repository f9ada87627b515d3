"""Interpolation between nodes that are equal, or that are not sorted."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, jvp
from mooncake_py.errors import MissingRuleError

FP = np.array([1.0, 2.0, 4.0, 8.0])


def at_number(fp, x, xp):
    return np.interp(x, xp, fp)


def at_array(fp, x, xp):
    return np.interp(np.array([x, 9.0, x]), xp, fp) @ np.array([1.0, 0.0, 2.0]) / 3.0


@pytest.mark.parametrize("f", [at_number, at_array])
@pytest.mark.parametrize("xp", [[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 1, 2]])
def test_of_equal_nodes_that_counts_which_numpy_takes(f, xp) -> None:
    """The interpolation is linear in the values at the nodes."""
    xp = np.array(xp, float)
    for x in (-0.5, 0.0, 0.5, 1.0, 1.5, 2.5):
        expected = [f(row, x, xp) for row in np.eye(4)]
        np.testing.assert_allclose(grad(f)(FP, x, xp), expected, atol=1e-15)
        pushed = [jvp(f, (FP, x, xp), (row, 0.0, xp * 0))[1] for row in np.eye(4)]
        np.testing.assert_allclose(pushed, expected, atol=1e-15)


def test_at_the_end_of_equal_nodes_there_is_no_slope() -> None:
    for compile in (False, True):
        slope = grad(at_number, 1, compile=compile)(FP, 1.0, np.array([0.0, 0.5, 1.0, 1.0]))
        assert slope == 0


@pytest.mark.parametrize("f", [at_number, at_array])
@pytest.mark.parametrize("xp", [[3.0, 2, 1, 0], [0.0, 2, 1, 3]])
def test_nodes_that_are_not_sorted(f, xp) -> None:
    xp = np.array(xp)
    with pytest.raises(MissingRuleError, match="xp is not increasing"):
        grad(f)(FP, 1.2, xp)
    with pytest.raises(MissingRuleError, match="xp is not increasing"):
        jvp(f, (FP, 1.2, xp), (FP, 0.0, xp))


Z = np.array([1.25 + 0.5j, 2.0 - 1.0j])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("f", "slope"), [
    (lambda z: np.interp([z[0] - 1.0], [0.0, 1.0], np.array([True, False]))[0], -1.0),
    (lambda z: np.interp([z[0] - 1.0], [0.0, 1.0], [2.0, 5.0])[0], 3.0),
    (lambda z: np.interp(0.5, [z[0] - 1.25, 1.0], [2.0, 5.0]), -1.5),
    (lambda z: np.interp(z[0] - 1.0, [0.0, 1.0], [2.0, 5.0]), 3.0),
    (lambda z: np.interp(z[0] - 1.0, [0.0, 1.0], [2.0j, 1.0 + 5.0j]).imag, 3.0),
    (lambda z: np.interp(z[0] - 1.0, [0.0, 1.0], [2.0, 5.0], period=2.0), 3.0),
])  # fmt: skip
def test_complex_numbers_count_by_their_real_parts(f, slope) -> None:
    """NumPy casts them, alone or in lists, with a warning, as it does not cast arrays."""
    np.testing.assert_allclose(grad(f)(Z), [slope, 0.0])
    y, dy = jvp(f, (Z,), (np.array([0.5 + 9.0j, 7.0]),))
    np.testing.assert_allclose((y, dy), (f(Z), slope * 0.5))


def test_a_list_of_complex_numbers_warns_as_in_the_plain_call() -> None:
    for derivative in (grad, lambda f: lambda z: jvp(f, (z,), (z,))):
        with pytest.warns(np.exceptions.ComplexWarning):
            derivative(lambda z: np.interp([z[0] - 1.0], [0.0, 1.0], [2.0, 5.0])[0])(Z)
        with pytest.warns(np.exceptions.ComplexWarning):
            derivative(lambda z: np.interp(z[0] - 1.0, [0.0, 1.0], [2.0, 5.0]))(Z)
        with pytest.raises(TypeError, match="Cannot cast array data"):
            derivative(lambda z: np.interp(z[:1], [0.0, 1.0], [2.0, 5.0])[0])(Z)
        with pytest.raises(TypeError, match="complex"):
            derivative(lambda z: np.interp([z[0], 1j], [0.0, 1.0], [2.0, 5.0])[0])(Z)
