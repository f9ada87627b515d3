"""The result of a trial without a quick form."""

from __future__ import annotations

__all__ = ["Elsewhere", "InParts", "Other"]


class Elsewhere:
    """In place of a value: nothing has been done, and the code must run as it is written."""


class Other:
    """In place of a value: nothing has been done, and the general way is to be taken."""


class InParts:
    """In place of a value: as `Elsewhere`, and the loops of the function are to be compiled."""
