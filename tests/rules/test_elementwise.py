"""Rules for the elementwise functions of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.cases import Case, parameters
from tests.rules.cases.elementwise import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_elementwise(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()
