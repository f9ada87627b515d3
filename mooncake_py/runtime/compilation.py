"""The setting of compilation for derivatives that begin now.

It belongs to the thread or task: a derivative takes the setting at its beginning, and keeps it for
its pullback.  The environment variable ``MOONCAKE_COMPILE``, ``1`` or ``auto``, is the default of a
process.

With "auto" nobody waits for compiled code: threads make it while derivatives run without.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar, Token
from functools import cache
from importlib.util import find_spec
from typing import Final, Literal

from mooncake_py.diagnostics.options import require_compile, require_seconds
from mooncake_py.diagnostics.pages import with_page
from mooncake_py.diagnostics.places import OWN
from mooncake_py.errors import MooncakeWarning
from mooncake_py.optional import installation

__all__ = [
    "AUTO", "INSTALL", "LEAST", "PLAINLY", "Compile", "can_compile", "compiles", "give_up",
    "is_installed", "is_meanwhile", "is_older", "is_refused", "meanwhile", "patience", "problem",
    "require_setting", "using",
]  # fmt: skip

Compile = bool | Literal["auto"]
"""The values of `compile` that users may pass."""
AUTO: Final = "auto"
PLAINLY: Final = "plainly"
"""As if nobody had asked: unlike False, text of NumPy may run."""
Chosen = bool | Literal["auto", "plainly"]

VARIABLE = "MOONCAKE_COMPILE"
INSTALL = installation("compile", "llvmlite", "scipy")
LEAST = (0, 45)
"""The oldest llvmlite: earlier ones bring an LLVM that reads another language."""

clock: Callable[[], float] = time.monotonic
"""Tests replace it."""

_chosen: ContextVar[Chosen | None] = ContextVar("mooncake_py.compile", default=None)
_deadline: ContextVar[float | None] = ContextVar("mooncake_py.compile_timeout", default=None)
_meanwhile: ContextVar[bool] = ContextVar("mooncake_py.meanwhile", default=False)


def compiles() -> Compile:
    """Return whether the functions of derivatives that begin now are compiled."""
    chosen = _chosen.get()
    if chosen is None:
        chosen = by_default()
    if not chosen or chosen is PLAINLY or not can_compile():
        return False
    return AUTO if isinstance(chosen, str) else True


def is_refused() -> bool:
    """Return whether the user wants nothing to be compiled, nor printed."""
    return _chosen.get() is False


def patience() -> float | None:
    """Return for how many seconds more compiled code is waited for, None for as long as it takes.

    Zero with "auto"; threads that make code wait for what they need.
    """
    if _meanwhile.get():
        return None
    if compiles() is AUTO:
        return 0.0
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - clock())


class using:
    """Let functions be compiled within a block, or not; None changes nothing.

    Parameters
    ----------
    compile : {True, False, "auto", "plainly"} or None
    timeout : float, optional
        For how many seconds from the beginning of the block compiled code is waited for.
    """

    __slots__ = ("compile", "deadline", "timeout", "token")

    def __init__(self, compile: Chosen | None, timeout: float | None = None) -> None:
        self.compile: Chosen | None = compile
        self.timeout = timeout

    def __enter__(self) -> None:
        self.token: Token[Chosen | None] | None = None
        self.deadline: Token[float | None] | None = None
        if self.compile is not None:
            self.token = _chosen.set(self.compile)
        if self.timeout is not None:
            self.deadline = _deadline.set(clock() + self.timeout)

    def __exit__(self, *exception: object) -> None:
        if self.deadline is not None:
            _deadline.reset(self.deadline)
        if self.token is not None:
            _chosen.reset(self.token)


@contextlib.contextmanager
def meanwhile() -> Iterator[None]:
    """Compile within a block that nobody waits for, so that nobody is told if it fails."""
    token = _meanwhile.set(True)
    try:
        with using(True):
            yield
    finally:
        _meanwhile.reset(token)


def is_meanwhile() -> bool:
    """Return whether nobody waits for what is compiled now."""
    return _meanwhile.get()


@cache
def by_default() -> Compile:
    """Return the setting of the environment."""
    asked = os.environ.get(VARIABLE, "0")
    return AUTO if asked == AUTO else asked not in ("", "0")


def require_setting(compile: Compile | None, compile_timeout: float | None = None) -> None:
    """Raise if `compile` is not a valid setting; warn, once, if there is no compiler."""
    require_seconds("compile_timeout", compile_timeout)
    if compile is None:
        return
    require_compile(compile)
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
    """Note why nothing is compiled, and warn at the user's line, if a user waits."""
    global _why
    _why = why
    if _meanwhile.get():
        return
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
    """Return the names of the files next to the compiler: installers note package versions there.

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
