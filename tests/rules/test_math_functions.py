"""Rules for the `math` and `cmath` modules."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.cases import Case, parameters
from tests.rules.cases.math_functions import cases


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_math_functions(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()
