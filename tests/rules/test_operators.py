"""Rules for the functions of the `operator` module, `abs` and conjugation of scalars."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rules.cases import Case
from tests.rules.cases.operators import cases


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_operators(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()
