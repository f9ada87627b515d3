"""Random statements on arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import re

import pytest

from mooncake_py.compiler.statements import gathers, masks
from tests.programs.comparing import assert_as_unfused, function_of
from tests.programs.outcomes import assert_agrees
from tests.programs.random_statements import (
    STATE,
    arguments,
    random_text,
    special_arguments,
)

WITH_STEPS = re.compile(r"np\.(sin|tanh|arctan|arctan2)\(.*out=")
"""Of such functions NumPy has other loops, with other last bits, for results in steps."""


def compare(seed: int) -> None:
    compare_gradients(seed)
    compare_every_mode(seed)


def compare_gradients(seed: int) -> None:
    f = function_of(random_text(seed), f"<random statements {seed}>")
    assert_as_unfused(f, list(arguments(seed)), ((0, 1, 2), (0,), (2,)))


def compare_every_mode(seed: int) -> None:
    """Compare values, state, exceptions and derivatives; every second program is an odd one."""
    odd = seed % 2 == 1
    number = function_of(random_text(seed, odd=odd), f"<statements {seed}>")
    state = function_of(random_text(seed, odd=odd, tail=STATE), f"<state of statements {seed}>")
    to_the_bit = not WITH_STEPS.search(random_text(seed, odd=odd))
    finite = seed % 8 < 4 or not to_the_bit  # the sine of a huge number tells its last bit
    given = special_arguments(seed, finite) if seed % 4 >= 2 else arguments(seed)
    with pytest.MonkeyPatch.context() as patch:
        if seed % 3 == 0:
            patch.setattr(masks, "SMALL", 2)  # masks are kept as bits
            patch.setattr(gathers, "SMALL", 2)  # index arrays are kept as they are
        assert_agrees(number, state, given, seed, to_the_bit)


@pytest.mark.parametrize("seed", range(8))
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.parametrize("seed", range(20, 30))
def test_few_in_every_mode(seed):
    compare_every_mode(seed)


@pytest.mark.slow
def test_many():
    for seed in (*range(40), *range(1000, 1600)):
        try:
            compare(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_text(seed, odd=seed % 2 == 1)}")
            raise
