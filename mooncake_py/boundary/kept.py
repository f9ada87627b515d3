"""Objects of a differentiated call that native code has kept: they are to outlive the call.

``ignore_derivatives(log.append, obj)`` stores an object in the caller's list.  What the call has
changed in the object is undone in the end, so the list gets a copy before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.outgoing import Copier
from mooncake_py.containers.state import old_cell
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.contents import dict_base, elements_of
from mooncake_py.tangents.fields import own_attributes, set_own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["hand_out", "note_holder", "settle_kept"]


def note_holder(ctx: Mode, holder: Any, before: Iterable[Any]) -> None:
    """Note a value in which native code has stored something; `before` is what it held then."""
    known = frozenset(map(id, before))
    for each in (ctx, *ctx.outers):
        each.kept.setdefault(id(holder), (holder, known))


def hand_out(ctx: Mode, value: Any) -> None:
    """Note what the function returns, and let what native code has kept of the call stay."""
    ctx.leave(value)
    settle_kept(ctx)


def settle_kept(ctx: Mode) -> None:
    """Put copies in place of what native code has kept and the end of the call would change."""
    if not ctx.kept:
        return
    holders = list(ctx.kept.values())
    ctx.kept.clear()
    copier = Copier(ctx)

    def kept(value: Any) -> Any:
        if type(value) in INERT and not issubclass(type(value), type):
            return value
        active = ctx.receiver is None and not issubclass(type(value), ndarray)
        leaves = copier.changes.reach(value) or (active and ctx.contains_active(value))
        return copier.copy(value) if leaves else value

    for holder, known in holders:
        replace(holder, lambda v, known=known: v if id(v) in known else kept(v))


def replace(holder: Any, new: Callable[[Any], Any]) -> None:
    """Replace what a container, an object or a function holds by what a function returns for it."""
    t = type(holder)
    if issubclass(t, dict):
        of: Any = dict_base(holder)
        items = [(new(key), new(part)) for key, part in of.items(holder)]
        if any(a is not b for (a, _), b in zip(items, of.keys(holder), strict=True)):
            of.clear(holder)
        for key, part in items:
            if dict.get(holder, key) is not part:
                of.__setitem__(holder, key, part)
    elif issubclass(t, (list, deque)):
        base: Any = list if issubclass(t, list) else deque
        for i, part in enumerate(elements_of(holder)):
            base.__setitem__(holder, i, new(part))
    elif issubclass(t, set):
        parts = elements_of(holder)
        copies = list(map(new, parts))
        if any(a is not b for a, b in zip(parts, copies, strict=True)):
            set.clear(holder)
            set.update(holder, copies)
    elif issubclass(t, ndarray):
        for index in np.ndindex(holder.shape if holder.dtype == object else (0,)):
            holder[index] = new(holder[index])
    elif t is FunctionType:
        for cell in holder.__closure__ or ():
            if old_cell(cell) is not MISSING:
                cell.cell_contents = new(cell.cell_contents)
    elif issubclass(t, type):
        for name, part in list(vars(holder).items()):
            if new(part) is not part:
                type.__setattr__(holder, name, new(part))
        return
    fields = own_attributes(holder)
    copies = {name: new(part) for name, part in fields.items()}
    set_own_attributes(holder, {n: part for n, part in copies.items() if part is not fields[n]})
