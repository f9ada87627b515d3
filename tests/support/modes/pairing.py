"""Random tangents of arguments, paired with gradients, and their inner product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mooncake_py import NoTangent
from mooncake_py.boundary.outputs import held_by
from mooncake_py.tangents import add_to_primal, scale
from mooncake_py.tangents.containers import is_number, parts_of

__all__ = ["ModeError", "NotANumber", "inner", "leaves", "member", "moved"]


class ModeError(Exception):
    """A mode gives something wrong."""


class NotANumber(ModeError):
    """A mode gives nan for a derivative along a direction that is finite."""


def moved(args: tuple[Any, ...], tangents: tuple[Any, ...], t: float) -> tuple[Any, ...]:
    """Return the arguments moved by `t` along tangents; None stands for zero."""
    return tuple(
        [
            a if d is None else add_to_primal(a, scale(t, d))
            for a, d in zip(args, tangents, strict=True)
        ]
    )


def leaves(t: Any, g: Any, seen: set[int] | None = None) -> Iterator[tuple[Any, Any]]:
    """Yield the numbers and arrays of a tangent, each once, with those of a gradient."""
    seen = set() if seen is None else seen
    if t is None or type(t) is NoTangent:
        return
    if is_number(t):
        yield t, g
        return
    if not (isinstance(t, tuple) or isinstance(g, tuple)):  # which are values in each place
        if id(t) in seen:
            return
        seen.add(id(t))
    if isinstance(t, np.ndarray):
        yield t, g
        return
    for name, part in parts_of(t).items():
        if type(g) is NoTangent:
            continue
        # The gradient of a captured variable stands in its place, its tangent in that of the cell.
        yield from leaves(part, g if name == "cell_contents" else member(g, name), seen)


def member(g: Any, name: Any) -> Any:
    """Return a part of a gradient, by index, key or name."""
    parts = held_by(g)
    return parts[name] if parts is not None and name in parts else getattr(g, name)


def inner(t: Any, g: Any) -> tuple[float, float]:
    """Return Re<g, t> and the sum of the sizes of its terms."""
    total = size = 0.0
    for a, b in leaves(t, g):
        if type(b) is NoTangent:
            continue
        if np.shape(a) != np.shape(b):
            raise ModeError(f"a gradient of shape {np.shape(b)} for an argument of {np.shape(a)}")
        with np.errstate(all="ignore"):
            terms = np.real(np.conj(np.asarray(b, complex)) * a)
        total += float(np.sum(terms))
        size += float(np.sum(np.abs(terms)))
    return total, size
