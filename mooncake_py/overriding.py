"""The decorator `override`, which type checkers know from typing_extensions.

Importing typing_extensions would add a tenth to the import time of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["override"]

if TYPE_CHECKING:
    from typing_extensions import override as override
else:

    def override(method: Callable[..., Any]) -> Callable[..., Any]:
        """Mark a method that overrides one of a base class."""
        return method
