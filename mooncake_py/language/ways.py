"""How a context finds the ways by which sites run: the questions are asked once for each callee.

A context has a gate while its tables of rules are current; its ways hold as long as the gate is
the same.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.arity import MISFITS, require_arguments
from mooncake_py.application.rule_ways import RuleWays
from mooncake_py.containers.reach import LRU_WRAPPER
from mooncake_py.errors import MooncakeError
from mooncake_py.frontend.load import Derived, derive, instantiate
from mooncake_py.language import array_subclasses, caches, dispatch, python_calls
from mooncake_py.language.class_ways import way_of_class
from mooncake_py.language.compiled_ways import either, is_left, through
from mooncake_py.language.container_ways import TYPES, OfBoundMethod, way_of_container
from mooncake_py.language.function_ways import (
    OfBound,
    OfCode,
    OfCodeInParts,
    OfFunction,
    OfObject,
    OfPartial,
)
from mooncake_py.language.method_ways import OfBoundReplace, is_replace, way_of_method
from mooncake_py.modules import DISPATCHER
from mooncake_py.remembered import Table
from mooncake_py.rules import epoch, registry
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.methods import DESCRIPTORS, derivable
from mooncake_py.runtime.sites import Passing, Sites, Way
from mooncake_py.tangents.subclasses import Met

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
else:
    Mode = object  # what the classes built on this one add up to

__all__ = ["Ways"]

NOTHING: Any = MappingProxyType({})
NONE = None, None
MANY = 1024
FEW = 4
NESTED = 0x10
"""The flag of code that is defined within a function: functions are made of it again and again."""
DERIVED: Table[tuple[str | None, str | None]] = Table()
"""Of code that is derived wherever it is called, the modules of the function and its globals."""
WITHOUT = frozenset({Active, BuiltinFunctionType, np.ufunc, DISPATCHER, *DESCRIPTORS})
"""Classes of callees that never have a way."""


class OfHandler(Way):
    """Something that a handler runs, which the tables of rules keep alive."""

    __slots__ = ("gate", "handler", "place")

    scope = {
        **Way.scope, "MISFITS": MISFITS, "Met": Met, "answer": array_subclasses.answer,
        "require_arguments": require_arguments,
    }  # fmt: skip
    condition = "id(f) == way.place and C.gate is way.gate"
    body = """
        if C.watches:
            return C.call_in_general(f{args})
        try:
            return way.handler(C, f, ({given}), {{{keywords}}})
        except Met:
            pass
        except MISFITS:
            require_arguments(f, ({given}), {{{keywords}}})
            raise
        return answer(C, f, ({given}), {{{keywords}}})
"""

    def __init__(self, gate: Any, f: Any, handler: Any) -> None:
        self.gate, self.place, self.handler = gate, id(f), handler


class OfCached(Way):
    """A function that ``lru_cache`` made."""

    __slots__ = ("f", "gate")

    scope = {**Way.scope, "call_cached": caches.call_cached}
    condition = "f is way.f and C.gate is way.gate"
    body = " return call_cached(C, f, ({given}), {{{keywords}}})"

    def __init__(self, gate: Any, f: Any) -> None:
        self.gate, self.f = gate, f


class Ways(Mode):
    """The ways of a context's callees.

    Attributes
    ----------
    gate : object or None
        The token of the ways that hold; None until the tables have been looked at.
    ways : dict
        The ways by the ids of functions and classes, and by those of what others are found by.
    sites : Sites or None
        The sites that hold some of these.
    newborn, newborn_since : object, int
        The object that is being made, and how often until then something was noted that runs again.
    """

    has_gate = False
    gate: Any = None
    epoch: int  # in which the tables were made, and of how many modules
    modules: int
    token: object  # what no other context has
    rule_ways: RuleWays  # those of functions with rules, which do not depend on the context
    rules: object  # the token of those that sites may keep, None where there are to be none
    ways: dict[Any, Any] = NOTHING
    sites: Sites | None = None
    slow_calls = 0
    newborn: Any = None
    reader: Callable[[Any, str], Any]  # what is asked how an attribute is read
    newborn_since = 0

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

    def is_worth_a_gate(self) -> bool:
        """Count a call that is not made at a site; return whether there are ways after some."""
        self.slow_calls += 1
        return self.slow_calls > FEW and self.open_gate() is not None

    def close_gate(self) -> None:
        """Let go of all ways: what they hold is not kept longer than a run of a function."""
        if self.sites is not None:
            self.gate, self.ways = None, NOTHING
            self.sites.close()

    def way_of(self, f: Any, stale: Way | None = None) -> Way:
        """Return the way of a callee, other than one that did not fit."""
        handler = self.handlers_at.get(id(f))
        if handler is not None and id(f) not in self.rule_ways:
            return self.remember(id(f), OfHandler(self.gate, f, handler))
        t = type(f)
        if t is FunctionType:
            key: Any = id(f.__code__ if f.__code__.co_flags & NESTED else f)
        elif t is MethodType:
            key = MethodType, id(f.__func__)
        elif t is BuiltinFunctionType and type(f.__self__) in TYPES:
            key = t, id(type(f.__self__)), f.__name__
        elif t in WITHOUT:
            return Passing(self.gate, f)
        else:
            key = id(f) if t is LRU_WRAPPER or issubclass(t, type) else (OfObject, id(t))
        way = self.ways.get(key)
        if way is None or way is stale:
            way = self.remember(key, self.new_way(f) or Passing(self.gate, f))
        return way

    def remember(self, key: Any, way: Any) -> Any:
        """Keep and return a way, or what else was found out: some, for programs that make more."""
        if self.gate is None:  # what was found out imported new rules: it is asked again
            return way
        if len(self.ways) > MANY:
            self.ways = {}
        self.ways[key] = way
        return way

    def way_of_method(self, o: Any, name: str) -> Way:
        """Return the way of a method of objects of one class."""
        t = type(o)
        key: Any = (
            (id(o.__self_class__), id(o.__thisclass__), name) if t is super else (id(t), name)
        )
        way = self.ways.get(key)
        if way is None:
            way = self.remember(key, way_of_method(self, o, name))
        return way

    def special(self, o: Any, name: str) -> tuple[Any, Any]:
        """Return the special method of the user's that the class of an object has, and its way.

        None if no function of the user's is under the name, or nothing is kept now.
        """
        if self.gate is None:
            return NONE
        t = type(o)
        found = self.ways.get((name, id(t)))
        if found is None:
            method = derivable(o, name)
            of_user = type(method) is FunctionType
            pair = (method, self.way_of(method)) if of_user else NONE
            found = self.remember((name, id(t)), (pair, t))  # a class, of which the id is the key
        method, _ = found[0]
        return found[0] if method is not None and in_class(t, name) is method else NONE

    def new_way(self, f: Any) -> Way | None:
        """Return a way for a callee, None if all questions are to be asked at each call."""
        t = type(f)
        if t is FunctionType:
            derived = self.derived_plainly(f)
            if derived is None:
                return None
            if not f.__code__.co_flags & NESTED:
                return OfFunction(self, f, derived)
            if self.is_special(derived) and not self.was_left(f, derived):
                return OfCodeInParts(self, f)
            return OfCode(self, f, derived)
        if t is MethodType:
            if self.has_rules_for(t) or not is_of_class(f.__func__, f.__self__):
                return None
            if is_replace(self, f.__func__, type(f.__self__)):
                return OfBoundReplace(self, type(f.__self__))
            return self.way_of_function(OfBound, f, f.__func__)
        if t is BuiltinFunctionType:
            return way_of_container(self, type(f.__self__), f.__name__, OfBoundMethod)
        if t is LRU_WRAPPER:
            return None if registry.arrives(f) else OfCached(self.gate, f)
        if t is functools.partial:
            return None if self.has_rules_for(t) else OfPartial(self)
        if issubclass(t, type):
            return way_of_class(self, f)
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

    @property
    def watches_loops(self) -> bool:
        """Whether functions are rewritten in another way for their loops."""
        return self.meter is not None or self.budget is not None

    def form(self, f: FunctionType, derived: Derived, way: Way) -> Any:
        """Return a function that runs `f` by a way, given the context as `_mk_ctx`."""
        if self.watches_loops:
            return through(f)
        if self.compiles:
            if self.rehearsal is None:
                return either(self, way, f, derived)
            if not is_left(self, f):
                return through(f)
        self.entering(f)
        return instantiate(derived, f)

    def was_left(self, f: FunctionType, derived: Derived) -> bool:
        """Return whether a function that is created repeatedly was left by now: see `either`."""
        if self.watches_loops or not is_left(self, f):
            return False
        return self.rehearsal is not None or type(self.ways.get(id(f.__code__))) is OfCodeInParts

    def is_special(self, derived: Derived) -> bool:
        """Return whether the context does more for a function than to run its derived form."""
        return bool(self.compiles or self.watches_loops)

    def has_rules_for(self, t: type) -> bool:
        """Return whether something of a class has a rule of its own."""
        return dispatch.has_rules(self.handlers, t)


def is_of_class(f: Any, o: Any) -> bool:
    """Return whether a function that is bound to an object is kept by its class anyway."""
    if type(f) is not FunctionType or type(o) is Active:
        return False
    classes = (*o.__mro__, *type(o).__mro__) if issubclass(type(o), type) else type(o).__mro__
    found = [vars(cls).get(f.__name__) for cls in classes]
    return any(f is part or f is getattr(part, "__func__", None) for part in found)
