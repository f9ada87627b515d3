"""Random loops that append arrays to lists: as one entry, against operation by operation."""

from __future__ import annotations

import pytest

from tests.programs.random_appends import random_loop_with_appends
from tests.programs.random_loops_on_slices import RandomLoops

LOOPS = RandomLoops(random_loop_with_appends, "appends")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(3)
def test_few(seed):
    LOOPS.compare_gradients(seed)


@pytest.mark.parametrize("seed", [4, 22])
@pytest.mark.thorough
def test_few_in_every_way(seed):
    LOOPS.compare(seed)


@pytest.mark.slow
def test_many():
    LOOPS.compare_many(range(1000, 1150), LOOPS.compare_in_turn)
