"""The random statements find each way in which statements on complex arrays are broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.complex_sabotage import BREAKS, complex_statements_until_found


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None]) -> None:
    assert complex_statements_until_found(change) is not None
