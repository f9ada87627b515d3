"""The ways by which functions of the user's are called.

What a way relies on it compares at each call: the callee, its code and defaults, the globals that
were assumed.
"""

from __future__ import annotations

import builtins
import functools
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.state import log_names
from mooncake_py.frontend.load import Derived
from mooncake_py.language.compiled_ways import WATCHED, is_left
from mooncake_py.rules import elsewhere
from mooncake_py.runtime.sites import CALLING, NO_SITE, Way

if TYPE_CHECKING:
    from mooncake_py.language.ways import Ways

__all__ = ["Holding", "OfBound", "OfCode", "OfCodeInParts", "OfFunction", "OfObject",
           "OfPartial", "holds", "running"]  # fmt: skip


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
            if {f}.__globals__.get(name, BUILTINS.get(name)) is not value:
                break
        else:
            if way.logs is not None:
                log_names(C, way.logs, {f}){calling}"""


BUILTINS = vars(builtins)


class Holding(Way):
    """The way of a function of the user's, called under some condition."""

    __slots__ = ("assumed", "code", "defaults", "f", "gate", "kwdefaults", "logs", "run")

    scope = {**Way.scope, "BUILTINS": BUILTINS, "MethodType": MethodType, "log_names": log_names}

    def __init__(self, ctx: Ways, f: FunctionType, derived: Derived | None) -> None:
        self.gate = ctx.gate
        self.f: Any = f
        self.code, self.defaults, self.kwdefaults = f.__code__, f.__defaults__, f.__kwdefaults__
        self.assumed = () if derived is None else assumed_by(derived)
        self.logs = None if derived is None else binding(derived)
        self.run: Any = None if derived is None else ctx.form(f, derived, self)


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

    None of them is kept alive, so that what they capture goes when it does in the plain call.
    """

    __slots__ = (
        "assumed",
        "cells",
        "code",
        "enters",
        "gate",
        "logs",
        "module",
        "new",
        "pick",
        "scope_of",
    )  # fmt: skip

    scope = {
        **Way.scope, "FunctionType": FunctionType, "MARK": elsewhere.MARK, "BUILTINS": BUILTINS,
        "log_names": log_names,
    }  # fmt: skip
    condition = """(
        type(f) is FunctionType and f.__code__ is way.code and C.gate is way.gate
        and f.__globals__ is way.scope_of and f.__module__ is way.module
        and id(f) not in C.handlers_at and MARK not in f.__dict__
    )"""
    body = f"""
        for name, value in way.assumed:
            if f.__globals__.get(name, BUILTINS.get(name)) is not value:
                break
        else:
            if way.enters:
                C.entering(f)
            if way.logs is not None:
                log_names(C, way.logs, f)
            pick = way.pick
            run = FunctionType(
                way.new, f.__globals__, f.__name__, f.__defaults__,
                None if pick is None else pick((f.__closure__ or ()) + way.cells),
            )
            if f.__kwdefaults__ is not None:
                run.__kwdefaults__ = f.__kwdefaults__
            if f.__qualname__ is not run.__qualname__:
                run.__qualname__ = f.__qualname__{CALLING.replace("{run}", "run")}
"""

    def __init__(self, ctx: Ways, f: FunctionType, derived: Derived) -> None:
        self.gate = ctx.gate
        self.code, self.assumed, self.logs = f.__code__, assumed_by(derived), binding(derived)
        self.module, self.scope_of = f.__module__, f.__globals__
        self.new, self.pick, self.cells = derived.code, derived.closure, derived.cells
        self.enters = ctx.notes_functions()


class OfCodeInParts(Way):
    """Such functions that the context does more for than to run their derived forms."""

    __slots__ = ("code", "gate", "left", "module")

    scope = {
        **Way.scope, "FunctionType": FunctionType, "MARK": elsewhere.MARK, "WATCHED": WATCHED,
        "is_left": is_left,
    }  # fmt: skip
    condition = """(
        type(f) is FunctionType and f.__code__ is way.code and C.gate is way.gate
        and f.__module__ is way.module and id(f) not in C.handlers_at and MARK not in f.__dict__
    )"""
    body = """
        if C.compiles and is_left(C, f):
            way.left += 1
            if way.left >= WATCHED:
                way.gate = None
                C.way_of(f, way)
        return C.call_function(f, ({given}), dict({keywords}))
"""

    def __init__(self, ctx: Ways, f: FunctionType) -> None:
        self.gate, self.code, self.module = ctx.gate, f.__code__, f.__module__
        self.left = 0


class OfPartial(Way):
    """Objects of `functools.partial`."""

    __slots__ = ("gate",)

    scope = {**Way.scope, "partial": functools.partial, "NO_SITE": NO_SITE}
    condition = "type(f) is partial and C.gate is way.gate"
    body = """
        g = f.func
        inner = C.ways.get(id(g)) or C.way_of(g)
        return inner.star(NO_SITE, C, g, *f.args{passed}, **{{**f.keywords{named}}})
"""

    def __init__(self, ctx: Ways) -> None:
        self.gate = ctx.gate


def binding(derived: Derived) -> Derived | None:
    """Return the derived form of a function that binds globals or captured variables, or None."""
    return derived if derived.stored_globals or derived.stored_free else None


def assumed_by(derived: Derived) -> tuple[tuple[str, Any], ...]:
    """Return the globals that a derived form assumes, for as long as a way lives."""
    if not derived.assumed_weakly:
        return derived.assumed
    weakly = [(name, reference()) for name, reference in derived.assumed_weakly]
    return (*derived.assumed, *weakly)
