"""Functions that compute in the precision of their output, if one is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["INTO"]

INTO: dict[Any, Callable[..., Any]] = {}
"""Functions that compute so: of the array, the dtype, and the other arguments."""
