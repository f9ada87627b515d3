"""Random loops that append arrays to lists: as one entry, against operation by operation."""

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
from tests.programs.random_appends import random_loop_with_appends
from tests.programs.random_slices import slice_arguments


def compare(seed: int) -> None:
    compare_gradients(seed)
    compare_forward(seed)
    compare_checkpointed(seed)


def compare_gradients(seed: int) -> None:
    f = function_of(random_loop_with_appends(seed), f"<random appends {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_as_unfused(f, slice_arguments(seed), ((0, 1, 2, 3), (0,), (2,), (3,)))


def compare_forward(seed: int) -> None:
    f = function_of(random_loop_with_appends(seed), f"<random appends {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_forward_as_unfused(f, slice_arguments(seed), seed)


def compare_checkpointed(seed: int) -> None:
    """A second step finds what the first one has written, and runs again more often."""
    f = function_of(random_loop_with_appends(seed), f"<checkpointed appends {seed}>")

    def steps(*args: Any) -> Any:
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = f(*args)
        return s

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_as_unfused(steps, slice_arguments(seed), ((0, 1, 2, 3), (2,)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(3)
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.parametrize("seed", [4, 22])
@pytest.mark.thorough
def test_few_in_every_way(seed):
    compare(seed)


@pytest.mark.plain
@pytest.mark.thorough
def test_many_are_one_entry(monkeypatch):
    assert_mostly_one_entry(monkeypatch, compare_gradients, range(24))


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1150):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop_with_appends(seed)}")
            raise
