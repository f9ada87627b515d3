"""What was compiled of a function, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooncake_py.runtime.compilation import compiles

__all__ = ["compiled_lines"]


def compiled_lines(f: Callable[..., Any]) -> list[str]:
    """Return lines that say what was compiled of a function so far, none if nothing is compiled."""
    if not compiles():
        return []
    # Only where functions are compiled.
    from mooncake_py.compiler.native.site import report

    return report(f)
