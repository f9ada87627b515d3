"""The benchmark through SciPy: its gradients are right, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import check

pytest.importorskip("scipy")


@pytest.mark.slow
def test_gradients_of_the_cases() -> None:
    from benchmarks.sparse_systems import CASES

    random = np.random.default_rng(0)
    for function, _ in CASES.values():
        check(function, random.uniform(0.5, 2.0, (3, 3)))
