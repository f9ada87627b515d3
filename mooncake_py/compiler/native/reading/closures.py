"""Functions and objects as arguments of nodes: text that makes new ones of what they hold.

    solve_ivp(web, span, y0)        o0 = new(FoodWeb)
                                    o0.growth = a0
                                    g0 = make0(a1)          def make0(attack): return lambda n: ...
                                    o0.responses = [g0]
                                    r = f(o0, k0, a2)

What functions capture and objects hold are operands: numbers, arrays, and structures of these.
"""

from __future__ import annotations

import ast
import copy
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Dictionary,
    Function,
    Known,
    Object,
    Partial,
    Unfit,
    Unread,
    Value,
)
from mooncake_py.compiler.native.nodes.text import made_by
from mooncake_py.compiler.native.reading.call_nodes import Operands
from mooncake_py.compiler.native.reading.effects import Effects
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.overriding import override

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.reader import FunctionReader

__all__ = ["Closures"]


class Closures(Operands):
    """What is passed to a solver.

    Attributes
    ----------
    lines : list of str
        What makes objects and functions.
    effects : Effects
        Of the functions among them.
    """

    def __init__(self, r: FunctionReader) -> None:
        super().__init__(r.b)
        self.r = r
        self.lines: list[str] = []
        self.effects = Effects(r.b.place)
        self.made: dict[Any, str] = {}
        self.objects: list[Object] = []
        self.in_work: set[Any] = set()

    @override
    def text_of(self, value: Value) -> str:
        match value:
            case Known(value=f) if type(f) is FunctionType:
                self.effects.of_function(f)
                return self.known(f)
            case Known(value=f) if issubclass(type(f), type):
                self.effects.of_global(f)
                return self.known(f)
            case Known(value=f) if callable(f):
                return self.known(f)
            case Function():
                return self.once(id(value), lambda: self.function(value))
            case Object(name=name):
                return self.once(name, lambda: self.object(value))
            case Partial(function=f, args=args, given=given):
                parts = [self.text_of(v) for v in (f, *args)]
                pairs = zip(given.keys, given.items, strict=True)
                named = [f"{key}={self.text_of(v)}" for key, v in pairs]
                return self.named("p", f"{self.known(partial)}({', '.join([*parts, *named])})")
            case Dictionary() | Cells():
                return self.named("d", super().text_of(value))
            case Array(base=base) if base and value.whole:
                return self.once(("array", base), lambda: super(Closures, self).text_of(value))
        return super().text_of(value)

    def named(self, prefix: str, text: str) -> str:
        """Bind a new name."""
        name = f"{prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def once(self, key: Any, make: Any) -> str:
        """Return the name of what is made where it is met first."""
        if key in self.in_work:
            raise Unfit("a function or an object that holds itself, for a solver", self.b.place)
        if key not in self.made:
            self.in_work.add(key)
            self.made[key] = make()
            self.in_work.discard(key)
        return self.made[key]

    def object(self, o: Object) -> str:
        """Return the name of an object with the attributes that it has now."""
        self.effects.of_class(o.cls)
        self.objects.append(o)
        held = {s.name: v for s, v in self.r.slots.values.items() if s.owner == f"{o.name}."}
        names = [*dict.fromkeys([*(name for name, _ in o.type.attributes), *held])]
        parts: list[tuple[str, str]] = []
        for name in names:
            if "." in name:
                continue
            if Slot(f"{o.name}.", name) in self.r.slots.maybe:
                raise Unfit(f"the attribute {name}, which may not be bound here", self.b.place)
            value = self.r.attribute_of(o, name)
            if isinstance(value, Unread):
                raise Unfit(value.why, self.b.place)
            parts.append((name, self.text_of(value)))
        own = self.named("o", f"{self.known(object.__new__)}({self.known(o.cls)})")
        for name, text in parts:
            if o.type.is_written_plainly:
                self.lines.append(f"{own}.{name} = {text}")
            else:
                self.lines.append(f"{self.known(object.__setattr__)}({own}, {name!r}, {text})")
        return own

    def function(self, f: Function) -> str:
        """Return the name of a function with what it captures."""
        made: Any = f.function
        code = made.__code__
        self.effects.of_node(f.node, made)
        captured = {name: self.text_of(self.captured(f, name)) for name in code.co_freevars}
        defaults = {name: self.text_of(value) for name, value in f.defaults.items()}
        maker = self.known(maker_of(f))
        given = [*captured.values(), *defaults.values()]
        own = self.named("g", f"{maker}({', '.join(given)})")
        for name, value in self.r.of_functions.get(f, {}).items():
            self.lines.append(f"{own}.{name} = {self.text_of(value)}")
        return own

    def captured(self, f: Function, name: str) -> Value:
        """Return the present value of a variable that a function captures."""
        outer = self.r.scope
        self.r.scope = self.r.scope_of(f)
        try:
            return self.r.variable(name)
        finally:
            self.r.scope = outer


def maker_of(f: Function) -> FunctionType:
    """Return a function that makes a function, given what it captures and its defaults."""
    node = copy.deepcopy(f.node)
    for a in ast.walk(node.args):
        if isinstance(a, ast.arg):
            a.annotation = None
    names = [f"default_{name}" for name in f.defaults]
    positional = [*node.args.posonlyargs, *node.args.args]
    first = len(positional) - len(node.args.defaults)
    by_name = dict(zip(f.defaults, names, strict=True))
    node.args.defaults = [ast.Name(by_name[p.arg], ast.Load()) for p in positional[first:]]
    node.args.kw_defaults = [
        ast.Name(by_name[p.arg], ast.Load()) if d is not None else None
        for p, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
        body = [*ast.unparse(node).splitlines(), f"return {node.name}"]
    else:
        body = f"return {ast.unparse(node)}".splitlines()
    made: Any = f.function
    return made_by([*made.__code__.co_freevars, *names], body, made.__globals__)
