"""Random statements on complex arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import pytest

from tests.programs.random_complex import complex_text
from tests.programs.test_random_statements import (
    check_in_debug_mode,
    compare_directions,
    compare_every_mode,
)


def compare(seed: int) -> None:
    compare_every_mode(seed, complex_text)
    compare_directions(seed, complex_text)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(6))
def test_few(seed):
    compare(seed)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1100):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{complex_text(seed, odd=seed % 2 == 1)}")
            raise


@pytest.mark.slow
@pytest.mark.plain
def test_many_in_debug_mode():
    for seed in range(1000, 1020):
        check_in_debug_mode(seed, complex_text)
