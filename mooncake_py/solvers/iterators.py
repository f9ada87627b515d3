"""Iterators that callbacks of solvers move on.

None can be put back.  So what is differentiated gets copies of those that can be copied, such as
`itertools.count`, in the places that hold them; those of generators cannot.
"""

from __future__ import annotations

from typing import Any

from mooncake_py.containers.holders import Attributes, Contents, Place
from mooncake_py.runtime.activity import is_iterator
from mooncake_py.runtime.iterators import copied

__all__ = ["copied_iterator", "with_iterators"]


def copied_iterator(value: Any) -> Any:
    """Return a copy of an iterator where it stands, None if there is none."""
    return copied(value) if is_iterator(type(value)) else None


def with_iterators(place: Place, held: Any, copies: dict[int, Any] | None = None) -> Any:
    """Return contents of a place in which copies stand for iterators: those given, or new ones."""

    def changed(part: Any) -> Any:
        if copies is not None:
            return copies.get(id(part), part)
        new = copied_iterator(part)
        return part if new is None else new

    if not isinstance(place, (Attributes, Contents)):
        return changed(held)
    if type(held) is dict:
        new = {key: changed(part) for key, part in held.items()}
        return new if any(new[key] is not part for key, part in held.items()) else held
    if type(held) is list:
        parts = list(map(changed, held))
        return parts if any(a is not b for a, b in zip(parts, held, strict=True)) else held
    return held
