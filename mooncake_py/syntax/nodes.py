"""Syntax-tree nodes: copying without mutation, and calls of the context at the user's positions.

Trees of parsed files are cached and shared, so no function here changes its argument:
:class:`Rebuilder` returns the same node if nothing below it changed, and a new node otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

from mooncake_py.syntax.trees import walk

__all__ = [
    "BINARY",
    "CONTEXT",
    "EFFECTS",
    "INPLACE",
    "PREFIX",
    "SLICE",
    "STEADY_SLICE",
    "UNARY",
    "Place",
    "Rebuilder",
    "assign",
    "attribute_place",
    "constant",
    "context_attribute",
    "context_call",
    "dotted",
    "forget",
    "is_plain",
    "is_plain_index",
    "is_settled",
    "load",
    "located",
    "mangle",
    "place_of",
    "replaced",
    "statement",
    "store",
    "when",
]  # fmt: skip

PREFIX = "_mk_"
CONTEXT = "_mk_ctx"
FUNCTIONS = "_mk_functions"  # has the functions of modules that a function calls by name
SLICE = "_mk_slice"
STEADY_SLICE = "_mk_steady_slice"

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
}  # fmt: skip
INPLACE: dict[type[ast.operator], str] = {
    kind: "i" + name.rstrip("_") for kind, name in BINARY.items()
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}

_LOAD = ast.Load()
_STORE = ast.Store()
_DEL = ast.Del()

_LEAVES: frozenset[type[ast.AST]] = frozenset(
    {ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.alias, ast.Pass, ast.Break}
    | {ast.Continue, ast.Global, ast.Nonlocal}
    | {*ast.operator.__subclasses__(), *ast.unaryop.__subclasses__()}
    | {*ast.cmpop.__subclasses__(), *ast.boolop.__subclasses__()}
)


class Place(NamedTuple):
    """A stretch of source text, in the terms of :mod:`ast`; lines from 1, columns in bytes."""

    line: int
    column: int
    end_line: int
    end_column: int


def place_of(node: Any) -> Place:
    """Return the position of a statement or an expression."""
    return Place(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def attribute_place(attribute: ast.Attribute, whole: ast.expr) -> Place:
    """Return the place CPython reports for `whole`, an attribute access or a method call.

    Where the access spans lines, CPython names the line of the attribute, not the first line;
    tracebacks of rewritten code must do the same.
    """
    place = place_of(whole)
    end_line, end_column = attribute.end_lineno, attribute.end_col_offset
    if end_line is None or end_column is None or end_line == place.line:
        return place
    column = max(end_column - len(attribute.attr), 0)
    return Place(end_line, column, place.end_line, place.end_column)


def located(node: Any, place: Place) -> Any:
    """Put a fresh node at a place, and return it."""
    node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place
    return node


def constant(value: object, place: Place) -> ast.Constant:
    """Return a literal; `value` may be a tuple, which `compile` accepts."""
    return located(ast.Constant(value), place)  # pyright: ignore[reportArgumentType]


def load(name: str, place: Place) -> ast.Name:
    """Return an expression that reads a name."""
    return located(ast.Name(name, _LOAD), place)


def store(name: str, place: Place) -> ast.Name:
    """Return a target that binds a name."""
    return located(ast.Name(name, _STORE), place)


def assign(target: ast.expr, value: ast.expr, place: Place) -> ast.Assign:
    """Return the statement ``target = value``."""
    return located(ast.Assign([target], value), place)


def statement(value: ast.expr, place: Place) -> ast.Expr:
    """Return an expression as a statement."""
    return located(ast.Expr(value), place)


def forget(names: Iterable[str], place: Place) -> ast.Delete:
    """Return the statement that deletes names."""
    return located(ast.Delete([located(ast.Name(name, _DEL), place) for name in names]), place)


def when(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], place: Place) -> ast.If:
    """Return the statement that runs one of two bodies."""
    return located(ast.If(test, body, orelse), place)


def context_attribute(name: str, place: Place) -> ast.Attribute:
    """Return ``_mk_ctx.name``."""
    return located(ast.Attribute(load(CONTEXT, place), name, _LOAD), place)


def context_call(
    operation: str, args: list[ast.expr], place: Place, keywords: list[ast.keyword] | None = None
) -> ast.Call:
    """Return ``_mk_ctx.operation(*args)`` standing at `place`.

    ``_mk_ctx.operation`` itself gets a place of no width on the first line: were it to end on
    another line than it starts, CPython would report the call there.
    """
    point = Place(place.line, place.column, place.line, place.column)
    return located(ast.Call(context_attribute(operation, point), args, keywords or []), place)


def mangle(name: str, class_name: str | None) -> str:
    """Return the name as Python's compiler would spell it in a class (private names only)."""
    if class_name is None or not name.startswith("__") or name.endswith("__"):
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def replaced(node: Any, **changes: Any) -> Any:
    """Return a copy of a node with some fields changed and its position kept."""
    copy = node.__class__.__new__(node.__class__)
    copy.__dict__.update(node.__dict__)
    copy.__dict__.update(changes)
    return copy


class Rebuilder:
    """Base of tree passes that return new trees: ``visit_<Node>`` methods as in :mod:`ast`.

    A visit of a statement may return a list of statements in its place.
    """

    def visit(self, node: Any) -> Any:
        """Return the node for `node`: from its ``visit_`` method, or with its parts visited."""
        kind = node.__class__
        if kind in _LEAVES:
            return node
        method = getattr(self, "visit_" + kind.__name__, None)
        return self.rebuild(node) if method is None else method(node)

    def visit_all(self, nodes: list[Any]) -> list[Any]:
        """Visit a list; the very same list comes back where nothing changed."""
        result: list[Any] = []
        same = True
        for node in nodes:
            new = self.visit(node) if isinstance(node, ast.AST) else node
            same = same and new is node
            if new.__class__ is list:
                result.extend(new)
            else:
                result.append(new)
        return nodes if same else result

    def rebuild(self, node: Any) -> Any:
        """Visit every part of a node."""
        changes: dict[str, Any] = {}
        for field in node._fields:
            old: Any = getattr(node, field, None)
            if old.__class__ is list:
                new = self.visit_all(old)
            elif isinstance(old, ast.AST):
                new = self.visit(old)
            else:
                continue
            if new is not old:
                changes[field] = new
        return replaced(node, **changes) if changes else node


def dotted(node: Any) -> str:
    """Return the text of a name or of an attribute of names."""
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else node.id


def is_plain_index(node: ast.expr) -> bool:
    """Return whether an index is made of names, numbers, arithmetic, comparisons and slices."""
    return _PLAIN.issuperset([part.__class__ for part in walk(node)])


def is_plain(node: ast.AST) -> bool:
    """Return whether a node may be a part of such an index."""
    return node.__class__ in _PLAIN


_PLAIN = frozenset(
    {ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Compare}
)


EFFECTS = (
    *(ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""Expressions that may change what others read."""


def is_settled(node: ast.AST) -> bool:
    """Return whether an expression is made of names and literals, which can do nothing else."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(is_settled, node.elts))
    if isinstance(node, ast.keyword):
        return is_settled(node.value)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, (ast.Name, ast.Constant))
