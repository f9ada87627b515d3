"""A report of the compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.compilation import compiles

if TYPE_CHECKING:
    from mooncake_py.compiler.native.outcome import Outcome

__all__ = ["compiled_outcomes", "grouped_lines"]


def compiled_outcomes(functions: Iterable[Callable[..., Any]]) -> list[Outcome]:
    """Return the outcomes of functions and their loops so far; empty without compilation."""
    if not compiles():
        return []
    # Only where functions are compiled.
    from mooncake_py.compiler.native.site import report

    return [outcome for f in functions for outcome in report(f)]


def grouped_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines that show outcomes by reason, and an empty one below; none for no outcomes."""
    if not outcomes:
        return []
    # Only where functions are compiled.
    from mooncake_py.compiler.native.outcome import grouped

    return [*grouped(outcomes), ""]
