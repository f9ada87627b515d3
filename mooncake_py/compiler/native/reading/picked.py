"""Elements where a mask is true, on both sides of an assignment.

    z[m] = z[m] ** 2 + c[m]         for all k: z[k] = z[k] ** 2 + c[k] if m[k] else z[k]

Elementwise operations are taken on all elements, of which those that no mask picks are never
computed: which these are is known only when it runs.
"""

from __future__ import annotations

from collections.abc import Callable

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexNumber,
    Number,
    Picked,
    Unfit,
    Value,
    names_as_index,
)

__all__ = ["are_picked", "is_same", "operated"]


def are_picked(values: tuple[Value, ...]) -> bool:
    """Return True if some of the operands are elements that a mask picks."""
    return any(isinstance(v, Picked) for v in values)


def operated(b: Builder, f: Callable[..., Value], values: tuple[Value, ...]) -> Picked:
    """Return an elementwise function of elements that one mask picks, and of numbers."""
    mask = next(v.mask for v in values if isinstance(v, Picked))
    if not all(
        is_same(v.mask, mask) if isinstance(v, Picked) else isinstance(v, Number | ComplexNumber)
        for v in values
    ):
        raise Unfit("elements that a mask picks together with others", b.place)
    found = f(*[v.array if isinstance(v, Picked) else v for v in values])
    if not isinstance(found, Array):
        raise Unfit("elements that a mask picks", b.place)
    return Picked(found, mask)


def is_same(a: Array, b: Array) -> bool:
    """Return True if two masks pick the same elements, as far as their text tells."""
    if a is b:
        return True
    probe = names_as_index(tuple([f"probe{axis}" for axis in range(len(a.shape))]))
    return a.shape == b.shape and a.at(probe) == b.at(probe)
