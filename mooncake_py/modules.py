"""The modules in which classes and functions say that they were defined."""

from __future__ import annotations

from typing import Any

__all__ = ["module_of", "package_of"]


def module_of(value: Any) -> str:
    """Return the name of the module of a class or function; "" if it names none.

    A program may set ``__module__`` to anything, and ``np.ctypeslib.as_ctypes`` sets it to None.
    """
    found = getattr(value, "__module__", None)
    return found if type(found) is str else ""


def package_of(value: Any) -> str:
    """Return the name of the package that the module of a class or function is in."""
    return module_of(value).partition(".")[0]
