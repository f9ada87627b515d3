"""How a context finds the ways by which sites run: the questions are asked once for each callee.

A context has a gate while its tables of rules are current.  What else a way relies on it compares
at each call: the callee, its code and defaults, the globals that were assumed.
"""

from __future__ import annotations

import functools
import sys
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.errors import MooncakeError
from mooncake_py.frontend.load import Derived, derive, instantiate
from mooncake_py.language import dispatch, python_calls
from mooncake_py.modules import DISPATCHER
from mooncake_py.remembered import Table
from mooncake_py.rules import elsewhere, epoch, registry
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.methods import DESCRIPTORS
from mooncake_py.runtime.sites import CALLING, Passing, Sites, Way
from mooncake_py.syntax.names import MISSING

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
else:
    Mode = object  # what the classes built on this one add up to

__all__ = ["Ways"]

NOTHING: Any = MappingProxyType({})
MANY = 1024
NESTED = 0x10
"""The flag of code that is defined within a function: functions are made of it again and again."""
DERIVED: Table[tuple[str | None, str | None]] = Table()
"""Of code that is derived wherever it is called, the modules of the function and its globals."""
WITHOUT = frozenset({Active, BuiltinFunctionType, np.ufunc, DISPATCHER, *DESCRIPTORS})
"""Classes of callees that never have a way."""


def holds(f: str) -> str:
    """Return the condition that a function is as it was when its way was made."""
    return (
        f"{f}.__code__ is way.code and {f}.__defaults__ is way.defaults"
        f" and {f}.__kwdefaults__ is way.kwdefaults"
    )


def running(f: str, before: str = "") -> str:
    """Return the body that runs a function of the user's, with an argument before others."""
    calling = CALLING.replace("{given}", f"{before}{{given}}").replace("{run}", "way.run")
    return f"""
        for name, value in way.assumed:
            if {f}.__globals__.get(name, MISSING) is not value:
                break
        else:{calling}"""


class Holding(Way):
    """The way of a function of the user's, called under some condition."""

    __slots__ = ("assumed", "code", "defaults", "f", "gate", "kwdefaults", "run")

    scope = {**Way.scope, "MISSING": MISSING, "MethodType": MethodType}

    def __init__(self, ctx: Ways, f: FunctionType, derived: Derived) -> None:
        self.gate = ctx.gate
        self.f = f
        self.code, self.defaults, self.kwdefaults = f.__code__, f.__defaults__, f.__kwdefaults__
        self.assumed = assumed_by(derived)
        self.run = ctx.form(f, derived)


class OfFunction(Holding):
    """A function."""

    __slots__ = ()

    condition = f"f is way.f and C.gate is way.gate and {holds('f')}"
    body = running("f")


class OfBound(Holding):
    """A method that is bound."""

    __slots__ = ()

    condition = (
        f"type(f) is MethodType and f.__func__ is way.f and C.gate is way.gate and {holds('way.f')}"
    )
    body = running("way.f", "f.__self__, ")


class OfObject(Holding):
    """Objects of a class that can be called."""

    __slots__ = ("t",)

    condition = (
        f"type(f) is way.t and C.gate is way.gate and way.t.__call__ is way.f and {holds('way.f')}"
    )
    body = running("way.f", "f, ")


class OfCode(Way):
    """Functions that are made again and again of one code: lambdas, and what functions define.

    Attributes
    ----------
    last : tuple
        The function that was called last, its defaults, and what runs.
    """

    __slots__ = ("assumed", "code", "derived", "gate", "last", "module", "scope_of")

    scope = {**Way.scope, "MISSING": MISSING}
    body = f"""
    last, defaults, kwdefaults, run = way.last
    if f is not last or f.__defaults__ is not defaults or f.__kwdefaults__ is not kwdefaults:
        run = way.form(C, f)
        if run is None:
            return site.choose(C, f).{{name}}(site, C, f{{args}})
    if C.gate is way.gate and f.__code__ is way.code:
        for name, value in way.assumed:
            if f.__globals__.get(name, MISSING) is not value:
                break
        else:{CALLING.replace("{run}", "run")}
    return site.choose(C, f).{{name}}(site, C, f{{args}})
"""

    def __init__(self, ctx: Ways, f: FunctionType, derived: Derived) -> None:
        self.gate = ctx.gate
        self.code, self.derived, self.assumed = f.__code__, derived, assumed_by(derived)
        self.module, self.scope_of = f.__module__, f.__globals__
        self.last = f, f.__defaults__, f.__kwdefaults__, ctx.form(f, derived)

    def form(self, ctx: Ways, f: Any) -> Any:
        """Return what runs another function of this code, None for anything else."""
        if (
            type(f) is not FunctionType
            or ctx.gate is not self.gate
            or f.__code__ is not self.code
            or f.__module__ is not self.module
            or f.__globals__ is not self.scope_of
            or id(f) in ctx.handlers_at
            or elsewhere.MARK in f.__dict__
        ):
            return None
        run = ctx.form(f, self.derived)
        self.last = f, f.__defaults__, f.__kwdefaults__, run
        return run


class OfPartial(Way):
    """Objects of `functools.partial`."""

    __slots__ = ("gate",)

    scope = {**Way.scope, "partial": functools.partial}
    condition = "type(f) is partial and C.gate is way.gate"
    body = """
        if f.keywords:
            return C.call(f.func, *f.args{passed}, **{{**f.keywords{named}}})
        return C.call(f.func, *f.args{args})
"""

    def __init__(self, ctx: Ways) -> None:
        self.gate = ctx.gate


def assumed_by(derived: Derived) -> tuple[tuple[str, Any], ...]:
    """Return the globals that a derived form assumes, for as long as a way lives."""
    if not derived.assumed_weakly:
        return derived.assumed
    weakly = [(name, reference()) for name, reference in derived.assumed_weakly]
    return (*derived.assumed, *weakly)


class Ways(Mode):
    """What a context keeps of its callees.

    Attributes
    ----------
    gate : object or None
        The token of the ways that hold; None until the tables have been looked at.
    ways : dict
        The ways by the ids of functions and classes, and by those of what others are found by.
    sites : Sites or None
        The sites that hold some of these.
    """

    has_gate = False
    gate: Any = None
    epoch: int  # in which the tables were made, and of how many modules
    modules: int
    token: object  # what no other context has
    ways: dict[Any, Way] = NOTHING
    sites: Sites | None = None

    def open_gate(self) -> Any:
        """Return the token of the ways that are made now, None where there are to be none."""
        if self.gate is None and self.has_gate:
            if (
                self.epoch != epoch.number or self.modules != len(sys.modules)
            ) and dispatch.handlers().version is not self.rules_version:
                self.load_handlers()
            self.epoch, self.modules = epoch.number, len(sys.modules)
            self.ways = {}
            if self.sites is None:
                self.sites = Sites()
            epoch.opened(self)
            self.gate = object()
        return self.gate

    def close_gate(self) -> None:
        """Let go of all ways: what they hold is not kept longer than a run of a function."""
        if self.sites is not None:
            self.gate, self.ways = None, NOTHING
            self.sites.close()

    def way_of(self, f: Any, stale: Way | None = None) -> Way:
        """Return the way of a callee, other than one that did not fit."""
        t = type(f)
        if t is FunctionType:
            key: Any = id(f.__code__ if f.__code__.co_flags & NESTED else f)
        elif t is MethodType:
            key = MethodType, id(f.__func__)
        elif t in WITHOUT:
            return Passing(self.gate, f)
        else:
            key = id(f) if issubclass(t, type) else id(t)
        way = self.ways.get(key)
        if way is None or way is stale:
            if len(self.ways) > MANY:
                self.ways = {}
            way = self.ways[key] = self.new_way(f) or Passing(self.gate, f)
        return way

    def new_way(self, f: Any) -> Way | None:
        """Return a way for a callee, None if all questions are to be asked at each call."""
        t = type(f)
        if t is FunctionType:
            derived = self.derived_plainly(f)
            if derived is None:
                return None
            return (OfCode if f.__code__.co_flags & NESTED else OfFunction)(self, f, derived)
        if t is MethodType:
            if type(f.__func__) is not FunctionType or type(f.__self__) is Active:
                return None
            return None if self.has_rules_for(t) else self.way_of_function(OfBound, f, f.__func__)
        if t is functools.partial:
            return None if self.has_rules_for(t) else OfPartial(self)
        if issubclass(t, type):
            return None
        call = in_class(t, "__call__")
        if type(call) is not FunctionType or self.has_rules_for(t):
            return None
        way = self.way_of_function(OfObject, f, call)
        if type(way) is OfObject:
            way.t = t
        return way

    def way_of_function(self, kind: type[Any], callee: Any, f: FunctionType) -> Way | None:
        """Return the way of some kind of a callee that runs a function of the user's."""
        derived = self.derived_plainly(f)
        if derived is None or id(callee) in self.handlers_at:
            return None
        return kind(self, f, derived)

    def derived_plainly(self, f: FunctionType) -> Derived | None:
        """Return the derived form of a function, None if it runs in another way."""
        if id(f) in self.handlers_at or registry.arrives(f):
            return None
        code = f.__code__
        described = f.__module__, f.__globals__.get("__name__")
        if DERIVED.found.get(id(code)) != described:
            if python_calls.runner(f) is not None:
                return None
            DERIVED.set(code, described)
        try:
            return derive(code, f.__globals__)
        except MooncakeError:
            return None  # it is raised where the function is called

    def form(self, f: FunctionType, derived: Derived) -> Any:
        """Return what runs a function, given the context as `_mk_ctx`."""
        if (
            derived.asked or derived.stored_globals or derived.stored_free
            or self.compiles or self.meter is not None
        ):  # fmt: skip
            return through(f)
        self.entering(f)
        return instantiate(derived, f)

    def has_rules_for(self, t: type) -> bool:
        """Return whether something of a class has a rule of its own."""
        return dispatch.has_rules(self.handlers, t)


def through(f: FunctionType) -> Any:
    """Return what runs a function as `call_function` does, at each call anew."""

    def run(*args: Any, _mk_ctx: Any, **kwargs: Any) -> Any:
        return _mk_ctx.call_function(f, args, kwargs)

    return run
