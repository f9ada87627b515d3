"""What sweeps that are printed as text of NumPy do in a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py.compiler.native.numpy_text import printer

__all__ = ["noted_sweeps"]


def noted_sweeps(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows: of each sweep forward, whether it came to its end."""
    found: list[bool] = []
    original = printer.as_forward

    def noted(run: Callable[..., Any]) -> Callable[..., Any]:
        forward = original(run)

        def counted(*given: Any) -> tuple[Any, ...]:
            result = forward(*given)
            found.append(result[0])
            return result

        return counted

    monkeypatch.setattr(printer, "as_forward", noted)
    return found
