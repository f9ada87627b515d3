"""What the cases of the family `reductions` do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp

MASK = np.array([[True, True, True], [False, True, True]])


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd])
@pytest.mark.parametrize("options", [{}, {"axis": 0, "ddof": 1}])
def test_complex_deviations_from_a_real_mean(f: Any, options: Any) -> None:
    x = np.array([0.31, 1.73, 0.92])

    def g(b: Any) -> Any:
        return f(x + (0.2 + 0.5j) * b * x**2 + 0.1j * b, dtype=float, **options)

    expected = (g(1.37 + 1e-6) - g(1.37 - 1e-6)) / 2e-6
    np.testing.assert_allclose(grad(g)(1.37), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(g, (1.37,), (1.0,))[1], expected, rtol=1e-7)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.max])
def test_cotangents_of_double_precision_stay_so(f: Any) -> None:
    x, z = np.ones(3, np.float32), np.arange(3.0)
    dx, dz = grad(lambda x, z: np.sum(x) * f(z * z), (0, 1))(x, z)
    assert (dx.dtype, dz.dtype) == (np.float32, np.float64)


@pytest.mark.without_modes("gradients are rounding errors", "in_text")
@pytest.mark.parametrize("f", [np.std, np.nanstd])
@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"ddof": 1}, {"where": MASK}])
def test_equal_numbers_of_a_rounded_mean_do_not_spread_when_all_move(f: Any, options: Any) -> None:
    for value in (0.7, 0.1, 1e8 + 0.1):
        x = np.full((2, 3), value)
        dx = grad(lambda x: np.sum(f(x, **options)))(x)
        assert abs(np.sum(dx)) < 1e-7
        dy = jvp(lambda x: np.sum(f(x, **options)), (x,), (np.ones((2, 3)),))[1]
        assert abs(dy) < 1e-7


@pytest.mark.parametrize("f", [lambda x: x.var(correction=1), lambda x: x.std(correction=1)])
def test_the_methods_have_no_argument_correction(f):
    x = np.array([0.7, 1.3])
    with pytest.raises(TypeError) as plain:
        f(x)
    for run in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError) as found:
            run()
        assert str(found.value) == str(plain.value)
