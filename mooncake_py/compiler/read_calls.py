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

from mooncake_py.compiler.callees import Callee, Callees, held, is_own
from mooncake_py.compiler.forms import can_be_called
from mooncake_py.compiler.ir import (
    Assign,
    Block,
    Const,
    Expr,
    Load,
    Name,
    Statement,
    statements,
)
from mooncake_py.compiler.read_expressions import ExpressionReader, Unfit, named
from mooncake_py.errors import MooncakeError
from mooncake_py.syntax.names import MISSING, Names
from mooncake_py.syntax.nodes import PREFIX, Place, constant, located, place_of, replaced
from mooncake_py.syntax.source import locate
from mooncake_py.syntax.static_integers import StaticInts, bindings

__all__ = ["CallReader"]

SCOPE = "names", "statics", "stored", "counters", "fields", "defined", "frame"
"""The attributes of a reader that belong to one function."""


class Frame:
    """A function while its body is read.

    Attributes
    ----------
    callee : Callee
    number : int
        Of the call, by which its names are told from others.
    passed : dict of str to expr
        The parameters that stand for an expression of the caller.
    outer : dict
        The scope of the caller.
    count : int
        How many values are wanted.
    """

    def __init__(self, callee: Callee, number: int, outer: dict[str, Any], count: int) -> None:
        self.callee = callee
        self.number = number
        self.outer = outer
        self.count = count
        self.passed: dict[str, ast.expr] = {}

    def named(self, name: str) -> str:
        """Return how a local name of the function is called in IR."""
        return f"i{self.number}_{name}"

    def results(self) -> list[str]:
        """Return the names of what is returned in several places."""
        return [f"i{self.number}r{k}" for k in range(self.count)]


class CallReader(ExpressionReader):
    """Reads calls of functions.

    Attributes
    ----------
    before : list of Statement
        What the statement that is read computes first.
    calls : list of expr
        The functions that the region names.
    frame : Frame or None
        Of the function whose body is read, None for the region itself.
    """

    def __init__(self, names: Names, statics: StaticInts, place: Place) -> None:
        super().__init__(names, statics, place)
        self.outermost = names
        self.before: list[Statement] = []
        self.callees = Callees()
        self.calls: list[ast.expr] = []
        self.frame: Frame | None = None
        self.is_whole = False
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
            node = frame.passed[name]
            with self.scope(frame.outer):
                if self.is_whole:
                    return self.whole(node)
                return self.native(node) if self.statics.holds(node) else self.value(node)
        if name in self.stored:
            if name not in self.defined or self.is_whole:
                raise Unfit
            return Name(frame.named(name), place=place)
        if self.is_seen(name):
            self.numbers.add(named(name))
            return Name(self.given_name(name), place=place)
        value = self.constant(name)
        if type(value) is not int and type(value) is not float:
            raise Unfit
        return Const(value, place=place)

    def is_seen(self, name: str) -> bool:
        """Return True if the region can name a global number that a function reads."""
        outermost = self.outermost
        return (
            self.names.globals is outermost.globals
            and not self.names.is_bound(name)
            and not outermost.is_bound(name)
            and type(outermost.globals.get(name)) in (int, float, np.float64)
        )

    def constant(self, name: str) -> Any:
        """Return the value of a global or captured variable, which is assumed from now on."""
        assert self.frame is not None
        callee = self.frame.callee
        f = callee.function()
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
        passed = self.frame.passed
        if isinstance(node, ast.Name) and node.id in passed:
            given = passed[node.id]
        elif isinstance(node, ast.Attribute):
            given = self.passed_on(node)
        else:
            raise Unfit
        with self.scope(self.frame.outer):
            return self.array(given)

    def passed_on(self, node: ast.Attribute) -> ast.Attribute:
        """Return an attribute of a parameter as the caller would write it."""
        assert self.frame is not None
        base = node.value
        given = self.frame.passed.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(given, ast.Name) or node.attr.startswith("__"):
            raise Unfit
        return replaced(node, value=given)

    def function(self, node: ast.Attribute, count: int) -> Any:
        """Return a function of a module: itself where the region cannot name it."""
        if self.frame is None:
            return super().function(node, count)
        f = self.of_module(node)
        if f is MISSING or not 1 <= count <= 2 or not can_be_called(f, count):
            raise Unfit
        return f

    def of_module(self, node: ast.Attribute) -> Any:
        """Return what a module has under a name, `MISSING` if it is no module."""
        assert self.frame is not None
        module = self.names.module(node.value)
        if module is None:
            return MISSING
        value = module.__dict__.get(node.attr, MISSING)
        self.frame.callee.attributes.append((module, node.attr, value))
        return value

    # Calls.

    def native(self, node: ast.expr) -> Expr:
        """Read an expression that has no derivative; a function may be called in a test."""
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and (not self.names.builtin(node.func))
        ):
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
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and (not self.names.builtin(node.func))
        ):
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
        f = self.own_function(node.func)
        outer = {name: getattr(self, name) for name in SCOPE}
        callee = self.callees.met(f)
        frame = Frame(callee, self.temporaries, outer, count)
        self.temporaries += 1
        definition, names, statics, stored = self.entered(frame, f)
        arguments = self.arguments(f, definition.args, node)
        defined = {
            name for name, value in arguments.items() if self.passes(frame, name, value, stored)
        }
        scope = {
            "names": names, "statics": statics, "stored": stored | defined, "counters": set(),
            "fields": set(), "defined": set(defined), "frame": frame,
        }  # fmt: skip
        with self.scope(scope):
            found = self.body(frame, definition.body)
        callee.names.update(names.assumed)
        return found

    def own_function(self, node: ast.expr) -> FunctionType:
        """Return the function that a name is bound to; it is assumed from now on."""
        if not isinstance(node, ast.Name):
            raise Unfit
        if self.frame is not None:
            if node.id in self.stored or node.id in self.frame.passed:
                raise Unfit
            f = self.constant(node.id)
        else:
            f = self.names.function(node)
        if f is None or not is_own(f):
            raise Unfit
        if self.frame is None:
            self.calls.append(node)
            self.callees.direct.append(self.callees.met(f))
        return f

    def entered(self, frame: Frame, f: FunctionType) -> Any:
        """Return the definition of a function, its names, its ints, and what it binds."""
        outer = frame.outer["frame"]
        while outer is not None:
            if outer.callee.code is f.__code__:
                raise Unfit  # recursion
            outer = outer.outer["frame"]
        try:
            source = locate(f.__code__)
        except MooncakeError:
            raise Unfit from None
        definition = source.node
        names_used = (*f.__code__.co_names, *f.__code__.co_varnames)
        if source.class_name is not None or any(n.startswith(PREFIX) for n in names_used):
            raise Unfit
        if isinstance(definition, ast.Lambda):
            result = located(ast.Return(definition.body), place_of(definition.body))
            definition = ast.FunctionDef("_", definition.args, [result], [])
        if not isinstance(definition, ast.FunctionDef):
            raise Unfit
        found = bindings(definition)
        names = Names(f.__globals__, found.bound().union(f.__code__.co_freevars))
        parameters = set(f.__code__.co_varnames[: parameter_count(f)])
        stored = {name for name, values in found.own.items() if values != [None]}
        stored |= found.own.keys() - parameters
        if not stored <= found.steady():
            raise Unfit
        return definition, names, StaticInts.of(found, names), stored

    def arguments(
        self, f: FunctionType, args: ast.arguments, node: ast.Call
    ) -> dict[str, ast.expr]:
        """Return for each parameter what is passed, or its default if that is a number."""
        positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        named = [arg.arg for arg in (*args.args, *args.kwonlyargs)]
        if len(node.args) > len(positional) or any(isinstance(a, ast.Starred) for a in node.args):
            raise Unfit
        given: dict[str, Any] = dict(zip(positional, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in named or keyword.arg in given:
                raise Unfit
            given[keyword.arg] = keyword.value
        defaults = f.__defaults__ or ()
        known = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
        known |= f.__kwdefaults__ or {}
        for name in (*positional, *(arg.arg for arg in args.kwonlyargs)):
            if name not in given:
                value = known.get(name)
                if type(value) is not int and type(value) is not float:
                    raise Unfit
                given[name] = constant(value, place_of(node))
        return given

    def passes(self, frame: Frame, name: str, value: ast.expr, stored: set[str]) -> bool:
        """Pass an argument; return True if a name of the function is bound to it."""
        simple = isinstance(value, ast.Name | ast.Attribute | ast.Constant)
        if name not in stored and (simple or self.statics.holds(value)):
            if isinstance(value, ast.Name):
                self.meet(value.id)
            frame.passed[name] = value
            return False
        place = place_of(value)
        found = self.value(value)
        self.before.append(Assign(Name(frame.named(name), place=place), found, place=place))
        return True

    def meet(self, name: str) -> None:
        """Note that a name is read, whether it is for a number or an array."""
        if self.frame is None:
            if name not in self.defined and name not in self.within:
                self.given_name(name)
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


def parameter_count(f: FunctionType) -> int:
    """Return how many parameters a function has."""
    return f.__code__.co_argcount + f.__code__.co_kwonlyargcount
