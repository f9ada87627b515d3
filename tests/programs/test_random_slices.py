"""Random loops with statements on slices: as one entry, against operation by operation."""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py import checkpointed
from mooncake_py.compiler.slices import site
from tests.programs.comparing import (
    assert_as_unfused,
    assert_forward_as_unfused,
    assert_mostly_one_entry,
    function_of,
)
from tests.programs.random_slices import random_loop_on_slices, slice_arguments


def compare(seed: int) -> None:
    compare_gradients(seed)
    compare_forward(seed)
    compare_checkpointed(seed)


def compare_gradients(seed: int) -> None:
    f = function_of(random_loop_on_slices(seed), f"<random slices {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_as_unfused(f, slice_arguments(seed), ((0, 1, 2, 3), (0,), (2,), (3,)))


def compare_forward(seed: int) -> None:
    f = function_of(random_loop_on_slices(seed), f"<random slices {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_forward_as_unfused(f, slice_arguments(seed), seed)


def compare_checkpointed(seed: int) -> None:
    """A second step finds what the first one has written, and runs again more often."""
    f = function_of(random_loop_on_slices(seed), f"<checkpointed slices {seed}>")

    def steps(*args: Any) -> Any:
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = f(*args)
        return s

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_as_unfused(steps, slice_arguments(seed), ((0, 1, 2, 3), (2,)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(10))
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [5, 33])
def test_few_in_every_way(seed):
    compare(seed)


@pytest.mark.thorough
@pytest.mark.plain
def test_many_are_one_entry(monkeypatch):
    assert_mostly_one_entry(monkeypatch, compare_gradients, range(16))


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1400):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop_on_slices(seed)}")
            raise
