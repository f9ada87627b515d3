"""Random loops that call functions on arrays: as one entry, against operation by operation."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.slices import site
from mooncake_py.compiler.slices.site import SlicedSite
from tests.programs.comparing import assert_as_unfused, assert_forward_as_unfused, function_of
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
    results = []
    attempt = SlicedSite.attempt

    def counted(*args):
        results.append(attempt(*args))
        return results[-1]

    monkeypatch.setattr(SlicedSite, "attempt", counted)
    for seed in range(24):
        compare_gradients(seed)
    missed = sum(result is Elsewhere for result in results)
    assert len(results) > 20
    assert missed < 0.2 * len(results)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1150):
        try:
            compare_gradients(seed)
            compare_forward(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop_of_calls(seed)}")
            raise
