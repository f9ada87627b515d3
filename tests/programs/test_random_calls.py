"""Random loops that call functions on arrays: as one entry, against operation by operation."""

from __future__ import annotations

import pytest

from tests.programs.random_calls import random_loop_of_calls
from tests.programs.random_loops_on_slices import RandomLoops

LOOPS = RandomLoops(random_loop_of_calls, "calls")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(3)
def test_few(seed):
    LOOPS.compare_gradients(seed)


@pytest.mark.parametrize("seed", range(10, 16))
@pytest.mark.sampled(3)
def test_few_forward(seed):
    LOOPS.compare_forward(seed)


@pytest.mark.slow
def test_many():
    LOOPS.compare_many(range(1000, 1150), LOOPS.compare_gradients, LOOPS.compare_forward)
