"""A function whose body is being read: what its names stand for."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.types import is_plain_object
from mooncake_py.compiler.native.building.values import (
    ComplexNumber,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.constants import is_steady
from mooncake_py.compiler.native.reading.loop_names import OWN_SCOPE
from mooncake_py.compiler.native.reading.parameters import parameters_of
from mooncake_py.compiler.native.reading.prepared import Body
from mooncake_py.compiler.native.reading.store import Frame, Slot, Store
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.compiler.sites.callees import Callee, held
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.syntax.names import MISSING, global_value
from mooncake_py.syntax.nodes import Place

__all__ = ["Scope", "constant", "is_input", "known"]

INPUTS = float, np.ndarray, Active


class Scope:
    """The names of one function.

    Attributes
    ----------
    callee : Callee
        The function, and what was assumed of what it reads.
    prefix : str
        Of the names of its variables in the region.
    env : Frame of Value
        What its variables stand for where the reader is.
    maybe : Frame of tuple of Expr
        Of variables that loops bind: they are bound if all these tests hold.
    makes_functions : bool
        Whether functions were made in it: then its variables outlast its call.
    bindings : Counter
        How often each variable is bound in the text.
    parent : Scope or None
        Of the function within which this one is made.
    calls_at : Place or None
        The statement in which it calls the function that is being read, if that runs once.
    nonlocals : set of str
        Variables of functions around this one that it binds.
    repeats : int
        How many loops the reader is in that are read pass by pass.
    """

    def __init__(
        self,
        callee: Callee,
        f: FunctionType,
        body: Body,
        prefix: str,
        store: Store,
        parent: Scope | None = None,
    ) -> None:
        self.parent = parent
        self.callee = callee
        self.function = f
        self.prefix = prefix
        self.body = body.statements
        self.owner = f"{prefix}_"
        self.env: Frame[Value] = Frame(store.values, self.owner)
        self.maybe: Frame[tuple[Expr, ...]] = Frame(store.maybe, self.owner)
        self.makes_functions = False
        self.calls_at: Place | None = None
        self.repeats = 0
        self.bindings = body.bound.copy()
        code = f.__code__
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.bindings.update(parameters_of(code).names)
        self.nonlocals = body.nonlocals if code.co_freevars else frozenset()
        if code.co_cellvars:  # a function within may bind them
            within = {name for name in body.shared if name in code.co_cellvars}
            self.bindings.update([*within, *within])
            store.nonlocals.update(map(self.named, within))

    def slot(self, name: str) -> Slot:
        """Return the slot of a variable, which may be one of a function around this one."""
        if name in self.nonlocals and self.parent is not None:
            return self.parent.slot(name)
        return Slot(self.owner, name)

    def named(self, name: str) -> str:
        """Return how a variable is called in the region.

        Names that the reader makes of it have a dot more, which no variable has.
        """
        return self.owner + name

    def may_read(self, names: set[str]) -> bool:
        """Return True if variables may be read after the call of the function that is read.

        One of them may be read in the statement of the call, as the argument.
        """
        if self.calls_at is None:
            return True
        line, column, *end = self.calls_at
        reads = 0
        for node in (part for s in self.body for part in ast.walk(s)):
            if isinstance(node, OWN_SCOPE) and not names.isdisjoint(names_in(node)):
                return True
            if isinstance(node, ast.AugAssign):
                node = node.target
            elif not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            if names.isdisjoint(names_in(node)) or (node.lineno, node.col_offset) < (line, column):
                continue
            reads += 1
            if reads > 1 or [node.lineno, node.col_offset] >= end:
                return True
        return False

    def outside(self, name: str) -> Any:
        """Return the value of a global or captured variable; it is assumed to stay so.

        Arrays, floats, lists, dicts and sets are not returned: they are inputs.
        """
        code = self.function.__code__
        if name.startswith("__") and not name.endswith("__"):
            raise Unfit(f"the name {name}, which is another one within a class")
        if name in code.co_freevars:
            position = code.co_freevars.index(name)
            try:
                value = (self.function.__closure__ or ())[position].cell_contents
            except ValueError:
                raise Unfit(f"the variable {name}, which is not bound yet") from None
            if not is_input(value):
                self.callee.cells[position] = held(value)
            return value
        value = global_value(self.function.__globals__, name)
        if value is MISSING:
            raise Unfit(f"the name {name}, which is not bound")
        if not is_input(value):
            self.callee.names[name] = held(value)
        return value

    def of_class(self, cls: type, name: str) -> Any:
        """Return a name's value in a class or its bases; it is assumed to stay so."""
        value = in_class(cls, name)
        self.callee.classes.append((weakref.ref(cls), name, held(value)))
        return value

    def of_module(self, module: ModuleType, name: str) -> Any:
        """Return a name's value in a module; it is assumed to stay so."""
        value = module.__dict__.get(name, MISSING)
        if value is MISSING:
            raise Unfit(f"the attribute {name} of the module {module.__name__}")
        self.callee.attributes.append((weakref.ref(module), name, held(value)))
        return value


def is_input(value: Any) -> bool:
    """Return True for what is an input where it is captured or global."""
    return issubclass(type(value), INPUTS) or not is_steady(value) or is_plain_object(value)


def constant(value: Any) -> Value | None:
    """Return the value of an object that is the same in each call, None if it may change."""
    if type(value) is bool:
        return Number(Const(value), "bool")
    if type(value) is int or type(value) is float:
        return Number(Const(value), type(value).__name__)
    if type(value) is np.float64:
        return Number(Const(float(value)), "float64")
    if type(value) is complex or type(value) is np.complex128:
        part = "float" if type(value) is complex else "float64"
        return ComplexNumber(*[Number(Const(float(x)), part) for x in (value.real, value.imag)])
    if type(value) is tuple and is_steady(value):
        items = [constant(item) for item in value]
        return None if None in items else Tuple(tuple(items))  # type: ignore[arg-type]
    return Known(value) if is_steady(value) else None


def known(value: Any) -> Value:
    """Return the value of an object that is the same in each call."""
    found = constant(value)
    if found is None:
        raise Unfit("an array in place of a constant")
    return found


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node, those of functions within it too."""
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
