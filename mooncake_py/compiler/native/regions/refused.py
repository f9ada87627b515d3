"""Errors for code that is not compiled."""

from __future__ import annotations

from mooncake_py.errors import MooncakeError

__all__ = ["CannotCompile", "LeftOnTheWayBack", "NoCompiler", "NotYet"]


class CannotCompile(Exception):
    """Raised for code that is not compiled, with the reason; it runs otherwise."""


class NoCompiler(CannotCompile):
    """The compiler is not there, or does not work here: nothing is compiled."""


class LeftOnTheWayBack(MooncakeError):
    """Compiled code failed after the forward sweep: the derivative starts over without it.

    Without compilation it is right, or says what is wrong.
    """


class NotYet(Exception):
    """Compiled code is not there yet, and nobody waits for it: nothing has been done."""
