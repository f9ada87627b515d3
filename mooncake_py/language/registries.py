"""Registries that a class keeps of its instances, where a pullback has copies of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.application.hidden import Hidden
from mooncake_py.errors import SharedArgumentsError
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING, in_class
from mooncake_py.runtime.identities import originals_now

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["refuse_originals"]


def refuse_originals(ctx: Mode, cls: type, name: str) -> None:
    """Raise if an attribute of a class leads to objects of which the arguments are copies."""
    originals = originals_now()
    if not originals:
        return
    value = in_class(cls, name)
    if value is MISSING or type(value) in INERT or callable(value) or hasattr(value, "__get__"):
        return
    if Hidden(originals).lead(value):
        raise ctx.failed(
            SharedArgumentsError(
                f"{cls.__name__}.{name} holds objects of the arguments",
                where=ctx.user_location(),
                why="vjp runs the function on copies of its arguments, which are other objects",
                fix="use value_and_grad, which runs on the objects themselves",
            )
        )
