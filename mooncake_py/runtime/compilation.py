"""The setting of compilation for derivatives that begin now.

It belongs to the thread or task: a derivative takes the setting at its beginning, and keeps it for
its pullback.  The environment variable ``MOONCAKE_COMPILE=1`` turns compilation on by default for a
process.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from contextvars import ContextVar, Token
from functools import cache
from importlib.util import find_spec

from mooncake_py.diagnostics.options import require_flag
from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.places import OWN
from mooncake_py.errors import MooncakeWarning
from mooncake_py.optional import installation

__all__ = [
    "INSTALL", "LEAST", "can_compile", "compiles", "give_up", "is_installed", "is_older",
    "is_refused", "problem", "require_setting", "using",
]  # fmt: skip

VARIABLE = "MOONCAKE_COMPILE"
INSTALL = installation("compile", "llvmlite", "scipy")
LEAST = (0, 45)
"""The oldest llvmlite: earlier ones bring an LLVM that reads another language."""

_chosen: ContextVar[bool | None] = ContextVar("mooncake_py.compile", default=None)


def compiles() -> bool:
    """Return whether the functions of derivatives that begin now are compiled."""
    chosen = _chosen.get()
    return (by_default() if chosen is None else chosen) and can_compile()


def is_refused() -> bool:
    """Return whether the user wants nothing to be compiled, nor printed."""
    return _chosen.get() is False


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
    """Return whether the environment asks for it."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def require_setting(compile: bool | None) -> None:
    """Raise if `compile` is no setting; warn, once, if there is no compiler."""
    if compile is None:
        return
    require_flag("compile", compile)
    if compile:
        can_compile()


# Whether there is a compiler.

NOT_OF_THE_USER = (*OWN, contextlib.__file__)
"""Files between a setting and the user's line."""

_why: str | None = None
"""Why nothing is compiled in this process; the user knows."""


def can_compile() -> bool:
    """Return whether there is a compiler; warn where the first call finds none."""
    if _why is not None:
        return False
    why = problem()
    if why:
        tell(why)
    return not why


def give_up(why: str) -> None:
    """Compile nothing in this process any more, since the compiler does not work; warn once.

    A filter that turns warnings into errors is not obeyed: a derivative may be under way.
    """
    if _why is None:
        with contextlib.suppress(MooncakeWarning):
            tell(why)


def tell(why: str) -> None:
    """Note why nothing is compiled, and warn at the user's line."""
    global _why
    _why = why
    text = f"nothing is compiled, and derivatives run as without compile=True: {why};\n"
    fix = f"{INSTALL}, or leave compile=True out"
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(NOT_OF_THE_USER):
        level, frame = level + 1, frame.f_back
    warnings.warn(text + with_page(f"  fix:   {fix}", "compile"), MooncakeWarning, stacklevel=level)


@cache
def problem() -> str:
    """Return why there is no compiler, as far as packages tell; nothing if there seems to be one.

    They are not imported, which takes a tenth of a second.
    """
    if not is_installed():
        return "llvmlite is not installed"
    found = re.search(r"(?m)^llvmlite-([\d.]+)\.dist-info$", "\n".join(beside_compiler()))
    return is_older(found[1]) if found else ""  # else it tells when it is imported


def beside_compiler() -> list[str]:
    """Return what lies beside the compiler, where installers note the versions of packages.

    `importlib.metadata` takes longer to import than all of this.
    """
    spec = find_spec("llvmlite")
    try:
        return os.listdir(os.path.dirname(os.path.dirname(spec.origin or ""))) if spec else []
    except OSError:  # in a zip file, say
        return []


def is_older(version: str) -> str:
    """Return that a version of llvmlite is too old, if it is."""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    least = ".".join(map(str, LEAST))
    return f"llvmlite {version} is older than {least}" if numbers < LEAST else ""


def is_installed() -> bool:
    """Return whether the compiler is installed."""
    return find_spec("llvmlite") is not None
