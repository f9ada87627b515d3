"""Which expressions of a jitted function may be ints of few bits, unsigned ints or NumPy bools.

An array of such elements counts as one of them.  Numba computes with their elements in 64 bits,
NumPy in the bits that they have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.modules import module_of
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.trees import walk

__all__ = ["Kinds", "NarrowValues", "is_narrow"]

NUMBERS = ("len", "float", "complex", "range", "sum", "bool", "isinstance")  # return no such value
CHOICES = frozenset({"max", "min"})
SIZES = frozenset({"shape", "size", "ndim", "nbytes", "itemsize", "strides"})
TRUTHS = frozenset({"any", "all", "isclose", "allclose", "array_equal"})
FLOAT_FUNCTIONS = frozenset({
    "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "pow", "power", "abs",
})  # fmt: skip
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
DTYPES = frozenset({bool, *np.sctypeDict.values()})


class Kinds(NamedTuple):
    """The parameters that are narrow in a call, and those that are floats or arrays of floats."""

    narrow: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: Iterable[tuple[str, Any]]) -> Kinds:
        """Return the kinds of arguments by their names."""
        items = list(given)
        return cls(
            frozenset(name for name, value in items if is_narrow(value)),
            frozenset(name for name, value in items if is_float(value)),
        )


def is_narrow(value: Any) -> bool:
    """Return True for a value that may be, or holds, an int of NumPy other than ``np.int64``."""
    if isinstance(value, tuple | list):
        return any(map(is_narrow, value))
    return isinstance(value, np.generic | np.ndarray) and is_narrow_type(value.dtype)


def is_narrow_type(dtype: np.dtype[Any]) -> bool:
    """Return True for bools, unsigned ints and ints of less than 64 bits."""
    return dtype.kind in "bu" or (dtype.kind == "i" and dtype.itemsize < 8)


def is_float(value: Any) -> bool:
    """Return True for a float or a complex number, or an array of them."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex | np.inexact)


class NarrowValues:
    """The possible values of the expressions of a function.

    Parameters
    ----------
    node : FunctionDef
    names : Names
        What its global names mean.
    captured : dict of str to object
        The values of its captured variables.
    kinds : Kinds
        Of its parameters.
    """

    def __init__(
        self, node: ast.FunctionDef, names: Names, captured: dict[str, Any], kinds: Kinds
    ) -> None:
        self.names = names
        self.captured = captured
        self.kinds = kinds
        self.bound = assigned(node)
        a = node.args
        self.parameters = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
        self.narrow = set(kinds.narrow)
        self.floats = {*kinds.floats, *(self.bound.keys() - self.parameters)}
        self._find()

    def _find(self) -> None:
        """Find the names that may be narrow, and drop those that are not floats for certain."""
        while True:
            more = {
                name
                for name, values in self.bound.items()
                if name not in self.narrow and any(map(self.may_be, values))
            }
            self.narrow |= more
            if not more:
                break
        while True:
            others = {
                name
                for name in self.floats
                if not all(map(self.is_float, self.bound.get(name, ())))
            }
            self.floats -= others
            if not others:
                break

    # Narrow values.

    def may_be(self, e: ast.AST) -> bool:
        """Return True for an expression that may be a narrow value."""
        match e:
            case ast.Name(id=name):
                return name in self.narrow or is_narrow(self.outside(e))
            case ast.Compare():
                return True
            case ast.BoolOp(values=values):
                return any(map(self.may_be, values))
            case ast.BinOp(left=left, op=op, right=right):
                sides = self.may_be(left), self.may_be(right)
                return any(sides) if isinstance(op, BITWISE) else all(sides)
            case ast.UnaryOp(op=op, operand=operand):
                return not isinstance(op, ast.Not) and self.may_be(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.may_be(body) or self.may_be(orelse)
            case ast.Attribute(value=value, attr=attr):
                of_module = is_narrow(self.outside(e))
                return of_module or (attr not in SIZES and self.may_be(value))
            case ast.Subscript(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.may_be(value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                return any(map(self.may_be, elts))
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                return self.may_be(elt)
            case ast.Call():
                return self._call_may_be(e)
        return False

    def may_be_truth(self, e: ast.AST) -> bool:
        """Return True for an expression that may be a truth: of comparisons, or narrow."""
        negated = isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not)
        converted = isinstance(e, ast.Call) and self.names.builtin(e.func) == "bool"
        return negated or converted or isinstance(e, ast.BoolOp) or self.may_be(e)

    def is_one_of_several(self, e: ast.AST) -> bool:
        """Return True for what may be one of several values, which compiled code gives one type."""
        values = self.values_of(e)
        return len(values) > 1 or any(map(self.alternatives, values))

    def is_widened(self, e: ast.AST) -> bool:
        """Return True for one of several values some of which are not narrow in any case."""
        values = self.values_of(e)
        alternatives = self.alternatives(values[0]) if len(values) == 1 else []
        return not all(map(self.may_be, alternatives))

    def values_of(self, e: ast.AST) -> list[ast.expr | None]:
        """Return the values bound to a name, None for what is passed; an expression is itself."""
        if not isinstance(e, ast.Name):
            return [e]  # type: ignore[list-item]
        return [*self.bound.get(e.id, ()), *([None] if e.id in self.parameters else [])]

    def alternatives(self, e: ast.AST | None) -> list[ast.expr]:
        """Return the parts of an expression one of which is its value."""
        match e:
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
            case ast.BoolOp(values=values):
                return values
            case ast.Call(func=func, args=args) if self.names.builtin(func) in CHOICES:
                return args
        return []

    def _call_may_be(self, e: ast.Call) -> bool:
        """Return True for a call that may return narrow values."""
        name = self.names.builtin(e.func)
        if name in NUMBERS:
            return False
        args = [*e.args, *(k.value for k in e.keywords)]
        for dtype in map(self.dtype, [e.func, *args]):
            if dtype is not None:
                return is_narrow_type(dtype)
        method = e.func if isinstance(e.func, ast.Attribute) else None
        if method is not None and (method.attr in TRUTHS or self.may_be(method.value)):
            return True
        found = self.ufunc(e.func)
        if found is not None and all(t.endswith("?") for t in found.types):
            return True
        return any(map(self.may_be, args))

    def dtype(self, e: ast.AST) -> np.dtype[Any] | None:
        """Return the dtype that an expression names, or None."""
        if isinstance(e, ast.Constant) and type(e.value) is str:
            return np.dtype(e.value) if e.value in np.sctypeDict else None
        if isinstance(e, ast.Name) and self.names.builtin(e) == "bool":
            return np.dtype(bool)
        value = self.outside(e)
        value = getattr(np, str(value), None) if of_numba(value) else value
        return np.dtype(value) if isinstance(value, type) and value in DTYPES else None

    # Floats.

    def is_float(self, e: ast.AST) -> bool:
        """Return True for a float or complex number for certain, or an array of such."""
        match e:
            case ast.Constant(value=value):
                return type(value) in (float, complex)
            case ast.Name(id=name):
                return name in self.floats or is_float(self.outside(e))
            case ast.Attribute():
                return is_float(self.outside(e))
            case ast.Subscript(value=value):
                return self.is_float(value)
            case ast.UnaryOp(operand=operand):
                return not isinstance(e.op, ast.Not) and self.is_float(operand)
            case ast.BinOp(left=left, op=op, right=right):
                sides = self.is_float(left), self.is_float(right)
                return isinstance(op, ast.Div) or any(sides)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_float(body) and self.is_float(orelse)
            case ast.Call(func=func, args=args):
                if self.names.builtin(func) == "float":
                    return True
                known = isinstance(func, ast.Attribute) and func.attr in FLOAT_FUNCTIONS
                return known and any(map(self.is_float, args))
        return False

    # The meanings of names.

    def outside(self, e: ast.AST) -> Any:
        """Return the value of a name that the function does not bind, or a part of a module."""
        if isinstance(e, ast.Name):
            if e.id in self.captured:
                return self.captured[e.id]
            if e.id in self.bound or e.id in self.parameters:
                return None
            return self.names.globals.get(e.id)
        if isinstance(e, ast.Attribute):
            module = self.names.module(e.value)
            return None if module is None else module.__dict__.get(e.attr)
        return None

    def ufunc(self, e: ast.AST) -> np.ufunc | None:
        """Return the universal function that an expression names, or None."""
        value = self.outside(e)
        return value if isinstance(value, np.ufunc) else None


def of_numba(value: Any) -> bool:
    """Return True for one of Numba's types, which convert numbers where they are called."""
    return module_of(type(value)).startswith("numba.core.types")


def assigned(node: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return the values that the names of a function are bound to, or containers of these."""
    found: dict[str, list[ast.expr]] = {}

    def bind(target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values):
                for t, v in zip(parts, values, strict=True):
                    bind(t, v)
                return
        for part in walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found.setdefault(part.id, []).append(value)

    for part in walk(node):
        match part:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                bind(target, value)
            case ast.NamedExpr(target=target, value=value):
                bind(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                bind(target, ast.BinOp(ast.Name(name, ast.Load()), op, value))
            case ast.For(target=target, iter=steps) | ast.comprehension(target=target, iter=steps):
                bind(target, steps)
    return found
