"""The setting of compilation for derivatives that begin now.

It belongs to the thread or task: a derivative takes the setting at its beginning, and keeps it for
its pullback.  The environment variable ``MOONCAKE_COMPILE=1`` turns compilation on by default for a
process.
"""

from __future__ import annotations

import os
import warnings
from contextvars import ContextVar, Token
from functools import cache
from importlib.util import find_spec

from mooncake_py.diagnostics.options import require_flag
from mooncake_py.diagnostics.pages import with_page
from mooncake_py.errors import CompilerUnavailableError, MooncakeWarning
from mooncake_py.optional import installation

__all__ = ["compiles", "require_compiler", "using"]

VARIABLE = "MOONCAKE_COMPILE"
INSTALL = installation("compile", "numba", "scipy")

_chosen: ContextVar[bool | None] = ContextVar("mooncake_py.compile", default=None)


def compiles() -> bool:
    """Return whether the functions of derivatives that begin now are compiled."""
    chosen = _chosen.get()
    return by_default() if chosen is None else chosen


class using:
    """Let functions be compiled within a block, or not; None changes nothing."""

    __slots__ = ("compile", "token")

    def __init__(self, compile: bool | None) -> None:
        self.compile = compile

    def __enter__(self) -> None:
        self.token: Token[bool | None] | None = None
        if self.compile is not None:
            self.token = _chosen.set(self.compile)

    def __exit__(self, *exception: object) -> None:
        if self.token is not None:
            _chosen.reset(self.token)


@cache
def by_default() -> bool:
    """Return whether the environment asks for it, and the compiler is there."""
    if os.environ.get(VARIABLE, "0") in ("", "0"):
        return False
    if not is_installed():
        warnings.warn(
            f"{VARIABLE} is set, but Numba is not installed: nothing is compiled;\n"
            + with_page(INSTALL, "compile"),
            MooncakeWarning,
            stacklevel=2,
        )
        return False
    return True


def is_installed() -> bool:
    """Return whether the compiler is installed."""
    return find_spec("numba") is not None


def require_compiler(compile: bool | None) -> None:
    """Raise if functions are to be compiled without a compiler, or `compile` is something else."""
    if compile is None:
        return
    require_flag("compile", compile)
    if compile and not is_installed():
        raise CompilerUnavailableError(
            "compile=True needs Numba, which is not installed",
            why="Numba compiles the functions that derivatives run",
            fix=with_page(f"{INSTALL}, or leave compile=True out", "compile"),
        )
