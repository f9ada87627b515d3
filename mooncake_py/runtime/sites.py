"""Sites of calls in rewritten code, which remember how what they call runs.

    C.call(f, x, y)      _mk_site0.way.call2(_mk_site0, C, f, x, y)

A site is a constant of rewritten code.  Its way says how one callee runs in one context, and when:
a way is never changed, so that threads may take turns at a site.  Where it does not fit, the site
chooses another.  Ways hold functions and what these capture: when a derivative ends, the sites
forget them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, ClassVar

from numpy import ndarray

from mooncake_py.diagnostics.notes import located, without_context
from mooncake_py.diagnostics.places import GENERATED
from mooncake_py.errors import MooncakeError
from mooncake_py.runtime.methods import LookedUp

__all__ = [
    "CALLING", "DECLINED", "GENERAL", "MOST", "NO_SITE", "CallSite", "LookedUpSite", "MethodSite",
    "OfRule", "Passing", "PassingMethod", "Site", "Sites", "Way", "decline",
]  # fmt: skip

MOST = 5
"""So many positional arguments are passed on without packing them."""

CALLING = """
            try:
                return {run}({given}_mk_ctx=C{named})
            except MooncakeError as error:
                located(C, error)
                raise
            except TypeError as error:
                without_context(error)
                raise
"""
"""How the derived form of a function is called; see `Core.call_function`."""


class Way:
    """How one callee runs in one context.

    ``way.call2(site, C, f, x, y)`` runs ``f(x, y)``, ``way.star(site, C, f, *args, **kwargs)``
    anything.  These methods are generated when they are first called, of a condition under which
    the way applies, and a body that returns; else the site chooses.

    Attributes
    ----------
    gate : object
        The token of the context that it belongs to.
    binds : bool
        Whether a method is read without running code, and bound.
    condition, body : str
        In these, ``way``, ``site``, ``C`` and ``f`` are what they are above, ``{args}`` passes the
        arguments on after others, ``{alone}`` without others, ``{passed}`` the positional ones,
        ``{given}`` these before others, ``{named}`` the keyword arguments after others,
        ``{keywords}`` these without others, and ``{serving}`` and ``{with_self}`` are the handlers
        of so many arguments by a rule, or of one more.
    """

    __slots__ = ()

    gate: Any = NotImplemented  # of no context
    binds = False
    condition: ClassVar[str] = ""
    body: ClassVar[str] = ""
    scope: ClassVar[dict[str, Any]] = {
        "__name__": __name__,
        "MooncakeError": MooncakeError,
        "located": located,
        "without_context": without_context,
    }

    def __init_subclass__(cls) -> None:
        for name in ("star", *(f"call{n}" for n in range(MOST + 1))):
            setattr(cls, name, partial_method(cls, name))


def partial_method(cls: type[Way], name: str) -> Callable[..., Any]:
    """Return a method that generates the one which takes its place, and calls that."""

    def generate(way: Way, /, *args: Any, **kwargs: Any) -> Any:
        setattr(cls, name, generated(cls, name))
        return getattr(way, name)(*args, **kwargs)

    return generate


def generated(cls: type[Way], name: str) -> Callable[..., Any]:
    """Return a method of a class of ways."""
    if name == "star":
        passed, given, named, general = ", *args", "*args, ", ", **kwargs", "call"
        serving = f"(way.named if kwargs or len(args) > {MOST} else way.on[len(args)])"
        with_self = f"(way.named if kwargs or len(args) > {MOST} else way.on[len(args) + 1])"
    else:
        names = [f"a{k}" for k in range(int(name[4:]))]
        passed, given = "".join(f", {a}" for a in names), "".join(f"{a}, " for a in names)
        named, general = "", "call_one" if len(names) == 1 else "call"
        serving, with_self = f"way.on[{len(names)}]", f"way.on[{len(names) + 1}]"
    args = passed + named
    text = f"def {{name}}(way, site, C, f, /{{args}}):{cls.body}"
    if cls.condition:
        text = f"""
def {{name}}(way, site, C, f, /{{args}}):
    if {cls.condition}:{cls.body}
    return site.choose(C, f).{{name}}(site, C, f{{args}})
"""
    text = text.format(
        name=name, args=args, alone=args[2:], passed=passed, given=given, named=named,
        keywords=named[2:], general=general, serving=serving, with_self=with_self,
    )  # fmt: skip
    scope = dict(cls.scope)
    exec(compile(text, f"{GENERATED}site of a call>", "exec"), scope)
    return scope[name]


class Choosing(Way):
    """The way of a site that has none."""

    __slots__ = ()

    body = " return site.choose(C, f).{name}(site, C, f{args})"


class General(Way):
    """The same as any context does."""

    __slots__ = ()

    body = " return C.{general}(f{args})"


class GeneralMethod(Way):
    """The same as any context does with a method."""

    __slots__ = ()

    body = " return C.method(f, site.name{args})"


class PassingMethod(Way):
    """For receivers whose method has no way, until there are others."""

    __slots__ = ("gate", "t")

    condition = "type(f) is way.t and C.gate is way.gate"
    body = " return C.method(f, site.name{args})"

    def __init__(self, gate: Any, t: type) -> None:
        self.gate, self.t = gate, t


class Passing(Way):
    """For a callee that has no way, until there is another.

    It does not keep the callee alive: for one in the same place it would do no harm.
    """

    __slots__ = ("gate", "place")

    condition = "id(f) == way.place and C.gate is way.gate"
    body = " return C.{general}(f{args})"

    def __init__(self, gate: Any, f: Any) -> None:
        self.gate, self.place = gate, id(f)


class Unregistered(Way):
    """The treatment of a callee that has no rule, and no way that fits."""

    __slots__ = ()

    body = " return C.call_unregistered(f{args})"


DECLINED: Any = type("Declined", (), {"__slots__": ()})()
"""Returned in place of a result for arguments that are left to the general way."""


def decline(C: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Leave all to the general way."""
    return DECLINED


class OfRule(Way):
    """The common calls of a function that has a rule: of numbers and arrays themselves.

    The handler looks at the types of the arguments first, and declines others before it
    has computed or recorded anything.  It holds nothing of a derivative, so a site keeps it.

    Attributes
    ----------
    f : callable
    rules : object
        The token of the tables of rules that it is of.
    on : list of callable
        The handler of so many positional arguments, ``(C, x, y)``.
    named : callable
        The handler of keyword arguments too, or of more arguments.
    """

    __slots__ = ("f", "named", "on", "rules")

    scope = {**Way.scope, "DECLINED": DECLINED}
    condition = "f is way.f and C.rules is way.rules"
    body = """
        y = {serving}(C{args})
        return C.call_in_general(f{args}) if y is DECLINED else y
"""

    def __init__(self, f: Any, rules: Any) -> None:
        self.f, self.rules = f, rules
        self.on: list[Callable[..., Any]] = [decline] * (MOST + 2)
        self.named: Callable[..., Any] = decline

    def serve(self, C: Any, args: Any, kwargs: Any) -> Any:
        """Run a call that has not been looked at, or decline."""
        if kwargs or len(args) > MOST:
            return self.named(C, *args, **kwargs)
        return self.on[len(args)](C, *args)


class OfArrayMethod(Way):
    """The same of a method of arrays that has a rule."""

    __slots__ = ("named", "on", "rules")

    scope = {**OfRule.scope, "ndarray": ndarray}
    condition = "type(f) is ndarray and C.rules is way.rules"
    body = """
        y = {with_self}(C, f{args})
        return C.method(f, site.name{args}) if y is DECLINED else y
"""

    def __init__(self, way: OfRule) -> None:
        self.on, self.named, self.rules = way.on, way.named, way.rules


choosing, GENERAL_METHOD = Choosing(), GeneralMethod()
GENERAL: Any = General()
UNREGISTERED = Unregistered()


class Site:
    """A place in rewritten code.

    Attributes
    ----------
    way : Way
    visitor : object
        The token of the context that reached it last without a way: it gets one the next time.
    """

    __slots__ = ("visitor", "way")

    def __init__(self) -> None:
        self.way: Any = choosing
        self.visitor: Any = None

    def __repr__(self) -> str:
        return type(self).__name__

    def may_choose(self, C: Any) -> bool:
        """Return whether there is to be a way: most places outside of loops are reached once."""
        if self.visitor is not C.token:
            self.visitor = C.token
            return False
        return C.gate is not None or C.open_gate() is not None

    def take(self, C: Any, way: Any) -> Any:
        """Go by a way from now on, until the derivative ends; return it."""
        if self.way.gate is not C.gate:
            C.sites.add(self)
        self.way = way
        return way

    def forget(self) -> None:
        """Hold nothing of a derivative that ends."""
        self.way = choosing


class CallSite(Site):
    """A call of anything but a method."""

    __slots__ = ()

    def choose(self, C: Any, f: Any) -> Any:
        """Return the way for a callee, by which the site goes from now on."""
        way = C.ways.get(id(f))
        if way is None and type(f) is FunctionType:  # newly made from code that has a way
            way = C.ways.get(id(f.__code__))
        if way is None or way is self.way:
            of_rule = C.rule_ways.get(id(f))
            if of_rule is not None and of_rule.rules is C.rules:
                self.way = of_rule
                return of_rule
            if not self.may_choose(C):
                return GENERAL
            way = C.way_of(f, self.way)
        return self.take(C, way)


class MethodSite(Site):
    """A call of a method by its name.

    Attributes
    ----------
    name : str
    inner : CallSite
        Where it calls what was read as any other attribute.
    """

    __slots__ = ("inner", "name")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.inner = CallSite()

    def choose(self, C: Any, o: Any) -> Any:
        """Return the way for a receiver, by which the site goes from now on."""
        way = C.ways.get((id(type(o)), self.name))
        if way is None or way is self.way:
            of_rule = C.rule_ways.get(id(getattr(ndarray, self.name, None)))
            if of_rule is not None and type(o) is ndarray and of_rule.rules is C.rules:
                self.way = OfArrayMethod(of_rule)
                return self.way
            if not self.may_choose(C):
                return GENERAL_METHOD
            way = C.way_of_method(o, self.name)
        return self.take(C, way)


class LookedUpSite(MethodSite):
    """A call of a method that is looked up before its arguments are evaluated."""

    __slots__ = ()

    def look(self, C: Any, o: Any) -> Any:
        """Return the bound method, or what `Context.method` takes in place of the receiver."""
        way = C.ways.get((id(type(o)), self.name))
        if way is None or not way.binds or way.gate is not C.gate:
            return C.looked_up(o, self.name)
        found = getattr(o, self.name)
        return found if type(found) is MethodType else LookedUp(found)

    def choose(self, C: Any, o: Any) -> Any:
        """Return the way for what was looked up."""
        if type(o) is MethodType and C.token is not None:
            return self.take(C, C.way_of(o, self.way)) if self.may_choose(C) else GENERAL
        if type(o) is not LookedUp:
            return super().choose(C, o)
        if self.may_choose(C) and type(o.method) is MethodType:
            C.way_of_method(o.method.__self__, self.name)  # for later
        return GENERAL_METHOD


class NoSite:
    """Where a context itself uses a way: what does not fit runs in general."""

    def choose(self, C: Any, f: Any) -> Any:
        """Do the same as any context, and have all ways made again."""
        C.ways = {}
        return GENERAL if id(f) in C.handlers_at else UNREGISTERED


NO_SITE = NoSite()


class Sites(set[Any]):
    """The sites that hold ways of a context, which forget these with it at the latest."""

    def close(self) -> None:
        """Let the sites forget what they hold."""
        while self:
            self.pop().forget()

    __del__ = close
