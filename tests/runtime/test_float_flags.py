"""The flags of the processor tell what NumPy would warn of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.runtime import float_flags

ERRORS = ("over", "divide", "invalid", "under")


@pytest.mark.parametrize("name", ERRORS)
def test_only_errors_of_which_numpy_warns_count(name: str) -> None:
    with np.errstate(all="ignore"):
        assert float_flags.cleared() == 0
    settings: dict[str, Any] = dict.fromkeys(ERRORS, "ignore") | {name: "warn"}
    with np.errstate(**settings):
        mask = float_flags.cleared()
    assert mask != 0


def test_what_is_not_known_counts_as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not float_flags.found(float_flags.cleared())
    monkeypatch.setattr(float_flags, "_clear", None)
    assert float_flags.found(float_flags.cleared())


def test_flags_are_found_and_cleared() -> None:
    mask = float_flags.cleared()
    assert 1e200 * float("1e200") > 1.0  # by Python, which leaves the flag
    assert float_flags.found(mask)
    float_flags.cleared()
    assert not float_flags.found(mask)
