"""Random loops that call functions on arrays: as one entry, against operation by operation."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.slices import site
from tests.programs.comparing import (
    assert_as_unfused,
    assert_forward_as_unfused,
    assert_mostly_one_entry,
    function_of,
)
from tests.programs.random_calls import random_loop_of_calls
from tests.programs.random_slices import slice_arguments


def compare_gradients(seed: int) -> None:
    f = function_of(random_loop_of_calls(seed), f"<random calls {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_as_unfused(f, slice_arguments(seed), ((0, 1, 2, 3), (0,), (2,), (3,)))


def compare_forward(seed: int) -> None:
    f = function_of(random_loop_of_calls(seed), f"<random calls {seed}>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "FEWEST", 0)
        assert_forward_as_unfused(f, slice_arguments(seed), seed)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.sampled(3)
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.parametrize("seed", range(10, 16))
@pytest.mark.sampled(3)
def test_few_forward(seed):
    compare_forward(seed)


@pytest.mark.plain
@pytest.mark.thorough
def test_many_are_one_entry(monkeypatch):
    assert_mostly_one_entry(monkeypatch, compare_gradients, range(24))


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1150):
        try:
            compare_gradients(seed)
            compare_forward(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop_of_calls(seed)}")
            raise
