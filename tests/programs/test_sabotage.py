"""The random programs find each way in which the engine is broken on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs.breaking import Change, Patch
from tests.programs.program import Program
from tests.programs.sabotage import (
    BREAKS,
    SECOND_BREAKS,
    a_quotient_of_zeros_is_a_constant,
    program_that_finds,
    program_that_finds_second,
)
from tests.programs.second import check_second


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Change) -> None:
    assert program_that_finds(change, most=500) is not None


@pytest.mark.slow
@pytest.mark.parametrize("change", SECOND_BREAKS.values(), ids=SECOND_BREAKS)
def test_break_of_second_derivatives_is_found(change: Change) -> None:
    assert program_that_finds_second(change, most=500) is not None


def test_a_break_of_the_quotient_of_zeros_is_found() -> None:
    source = "def f(x):\n    return np.sum(np.sinc(x) * np.array([0.3, 0.5, 0.7]))\n"
    program = Program(source, {"m0": np.array([0.0, 0.7, 0.0])}, ("m0",), (0,))
    assert check_second(program) is None
    with Patch.context() as patch:
        a_quotient_of_zeros_is_a_constant(patch)
        assert check_second(program) is not None


@pytest.mark.thorough
def test_the_engine_as_it_is_passes() -> None:
    assert program_that_finds(lambda patch: None, most=20) is None
