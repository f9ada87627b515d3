"""What was compiled of a function, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mooncake_py.runtime.compilation import compiles

__all__ = ["compiled_lines"]


def compiled_lines(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """Return lines that say which functions were compiled so far, none if none are to be."""
    if not compiles():
        return []
    # Only where functions are compiled.
    from mooncake_py.compiler.native.site import report

    return [line for f in functions for line in report(f)]
