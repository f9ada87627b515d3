"""The referents of objects in C, as the garbage collector finds them."""

from __future__ import annotations

import gc
from typing import Any

__all__ = ["held_in_c"]

SEQUENCES = frozenset({list, tuple})


def held_in_c(value: Any) -> list[Any]:
    """Return the objects that an object refers to, so that each part can be read.

    Code in C may keep a list or a tuple that has no object yet, or no longer, at some places: the
    stack of an XML parser, the tuple of a `zip_longest` where a source has ended.  To read these
    ends the process.  They are replaced by the objects that they have.
    """
    held = gc.get_referents(value)
    if SEQUENCES.isdisjoint(map(type, held)):
        return held
    whole: list[Any] = []
    for part in held:
        if type(part) in SEQUENCES and len(objects := gc.get_referents(part)) < len(part):
            whole += objects
        else:
            whole.append(part)
    return whole
