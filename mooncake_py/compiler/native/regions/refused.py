"""What is not compiled."""

from __future__ import annotations

__all__ = ["CannotCompile", "NoCompiler"]


class CannotCompile(Exception):
    """What is not compiled, and why; it runs otherwise."""


class NoCompiler(CannotCompile):
    """The compiler is not there, or does not work here: nothing is compiled."""
