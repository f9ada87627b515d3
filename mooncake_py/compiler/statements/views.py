"""Operands read through a view: ``x.T``, ``np.flip(x[:k])``, ``z.real``.

Values and tangents are read, and cotangents are added, through the same view, which is not
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.statements.statement import Part, View

__all__ = ["ATTRIBUTES", "VIEWS", "read_part", "through", "viewed", "views_in"]

ATTRIBUTES = ("T", "real", "imag")
"""Attributes of an array that are views of it: parts of it if it is complex."""
VIEWS = (np.flip, np.flipud, np.fliplr, np.transpose)
"""Functions of one array whose result is a view of it."""


def flipped(a: ndarray) -> ndarray:
    """Return ``np.flip(a)``, of a vector in less time."""
    return a[::-1] if a.ndim == 1 else np.flip(a)


QUICK: Mapping[Any, Callable[[ndarray], ndarray]] = {np.flip: flipped}


def viewed(part: Part, functions: Sequence[Any], a: ndarray) -> ndarray:
    """Return the view of an operand of the part of an array that it reads."""
    if not isinstance(part, View):
        return a
    f = part.function
    return getattr(a, f) if isinstance(f, str) else functions[f](a)


def read_part(part: Part, functions: Sequence[Any], values: Sequence[Any]) -> Any:
    """Return an operand."""
    if not isinstance(part, tuple):
        return values[part]
    return viewed(part, functions, values[part[0]][values[part[1]]])


def through(part: Part, text: str) -> str:
    """Return the text of what an operand sees of the part of an array that it reads."""
    if not isinstance(part, View):
        return text
    f = part.function
    return f"{text}.{f}" if isinstance(f, str) else f"view{f}({text})"


def views_in(layout: Sequence[Part], functions: Sequence[Any]) -> dict[str, Any]:
    """Return the functions that the code of views calls, by name."""
    positions = [part.function for part in layout if isinstance(part, View)]
    called = {k: functions[k] for k in positions if not isinstance(k, str)}
    return {f"view{k}": QUICK.get(f, f) for k, f in called.items()}
