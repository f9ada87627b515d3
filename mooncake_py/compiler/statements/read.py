"""From the syntax tree of an expression to IR over the values that are passed to it.

    a * x[i] + np.sin(x[i])     values   a, x, i
                                operands v0 = a, v1 = x[i], v2 = x[i]
                                value    v0 * v1 + f0(v2)

Taken are arithmetic, powers, products of vectors and matrices, sums, means and extrema along axes
that are written down, such methods of values, elementwise functions of modules, choices by a
comparison, ``int``, ``max`` and ``min``, elements and slices, and views like ``x.T``.  Nothing of
that has effects on arrays and numbers, so that it may be done again.
"""

from __future__ import annotations

import ast
import cmath
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import SMALL, partials_of
from mooncake_py.compiler.regions.comparisons import ORDERINGS
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Name, Op
from mooncake_py.compiler.regions.ir import walk as parts_within
from mooncake_py.compiler.statements.contractions import PRODUCTS
from mooncake_py.compiler.statements.methods import METHODS
from mooncake_py.compiler.statements.reductions import REDUCTIONS, read_axes
from mooncake_py.compiler.statements.statement import (
    Part,
    Statement,
    View,
    changing,
    is_operand,
    operand,
    position_of,
)
from mooncake_py.compiler.statements.views import ATTRIBUTES, VIEWS
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import dotted, is_plain, is_plain_index, located, place_of, replaced
from mooncake_py.syntax.trees import walk

__all__ = ["ARITHMETIC", "StatementReader", "plain_index", "read_expression"]

EXTREMA = ("max", "min")
ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.USub: "neg",
}  # fmt: skip


class Unfit(Exception):
    """Something that cannot be part of such a statement."""


class StatementReader:
    """Reads the expression of one statement.

    Parameters
    ----------
    names : Names
    peeks : bool
        Whether attributes of names may be read before their turn: the statement is only tried.
    is_first : bool
        Whether the expression is what the statement evaluates first: an element in an index may
        then be read where it stands, which may run code of the user's.

    Attributes
    ----------
    values : list of expr
        What is passed: names, attributes and indices.
    layout : list of Part
    functions : list of expr
    index_positions : list of int
    ints : dict of int to int
    has_complex, of_numbers : bool
        See `Statement`.
    """

    def __init__(self, names: Names, peeks: bool, is_first: bool = True) -> None:
        self.names = names
        self.peeks = peeks
        self.is_first = is_first
        self.values: list[ast.expr] = []
        self.layout: list[Part] = []
        self.functions: list[ast.expr] = []
        self.index_positions: list[int] = []
        self.ints: dict[int, int] = {}
        self._bases: dict[str, int] = {}
        self._indices: dict[Any, int] = {}
        self._known: dict[str, Name] = {}
        self._products: list[Expr] = []
        self._sums: list[Expr] = []
        self._reduces = False
        self.has_complex = False
        self.of_numbers = False

    def statement(self, value: Expr, certain: frozenset[int], **rest: Any) -> Statement:
        """Return the statement whose value was read."""
        return Statement(
            value,
            tuple(self.layout),
            len(self.values),
            ints=tuple(self.ints.items()),
            certain=certain,
            has_complex=self.has_complex,
            of_numbers=self.of_numbers,
            **rest,
        )

    # Arguments.

    def add_value(self, node: ast.expr) -> int:
        """Pass one more value; return its position."""
        self.values.append(node)
        return len(self.values) - 1

    def add_base(self, node: ast.Name | ast.Attribute) -> int:
        """Pass what is indexed, once; return its position."""
        text = dotted(node)
        if text not in self._bases:
            self._bases[text] = self.add_value(node)
        return self._bases[text]

    def add_index(self, node: ast.expr) -> int:
        """Pass an index, an equal one once; return its position."""
        key = tuple(map(key_of, walk(node)))
        if key in self._indices:
            return self._indices[key]
        self._indices[key] = position = self.add_value(node)
        self.index_positions.append(position)
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        is_element = len(parts) > 1 or not isinstance(node, ast.Tuple)
        if is_element and not any(isinstance(part, ast.Slice) for part in parts):
            self.ints[position] = len(parts)
        return position

    def add_operand(self, part: Part) -> Name:
        """Return a new operand."""
        self.layout.append(part)
        return operand(len(self.layout) - 1)

    def changed(self, op: str, part: Part, value: Expr) -> Expr:
        """Return the whole of an augmented assignment, whose target is operand 0 from now on."""
        self.layout.insert(0, part)
        return changing(op, value, len(self.layout) - 1)

    # Expressions.

    def value(self, node: ast.expr) -> Expr:
        """Return an expression as IR, or raise `Unfit`."""
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        place = place_of(node)
        match node:
            case ast.Attribute() if self.is_steady(node):
                return self.name(node)
            case ast.Attribute(value=inner, attr=name) if name in ATTRIBUTES:
                return self.view(inner, name)
            case ast.Constant(value=int(number) | float(number)) if type(number) is not bool:
                return Const(number, place=place)
            case ast.Constant(value=complex() as number) if cmath.isfinite(number):
                self.has_complex = True
                return Const(number, place=place)  # type: ignore[arg-type]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return Op("neg", (self.value(inner),), place=place)
            case ast.Subscript():
                return self.item(node)
            case ast.Call():
                return self.call(node)
        raise Unfit

    def binary(self, node: ast.BinOp) -> Expr:
        """Return an operator of two operands."""
        kind = type(node.op)
        if kind in ARITHMETIC:
            return Op(
                ARITHMETIC[kind],
                (self.value(node.left), self.value(node.right)),
                place=place_of(node),
            )
        if kind is ast.MatMult:
            return self.contraction(node, None, node.left, node.right)
        if kind is ast.Pow:
            return self.power(node)
        raise Unfit

    def power(self, node: ast.BinOp) -> Expr:
        """Return a power.

        Powers of numbers may be complex, except small ones; those of NumPy never are. So they are
        not supported next to arrays. A number or an array of NumPy is indexed.
        """
        place = place_of(node)
        value, n = self.value(node.left), self.exponent(node.right)
        if isinstance(n, Const) and (type(n.value) is bool or not n.value):
            raise Unfit
        if not isinstance(n, Const) or type(n.value) is not int or n.value not in SMALL:
            is_indexed = is_operand(value) and isinstance(self.layout[position_of(value)], tuple)
            self.of_numbers |= not is_indexed or not isinstance(n, Const)
        return Op("pow", (value, n), place=place)

    def exponent(self, node: ast.expr) -> Expr:
        """Return an exponent; one that is not a literal is supported in trials only."""
        match node:
            case ast.Constant(value=int(n) | float(n)):
                return Const(n, place=place_of(node))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(n) | float(n))):
                return Const(-n, place=place_of(node))
        if not self.peeks:
            raise Unfit
        return self.value(node)

    def is_steady(self, node: ast.expr) -> bool:
        """Return True if a name or an attribute may be read at any time."""
        if not isinstance(node, ast.Attribute):
            return isinstance(node, ast.Name)
        of_module = self.names.is_in_module(node)
        return of_module or (self.peeks and isinstance(node.value, ast.Name))

    def name(self, node: ast.Name | ast.Attribute) -> Name:
        """Return the operand of a name, one wherever it is read."""
        text = dotted(node)
        if text not in self._known:
            self._known[text] = self.add_operand(self.add_value(node))
        return self._known[text]

    def index(self, node: ast.expr) -> ast.expr | None:
        """Return an index as it may be passed, None if it may not."""
        return plain_index(node, self.names)

    def item(self, node: ast.Subscript) -> Name:
        """Return the operand of an element or a slice, by an index without effects.

        Elements may be in the index of what is evaluated first: ``values[starts[i]:]``.
        """
        index = self.index(node.slice)
        comes_first = self.is_first and not self.layout
        if index is None and comes_first and not self.peeks and is_of_elements(node.slice):
            index = node.slice
        if index is None or not self.is_steady(node.value):
            raise Unfit
        assert isinstance(node.value, ast.Name | ast.Attribute)
        return self.add_operand((self.add_base(node.value), self.add_index(index)))

    def view(self, node: ast.expr, function: ast.expr | str) -> Name:
        """Return the operand that is a view of a name or of a slice."""
        whole = not isinstance(node, ast.Subscript)
        index = located(ast.Constant(...), place_of(node)) if whole else node.slice
        base = node if whole else node.value
        plain = self.index(index)
        if plain is None or not self.is_steady(base):
            raise Unfit
        assert isinstance(base, ast.Name | ast.Attribute)
        view = View(self.add_base(base), self.add_index(plain), whole, self.called(function))
        return self.add_operand(view)

    def call(self, node: ast.Call) -> Expr:
        """Return a call of a module's function, such as ``np.hypot(x, y)``, or of `int`."""
        if isinstance(node.func, ast.Attribute) and self.names.module(node.func.value) is None:
            return self.method(node, node.func)
        if node.keywords:
            return self.reduction(node)
        if self.names.calls_builtin(node, "int") and len(node.args) == 1:
            return Op("int", (self.value(node.args[0]),), place=place_of(node))
        if self.peeks and len(node.args) == 2 and self.names.builtin(node.func) in EXTREMA:
            self.of_numbers = True
            args = tuple(map(self.value, node.args))
            return Call(self.function(node.func), args, place=place_of(node))
        if not isinstance(node.func, ast.Attribute):
            raise Unfit
        module, count = self.names.module(node.func.value), len(node.args)
        f = None if module is None else module.__dict__.get(node.func.attr)
        if count == 2 and any(f is product for product in PRODUCTS):
            return self.contraction(node, node.func, *node.args)
        if count == 1 and any(f is view for view in VIEWS):
            return self.view(node.args[0], node.func)
        if count == 2 and any(f is reduction for reduction in REDUCTIONS):
            return self.reduction(node)
        if count == 3 and f is np.where:
            return self.choice(node)
        is_sum = count == 1 and (f is np.sum or f is np.mean)
        is_linear = is_sum or (count == 1 and f is np.conjugate)
        if not (is_linear or (1 <= count <= 2 and partials_of(f, count) is not None)):
            raise Unfit
        args = tuple(map(self.value, node.args))
        found = Call(self.function(node.func), args, place=place_of(node))
        self._sums += [found] if is_sum else []
        return found

    def method(self, node: ast.Call, called: ast.Attribute) -> Expr:
        """Return a sum, a mean, an extremum or a product, as a method of a value."""
        place, name = place_of(node), called.attr
        if name not in METHODS:
            raise Unfit
        if name == "dot":
            if len(node.args) != 1 or node.keywords:
                raise Unfit
            return self.contraction(node, name, called.value, node.args[0])
        if node.args or node.keywords:
            return self.along(node, name, called.value, node.args)
        if name not in ("sum", "mean"):
            raise Unfit
        found = Call(name, (self.value(called.value),), place=place)
        self._sums.append(found)
        return found

    def choice(self, node: ast.Call) -> Expr:
        """Return a choice by a comparison."""
        test, *others = node.args
        compared = self.comparison(test)
        chosen = tuple(map(self.value, others))
        return Call(self.function(node.func), (compared, *chosen), place=place_of(node))

    def comparison(self, node: ast.expr) -> Expr:
        """Return a comparison of two values."""
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in ORDERINGS:
                args = self.value(left), self.value(right)
                return Op(ORDERINGS[type(op)], args, place=place_of(node))
        raise Unfit

    def reduction(self, node: ast.Call) -> Expr:
        """Return a sum, a mean or an extremum along axes that are written down."""
        match node:
            case ast.Call(func=ast.Attribute(value=module, attr=name), args=[array, *others]):
                owner = self.names.module(module)
            case _:
                raise Unfit
        f = None if owner is None else owner.__dict__.get(name)
        if not any(f is reduction for reduction in REDUCTIONS):
            raise Unfit
        return self.along(node, node.func, array, others)

    def along(
        self, node: ast.Call, called: ast.expr | str, array: ast.expr, args: list[ast.expr]
    ) -> Expr:
        """Return the call of a reduction, or of such a method, along axes."""
        axes: Any = read_axes(node, args)
        if axes is None:
            raise Unfit
        value = self.value(array)
        if self._products or any(e is known for e in parts_within(value) for known in self._sums):
            raise Unfit  # what they are of has a shape of its own
        self._reduces = True
        if not isinstance(called, str):
            axes = axes._replace(is_named=True)  # to a function of NumPy that is the same
        return Call(self.called(called), (value, Const(axes)), place=place_of(node))

    def function(self, node: ast.expr) -> int:
        """Pass a function; return its position."""
        self.functions.append(node)
        return len(self.functions) - 1

    def called(self, function: ast.expr | str) -> int | str:
        """Pass a function and return its position; a method has its name."""
        return function if isinstance(function, str) else self.function(function)

    def contraction(
        self, node: ast.expr, function: ast.expr | str | None, a: ast.expr, b: ast.expr
    ) -> Expr:
        """Return a product of vectors and matrices: operands, or such products."""
        args = self.value(a), self.value(b)
        if self._reduces or not all(
            is_operand(e) or any(e is known for known in self._products) for e in args
        ):
            raise Unfit
        place = place_of(node)
        if function is None:
            found: Expr = Op("matmul", args, place=place)
        else:
            found = Call(self.called(function), args, place=place)
        self._products.append(found)
        return found


def key_of(node: ast.AST) -> tuple[Any, ...]:
    """Return a key that distinguishes a part of an index from others."""
    match node:
        case ast.Name(id=name):
            return ast.Name, name
        case ast.Attribute(attr=name):
            return ast.Attribute, name
        case ast.Constant(value=value):
            return ast.Constant, type(value), value
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return type(node), type(op)
        case ast.Slice(lower=lower, upper=upper, step=step):
            return ast.Slice, lower is None, upper is None, step is None
        case ast.Tuple(elts=parts):
            return ast.Tuple, len(parts)
    return (node,)  # which may run code of the user's


def plain_index(node: ast.expr, names: Names) -> ast.expr | None:
    """Return an index that may be read at any time, None in the place of ``np.newaxis``."""

    def plain(part: ast.expr) -> ast.expr:
        if isinstance(part, ast.Attribute) and part.attr == "newaxis":
            module = names.module(part.value)
            if module is not None and module.__dict__.get("newaxis", part) is None:
                return located(ast.Constant(None), place_of(part))
        return part

    if isinstance(node, ast.Attribute):
        node = plain(node)
    elif isinstance(node, ast.Tuple) and any(isinstance(e, ast.Attribute) for e in node.elts):
        node = replaced(node, elts=list(map(plain, node.elts)))
    return node if is_plain_index(node) else None


def is_of_elements(node: ast.expr) -> bool:
    """Return True for an index in which elements of what names are bound to stand."""
    return all(
        isinstance(part.value, ast.Name) if isinstance(part, ast.Subscript) else is_plain(part)
        for part in walk(node)
    )


def read_expression(
    node: ast.expr,
    names: Names,
    peeks: bool = False,
    *,
    is_first: bool = True,
    compares: bool = False,
) -> tuple[StatementReader, Expr] | None:
    """Return an expression as IR and its reader, or None if it cannot be one entry.

    It is a comparison if that is said.  For the other parameters see `StatementReader`.  One on
    several lines may only be tried: a traceback could not tell the line of an operation.
    """
    if node.lineno != node.end_lineno and not peeks:
        return None
    reader = StatementReader(names, peeks, is_first)
    try:
        value = reader.comparison(node) if compares else reader.value(node)
    except Unfit:
        return None
    if reader.of_numbers and not peeks and any(map(has_operations, parts_within(value))):
        return None
    return reader, value


def has_operations(e: Expr) -> bool:
    """Return True for several operations on what may be arrays."""
    inner = [part for part in parts_within(e) if isinstance(part, Op | Call)]
    return len(inner) > 1 and not any(isinstance(part, Op) and part.op == "pow" for part in inner)
