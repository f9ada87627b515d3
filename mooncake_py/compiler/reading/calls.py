"""From calls of the user's own functions to the statements of their bodies.

    y = g(x[i], a)          i0_u = x[i]
                            if i0_u < 0.0:
    def g(u, rate):             i0 = 0.0
        if u < 0.0:         else:
            return 0.0          i0 = a * i0_u
        return rate * u     y = i0

A name or an int that is passed stands for its parameter, unless the body binds it; anything else
is bound to a name of ours first.  A body that returns in one place has no name for its result: the
expression stands where the call stood.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from mooncake_py.compiler.reading.callees import Callee, held, is_own
from mooncake_py.compiler.reading.definitions import Definition, definition_of
from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.compiler.reading.frames import SCOPE, Frame, arguments_of
from mooncake_py.compiler.reading.index_names import index_names
from mooncake_py.compiler.reading.methods import BoundMethod, Method, Owner
from mooncake_py.compiler.reading.scopes import ScopeReader
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Count,
    End,
    Expr,
    Load,
    Name,
    Op,
    Statement,
    statements,
)
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    OBJECT,
    Place,
    constant,
    dotted,
    is_dotted,
    load,
    located,
    place_of,
    undotted,
)
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["CallReader"]

T = TypeVar("T")


class CallReader(ScopeReader):
    """Reads calls of functions.

    Attributes
    ----------
    before : list of Statement
        What the statement that is read computes first.
    owner : Owner or None
        The class of which the function around the region is a method.
    counts : set of str
        The names that are ints for certain, here and in functions that are called.
    grown : set of str
        The lists to which numbers are appended.
    """

    def __init__(
        self, names: Names, statics: StaticInts, place: Place, owner: Owner | None
    ) -> None:
        super().__init__(names, statics, place)
        self.owner = owner
        self.before: list[Statement] = []
        self.counts: set[str] = set()
        self.grown: set[str] = set()
        self.temporaries = 0

    def block(self, body: list[ast.stmt]) -> Block:
        """Read statements."""
        raise NotImplementedError

    # Calls.

    def native(self, node: ast.expr) -> Expr:
        """Read an expression that has no derivative; a function may be called in a test."""
        if isinstance(node, ast.Call) and self.calls_own(node):
            return self.inlined(node)
        return super().native(node)

    def whole(self, node: ast.expr) -> Expr:
        """Read an int that the way back may need too: it calls nothing."""
        before, self.is_whole = self.is_whole, True
        found = super().whole(node)
        self.is_whole = before
        return found

    def all_of(self, node: ast.expr) -> Expr:
        """Read the value of a statement that is nothing else: what it calls may write."""
        if isinstance(node, ast.Call) and self.calls_own(node):
            return self.called(node, 1)[0]
        return self.value(node)

    def inlined(self, node: ast.Call) -> Expr:
        """Read a call within an expression, which must not write."""
        before = len(self.before)
        (value,) = self.called(node, 1)
        if any(
            isinstance(s, Assign) and isinstance(s.target, Load | End)
            for s in statements(tuple(self.before[before:]))
        ):
            raise Unfit  # what else the statement reads may come first
        return value

    def alone(self, node: ast.Call) -> list[Statement]:
        """Read a call that is a statement."""
        if not self.appends(node):
            self.called(node, 0)
            return []
        assert isinstance(node.func, ast.Attribute)
        base = node.func.value
        if isinstance(base, ast.Name) and base.id in self.stored | self.counters:
            raise Unfit
        array = self.array(base)
        if self.arrays.setdefault(array, 1) != 1:
            raise Unfit
        self.grown.add(array)
        place = place_of(node)
        return [Assign(End(array, place=place), self.value(node.args[0]), place=place)]

    def appends(self, node: ast.Call) -> bool:
        """Return True for a call of ``append`` that may be that of a list."""
        f = node.func
        if not isinstance(f, ast.Attribute) or f.attr != "append" or node.keywords:
            return False
        if len(node.args) != 1 or self.method_of(f) is not None or self.is_held(f):
            return False
        return self.names.module(f.value) is None

    def called(self, node: ast.Call, count: int) -> list[Expr]:
        """Read a call of which `count` values are wanted; return them."""
        if self.is_whole:
            raise Unfit
        definition = self.definition_of(node.func)
        outer = {name: getattr(self, name) for name in SCOPE}
        frame = Frame(definition, self.temporaries, outer, count)
        self.temporaries += 1
        caller = outer["frame"]
        while caller is not None:
            if caller.definition.key == definition.key:
                raise Unfit  # recursion
            caller = caller.outer["frame"]
        arguments = arguments_of(definition, node, self.object_of(node.func))
        ints = frozenset(name for name, a in arguments.items() if self.statics.holds(a))
        if definition.callee is not None and definition.callee.may_overflow(ints):
            raise Unfit
        found = definition.found
        found.own |= {
            name: [constant(0, self.place) if v is None else v for v in found.own[name]]
            for name, value in arguments.items()
            if self.statics.holds(value)
        }
        statics = StaticInts.of(found, definition.names)
        defined = {
            name for name, value in arguments.items() if self.passes(frame, statics, name, value)
        }
        scope = {
            "names": definition.names, "statics": statics, "stored": definition.stored | defined,
            "counters": definition.counters, "fields": set(), "within": [],
            "indices": index_names(definition.names, definition.body) & definition.stored,
            "defined": set(defined), "frame": frame,
        }  # fmt: skip
        with self.scope(scope):
            values = self.body(frame, definition.body)
        callee = definition.callee
        assumed = definition.names.assumed
        if callee is None:
            self.outermost.assumed.update(assumed)
        else:
            callee.names.update({name: held(value) for name, value in assumed.items()})
        if callee is not None and callee.is_jitted:  # compiled code returns numbers of Python
            return [Op("item", (value,), place=value.place) for value in values]
        return values

    def definition_of(self, node: ast.expr) -> Definition:
        """Return the definition of the function that a name is bound to, assumed from now on."""
        if isinstance(node, ast.Attribute):
            return self.held(node) if self.method_of(node) is None else self.method(node)
        if not isinstance(node, ast.Name):
            raise Unfit
        frame = self.frame
        if frame is None:
            found = self.nested_definition(node.id)
            if found is not None:
                return found
            if node.id in self.stored | self.counters:
                raise Unfit
            return self.given_function(node, self.names.function(node))
        if node.id in self.stored or node.id in self.counters:
            raise Unfit
        if node.id in frame.passed:
            given = frame.passed[node.id]
            with self.scope(frame.outer):
                if self.method_of(given) is not None:
                    raise Unfit  # its object would be an argument
                return self.definition_of(given)
        if frame.home is not None:
            with self.scope(frame.home):
                return self.definition_of(node)
        return definition_of(self.callee(self.constant(node.id)))

    def given_function(self, node: ast.expr, f: Any) -> Definition:
        """Return the definition of a function, or a bound method, that is passed to the region."""
        bound = self.names.bound_method(node)
        if bound is None:
            direct = callee = self.callees.named(dotted(node), self.of_user(f))
        else:
            callee = self.callee(bound.__func__)
            direct = BoundMethod(callee)
        self.calls.append(node)
        self.callees.direct.append(direct)
        return definition_of(callee)

    def object_of(self, node: ast.expr) -> ast.expr | None:
        """Return the implicit first argument of a call, None if the callee is a function."""
        if isinstance(node, ast.Attribute) and self.method_of(node) is not None:
            return node.value
        if not self.binds(node):
            return None
        return located(ast.Attribute(node, OBJECT, ast.Load()), self.place)

    def binds(self, node: ast.expr) -> bool:
        """Return True for a name, or an attribute, of a method with its object."""
        return bool(self.in_region(node, self.names_method))

    def names_method(self, node: ast.expr) -> bool:
        """Return True if the region has a method with its object under this name."""
        return self.names.bound_method(node) is not None

    def in_region(self, node: ast.expr, ask: Callable[[Any], T]) -> T | None:
        """Return the answer for a name or an attribute where the region is; None elsewhere."""
        frame = self.frame
        if frame is None:
            return ask(node)
        if isinstance(node, ast.Name) and node.id in frame.passed:
            scope, given = frame.outer, frame.passed[node.id]
        elif isinstance(node, ast.Attribute):
            try:
                scope, given = self.in_caller(node)
            except Unfit:
                return None
        else:
            return None
        with self.scope(scope):
            return self.in_region(given, ask)

    def callee(self, f: Any) -> Callee:
        """Return the record of a function of the user."""
        return self.callees.met(self.of_user(f))

    def of_user(self, f: Any) -> Any:
        """Return a function of the user; other values cannot be read."""
        if f is None or not is_own(f):
            raise Unfit
        return f

    def calls_own(self, node: ast.Call) -> bool:
        """Return True if a function of the user may be called, also one that an object has."""
        f = node.func
        return super().calls_own(node) or self.method_of(f) is not None or self.is_held(f)

    def method_of(self, node: ast.expr) -> tuple[Owner, FunctionType] | None:
        """Return the method that an attribute of a name is, with its class; None for others."""
        return self.in_region(node, self.own_method) if isinstance(node, ast.Attribute) else None

    def own_method(self, node: ast.Attribute) -> tuple[Owner, FunctionType] | None:
        """Return the method that an attribute is where the region is; None for others."""
        owner = self.owner_of(node)
        f = None if owner is None else owner.function(node)
        return None if owner is None or f is None or not is_own(f) else (owner, f)

    def owner_of(self, node: ast.Attribute) -> Owner | None:
        """Return the class of the object that a name is bound to, or None if it is not known."""
        if not is_dotted(node.value):
            return None
        path = dotted(node.value)
        if path.partition(".")[0] in self.stored | self.counters:
            return None
        cls = self.class_of(node)
        if cls is not None:
            return Owner(cls, path)
        is_self = self.owner is not None and self.owner.name == path
        return self.owner if is_self else None

    def class_of(self, node: ast.Attribute) -> type | None:
        """Return the class that the object of a method seems to have, or None."""
        return self.names.class_of(node)

    def method(self, node: ast.Attribute) -> Definition:
        """Return the definition of a method, assumed from now on."""
        found = self.method_of(node)
        assert found is not None
        owner, f = found
        callee = self.callee(f)
        self.ways.add(node.attr)
        self.calls.append(undotted(owner.name, self.place))
        self.callees.direct.append(Method(owner.cls, node.attr, callee))
        return definition_of(callee)

    def is_held(self, node: ast.expr) -> bool:
        """Return True if an attribute of an object is bound to a function of the user."""
        return isinstance(node, ast.Attribute) and bool(self.in_region(node, self.holds_own))

    def holds_own(self, node: ast.expr) -> bool:
        """Return True if the region has a function of the user under this name."""
        bound = self.names.bound_method(node)
        return is_own(self.names.function(node) if bound is None else bound.__func__)

    def held(self, node: ast.Attribute) -> Definition:
        """Return the definition of a function that an attribute of an object is bound to."""
        if self.frame is not None:
            scope, given = self.in_caller(node)
            with self.scope(scope):
                return self.held(given)
        if not is_dotted(node):
            raise Unfit
        path = dotted(node)
        if path.partition(".")[0] in self.stored | self.counters or path in self.fields:
            raise Unfit
        self.ways.add(node.attr)
        return self.given_function(node, self.names.function(node))

    def nested_definition(self, name: str) -> Definition | None:
        """Return the definition of a function nested in the one around the region, or None."""
        raise NotImplementedError

    def passes(self, frame: Frame, statics: StaticInts, name: str, value: ast.expr) -> bool:
        """Pass an argument; return True if a name of the function is bound to it."""
        own = frame.definition
        simple = isinstance(value, ast.Name | ast.Attribute | ast.Constant)
        is_steady = name not in own.stored and name not in own.counters
        if is_steady and (simple or self.statics.holds(value)):
            if isinstance(value, ast.Name) and not self.is_function(value):
                self.meet(value.id)
            frame.passed[name] = value
            return False
        place = place_of(value)
        target = frame.named(name)
        if statics.holds(load(name, place)):
            self.before.append(Count(target, self.whole(value), place=place))
            self.counts.add(target)
            return True
        found = self.value(value)
        self.before.append(Assign(Name(target, place=place), found, place=place))
        return True

    def is_function(self, node: ast.Name) -> bool:
        """Return True if a function is passed, which the region need not be given."""
        frame = self.frame
        if frame is None:
            return self.names.function(node) is not None
        given = frame.passed.get(node.id)
        if isinstance(given, ast.Name):
            with self.scope(frame.outer):
                return self.is_function(given)
        return False

    def body(self, frame: Frame, body: list[Any]) -> list[Expr]:
        """Read the body of a function; return the values that are wanted."""
        last = body[-1]
        returns = [part for s in body for part in ast.walk(s) if isinstance(part, ast.Return)]
        if returns == [last]:
            self.before += self.block(body[:-1])
            return self.returned(last)
        if not returns and frame.count:
            raise Unfit  # it may raise on every way
        place = place_of(last)
        self.before += self.block([*body, located(ast.Return(None), place)])
        return [Name(name, place=place) for name in frame.results()]

    def returned(self, node: ast.Return) -> list[Expr]:
        """Return the values of ``return``, as many as are wanted."""
        assert self.frame is not None
        count = self.frame.count
        value = node.value
        is_none = value is None or (isinstance(value, ast.Constant) and value.value is None)
        if count == 0:
            if not is_none:
                raise Unfit
            return []
        if value is None:
            raise Unfit
        if isinstance(value, ast.Tuple):
            if count == 1 or len(value.elts) != count:
                raise Unfit
            return [self.value(part) for part in value.elts]
        if count == 1:
            return [self.all_of(value)]
        if not isinstance(value, ast.Call):
            raise Unfit
        return self.called(value, count)

    def returning(self, node: ast.Return) -> list[Statement]:
        """Read ``return`` in one place of several."""
        assert self.frame is not None
        names = self.frame.results()
        place = place_of(node)
        return [
            Assign(Name(name, place=place), value, place=place)
            for name, value in zip(names, self.returned(node), strict=True)
        ]
