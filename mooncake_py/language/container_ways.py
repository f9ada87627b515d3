"""Quick ways to call methods of Python's containers and strings.

They handle keys, positions and parts of strings that are inert: nothing of the program runs as
these are hashed or read.  Anything else goes the general way.
"""

from __future__ import annotations

from collections import deque
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

from mooncake_py.application.arity import MISFITS, require_arguments
from mooncake_py.containers.containers import COMPARES, CONTAINERS, INDEXED
from mooncake_py.containers.sets import ITERATING
from mooncake_py.language.texts import CODING
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.sites import Way

if TYPE_CHECKING:
    from mooncake_py.language.ways import Ways

__all__ = ["TYPES", "OfBoundMethod", "way_of_container", "way_of_text"]

TYPES = frozenset({list, dict, set, deque})
UNDER_KEY = frozenset({"get", "pop", "setdefault"})
"""Methods of dicts that take a key, and then a value."""


RUNNING = """
        if INERT.issuperset(map(type, ({{given}})[: way.keys])):
            change = way.change
            try:
                return way.method({o}{{args}}) if change is None else change(C, {o}{{args}})
            except MISFITS:
                if change is not None:
                    require_arguments(way.method, ({o}, {{given}}), dict({{keywords}}))
                raise
        return C.{general}{{args}})
"""


class OfContainer(Way):
    """A method of a container.

    Attributes
    ----------
    change : callable or None
        What runs it and records what it changes; None where it changes nothing.
    method : method descriptor
    keys : int or None
        How many arguments, None for all, are hashed or are positions.
    """

    __slots__ = ("change", "gate", "keys", "method", "t")

    scope = {
        **Way.scope, "INERT": INERT, "MISFITS": MISFITS, "require_arguments": require_arguments,
    }  # fmt: skip
    condition = "type(f) is way.t and C.gate is way.gate"
    body = RUNNING.format(o="f", general="method(f, site.name")

    def __init__(self, ctx: Ways, t: type, name: str) -> None:
        self.gate, self.t, self.method = ctx.gate, t, getattr(t, name)
        self.change = CONTAINERS[t].METHODS.get(name)
        if t is dict:
            self.keys = 1 if name in UNDER_KEY else None
        else:
            self.keys = None if t is set else int(name in INDEXED)


class OfBoundMethod(OfContainer):
    """Such a method that is bound."""

    __slots__ = ("name",)

    scope = {**OfContainer.scope, "Bound": BuiltinFunctionType}
    condition = (
        "type(f) is Bound and type(f.__self__) is way.t and f.__name__ == way.name"
        " and C.gate is way.gate"
    )
    body = RUNNING.format(o="f.__self__", general="call_unregistered(f")

    def __init__(self, ctx: Ways, t: type, name: str) -> None:
        super().__init__(ctx, t, name)
        self.name = name


class OfText(Way):
    """A method of a text."""

    __slots__ = ("gate", "method", "t")

    condition = "type(f) is way.t and C.gate is way.gate"
    body = """
        if are_inert(({given})) and not dict({keywords}):
            return way.method(f{args})
        return C.method(f, site.name{args})
"""

    def __init__(self, ctx: Ways, t: type, name: str) -> None:
        self.gate, self.t, self.method = ctx.gate, t, getattr(t, name)


def are_inert(args: tuple[Any, ...]) -> bool:
    """Return whether arguments are inert, or lists and tuples of such."""
    for a in args:
        t = type(a)
        if t not in INERT and not ((t is list or t is tuple) and INERT.issuperset(map(type, a))):
            return False
    return True


OfText.scope = {**Way.scope, "are_inert": are_inert}


def way_of_container(
    ctx: Ways, t: type, name: str, kind: type[OfContainer] = OfContainer
) -> Way | None:
    """Return the way of a method of a container, None if it compares or iterates."""
    if t not in TYPES or name in COMPARES or (t is set and name in ITERATING):
        return None
    is_method = type(getattr(t, name, None)) is MethodDescriptorType
    return kind(ctx, t, name) if is_method else None


def way_of_text(ctx: Ways, t: type, name: str) -> Way | None:
    """Return the way of a method of a text; one that asks a registry of codecs has none."""
    is_method = type(getattr(t, name, None)) is MethodDescriptorType
    return OfText(ctx, t, name) if is_method and name not in CODING else None
