"""User functions inlined in a region, and the assumptions about them.

Globals, captured variables and defaults that a body reads are constants of the region.  So each run
first checks that they are unchanged.  The region refers to functions weakly, so that it does not
keep them alive.
"""

from __future__ import annotations

import operator
import weakref
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.native_modules import is_constant_library, is_native_module
from mooncake_py.jitted import is_its_python, is_jitted, python_function
from mooncake_py.modules import module_of, package_of
from mooncake_py.rooms import PACKAGE
from mooncake_py.rules import local, registry
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.syntax.names import MISSING, global_value

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["YIELDING", "Callee", "Callees", "has_rule", "is_own"]

LIBRARIES = frozenset({"numpy", "scipy"})
PRINTED = "<string>", "<call_node "
"""How the files of functions begin that libraries, and this one, have printed."""
GONE = object()
YIELDING = 0x20 | 0x80 | 0x200  # flags of generators and coroutines
UNFIT_FLAGS = 0x04 | 0x08 | YIELDING  # variadic besides


def is_own(f: Any, unfit: int = UNFIT_FLAGS) -> bool:
    """Return True if a value is a Python function of the user's, jitted or not, without a rule.

    Its code has none of some flags.
    """
    if is_jitted(f):
        return is_own(f.py_func, unfit) and not has_rule(f) and is_its_python(f)
    if type(f) is not FunctionType or f.__code__.co_flags & unfit:
        return False
    module = module_of(f)
    return not (
        is_native_module(module)
        or is_constant_library(module)
        or package_of(f) in LIBRARIES
        or f.__globals__.get("__name__", "").partition(".")[0] in LIBRARIES
        or f.__code__.co_filename.startswith((PACKAGE, *PRINTED))
        or has_rule(f)
    )


class Standing:
    """The function that stands for what was read; another thread may have another one stand.

    Attributes
    ----------
    named : weak reference
        To what the program calls: the function, or what Numba made of it.
    function : weak reference
    without_rule : int, optional
        The version of the rules when it had none.
    """

    __slots__ = ("function", "named", "without_rule")

    def __init__(self, named: weakref.ref[Any], f: FunctionType) -> None:
        self.named = named
        self.function = weakref.ref(f)
        self.without_rule: int | None = None


class Callee:
    """A function as it was when its body was read.

    Attributes
    ----------
    standing : Standing
        Replaced as a whole, so that threads see it before or after that.
    is_jitted : bool
    code : weak reference
    free : tuple of str
        The names of the captured variables.
    names : dict of str to object
        The globals and builtins that were read.
    cells : dict of int to object
        The captured variables that were read, by their position.
    attributes : list of (weak reference, str, object)
        What was read of modules.
    classes : list of (weak reference, str, object)
        What was read of classes, or that there is nothing.
    """

    def __init__(self, named: Any, f: FunctionType) -> None:
        self.standing = Standing(weakref.ref(named), f)
        self.is_jitted = named is not f
        self.code = weakref.ref(f.__code__)
        self.free = f.__code__.co_freevars
        self.defaults = held_of(f.__defaults__)
        self.keywords = {name: held(v) for name, v in (f.__kwdefaults__ or {}).items()}
        self.names: dict[str, Any] = {}
        self.cells: dict[int, Any] = {}
        self.attributes: list[tuple[weakref.ref[ModuleType], str, Any]] = []
        self.classes: list[tuple[weakref.ref[type], str, Any]] = []

    def named(self) -> Any:
        """Return the object that the program calls, None if nothing is left of it."""
        return self.standing.named()

    def function(self) -> FunctionType | None:
        """Return the function, None if nothing is left of it."""
        return self.standing.function()

    def may_overflow(self, ints: frozenset[str]) -> bool:
        """Return True if ints, such as these parameters, could wrap around in compiled code."""
        if not self.is_jitted:
            return False
        from mooncake_py.syntax.jitted import may_overflow  # which few programs need

        return may_overflow(self.named(), ints)

    def holds(self, f: FunctionType | None) -> bool:
        """Return True if a function, which none may be left of, is what it was, without a rule.

        It is passed, as another thread may have another one that stands for what was read.
        """
        if f is None or self.has_rule(f):
            return False
        if f.__code__ is not self.code():
            return False
        if (f.__defaults__ or self.defaults) and not are_met(f.__defaults__ or (), self.defaults):
            return False
        keywords = f.__kwdefaults__ or {}
        if keywords.keys() != self.keywords.keys():
            return False
        for name, value in self.keywords.items():
            if keywords[name] is not met(value):
                return False
        for module, name, value in self.attributes:
            owner = module()
            if owner is None or owner.__dict__.get(name, MISSING) is not met(value):
                return False
        for cls, name, value in self.classes:
            t = cls()
            if t is None or in_class(t, name) is not met(value):
                return False
        scope = f.__globals__
        for name, value in self.names.items():
            if global_value(scope, name) is not met(value):
                return False
        try:
            for k, value in self.cells.items():
                if (f.__closure__ or ())[k].cell_contents is not met(value):
                    return False
        except ValueError:  # an empty cell
            return False
        return True

    def has_rule(self, f: FunctionType) -> bool:
        """Return True if the function has a rule now, or what Numba made of it."""
        everywhere, version, standing = local.current() is None, registry.version(), self.standing
        is_its = standing.function() is f
        if everywhere and is_its and version == standing.without_rule:
            return False
        if has_rule(f) or (self.is_jitted and has_rule(standing.named())):
            return True
        if everywhere and is_its:
            standing.without_rule = version
        return False

    def stand_for(self, f: FunctionType) -> None:
        """Take another function of the same code for the one that was read."""
        named = self.standing.named if self.is_jitted else weakref.ref(f)
        self.standing = Standing(named, f)


class Callees:
    """All functions whose bodies stand in a region.

    Attributes
    ----------
    every : list of Callee
    """

    def __init__(self) -> None:
        self.every: list[Callee] = []
        self.by_id: dict[int, Callee] = {}

    def met(self, named: Any) -> Callee:
        """Return the record of a function, or of the one that Numba compiled."""
        known = self.by_id.get(id(named))
        if known is not None and known.named() is named:
            return known
        f = python_function(named)
        assert f is not None
        callee = self.by_id[id(named)] = Callee(named, f)
        self.every.append(callee)
        return callee

    def hold(self, main: FunctionType | None = None) -> bool:
        """Return True if the functions are those that were read, and have no rule.

        The first one may be passed, which another thread may have another one stand for.
        """
        first = None if main is None else self.every[0]
        return all(c.holds(main if c is first else c.function()) for c in self.every)

    def enter(self, ctx: Tracking) -> None:
        """Note that the functions run, as a call of each would do."""
        for callee in self.every:
            f = callee.function()
            if f is not None:
                ctx.entering(f)


def has_rule(f: Any) -> bool:
    """Return True if derivatives of a function are declared."""
    return registry.find(f) is not None or registry.find_forward(f) is not None


def held_of(values: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Return the objects to remember of some values."""
    return tuple(map(held, values or ()))


def are_met(values: tuple[Any, ...], known: tuple[Any, ...]) -> bool:
    """Return True if values are those that are remembered."""
    return len(values) == len(known) and all(map(operator.is_, values, map(met, known)))


def held(value: Any) -> Any:
    """Return the object to remember of a value: weakly if possible, as it may hold the callee."""
    try:
        return weakref.ref(value)
    except TypeError:
        return value


def met(value: Any) -> Any:
    """Return the value that is remembered, `GONE` if it is freed."""
    if type(value) is not weakref.ref:
        return value
    found = value()
    return GONE if found is None else found
