"""What is not compiled."""

from __future__ import annotations

from mooncake_py.errors import MooncakeError

__all__ = ["CannotCompile", "LeftOnTheWayBack", "NoCompiler", "NotYet"]


class CannotCompile(Exception):
    """What is not compiled, and why; it runs otherwise."""


class NoCompiler(CannotCompile):
    """The compiler is not there, or does not work here: nothing is compiled."""


class LeftOnTheWayBack(MooncakeError):
    """Compiled code has met what it does not do once the sweep had run: the derivative begins anew.

    Without compilation it is right, or says what is wrong.
    """


class NotYet(Exception):
    """Compiled code is not there yet, and nobody waits for it: nothing has been done."""
