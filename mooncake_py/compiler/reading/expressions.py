"""From syntax trees of expressions to IR: values, elements, ints and tests.

    a * x[i - 1]     Op("mul", (Name("u_a"), Load("u_x", (Op("sub", (Name("u_i"), Const(1))),))))

Taken as values: arithmetic, functions of modules of which the partial derivatives are declared or
zero, ``int``, ``float``, ``abs``, ``round``, ``len``, ``max``, ``min``, conditional expressions,
elements, names, attributes of names.  Taken in indices, ranges and tests: arithmetic, comparisons,
``and``, ``or``, ``not``, ``int``, ``abs``, ``len``, lengths of arrays, attributes of names; in
tests also powers, functions of `math`, ``max`` and ``min``.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.derivatives.partials import declared
from mooncake_py.compiler.regions.comparisons import COMPARISONS
from mooncake_py.compiler.regions.flat import is_flat_function
from mooncake_py.compiler.regions.ir import (
    Call,
    Compare,
    Const,
    Expr,
    Length,
    Load,
    Name,
    Op,
    Select,
)
from mooncake_py.compiler.regions.ir import walk as walk_expression
from mooncake_py.runtime.values import is_of_math
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import Place, dotted, is_dotted, load, place_of
from mooncake_py.syntax.static_integers import StaticInts
from mooncake_py.syntax.trees import walk

__all__ = ["VALUES", "ExpressionReader", "Unfit", "field_named", "named"]

ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.USub: "neg",
}  # fmt: skip
INTS: dict[type[ast.AST], str] = {
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.UAdd: "pos", ast.Not: "not", ast.And: "and",
    ast.Or: "or",
}  # fmt: skip
OPERATORS = ARITHMETIC | INTS
VALUES = ARITHMETIC | {
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.UAdd: "pos",
}  # fmt: skip
CONVERSIONS = "int", "abs", "float", "round"


INDEX = frozenset({
    ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript,
    ast.Call,
})  # fmt: skip


class Unfit(Exception):
    """Something that cannot be part of such a region."""


class ExpressionReader:
    """Reads the expressions of one region.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    place : Place
        Of the region.

    Attributes
    ----------
    inputs : dict of str to expr
        What is read that the region does not bind before, and what it stands for.
    arrays : dict of str to int
        Arrays of which elements are read or written, and the number of indices.
    functions : list of expr
        The functions that are called.
    stored, counters : set of str
        The names that assignments and loops bind, in the user's terms.
    fields : set of str
        The attributes of names that assignments store in, in the user's terms: ``body.x``.
    within : list of str
        The counters of the loops around a statement.
    defined : set of str
        The names that are bound before a statement for certain.
    numbers, measured, shaped, data : set of str
        What is read as a number, the arrays of which a length is read, those that can be no
        lists, and those of which elements are read as ints, by their names in IR.
    indices : set of str
        The names that are bound to such elements.
    only_changed : set of str
        The names of `stored` that operators change, where they are arrays, and nothing rebinds.
    ways : set of str
        The attributes that lead to objects of which attributes are read: ``p`` of ``o.p.x``.
    """

    def __init__(self, names: Names, statics: StaticInts, place: Place) -> None:
        self.names = names
        self.statics = statics
        self.place = place
        self.inputs: dict[str, ast.expr] = {}
        self.arrays: dict[str, int] = {}
        self.functions: list[ast.expr] = []
        self.stored: set[str] = set()
        self.counters: set[str] = set()
        self.fields: set[str] = set()
        self.within: list[str] = []
        self.defined: set[str] = set()
        self.numbers: set[str] = set()
        self.measured: set[str] = set()
        self.shaped: set[str] = set()
        self.data: set[str] = set()
        self.indices: set[str] = set()
        self.only_changed: set[str] = set()
        self.ways: set[str] = set()
        self.is_whole = False
        self.is_guarded = False  # within a test before which its operands are checked
        self._numbers_of: dict[tuple[str, int], int] = {}

    # Values.

    def value(self, node: ast.expr) -> Expr:
        """Read an expression that may have a derivative."""
        place = place_of(node)
        match node:
            case ast.Name(id=name):
                return self.number(name, place)
            case ast.Constant(value=int(value) | float(value)):
                return Const(value, place=place)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in VALUES:
                return Op(VALUES[type(op)], (self.value(left), self.value(right)), place=place)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in VALUES:
                return Op(VALUES[type(op)], (self.value(operand),), place=place)
            case ast.Subscript():
                return self.extent(node) or self.item(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if (
                name in CONVERSIONS and self.names.calls_builtin(node, name)
            ):
                return Op(name, (self.value(argument),), place=place)
            case ast.Call(args=[_, _, *_], keywords=[]) if self.is_extremum(node):
                return self.extremum(node, [self.value(part) for part in node.args])
            case ast.IfExp():
                return self.chosen(node)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(
                op, ast.Is | ast.IsNot
            ):
                return self.compared([op], [left, right], place)
            case ast.Call(args=[argument], keywords=[]) if self.names.calls_builtin(node, "len"):
                return self.length(argument, 0)
            case ast.Call() if self.calls_own(node):
                return self.inlined(node)
            case ast.Call(func=ast.Attribute(value=of, attr="conjugate"), args=[], keywords=[]):
                return Op("pos", (self.value(of),), place=place)
            case ast.Call(func=ast.Attribute() as f, args=args, keywords=[]):
                return Call(self.function(f, len(args)), tuple(map(self.value, args)), place=place)
        raise Unfit

    def is_extremum(self, node: ast.Call) -> bool:
        """Return True if the builtin `max` or `min` is called."""
        return any(self.names.calls_builtin(node, name) for name in ("max", "min"))

    def extremum(self, node: ast.Call, operands: list[Expr]) -> Expr:
        """Read ``max(a, b, ...)`` or `min`: the first of those that are equal."""
        comparison = "gt" if self.names.calls_builtin(node, "max") else "lt"
        place = place_of(node)
        found, *others = operands
        for other in others:
            found = Select(
                Compare((comparison,), (other, found), place=place), other, found, place=place
            )
        return found

    def chosen(self, node: ast.IfExp) -> Expr:
        """Read ``a if test else b``, of which one side is computed."""
        raise Unfit

    def calls_own(self, node: ast.Call) -> bool:
        """Return True if a function of the user may be called."""
        return isinstance(node.func, ast.Name) and not self.names.builtin(node.func)

    def inlined(self, node: ast.Call) -> Expr:
        """Read a call of a function of the user."""
        raise Unfit

    def number(self, name: str, place: Place) -> Expr:
        """Read a number that a name is bound to."""
        return Name(self.name(name), place=place)

    def attribute(self, node: ast.Attribute) -> Expr:
        """Read an attribute of a module or of a name, which is a number."""
        if self.is_part(node):
            read = self.whole if self.is_whole else self.value
            op = "pos" if node.attr == "real" else "imag"
            return Op(op, (read(node.value),), place=place_of(node))
        name = self.given(node)
        self.numbers.add(name)
        return Name(name, place=place_of(node))

    def is_part(self, node: ast.Attribute) -> bool:
        """Return True for ``v.real`` or ``v.imag`` of what can only be a number in a region.

        Numbers of regions are real.  What the region does not bind may be an object, of which the
        attribute is read before.
        """
        if node.attr not in ("real", "imag"):
            return False
        bound = isinstance(node.value, ast.Name) and node.value.id in self.stored | self.counters
        return bound or not is_dotted(node.value)

    def function(self, node: ast.Attribute, count: int) -> Any:
        """Return the number of a module's function of which the derivatives are declared."""
        module = self.names.module(node.value)
        f = None if module is None else module.__dict__.get(node.attr)
        if f is None or not 1 <= count <= 2:
            raise Unfit
        if not is_flat_function(f, count) and declared(f, count) is None:
            raise Unfit
        key = ast.unparse(node), count  # with another number of arguments it is another one
        if key not in self._numbers_of:
            self._numbers_of[key] = len(self.functions)
            self.functions.append(node)
        return self._numbers_of[key]

    # Names.

    def name(self, name: str) -> str:
        """Return how a name that is read as a number is called."""
        if name in self.counters and name not in self.within:
            raise Unfit  # on the way back it has another value there
        if name not in self.defined:
            self.given_name(name)
        self.numbers.add(named(name))
        return named(name)

    def given_name(self, name: str) -> str:
        """Pass what a name is bound to before the region; return how it is called."""
        self.inputs.setdefault(named(name), load(name, self.place))
        return named(name)

    def given(self, node: ast.expr) -> str:
        """Return the name of an attribute, which is read before the region.

        The object is one all the time: no statement of the region binds the name that it has.
        """
        if (
            not isinstance(node, ast.Attribute)
            or not is_dotted(node)
            or dotted(node).partition(".")[0] in self.stored | self.counters
        ):
            raise Unfit
        self.ways |= set(dotted(node).split(".")[1:-1])
        name = field_named(dotted(node))
        known: Any = self.inputs.setdefault(name, node)
        if dotted(known) != dotted(node):
            raise Unfit
        return name

    # Elements.

    def item(self, node: ast.expr) -> Load:
        """Read an element, which is read or written."""
        if not isinstance(node, ast.Subscript):
            raise Unfit
        base: ast.expr = node
        parts: list[ast.expr] = []
        while isinstance(base, ast.Subscript):  # m[i][j] is m[i, j], as m is an array
            index = base.slice
            if not all(type(part) in INDEX and not is_truth(part) for part in walk(index)):
                raise Unfit  # a mask, to NumPy
            parts = [*(index.elts if isinstance(index, ast.Tuple) else [index]), *parts]
            base = base.value
        if not parts:
            raise Unfit
        array = self.array(base)
        if node.value is not base or isinstance(node.slice, ast.Tuple):
            self.shaped.add(array)
        return self.element(array, tuple(map(self.steady_int, parts)), place_of(node))

    def steady_int(self, node: ast.expr) -> Expr:
        """Read an int that is computed again in the reverse pass, from elements that are data."""
        found = self.whole(node)
        self.data |= {part.array for part in walk_expression(found) if isinstance(part, Load)}
        return found

    def element(self, array: str, index: tuple[Expr, ...], place: Place) -> Load:
        """Return an element of an array, which always has as many indices."""
        if self.arrays.setdefault(array, len(index)) != len(index):
            raise Unfit
        return Load(array, index, place=place)

    def array(self, node: ast.expr) -> str:
        """Return the name of an array, which the region does not bind."""
        if isinstance(node, ast.Name):
            if node.id in (self.stored | self.counters) - self.only_changed:
                raise Unfit
            return self.given_name(node.id)
        return self.given(node)

    # Ints and tests.

    def whole(self, node: ast.expr) -> Expr:
        """Read an int that the way back may need too."""
        for part in walk(node):
            if (
                isinstance(part, ast.Name)
                and part.id in self.stored
                and part.id not in self.indices
                and not self.statics.holds(part)
            ):
                raise Unfit
            if isinstance(part, ast.Attribute) and is_dotted(part) and dotted(part) in self.fields:
                raise Unfit
        return self.native(node)

    def native(self, node: ast.expr) -> Expr:
        """Read an expression of ints and floats that has no derivative."""
        place = place_of(node)
        match node:
            case ast.Name(id=name):
                return self.number(name, place)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Constant(value=int(value) | float(value)):
                return Const(value, place=place)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return Op(OPERATORS[type(op)], (self.native(left), self.native(right)), place=place)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return Op(OPERATORS[type(op)], (self.native(operand),), place=place)
            case ast.BoolOp(op=op, values=values):
                return Op(OPERATORS[type(op)], tuple(map(self.native, values)), place=place)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.compared(ops, [left, *comparators], place)
            case ast.Subscript():
                return self.extent(node) or self.item(node)
            case ast.BinOp(left=left, op=ast.Pow(), right=right) if not self.is_whole:
                return Op("pow", (self.native(left), self.native(right)), place=place)
            case ast.Call(func=ast.Attribute() as f, args=args, keywords=[]) if not self.is_whole:
                if self.is_of_numpy(f) and not self.is_guarded:
                    raise Unfit  # it may warn
                return Call(self.function(f, len(args)), tuple(map(self.native, args)), place=place)
            case ast.Call(args=[argument], keywords=[]):
                return self.builtin(node, argument)
            case ast.Call(args=[_, _, *_], keywords=[]) if self.is_extremum(node):
                return self.extremum(node, [self.native(part) for part in node.args])
        raise Unfit

    def test(self, node: ast.expr) -> Expr:
        """Read the test of a branch."""
        before, self.is_guarded = self.is_guarded, True
        found = self.native(node)
        self.is_guarded = before
        return found

    def is_of_numpy(self, node: ast.Attribute) -> bool:
        """Return True for a function of another module than `math`."""
        module = self.names.module(node.value)
        return module is None or not is_of_math(module.__dict__.get(node.attr))

    def compared(self, ops: list[ast.cmpop], values: list[ast.expr], place: Place) -> Compare:
        """Read a chain of comparisons."""
        if not all(type(op) in COMPARISONS for op in ops):
            raise Unfit
        names = tuple(COMPARISONS[type(op)] for op in ops)
        identity = {"is", "is_not"}.intersection(names)
        if identity and not (len(ops) == 1 and is_none(values[1])):
            raise Unfit  # numbers are other objects here
        return Compare(names, tuple(map(self.compared_with, values)), place=place)

    def compared_with(self, node: ast.expr) -> Expr:
        """Read an operand of a comparison: also None and text, which flags may be."""
        if isinstance(node, ast.Constant) and (is_none(node) or type(node.value) is str):
            value: Any = node.value
            return Const(value, place=place_of(node))
        return self.native(node)

    def builtin(self, node: ast.Call, argument: ast.expr) -> Expr:
        """Read a call of a builtin."""
        if self.names.calls_builtin(node, "len"):
            return self.length(argument, 0)
        for name in CONVERSIONS:
            if self.names.calls_builtin(node, name):
                return Op(name, (self.native(argument),), place=place_of(node))
        raise Unfit

    def extent(self, node: ast.Subscript) -> Length | None:
        """Read ``x.shape[0]``; None where something else is indexed."""
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=base, attr="shape"), slice=ast.Constant(value=int(axis))
            ) if axis >= 0:
                found = self.length(base, axis)
                self.shaped.add(found.array)
                return found
        return None

    def length(self, node: ast.expr, axis: int) -> Length:
        """Read the length of an array, which no statement changes."""
        array = self.array(node)
        self.measured.add(array)
        return Length(array, axis, place=place_of(node))


def is_none(node: ast.expr) -> bool:
    """Return True for None as it is written down."""
    return isinstance(node, ast.Constant) and node.value is None


def is_truth(node: ast.AST) -> bool:
    """Return True if what stands in an index is True or False."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Constant) and type(node.value) is bool


def named(name: str) -> str:
    """Return how a name of the user's is called in IR."""
    return f"u_{name}"


def field_named(path: str) -> str:
    """Return how an attribute is called in IR, unlike any name of the user's."""
    return "a" + named(path.replace(".", "_of_"))
