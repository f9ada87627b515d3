"""Objects that Python takes for a position in a sequence: their ``__index__`` runs derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.slots import type_name

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["position"]


def position(ctx: Mode, i: Any) -> Any:
    """Return the int that an object stands for; any other value unchanged."""
    if type(i) in INERT or type(i) is Active or isinstance(i, int):  # which is not asked
        return i
    method = derivable(i, "__index__")
    if method is None:
        return i
    found = ctx.call(method, i)
    if not isinstance(found, int):
        raise TypeError(f"__index__ returned non-int (type {type_name(type(found))})")
    return found
