"""The random programs find each way in which the engine is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.sabotage import BREAKS, SECOND_BREAKS, programs_until_found
from tests.programs.second import check_second

# Breaks that 500 programs do not find: the ingredient that would is too rare.
RARE = {
    "bools_of_numpy_become_those_of_python", "containers_leave_an_inner_derivative_as_constants",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None], request: pytest.FixtureRequest) -> None:
    if request.node.callspec.id in RARE:
        pytest.skip("too rare in 500 programs")
    assert programs_until_found(change, most=500) is not None


@pytest.mark.slow
@pytest.mark.parametrize("change", SECOND_BREAKS.values(), ids=SECOND_BREAKS)
def test_break_of_second_derivatives_is_found(change: Callable[[Any], None]) -> None:
    assert programs_until_found(change, most=500, check=check_second) is not None


def test_the_engine_as_it_is_passes() -> None:
    assert programs_until_found(lambda patch: None, most=20) is None
