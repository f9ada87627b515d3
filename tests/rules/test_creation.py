"""What the cases of the family `creation` do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad

COPYING: Any = getattr(np, "_CopyMode")  # noqa: B009


@pytest.mark.parametrize("copy", [COPYING.ALWAYS, COPYING.IF_NEEDED])
def test_arrays_of_iterators_are_made_by_any_mode_of_copying(copy: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.array(x.flat, copy=copy) ** 2) + np.sum(np.array(x * 1.0, copy=copy))

    x = np.array([[3.0, 5.0]])
    assert f(x) == 42.0
    np.testing.assert_array_equal(grad(f)(x), 2 * x + 1)


def test_what_must_not_be_copied_raises() -> None:
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        grad(lambda x: np.sum(np.array([x[0], x[1]], copy=COPYING.NEVER)))(np.ones(2))
