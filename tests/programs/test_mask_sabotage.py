"""The random statements by masks find each way in which they are broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.mask_sabotage import BREAKS, masked_until_found


@pytest.mark.slow
@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_break_is_found(change: Callable[[Any], None]) -> None:
    assert masked_until_found(change) is not None
