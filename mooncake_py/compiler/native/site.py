"""Calls of functions that are compiled whole."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.elsewhere import Elsewhere

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call", "report"]


def call(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)`` as one compiled region; `Elsewhere` if it cannot be one.

    Every mode asks before it runs a Python function by its derived form, the outermost one of a
    differentiated call as well as those that it calls, also functions of libraries and those with
    which this package replaces built-in ones.  Where `Elsewhere` is returned, nothing has been
    done.
    """
    return Elsewhere


def report(f: Any) -> list[str]:
    """Return lines that say what was compiled of a function and of those that it calls.

    For what was not, they say which line of it stopped that first, and why.
    """
    return []
