"""The rules of the family `creation`, checked by `test_rule` at all their cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from tests.rules.cases import Case, parameters
from tests.rules.cases.creation import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_creation_follow_their_rules(case: Case) -> None:
    case.check()


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
