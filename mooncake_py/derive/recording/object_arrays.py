"""Arrays of objects: what NumPy computes from them by methods of the objects, unseen.

Such an array may be moved about, as its objects pass by reference.  A result that is none of them
was computed by a method, which is right as long as nothing active went in.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.derive.recording.activity import INERT

__all__ = ["computed"]


def computed(ctx: Any, f: Any, args: Any, y: Any) -> Any:
    """Return what NumPy made of arguments without nodes, or raise if it ran methods unseen."""
    if (y.dtype.kind != "O") if type(y) is ndarray else type(y) in INERT:
        return y
    arrays = [a for a in args if type(a) is ndarray and a.dtype.kind == "O"]
    if arrays and not identities(y) <= {i for a in arrays for i in identities(a)}:
        ctx.refuse_if_active(f, args)
    return y


def identities(value: Any) -> set[int]:
    """Return the identities of the objects of an array, or of a single one."""
    return set(map(id, value.ravel().tolist())) if type(value) is ndarray else {id(value)}
