"""The rewritten code of a function, with the user's lines as comments."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import Any

from mooncake_py.compiler.native.printed_loop import PrintedLoop
from mooncake_py.compiler.regions.comparisons import ORDERINGS
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Name, Op
from mooncake_py.compiler.statements.reductions import Along
from mooncake_py.compiler.statements.site import StatementSite
from mooncake_py.compiler.statements.statement import Part, View, position_of
from mooncake_py.frontend.load import Derived
from mooncake_py.syntax.nodes import BINARY, CONTEXT, PREFIX

__all__ = ["code_lines", "is_docstring", "quick_forms", "readable"]

SYMBOLS: dict[str, ast.operator] = {name: kind() for kind, name in BINARY.items()}
INDENT = "    "
SLICES = "slice", "steady_slice"  # what makes slices of bounds


COMPARED: dict[str, type[ast.cmpop]] = {name: kind for kind, name in ORDERINGS.items()}


def code_lines(derived: Derived) -> list[str]:
    """Return the rewritten function as lines of text for readers.

    ``C`` is the context.  ``C.fused(e)`` marks an expression that may be one entry,
    ``C.fused_store(x[i], e)`` one that may be one entry with the store, and ``for i in
    C.fused_loop(range(n))`` a loop that may be one entry; the body shown is the one that runs if it
    cannot.  A comment above a rewritten statement shows the user's line.
    """
    node = readable(derived)
    if isinstance(node, ast.Lambda):
        return [*source_comment(derived.file, node, ast.unparse(node), ""), ast.unparse(node)]
    node.decorator_list = []
    if len(node.body) > 1 and is_docstring(node.body[0]):
        del node.body[0]
    return list(_Lines(derived.file).of([node], ""))


def readable(derived: Derived) -> Any:
    """Return the tree of the rewritten function with the values of constants."""
    return _Readable(derived.injected).visit(copied(derived.node))


def quick_forms(derived: Derived) -> list[str]:
    """Return the code generated so far for the fused expressions of a function.

    Each form is generated for kinds of operands, when they first occur.
    """
    lines: list[str] = []
    for value in derived.injected.values():
        if isinstance(value, PrintedLoop):
            for text in value.forms():
                lines += ["", f"# {value.heading}, as a whole", *text.splitlines()]
        if isinstance(value, StatementSite):
            for functions, kinds, form in value.forms():
                operands: list[ast.expr] = [ast.Name(f"v{i}") for i in range(len(kinds))]
                names: list[ast.expr] = [ast.Name(f.__name__) for f in functions]
                text = ast.unparse(expression_of(value.statement.value, names, operands))
                described = ", ".join(f"v{i}: {kind}" for i, kind in enumerate(kinds))
                lines += ["", f"# {text}   for {described}", *form.splitlines()]
    return lines


def copied(node: ast.AST) -> ast.AST:
    """Return a copy of a tree that the caller may change."""
    changes = {
        name: [copied(v) if isinstance(v, ast.AST) else v for v in value]
        if isinstance(value, list)
        else copied(value)
        if isinstance(value, ast.AST)
        else value
        for name, value in ast.iter_fields(node)
    }
    return ast.copy_location(type(node)(**changes), node)


TRIALS = "result", "part", "given"
"""Prefixes of the names of inputs and outputs of trials of loops."""


class _Readable(ast.NodeTransformer):
    """Transformer that replaces the names of constants by their values."""

    def __init__(self, injected: dict[str, Any]) -> None:
        self.injected = injected
        self.steps: list[ast.expr] = []  # what the loops that are being read run over

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = "C" if node.arg == CONTEXT else node.arg
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id == CONTEXT:
            return ast.Name("C", node.ctx)
        if node.id in self.injected:
            return constant_node(self.injected[node.id])
        return ast.Name(node.id.removeprefix(PREFIX), node.ctx)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if self.is_of_loop(node.targets[0], "steps"):
            self.steps.append(node.value)
            return None
        return self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> Any:
        first = node.body[0]
        if isinstance(first, ast.Assign) and self.is_of_loop(first.targets[0], *TRIALS):
            return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        """Print a loop that is tried as a whole in its original form."""
        loop = self.loop_tried(node)
        if loop is None:
            return self.generic_visit(node)
        tried = ast.Attribute(ast.Name("C", ast.Load()), "fused_loop")
        if isinstance(loop, ast.For):
            is_named = self.is_of_loop(loop.iter, "steps")
            loop.iter = ast.Call(tried, [self.steps.pop() if is_named else loop.iter], [])
        else:
            loop.test = ast.Call(tried, [loop.test], [])
        return self.generic_visit(loop)

    def loop_tried(self, node: ast.stmt) -> ast.For | ast.While | None:
        """Return the loop that runs where a trial has failed, None for other statements."""
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            return None
        left = node.test.left
        left = left.value if isinstance(left, ast.Attribute) else left
        if not self.is_of_loop(left, "result", "part"):
            return None
        for s in node.body:
            found = s if isinstance(s, ast.For | ast.While) else self.loop_tried(s)
            if found is not None:
                return found
        return None

    def visit_Delete(self, node: ast.Delete) -> Any:
        is_ours = self.is_of_loop(node.targets[0], "steps", *TRIALS)
        return None if is_ours else self.generic_visit(node)

    def is_of_loop(self, node: ast.AST, *parts: str) -> bool:
        """Return whether a name belongs to the trial of a loop."""
        return isinstance(node, ast.Name) and node.id.startswith(tuple(PREFIX + p for p in parts))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Print a comprehension that is tried as a whole in its original form."""
        if isinstance(node.value, ast.BoolOp):
            otherwise = node.value.values[-1]
            assert isinstance(otherwise, ast.Call)
            (made,) = otherwise.args
            assert isinstance(made, ast.Tuple)
            tried = ast.Attribute(ast.Name("C", ast.Load()), "fused_comprehension")
            return self.generic_visit(ast.Call(tried, made.elts, []))
        self.generic_visit(node)
        node.slice = as_index(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        site = None
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            site = self.injected.get(node.func.value.id)
        self.generic_visit(node)
        if not isinstance(site, StatementSite):
            return node
        functions, values = node.args[1:3]
        assert isinstance(functions, ast.Tuple)
        assert isinstance(values, ast.Tuple)
        statement = site.statement
        operands = [operand_of(part, values.elts, functions.elts) for part in statement.layout]
        expression = expression_of(statement.value, functions.elts, operands)
        target = statement.target
        if statement.into:
            assert isinstance(expression, ast.Call)
            assert target is not None
            out = operand_of(target, values.elts, functions.elts)
            expression.keywords.append(ast.keyword("out", out))
        elif isinstance(target, tuple):
            element = operand_of(target, values.elts, functions.elts)
            return ast.Call(ast.Attribute(ast.Name("C"), "fused_store"), [element, expression], [])
        return ast.Call(ast.Attribute(ast.Name("C"), "fused"), [expression], [])


def expression_of(e: Expr, functions: list[ast.expr], operands: list[ast.expr]) -> ast.expr:
    """Return the syntax tree of an expression over operands."""

    def of(e: Expr) -> ast.expr:
        match e:
            case Name():
                return operands[position_of(e)]
            case Const(value=value):
                return ast.Constant(value)
            case Call(function=f, args=args):
                return called(f, args)
            case Op(op=op, args=(a, b)) if op in COMPARED:
                return ast.Compare(of(a), [COMPARED[op]()], [of(b)])
            case Op(op="int", args=(a,)):
                return ast.Call(ast.Name("int"), [of(a)], [])
            case Op(op="neg", args=(a,)):
                return ast.UnaryOp(ast.USub(), of(a))
            case Op(op=op, args=(a, b)):
                return ast.BinOp(of(a), SYMBOLS[op], of(b))
        raise TypeError(e)

    def called(f: int | str, args: tuple[Expr, ...]) -> ast.expr:
        given: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        for arg in args:
            if isinstance(arg, Const) and isinstance(arg.value, Along):
                call: Any = ast.parse(f"f({arg.value})", mode="eval").body
                given, keywords = [*given, *call.args], call.keywords
            else:
                given.append(of(arg))
        if isinstance(f, str):
            return ast.Call(ast.Attribute(given[0], f), given[1:], keywords)
        return ast.Call(functions[f], given, keywords)

    return of(e)


def operand_of(part: Part, values: list[ast.expr], functions: list[ast.expr]) -> ast.expr:
    """Return the expression for a passed value, or for a value that is read from one."""
    if isinstance(part, int):
        return values[part]
    base, index = part[:2]
    if not isinstance(part, View):
        return ast.Subscript(values[base], as_index(values[index]))
    read = values[base] if part.whole else ast.Subscript(values[base], as_index(values[index]))
    if isinstance(part.function, str):
        return ast.Attribute(read, part.function)
    return ast.Call(functions[part.function], [read], [])


def constant_node(value: Any) -> ast.expr:
    """Return an expression for a constant."""
    if isinstance(value, slice):
        return ast.Call(
            ast.Name("slice"), [ast.Constant(v) for v in (value.start, value.stop, value.step)], []
        )
    if type(value) is tuple:
        return ast.Tuple([constant_node(part) for part in value])
    return ast.Name(getattr(value, "__name__", None) or repr(value))


def as_index(node: ast.expr) -> ast.expr:
    """Return an index with ``slice(a, b, c)`` written as ``a:b:c``."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([as_index(part) for part in node.elts])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SLICES:
        absent = [isinstance(a, ast.Constant) and a.value is None for a in node.args]
        bounds = [None if no else a for a, no in zip(node.args, absent, strict=True)]
        if len(bounds) > 1:
            return ast.Slice(*bounds)
    return node


class _Lines:
    """Printer of statements, with the user's lines above those that differ."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.shown = 0  # the user's line shown last

    def of(self, body: list[Any], indent: str) -> Iterator[str]:
        for node in body:
            yield from self.statement(node, indent)

    def statement(self, node: Any, indent: str) -> Iterator[str]:
        blocks = list(blocks_of(node))
        if not blocks:
            text = ast.unparse(node)
            yield from self.comment(node, text, indent)
            yield from (indent + line for line in text.splitlines())
            return
        first = True
        for header, body in blocks:
            if first:
                yield from self.comment(node, header, indent)
                first = False
            yield from (indent + line for line in header.splitlines())
            yield from self.of(body, indent + INDENT)

    def comment(self, node: Any, text: str, indent: str) -> Iterator[str]:
        if node.lineno > self.shown and not is_docstring(node):
            self.shown = node.lineno
            yield from source_comment(self.file, node, text, indent)


def is_docstring(node: ast.AST) -> bool:
    """Return whether a statement is a constant alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def source_comment(file: str, node: Any, text: str, indent: str) -> Iterator[str]:
    """Yield the user's line of a node as a comment, unless it equals the text."""
    line = linecache.getline(file, node.lineno).strip()
    if line and line.partition("  #")[0].rstrip() != text:
        yield f"{indent}# {node.lineno}: {line}"


def blocks_of(node: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield the headers of a compound statement, each with the block below it."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        bare = ast.unparse(replaced_body(node))
        yield bare.rpartition("\n")[0], node.body
    elif isinstance(node, (ast.For, ast.While, ast.If, ast.With)):
        header = ast.unparse(replaced_body(node)).splitlines()[0]
        yield header, node.body
        if getattr(node, "orelse", None):
            yield "else:", node.orelse  # type: ignore[union-attr]
    elif isinstance(node, (ast.Try, ast.TryStar)):
        star = "*" if isinstance(node, ast.TryStar) else ""
        yield "try:", node.body
        for handler in node.handlers:
            kind = "" if handler.type is None else " " + ast.unparse(handler.type)
            name = "" if handler.name is None else f" as {handler.name}"
            yield f"except{star}{kind}{name}:", handler.body
        if node.orelse:
            yield "else:", node.orelse
        if node.finalbody:
            yield "finally:", node.finalbody


def replaced_body(node: Any) -> Any:
    """Return a compound statement with an empty body."""
    fields = dict(ast.iter_fields(node))
    fields["body"] = [ast.Pass()]
    if "orelse" in fields:
        fields["orelse"] = []
    return ast.copy_location(type(node)(**fields), node)
