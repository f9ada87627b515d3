"""The ways by which methods are called by their names."""

from __future__ import annotations

from collections import namedtuple
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import lists
from mooncake_py.containers.containers import CONTAINERS
from mooncake_py.frontend.load import Derived
from mooncake_py.language.container_ways import way_of_container, way_of_text
from mooncake_py.language.function_ways import Holding, holds, running
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.attribute_lookup import MISSING, in_class
from mooncake_py.runtime.methods import LookedUp
from mooncake_py.runtime.pulls import pull_appended
from mooncake_py.runtime.sites import PassingMethod, Way

if TYPE_CHECKING:
    from mooncake_py.language.ways import Ways

__all__ = ["OfBoundReplace", "OfReplace", "is_replace", "way_of_method"]

OTHERS = frozenset({Active, ndarray, LookedUp, ModuleType})
"""Classes whose methods are not attributes that are read, or are not the same for all."""
PAIR: Any = namedtuple("PAIR", "x y")
REPLACE, MAKE = PAIR._replace.__code__, PAIR._make.__func__.__code__


class OfMethod(Holding):
    """A method of the user's, whatever the object holds under its name."""

    __slots__ = ("t",)

    binds = True
    condition = "type(f) is way.t and C.gate is way.gate"
    body = f"""
        m = getattr(f, site.name)
        if type(m) is MethodType and m.__func__ is way.f and {holds("way.f")}:{
        running("way.f", "m.__self__, ").replace(chr(10), chr(10) + "    ")
    }
        return C.call(m{{args}})
"""

    def __init__(self, ctx: Ways, t: type, f: FunctionType, derived: Derived) -> None:
        super().__init__(ctx, f, derived)
        self.t = t


class OfSuper(Holding):
    """A method of the user's that is read of ``super()``."""

    __slots__ = ("above", "t")

    condition = (
        "type(f) is super and C.gate is way.gate and f.__self_class__ is way.t"
        " and f.__thisclass__ is way.above"
    )
    body = OfMethod.body

    def __init__(self, ctx: Ways, o: Any, f: FunctionType, derived: Derived) -> None:
        super().__init__(ctx, f, derived)
        self.t, self.above = o.__self_class__, o.__thisclass__


class OfHeld(Way):
    """Something else that is read without running code: of the object, a static method."""

    __slots__ = ("gate", "t")

    condition = "type(f) is way.t and C.gate is way.gate"
    body = """
        inner = site.inner
        return inner.way.{name}(inner, C, getattr(f, site.name){args})
"""

    def __init__(self, ctx: Ways, t: type) -> None:
        self.gate, self.t = ctx.gate, t


class OfAppend(Way):
    """The method of lists that programs call most."""

    __slots__ = ("gate",)

    scope = {**Way.scope, "pull_appended": pull_appended, "truncate": lists.truncate}
    condition = "type(f) is list and C.gate is way.gate"
    body = """
        items = ({given})
        if len(items) != 1:
            return C.method(f, "append"{args})
        C.record((pull_appended, truncate, f, len(f)))
        f.append(items[0])
        return None
"""

    def __init__(self, ctx: Ways) -> None:
        self.gate = ctx.gate


class OfReplace(Way):
    """The method of named tuples that makes another one, where it is Python's own."""

    __slots__ = ("gate", "t")

    binds = True
    scope = {**Way.scope, "MAKE": MAKE, "MethodType": MethodType, "REPLACE": REPLACE}
    condition = "type(f) is way.t and C.gate is way.gate"
    body = """
        m = getattr(f, site.name)
        if m.__func__.__code__ is REPLACE and way.t._make.__func__.__code__ is MAKE:
            return m({alone})
        return C.call_unregistered(m{args})
"""

    def __init__(self, ctx: Ways, t: type) -> None:
        self.gate, self.t = ctx.gate, t


class OfBoundReplace(OfReplace):
    """The method of named tuples that makes another one, bound."""

    __slots__ = ()

    condition = "type(f) is MethodType and type(f.__self__) is way.t and C.gate is way.gate"
    body = OfReplace.body.replace("m = getattr(f, site.name)", "m = f")


def is_replace(ctx: Ways, f: FunctionType, t: Any) -> bool:
    """Return whether a method of a class is ``_replace`` of named tuples, and no one's else."""
    if f.__code__ is not REPLACE or id(f) in ctx.handlers_at or not issubclass(t, tuple):
        return False
    make = in_class(t, "_make")
    return type(make) is classmethod and make.__func__.__code__ is MAKE


def way_of_method(ctx: Ways, o: Any, name: str) -> Way:
    """Return the way of a method of objects of a class."""
    t = type(o)
    if t is super:
        return way_of_super(ctx, o, name) or PassingMethod(ctx.gate, t)
    if t is list and name == "append":
        return OfAppend(ctx)
    if t in CONTAINERS:
        return way_of_container(ctx, t, name) or PassingMethod(ctx.gate, t)
    if t is str or t is bytes:
        return way_of_text(ctx, t, name) or PassingMethod(ctx.gate, t)
    if t in OTHERS or issubclass(t, type):
        return PassingMethod(ctx.gate, t)
    if ctx.reader(o, name) is not None:
        return PassingMethod(ctx.gate, t)
    found = in_class(t, name)
    if type(found) is FunctionType:
        if is_replace(ctx, found, t):
            return OfReplace(ctx, t)
        derived = None if ctx.has_rules_for(MethodType) else ctx.derived_plainly(found)
        return OfHeld(ctx, t) if derived is None else OfMethod(ctx, t, found, derived)
    if found is MISSING or type(found) in (staticmethod, classmethod):
        return OfHeld(ctx, t)
    return PassingMethod(ctx.gate, t)


def way_of_super(ctx: Ways, o: Any, name: str) -> Way | None:
    """Return the way of a method that is read of ``super()``."""
    if o.__self__ is None or ctx.reader(o, name) is not None or ctx.has_rules_for(MethodType):
        return None
    f: Any = getattr(getattr(o, name, None), "__func__", None)
    derived = ctx.derived_plainly(f) if type(f) is FunctionType else None
    return None if derived is None else OfSuper(ctx, o, f, derived)
