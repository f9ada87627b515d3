"""The ways by which instances are made."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import hooks
from mooncake_py.frontend.load import Derived
from mooncake_py.jitted import is_of_numba
from mooncake_py.language import construct, function_ways, generated_calls
from mooncake_py.language.function_ways import Holding
from mooncake_py.rules import registry
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.generated import has_no_source, is_of_tuple
from mooncake_py.runtime.sites import Way

if TYPE_CHECKING:
    from mooncake_py.language.ways import Ways

__all__ = ["way_of_class"]

NEW, INIT = object.__new__, object.__init__
MAKING = function_ways.running("way.init", "made, ").replace("return way", "result = way")


class OfClass(Holding):
    """A class of which only ``__init__`` is the user's.

    While it runs the object that it makes is the context's `newborn`.
    """

    __slots__ = ("init",)

    scope = {**Holding.scope, "NEW": NEW, "not_none": construct.not_none}
    condition = (
        "f is way.f and C.gate is way.gate and f.__init__ is way.init and f.__new__ is NEW"
        f" and {function_ways.holds('way.init')}"
    )
    body = f"""
        made = NEW(f)
        outer, since = C.newborn, C.newborn_since
        C.newborn, C.newborn_since = made, C.registry.again{MAKING}
            finally:
                C.newborn, C.newborn_since = outer, since
            if result is not None:
                raise not_none(result)
            return made
"""

    def __init__(self, ctx: Ways, cls: Any, init: FunctionType, derived: Derived | None) -> None:
        super().__init__(ctx, init, derived)
        self.f, self.init = cls, init
        if derived is None:
            self.run = generated_calls.initializer(init, cls)


class OfNative(Way):
    """A class whose instances keep references, and which runs no code of the user's for that."""

    __slots__ = ("f", "gate", "init", "new")

    condition = (
        "f is way.f and C.gate is way.gate and f.__new__ is way.new and f.__init__ is way.init"
    )
    body = """
        return f({alone})
"""

    def __init__(self, ctx: Ways, cls: Any) -> None:
        self.gate, self.f, self.new, self.init = ctx.gate, cls, cls.__new__, cls.__init__


def way_of_class(ctx: Ways, cls: Any) -> Way | None:
    """Return the way of a class, None if more is to be asked for each instance."""
    if id(cls) in ctx.handlers_at or registry.arrives(cls):
        return None
    if "numba" in sys.modules and is_of_numba(cls):
        return None
    hooks.refuse_metaclass(ctx, cls)
    if construct.has_python_metaclass(cls):
        return None
    make = construct.maker(ctx, cls)
    new, init = cls.__new__, in_class(cls, "__init__")
    if make is construct.native_instance:
        is_kept = issubclass(cls, BaseException) and construct.keeps_references(init)
        return OfNative(ctx, cls) if is_kept or (new is NEW and init is INIT) else None
    if make is not construct.derived_instance:
        return None
    if init is INIT:  # of a named tuple
        return OfNative(ctx, cls) if type(new) is FunctionType and is_of_tuple(new) else None
    if new is not NEW or type(init) is not FunctionType or cls.__init__ is not init:
        return None
    if has_no_source(init):
        is_known = id(init) in ctx.handlers_at or is_of_tuple(init)
        return None if is_known else OfClass(ctx, cls, init, None)
    derived = ctx.derived_plainly(init)
    return None if derived is None else OfClass(ctx, cls, init, derived)
