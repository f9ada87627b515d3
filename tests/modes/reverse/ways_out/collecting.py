"""How the programs are collected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["WAYS_OUT", "way_out"]

WAYS_OUT: list[Callable[[Any], Any]] = []


def way_out(f: Any) -> Any:
    """Collect a program."""
    WAYS_OUT.append(f)
    return f
