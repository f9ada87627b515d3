"""Names as they are read in a function that a region calls.

A parameter stands for what is passed, in the scope of the caller.  Numbers that the body reads of
other places are inputs where the region can name them, else constants: see `callees`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

import numpy as np

from mooncake_py.compiler.derivatives.partials import can_be_called
from mooncake_py.compiler.reading.callees import Callee, Callees, held
from mooncake_py.compiler.reading.captured import cell_of
from mooncake_py.compiler.reading.expressions import ExpressionReader, Unfit, named
from mooncake_py.compiler.reading.frames import SCOPE, Frame, home_of
from mooncake_py.compiler.regions.ir import Const, Expr, Name
from mooncake_py.syntax.names import MISSING, Names, global_value
from mooncake_py.syntax.nodes import Place, dotted, load, place_of, replaced
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["ScopeReader"]

NUMBERS = int, float, np.float64
ARRAYS = np.ndarray, list, tuple


class ScopeReader(ExpressionReader):
    """Reads names and attributes, in the region and in functions that it calls.

    Attributes
    ----------
    calls : list of expr
        The functions that the region names, and the object for each method.
    met : set of str
        What is passed to functions, which may not read it.
    frame : Frame or None
        Of the function whose body is read, None for the region itself.
    """

    def __init__(self, names: Names, statics: StaticInts, place: Place) -> None:
        super().__init__(names, statics, place)
        self.outermost = names
        self.callees = Callees()
        self.calls: list[ast.expr] = []
        self.frame: Frame | None = None
        self.met: set[str] = set()

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
        cell = self.captured(name, NUMBERS)
        if cell is not None:
            return self.read_in(home_of(frame.outer), cell)
        if self.is_seen(name, NUMBERS):
            self.numbers.add(named(name))
            return Name(self.given_name(name), place=place)
        value = self.constant(name)
        if type(value) is not int and type(value) is not float:
            raise Unfit
        return Const(value, place=place)

    def captured(self, name: str, types: tuple[type, ...]) -> ast.expr | None:
        """Return code that reads a variable of a function that is passed, in advance; else None.

        It is one that the function captures, or a global one of such types.
        """
        assert self.frame is not None
        callee = self.frame.definition.callee
        function = self.passed_function(callee)
        if function is None or callee is None:
            return None
        return cell_of(function, callee, name, types)

    def passed_function(self, callee: Callee | None) -> ast.expr | None:
        """Return how the region is given a function, None if that is a global one, or a method."""
        if callee not in self.callees.direct:
            return None
        function = self.calls[self.callees.direct.index(callee)]
        is_global = not self.outermost.is_bound(dotted(function).partition(".")[0])
        return None if is_global else function

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
        """Return True if the region can name a global that a function reads, of such a type.

        What functions that are passed call may be of another module in the next run.
        """
        outermost, frame = self.outermost, self.frame
        while frame is not None:
            if self.passed_function(frame.definition.callee) is not None:
                return False
            frame = frame.outer["frame"]
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
        if name in callee.free:
            position = callee.free.index(name)
            try:
                value = (f.__closure__ or ())[position].cell_contents
            except ValueError:
                raise Unfit from None
            callee.cells[position] = held(value)
            return value
        value = global_value(f.__globals__, name)
        callee.names[name] = held(value)
        return value

    def attribute(self, node: ast.Attribute) -> Any:
        """Read an attribute of a module, or one of the caller's."""
        if self.frame is None:
            return super().attribute(node)
        if self.frame.home is not None and self.is_free(node):
            return self.read_in(self.frame.home, node)
        if self.is_part(node):
            return super().attribute(node)
        value = self.of_module(node)
        if value is not MISSING:
            if type(value) is not int and type(value) is not float:
                raise Unfit
            return Const(value, place=place_of(node))
        given = self.passed_on(node)
        with self.scope(self.frame.outer):
            return self.whole(given) if self.is_whole else self.attribute(given)

    def is_part(self, node: ast.Attribute) -> bool:
        """Return True also for a parameter that stands for an expression."""
        frame = self.frame
        if frame is not None and isinstance(node.value, ast.Name):
            passed = frame.passed.get(node.value.id)
            if passed is not None and not isinstance(passed, ast.Name | ast.Attribute):
                return node.attr in ("real", "imag")
        return super().is_part(node)

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
        elif isinstance(node, ast.Name):
            cell = self.captured(node.id, ARRAYS)
            if cell is not None:
                with self.scope(home_of(self.frame.outer)):
                    return self.array(cell)
            if not self.is_seen_array(node.id):
                raise Unfit
            return self.given_name(node.id)
        else:
            raise Unfit
        with self.scope(self.frame.outer):
            return self.array(given)

    def is_seen_array(self, name: str) -> bool:
        """Return True if the region can name a global array that a function reads."""
        if name in self.stored or name in self.counters:
            return False
        return self.is_seen(name, ARRAYS)

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
        """Return an attribute of a module, `MISSING` for anything other than a module."""
        assert self.frame is not None
        callee = self.frame.definition.callee
        module = self.names.module(node.value)
        if module is None or callee is None:
            return MISSING
        value = module.__dict__.get(node.attr, MISSING)
        if module is not self.names.functions:  # whose names are assumed as globals
            callee.attributes.append((ref(module), node.attr, held(value)))
        return value

    def in_caller(self, node: ast.Attribute) -> tuple[dict[str, Any], ast.Attribute]:
        """Return the scope in which an attribute of a parameter is known, and its name there."""
        assert self.frame is not None
        if self.is_free(node):
            assert self.frame.home is not None
            return self.frame.home, node
        return self.frame.outer, self.passed_on(node)

    def objects(self) -> set[str]:
        """Return the names of which attributes are given or methods called."""
        given = [node for node in self.inputs.values() if isinstance(node, ast.Attribute)]
        return {named(dotted(node).partition(".")[0]) for node in (*given, *self.calls)}

    def hidden_counter(self) -> str:
        """Return how the counter of a loop over arrays is called."""
        own = f"h{len(self.within)}"
        return own if self.frame is None else f"i{self.frame.number}{own}"

    def meet(self, name: str) -> None:
        """Note that a name is passed, whether it is read or not."""
        if self.frame is None:
            if name not in self.defined and name not in self.within:
                self.met.add(name)
        elif name in self.stored and name not in self.defined:
            raise Unfit

    @contextmanager
    def scope(self, scope: dict[str, Any]) -> Iterator[None]:
        """Read in another function; where that fails the reader is done."""
        before = {name: getattr(self, name) for name in SCOPE}
        self.__dict__.update(scope)
        yield
        self.__dict__.update(before)
