"""What comes out where no quick form serves."""

from __future__ import annotations

__all__ = ["Elsewhere"]


class Elsewhere:
    """In place of a value: nothing has been done, and the code must run as it is written."""
