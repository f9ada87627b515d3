"""What the cases of the family `linalg` do not show."""

from __future__ import annotations

import numpy as np

from mooncake_py import grad, jvp


def test_singular_matrices_that_are_not_finite() -> None:
    x = np.array([[0.0, 0.0], [np.nan, np.inf]])
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(grad(np.linalg.det)(x)))
        assert np.isnan(jvp(np.linalg.det, (x,), (np.ones((2, 2)),))[1])
