"""Random statements on arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import pytest

from tests.programs.comparing import assert_as_unfused, function_of
from tests.programs.random_statements import arguments, random_text


def compare(seed: int) -> None:
    f = function_of(random_text(seed), f"<random statements {seed}>")
    assert_as_unfused(f, arguments(seed), ((0, 1, 2), (0,), (2,)))


@pytest.mark.parametrize("seed", range(20))
def test_few(seed):
    compare(seed)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1600):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_text(seed)}")
            raise
