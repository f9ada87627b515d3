"""A report of the compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mooncake_py.runtime.compilation import compiles

__all__ = ["compiled_lines"]


def compiled_lines(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """Return lines that list the functions compiled so far; empty without compilation."""
    if not compiles():
        return []
    # Only where functions are compiled.
    from mooncake_py.compiler.native.site import report

    return [line for f in functions for line in report(f)]
