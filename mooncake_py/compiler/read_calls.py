"""From calls of the user's own functions to the statements of their bodies.

    y = g(x[i], a)          i0_u = x[i]
                            if i0_u < 0.0:
    def g(u, rate):             i0 = 0.0
        if u < 0.0:         else:
            return 0.0          i0 = a * i0_u
        return rate * u     y = i0

A name or an int that is passed stands for its parameter, unless the body binds it; anything else
is bound to a name of ours first.  A body that returns in one place has no name for its result: the
expression stands where the call stood.  Numbers that the body reads of other places are inputs
where the region can name them, else constants: see `callees`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from mooncake_py.compiler.callees import Callees, held, is_own
from mooncake_py.compiler.captured import cell_of
from mooncake_py.compiler.definitions import Definition, definition_of
from mooncake_py.compiler.forms import can_be_called
from mooncake_py.compiler.frames import SCOPE, Frame, arguments_of, home_of
from mooncake_py.compiler.index_names import index_names
from mooncake_py.compiler.ir import (
    Assign,
    Block,
    Const,
    Count,
    Expr,
    Load,
    Name,
    Op,
    Statement,
    statements,
)
from mooncake_py.compiler.methods import Method, Owner
from mooncake_py.compiler.read_expressions import ExpressionReader, Unfit, named
from mooncake_py.syntax.names import MISSING, Names
from mooncake_py.syntax.nodes import Place, constant, load, located, place_of, replaced
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["CallReader"]


class CallReader(ExpressionReader):
    """Reads calls of functions.

    Attributes
    ----------
    before : list of Statement
        What the statement that is read computes first.
    owner : Owner or None
        The class of which the function around the region is a method.
    calls : list of expr
        The functions that the region names, and the object for each method.
    counts : set of str
        The names that are ints for certain, here and in functions that are called.
    met : set of str
        What is passed to functions, which may not read it.
    frame : Frame or None
        Of the function whose body is read, None for the region itself.
    """

    def __init__(
        self, names: Names, statics: StaticInts, place: Place, owner: Owner | None
    ) -> None:
        super().__init__(names, statics, place)
        self.owner = owner
        self.outermost = names
        self.before: list[Statement] = []
        self.callees = Callees()
        self.calls: list[ast.expr] = []
        self.frame: Frame | None = None
        self.counts: set[str] = set()
        self.met: set[str] = set()
        self.temporaries = 0

    def block(self, body: list[ast.stmt]) -> Block:
        """Read statements."""
        raise NotImplementedError

    # Names, in the function that is read.

    def number(self, name: str, place: Place) -> Expr:
        """Read a number that a name is bound to."""
        frame = self.frame
        if frame is None:
            return super().number(name, place)
        if name in frame.passed:
            return self.read_in(frame.outer, frame.passed[name])
        if name in self.stored | self.counters:
            return Name(self.own_local(name), place=place)
        if frame.home is not None:
            return self.read_in(frame.home, load(name, place))
        if self.is_seen(name, (int, float, np.float64)):
            self.numbers.add(named(name))
            return Name(self.given_name(name), place=place)
        cell = self.captured(name)
        if cell is not None:
            return self.read_in(home_of(frame.outer), cell)
        value = self.constant(name)
        if type(value) is not int and type(value) is not float:
            raise Unfit
        return Const(value, place=place)

    def captured(self, name: str) -> ast.expr | None:
        """Return what reads a variable that a function captures, if it is read in advance."""
        assert self.frame is not None
        callee = self.frame.definition.callee
        if callee not in self.callees.direct:
            return None
        function = self.calls[self.callees.direct.index(callee)]
        if not isinstance(function, ast.Name) or not self.outermost.is_bound(function.id):
            return None  # what a global function captures is a constant
        return cell_of(function, callee, name)

    def read_in(self, scope: dict[str, Any], node: ast.expr) -> Expr:
        """Read a number in the scope of another function."""
        with self.scope(scope):
            if self.is_whole:
                return self.whole(node)
            return self.native(node) if self.statics.holds(node) else self.value(node)

    def is_free(self, node: ast.expr) -> bool:
        """Return True if a name, or what an attribute is one of, is of the function around it."""
        frame = self.frame
        while isinstance(node, ast.Attribute):
            node = node.value
        return (
            frame is not None
            and frame.home is not None
            and isinstance(node, ast.Name)
            and node.id not in {*frame.passed, *self.stored, *self.counters}
        )

    def own_local(self, name: str) -> str:
        """Return how a local name of the function is called, which must be bound.

        On the way back a counter has another value after its loop, and so may all but ints.
        """
        assert self.frame is not None
        is_bound = name in (self.within if name in self.counters else self.defined)
        is_int = (
            name in self.counters
            or name in self.indices
            or self.statics.holds(load(name, self.place))
        )
        if not is_bound or (self.is_whole and not is_int):
            raise Unfit
        return self.frame.named(name)

    def own_name(self, name: str) -> str:
        """Return how a name that is bound here is called."""
        return named(name) if self.frame is None else self.frame.named(name)

    def is_seen(self, name: str, types: tuple[type, ...]) -> bool:
        """Return True if the region can name a global that a function reads, of such a type."""
        outermost = self.outermost
        return (
            self.names.globals is outermost.globals
            and not self.names.is_bound(name)
            and not outermost.is_bound(name)
            and type(outermost.globals.get(name)) in types
        )

    def constant(self, name: str) -> Any:
        """Return the value of a global or captured variable, which is assumed from now on."""
        assert self.frame is not None
        callee = self.frame.definition.callee
        f = None if callee is None else callee.function()
        assert callee is not None
        assert f is not None
        if name in callee.code.co_freevars:
            position = callee.code.co_freevars.index(name)
            try:
                value = (f.__closure__ or ())[position].cell_contents
            except ValueError:
                raise Unfit from None
            callee.cells[position] = held(value)
            return value
        value = f.__globals__.get(name, MISSING)
        callee.names[name] = held(value)
        return value

    def attribute(self, node: ast.Attribute) -> Any:
        """Read an attribute of a module, or one of the caller's."""
        if self.frame is None:
            return super().attribute(node)
        if self.frame.home is not None and self.is_free(node):
            return self.read_in(self.frame.home, node)
        value = self.of_module(node)
        if value is not MISSING:
            if type(value) is not int and type(value) is not float:
                raise Unfit
            return Const(value, place=place_of(node))
        given = self.passed_on(node)
        with self.scope(self.frame.outer):
            return self.whole(given) if self.is_whole else self.attribute(given)

    def array(self, node: ast.expr) -> str:
        """Return the name of an array of the caller's."""
        if self.frame is None:
            return super().array(node)
        if self.frame.home is not None and self.is_free(node):
            with self.scope(self.frame.home):
                return self.array(node)
        passed = self.frame.passed
        if isinstance(node, ast.Name) and node.id in passed:
            given = passed[node.id]
        elif isinstance(node, ast.Attribute):
            given = self.passed_on(node)
        elif isinstance(node, ast.Name) and self.is_seen_array(node.id):
            return self.given_name(node.id)
        else:
            cell = None if not isinstance(node, ast.Name) else self.captured(node.id)
            if cell is None:
                raise Unfit
            with self.scope(home_of(self.frame.outer)):
                return self.array(cell)
        with self.scope(self.frame.outer):
            return self.array(given)

    def is_seen_array(self, name: str) -> bool:
        """Return True if the region can name a global array that a function reads."""
        if name in self.stored or name in self.counters:
            return False
        return self.is_seen(name, (np.ndarray, list, tuple))

    def passed_on(self, node: ast.Attribute) -> ast.Attribute:
        """Return an attribute of a parameter as the caller would write it."""
        assert self.frame is not None
        base = node.value
        if isinstance(base, ast.Attribute):
            given: Any = self.passed_on(base)
        else:
            given = self.frame.passed.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(given, ast.Name | ast.Attribute) or node.attr.startswith("__"):
            raise Unfit
        return replaced(node, value=given)

    def function(self, node: ast.Attribute, count: int) -> Any:
        """Return a function of a module: itself where the region cannot name it."""
        if self.frame is None:
            return super().function(node, count)
        if self.frame.home is not None:
            if not self.is_free(node) or self.names.module(node.value) is None:
                raise Unfit
            with self.scope(self.frame.home):
                return self.function(node, count)
        f = self.of_module(node)
        if f is MISSING or not 1 <= count <= 2 or not can_be_called(f, count):
            raise Unfit
        return f

    def of_module(self, node: ast.Attribute) -> Any:
        """Return what a module has under a name, `MISSING` if it is no module."""
        assert self.frame is not None
        callee = self.frame.definition.callee
        module = self.names.module(node.value)
        if module is None or callee is None:
            return MISSING
        value = module.__dict__.get(node.attr, MISSING)
        callee.attributes.append((module, node.attr, value))
        return value

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
            isinstance(s, Assign) and isinstance(s.target, Load)
            for s in statements(tuple(self.before[before:]))
        ):
            raise Unfit  # what else the statement reads may come first
        return value

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
        arguments = arguments_of(definition, node)
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
        known = self.outermost.assumed if callee is None else callee.names
        known.update(definition.names.assumed)
        if callee is not None and callee.is_jitted:  # compiled code returns numbers of Python
            return [Op("item", (value,), place=value.place) for value in values]
        return values

    def definition_of(self, node: ast.expr) -> Definition:
        """Return what is read of the function that a name is bound to, assumed from now on."""
        if isinstance(node, ast.Attribute):
            return self.method(node)
        if not isinstance(node, ast.Name):
            raise Unfit
        frame = self.frame
        if frame is None:
            found = self.nested_definition(node.id)
            if found is not None:
                return found
            if node.id in self.stored | self.counters:
                raise Unfit
            f = self.names.function(node)
        elif node.id in self.stored or node.id in self.counters:
            raise Unfit
        elif node.id in frame.passed:
            with self.scope(frame.outer):
                return self.definition_of(frame.passed[node.id])
        elif frame.home is not None:
            with self.scope(frame.home):
                return self.definition_of(node)
        else:
            f = self.constant(node.id)
        if f is None or not is_own(f):
            raise Unfit
        callee = self.callees.met(f)
        if frame is None:
            self.calls.append(node)
            self.callees.direct.append(callee)
        return definition_of(callee)

    def calls_own(self, node: ast.Call) -> bool:
        """Return True if a function of the user may be called, or a method of ``self``."""
        f = self.of_self(node.func)
        return super().calls_own(node) or (f is not None and is_own(f))

    def of_self(self, node: ast.expr) -> FunctionType | None:
        """Return the function that an attribute of ``self`` is bound to, or None."""
        if self.frame is not None and isinstance(node, ast.Attribute):
            scope = self.frame.home if self.is_free(node) else self.frame.outer
            try:
                given = node if self.is_free(node) else self.passed_on(node)
            except Unfit:
                return None
            with self.scope(scope or self.frame.outer):
                return self.of_self(given)
        known = self.owner is not None and self.owner.name not in self.stored
        return self.owner.function(node) if self.owner is not None and known else None

    def method(self, node: ast.Attribute) -> Definition:
        """Return what is read of a method of ``self``, assumed from now on."""
        f = self.of_self(node)
        if f is None or self.owner is None or not is_own(f):
            raise Unfit
        callee = self.callees.met(f)
        self.ways.add(node.attr)
        self.calls.append(load(self.owner.name, self.place))
        self.callees.direct.append(Method(self.owner.cls, node.attr, callee))
        return definition_of(callee)

    def nested_definition(self, name: str) -> Definition | None:
        """Return what is read of a function that stands in the one around the region, or None."""
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

    def meet(self, name: str) -> None:
        """Note that a name is passed, whether it is read or not."""
        if self.frame is None:
            if name not in self.defined and name not in self.within:
                self.met.add(name)
        elif name in self.stored and name not in self.defined:
            raise Unfit

    def body(self, frame: Frame, body: list[Any]) -> list[Expr]:
        """Read the body of a function; return the values that are wanted."""
        last = body[-1]
        returns = [part for s in body for part in ast.walk(s) if isinstance(part, ast.Return)]
        if returns == [last]:
            self.before += self.block(body[:-1])
            return self.returned(last)
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

    @contextmanager
    def scope(self, scope: dict[str, Any]) -> Iterator[None]:
        """Read in another function; where that fails the reader is done."""
        before = {name: getattr(self, name) for name in SCOPE}
        self.__dict__.update(scope)
        yield
        self.__dict__.update(before)
