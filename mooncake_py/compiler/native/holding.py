"""Whether all functions that were read are what they were, as a printed function.

    def holds(f):
        f1 = function1()
        if version() != seen[0] or current() is not None or (f is not main() and has_rule(f)):
            return False
        if f.__code__ is not code0() or f1.__code__ is not code1():
            return False
        v0, v1 = get0(f.__globals__)
        if v0 is None or v0 is not value0() or v1 is not 3:
            return False
        ...

It says yes only where `Callees.hold` would, which is asked where it says no.
"""

from __future__ import annotations

import builtins
import weakref
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any

from mooncake_py.compiler.native.building.types import HEAP
from mooncake_py.compiler.printing.text import Lines, define
from mooncake_py.compiler.sites.callees import Callee, Callees, has_rule
from mooncake_py.rules import local, registry
from mooncake_py.syntax.names import MISSING

__all__ = ["Holding"]

UNLIKE = AttributeError, IndexError, KeyError, TypeError, ValueError
"""The exceptions raised where a name or a cell is not bound any more."""


class Holding:
    """Asks whether functions are what they were.

    Parameters
    ----------
    callees : Callees
        The first one is the function that is compiled.
    is_carried : bool, optional
        Whether that is made for each call, and carries nothing but global names: for a loop.
    """

    def __init__(self, callees: Callees, is_carried: bool = False) -> None:
        self.callees = callees
        self.is_carried = is_carried
        self.seen = [-1]  # the version of the rules when they had none
        self.quick: Callable[[FunctionType], bool] | None = None

    def __call__(self, f: FunctionType) -> bool:
        """Return True if they are, where `f` is the function itself or another one of its code."""
        main = self.callees.every[0]
        if self.quick is not None and self.quick(f):
            if not self.is_carried and main.function() is not f:
                main.stand_for(f)
            return True
        if main.function() is not f:
            main.stand_for(f)
            self.quick = None
        version = registry.version()
        if not self.callees.hold(f):
            return False
        if local.current() is None:
            self.seen[0] = version
            if self.quick is None:
                self.quick = Text(self.callees, f, self.seen, self.is_carried).function()
        return True


class Text(Lines):
    """The lines of a function."""

    otherwise = "False"

    def __init__(
        self, callees: Callees, f: FunctionType, seen: list[int], is_carried: bool
    ) -> None:
        super().__init__({
            "MISSING": MISSING, "NOW": vars(builtins), "UNLIKE": UNLIKE, "current": local.current,
            "has_rule": has_rule, "main": weakref.ref(f), "seen": seen,
            "version": registry.version,
        })  # fmt: skip
        self.count = 0
        other = "" if is_carried else " or (f is not main() and has_rule(f))"
        self.refuse(f"version() != seen[0] or current() is not None{other}")
        scopes: dict[int, tuple[str, dict[str, Any], dict[str, Any]]] = {}
        classes: dict[int, tuple[type, dict[str, Any]]] = {}
        for k, callee in enumerate(callees.every):
            own = "f" if k == 0 else f"f{k}"
            function = f if k == 0 else callee.function()
            if function is None:
                self.refuse("True")
                return
            if k:
                self.lines.append(f"{own} = {self.constant(weakref.ref(function))}()")
                self.refuse(f"{own} is None")
            self.of_function(own, callee)
            scope = function.__globals__
            scopes.setdefault(id(scope), (own, scope, {}))[2].update(callee.names)
            for ref, name, value in callee.classes:
                cls = ref()
                if cls is None:
                    self.refuse("True")
                    return
                classes.setdefault(id(cls), (cls, {}))[1][name] = value
        for own, scope, names in scopes.values():
            self.of_globals(own, scope, names)
        for cls, names in classes.values():
            self.of_class(cls, names)

    def function(self) -> Callable[[FunctionType], bool]:
        """Return the function."""
        lines = "\n        ".join(self.lines)
        text = (
            f"def holds(f):\n    try:\n        {lines}\n    except UNLIKE:\n        return False\n"
        )
        return define(f"{text}    return True\n", self.constants).pop("holds")

    def require(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Require that expressions are what is remembered of them."""
        tests: list[str] = []
        for text, value in pairs:
            if type(value) is weakref.ref:
                tests.append(f"{text} is None or {text} is not {self.constant(value)}()")
            else:
                tests.append(f"{text} is not {self.constant(value)}")
        if tests:
            self.refuse(" or ".join(tests))

    def bound(self, count: int, given: str) -> list[str]:
        """Bind new names to what something gives."""
        names = [f"v{self.count + k}" for k in range(count)]
        self.count += count
        self.lines.append(f"{', '.join(names)} = {given}")
        return names

    def under(self, held: str, values: dict[str, Any]) -> None:
        """Require what stands under some names of a dict."""
        if values:
            get = self.constant(itemgetter(*values))
            names = self.bound(len(values), f"{get}({held})")
            self.require(zip(names, values.values(), strict=True))

    def of_function(self, own: str, callee: Callee) -> None:
        """Require that a function has the code, the defaults and the cells that it had."""
        self.refuse(f"{own}.__code__ is not {self.constant(callee.code)}()")
        if callee.defaults:
            self.items(f"{own}.__defaults__", callee.defaults)
        else:
            self.refuse(f"{own}.__defaults__")
        if callee.keywords:
            self.refuse(f"len({own}.__kwdefaults__) != {len(callee.keywords)}")
            self.under(f"{own}.__kwdefaults__", callee.keywords)
        else:
            self.refuse(f"{own}.__kwdefaults__")
        for module, name, value in callee.attributes:
            held = self.bound(1, f"{self.constant(module)}().__dict__")[0]
            self.require([(f"{held}.get({name!r}, MISSING)", value)])
        cells = [(f"{own}.__closure__[{k}].cell_contents", v) for k, v in callee.cells.items()]
        self.require(cells)

    def items(self, given: str, values: Sequence[Any]) -> None:
        """Require the items of a tuple."""
        self.refuse(f"{given} is None or len({given}) != {len(values)}")
        self.require([(f"{given}[{k}]", v) for k, v in enumerate(values)])

    def of_globals(self, own: str, scope: dict[str, Any], values: dict[str, Any]) -> None:
        """Require what names stand for in a module."""
        there = {name: v for name, v in values.items() if name in scope}
        builtin = {name: v for name, v in values.items() if name not in scope}
        if there:
            self.under(f"{own}.__globals__", there)
        if builtin:
            self.refuse(f"not {own}.__globals__.keys().isdisjoint({self.constant(tuple(builtin))})")
            self.under("NOW", builtin)

    def of_class(self, cls: type, values: dict[str, Any]) -> None:
        """Require what a class and its bases have under some names."""
        own = f"c{len(self.constants)}"
        self.lines.append(f"{own} = {self.constant(weakref.ref(cls))}()")
        self.refuse(f"{own} is None or id({own}.__mro__) != {id(cls.__mro__)}")
        left = dict(values)
        for k, base in enumerate(cls.__mro__):
            if not base.__flags__ & HEAP:  # of which nobody can change anything
                left = {name: v for name, v in left.items() if name not in base.__dict__}
                continue
            there = {name: v for name, v in left.items() if name in base.__dict__}
            for name in there:
                del left[name]
            held = f"{own}.__mro__[{k}].__dict__"
            if left:
                self.refuse(f"not {held}.keys().isdisjoint({self.constant(tuple(left))})")
            self.under(held, there)
