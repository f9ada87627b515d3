"""Rules for the elementwise functions of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.cases import Case, quick
from tests.rules.cases.elementwise import cases


@pytest.mark.parametrize("case", quick(cases()), ids=lambda case: case.id)
def test_elementwise(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()
