"""What stands in loops that may be one entry: operands, elements, ints and conditions.

All is written down as text for generated code: see `~mooncake_py.forms.loops.program`.
"""

from __future__ import annotations

import ast

from mooncake_py.forms.fusion import Parts, Step, collect, dotted, is_plain_index
from mooncake_py.forms.loops.program import Item, Operand, Program
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import load, place_of
from mooncake_py.syntax.static_integers import StaticInts
from mooncake_py.syntax.trees import walk

__all__ = ["LoopExpressions", "Unfit", "named", "symbol"]

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.USub: "-", ast.UAdd: "+", ast.Not: "not ", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: " and ", ast.Or: " or ",
}


class Unfit(Exception):
    """Something that cannot be part of such a loop."""


class LoopExpressions:
    """Reads the expressions of one loop.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    node : For or While

    Attributes
    ----------
    program : Program
        What is read, filled in on the way.
    stored, counters : set of str
        The names that assignments and loops bind, in the user's terms.
    within : list of str
        The counters of the loops round a statement.
    defined : set of str
        The names that are bound before a statement for certain.
    numbers : set of str
        What is read as a number, as it is called in generated code.
    """

    def __init__(self, names: Names, statics: StaticInts, node: ast.For | ast.While) -> None:
        self.names = names
        self.statics = statics
        self.place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        self.program = Program()
        self.stored: set[str] = set()
        self.counters: set[str] = set()
        self.within: list[str] = []
        self.defined: set[str] = set()
        self.numbers: set[str] = set()
        self.functions: dict[tuple[str, int], int] = {}

    # Expressions of floats.

    def expression(self, node: ast.expr) -> tuple[tuple[Step, ...], tuple[Operand, ...]]:
        """Return the operations and the operands of an expression."""
        parts, operands = self.parts(node)
        steps = tuple(self.renumbered(step, parts) for step in parts.steps)
        return steps or (("pos", parts.root),), operands

    def target(self, node: ast.expr) -> Operand:
        """Return what is assigned to: a name, which is bound from now on, or an element."""
        if isinstance(node, ast.Name):
            self.defined.add(node.id)
            return named(node.id)
        return self.item(node)

    def parts(self, node: ast.expr) -> tuple[Parts, tuple[Operand, ...]]:
        """Return what an expression consists of, and its operands."""
        parts = collect(node, self.names, spans=True)
        if parts is None:
            raise Unfit
        operands: list[Operand] = []
        for part in parts.layout:
            if type(part) is int:
                operands.append(self.number(parts.values[part]))
            else:
                base, index = (parts.values[position] for position in part)
                operands.append(self.element(base, index))
        return parts, tuple(operands)

    def renumbered(self, step: Step, parts: Parts) -> Step:
        """Return a step with the number that its function has in the loop."""
        if step[0] != "call":
            return step
        node = parts.functions[step[1]]
        key = ast.unparse(node), len(step)  # with another number of arguments it is another one
        if key not in self.functions:
            self.functions[key] = len(self.functions)
            self.program.functions.append(node)
        return "call", self.functions[key], *step[2:]

    def number(self, node: ast.expr) -> str:
        """Return the name of a number."""
        if isinstance(node, ast.Name):
            return self.name(node.id)
        name = self.given(node)
        self.numbers.add(name)
        return name

    def given(self, node: ast.expr) -> str:
        """Return the name of an attribute, which is read before the loop."""
        if dotted(node).partition(".")[0] in self.stored | self.counters:
            raise Unfit
        name = "a" + named(dotted(node).replace(".", "_of_"))  # no name of the user's is called so
        known = self.program.inputs.setdefault(name, node)
        if dotted(known) != dotted(node):
            raise Unfit
        return name

    def name(self, name: str) -> str:
        """Return how a name that is read as a number is called."""
        if name in self.counters and name not in self.within:
            raise Unfit  # on the way back it has another value there
        if name not in self.defined:
            self.given_name(name)
        self.numbers.add(named(name))
        return named(name)

    def given_name(self, name: str) -> str:
        """Pass what a name is bound to before the loop; return how it is called."""
        self.program.inputs.setdefault(named(name), load(name, self.place))
        return named(name)

    def item(self, node: ast.expr) -> Item:
        """Return an element that is read or written."""
        if not isinstance(node, ast.Subscript):
            raise Unfit
        return self.element(node.value, node.slice)

    def element(self, base: ast.expr, index: ast.expr) -> Item:
        """Return the element of an array at an index."""
        if not isinstance(base, ast.Name | ast.Attribute) or not is_plain_index(index):
            raise Unfit
        if any(is_truth(part) for part in walk(index)):
            raise Unfit  # a mask, to NumPy
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not parts:
            raise Unfit
        text = ", ".join(self.whole(part) for part in parts)
        name = self.array(base)
        if self.program.bases.setdefault(name, len(parts)) != len(parts):
            raise Unfit
        return Item(name, text)

    def array(self, node: ast.expr) -> str:
        """Return the name of an array, which the loop does not bind."""
        if isinstance(node, ast.Name):
            if node.id in self.stored or node.id in self.counters:
                raise Unfit
            return self.given_name(node.id)
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            raise Unfit
        return self.given(node)

    # Ints and conditions, as they stand.

    def whole(self, node: ast.expr) -> str:
        """Return the text of an int that the way back needs too."""
        for part in walk(node):
            if isinstance(part, ast.Name) and part.id in self.stored:
                if not self.statics.holds(part):
                    raise Unfit
                self.program.steered.add(named(part.id))
        return self.native(node)

    def native(self, node: ast.expr) -> str:
        """Return the text of an expression of ints and floats."""
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=value) if type(value) in (int, float, bool):
                return repr(value)
            case ast.BinOp(left=left, op=op, right=right):
                return f"({self.native(left)} {symbol(op)} {self.native(right)})"
            case ast.UnaryOp(op=op, operand=operand):
                return f"({symbol(op)}{self.native(operand)})"
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                parts = [self.native(left)]
                for op, other in zip(ops, comparators, strict=True):
                    parts += [symbol(op), self.native(other)]
                return f"({' '.join(parts)})"
            case ast.BoolOp(op=op, values=values):
                return f"({symbol(op).join(map(self.native, values))})"
            case ast.Subscript(value=ast.Attribute(value=base, attr="shape"),
                               slice=ast.Constant(value=int(axis))) if axis >= 0:
                return self.extent(base, axis)
            case ast.Subscript(value=ast.Name() | ast.Attribute()):
                return self.item(node).of("m")
            case ast.Call(args=[argument], keywords=[]):
                if self.names.calls_builtin(node, "len"):
                    return self.extent(argument, 0)
                for name in ("int", "abs"):
                    if self.names.calls_builtin(node, name):
                        return f"{name}({self.native(argument)})"
        raise Unfit

    def extent(self, node: ast.expr, axis: int) -> str:
        """Return the name of the length of an array, which no statement changes."""
        base = self.array(node)
        name = f"n{base}_{axis}"
        self.program.extents[name] = base, axis
        return name


def is_truth(node: ast.AST) -> bool:
    """Tell whether what stands in an index is True or False."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Constant) and type(node.value) is bool


def symbol(op: ast.AST) -> str:
    """Return how an operator is written."""
    if type(op) not in SYMBOLS:
        raise Unfit
    return SYMBOLS[type(op)]


def named(name: str) -> str:
    """Return how a name of the user's is called in generated code."""
    return f"u_{name}"
