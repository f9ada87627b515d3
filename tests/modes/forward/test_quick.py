"""Whether tangents are finite, small and large ones."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.modes.forward.quick import ONE_THREAD, is_finite


@pytest.mark.parametrize("shape", [(3,), (2, 3), (ONE_THREAD + 1,), (3, ONE_THREAD)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_float_that_is_not_finite_is_found(shape, order) -> None:
    a = np.ones(shape, order=order)
    assert is_finite(a)
    for found in (np.inf, -np.inf, np.nan):
        a.flat[-1] = found
        assert not is_finite(a)
    a.flat[0], a.flat[-1] = np.inf, -np.inf
    with np.errstate(all="ignore"):
        assert not is_finite(a)
