"""Rules for the `math` and `cmath` modules."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import grad
from tests.rules.cases import Case, parameters
from tests.rules.cases.math_functions import cases


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", parameters(cases()), ids=lambda case: case.id)
def test_math_functions(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()


def test_distances_of_points_of_two_precisions() -> None:
    g, h = grad(lambda v: math.dist([np.float32(0.5), v[0]], [v[1], 0.25]))([1.5, 0.1])
    length = math.hypot(0.4, 1.25)
    assert g == pytest.approx(1.25 / length, rel=1e-14)
    assert h == pytest.approx(-0.4 / length, rel=1e-14)
