"""The rules of the family `linalg`, checked by `test_rule` at all their cases."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.rules.cases import Case, parameters
from tests.rules.cases.linalg import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_linalg_follow_their_rules(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
@pytest.mark.slow  # `test_in_programs` has them, against differences
def test_linalg_between_writes(case: Case) -> None:
    case.check_between_writes()


def test_singular_matrices_that_are_not_finite() -> None:
    x = np.array([[0.0, 0.0], [np.nan, np.inf]])
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(grad(np.linalg.det)(x)))
        assert np.isnan(jvp(np.linalg.det, (x,), (np.ones((2, 2)),))[1])
