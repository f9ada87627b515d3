"""Which arguments a derivative is taken with respect to."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import NonDifferentiableArgumentError, grad, hvp, jacobian

X = np.array([0.3, -1.2, 0.7])


def weighted(x: Any, y: Any) -> Any:
    return np.sum(x**2) + np.sum(x * y)


@pytest.mark.parametrize("one", [np.int64(1), np.uint8(1), np.int64(-1)])
def test_positions_are_ints_of_numpy(one: Any) -> None:
    x, y = X.copy(), X + 1.0
    np.testing.assert_allclose(grad(weighted, one)(x, y), x)
    np.testing.assert_allclose(grad(weighted, (0, one))(x, y)[1], x)
    np.testing.assert_allclose(grad(weighted, one).prepare(x, y)(x, y), x)
    np.testing.assert_allclose(grad(grad(weighted, one), 0)(2.0, 3.0), 1.0)
    np.testing.assert_allclose(jacobian(weighted, one)(x, y), x)
    np.testing.assert_allclose(hvp(weighted, (x, y), x, argnums=one), np.zeros(3))


@pytest.mark.parametrize("argnums", [True, np.True_, (0, True), 1.0, None, ()])
def test_what_is_neither_int_nor_name_is_refused(argnums: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="does not name arguments"):
        grad(weighted, argnums)
