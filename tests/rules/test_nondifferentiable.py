"""Rules for functions without a derivative, at points away from their steps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.cases import Case, parameters
from tests.rules.cases.nondifferentiable import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_nondifferentiable(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()
