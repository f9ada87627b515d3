"""Random loops with statements on slices: as one entry, against operation by operation."""

from __future__ import annotations

import pytest

from tests.programs.comparing import assert_mostly_one_entry
from tests.programs.random_loops_on_slices import RandomLoops
from tests.programs.random_slices import random_loop_on_slices

LOOPS = RandomLoops(random_loop_on_slices, "slices")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(5)
def test_few(seed):
    LOOPS.compare_gradients(seed)


@pytest.mark.parametrize("seed", [5, 33])
@pytest.mark.thorough
def test_few_in_every_way(seed):
    LOOPS.compare(seed)


@pytest.mark.plain
@pytest.mark.thorough
def test_many_are_one_entry(monkeypatch):
    assert_mostly_one_entry(monkeypatch, LOOPS.compare_gradients, range(16))


@pytest.mark.slow
def test_many():
    LOOPS.compare_many(range(1000, 1400), LOOPS.compare_in_turn)
