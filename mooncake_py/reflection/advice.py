"""Advice on a gradient that keeps much memory."""

from __future__ import annotations

from mooncake_py.diagnostics.pages import PAGES

__all__ = ["LARGE", "advice_on"]

LARGE = 100_000_000  # bytes


def advice_on(saved_bytes: int) -> list[str]:
    """Return advice in lines on what is kept from the forward pass to the reverse pass."""
    if saved_bytes < LARGE:
        return []
    return [f"{saved_bytes / 1e6:,.0f} MB are kept for the reverse pass; {PAGES['memory']}"]
