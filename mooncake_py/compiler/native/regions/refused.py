"""What is not compiled."""

from __future__ import annotations

__all__ = ["CannotCompile"]


class CannotCompile(Exception):
    """What is not compiled, and why; it runs otherwise."""
