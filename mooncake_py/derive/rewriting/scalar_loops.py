"""Find loops over numbers and elements of arrays, which may be one entry as a whole.

    for i in range(1, n):           _mk_steps0 = range(1, n)
        x[i] += a[i] * x[i - 1]     try:
                                        _mk_result0 = _mk_loop0.run(C, (), (_mk_steps0, x, a))
                                    except NameError:
                                        _mk_result0 = _mk_else
                                    if _mk_result0 is _mk_else:
                                        for i in _mk_steps0: ...    as it is written
                                    else:
                                        (i,) = _mk_result0
                                    del _mk_result0, _mk_steps0

Taken: loops over ``range`` within one another, assignments to names and elements of what
`~mooncake_py.derive.recording.fusion` takes, ints, and ``if`` with comparisons.  Nothing of that
has effects but on the arrays and the names, so that a trial can be undone.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.derive.loops.program import (
    Assign,
    Block,
    Branch,
    Count,
    Item,
    Program,
    Repeat,
)
from mooncake_py.derive.recording.fusion import (
    OPERATORS,
    Parts,
    Step,
    collect,
    dotted,
    is_plain_index,
    prepend,
)
from mooncake_py.derive.rewriting.names import Names
from mooncake_py.derive.rewriting.nodes import load, place_of
from mooncake_py.derive.rewriting.statics import StaticInts
from mooncake_py.derive.rewriting.trees import walk

__all__ = ["LoopReader"]

STATEMENTS = frozenset({ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.If, ast.Pass})
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.USub: "-", ast.UAdd: "+", ast.Not: "not ", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: " and ", ast.Or: " or ",
}


class Unfit(Exception):
    """Something that cannot be part of such a loop."""


class LoopReader:
    """Reads one loop.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    steady : frozenset of str
        Names of the function that only its own statements bind.
    node : For
    """

    def __init__(
        self, names: Names, statics: StaticInts, steady: frozenset[str], node: ast.For
    ) -> None:
        self.names = names
        self.statics = statics
        self.steady = steady
        self.program = Program()
        self.stored: set[str] = set()  # in the user's terms
        self.within: list[str] = []  # the counters of the loops round a statement
        self.defined: set[str] = set()
        self.functions: dict[str, int] = {}
        self.place = place_of(node.iter)
        self.node = node

    def read(self) -> Program | None:
        """Return what the loop consists of, or None if something cannot be part."""
        try:
            self.check()
            self.program.loop = self.loop(self.node, "r0")
            self.finish()
        except Unfit:
            return None
        return self.program

    def check(self) -> None:
        """Raise if a statement of the loop is of another kind, or binds another kind of name."""
        todo: list[Any] = [self.node]
        targets: list[ast.expr] = []
        counters: set[str] = set()
        while todo:
            item = todo.pop()
            if type(item) not in STATEMENTS:
                raise Unfit
            if isinstance(item, ast.For):
                if item.orelse or not isinstance(item.target, ast.Name):
                    raise Unfit
                if not self.names.calls_builtin(item.iter, "range"):
                    raise Unfit
                counters.add(item.target.id)
                todo += item.body
            elif isinstance(item, ast.If):
                todo += [*item.body, *item.orelse]
            elif not isinstance(item, ast.Pass):
                targets += item.targets if isinstance(item, ast.Assign) else [item.target]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            self.stored |= {part.id for part in parts if isinstance(part, ast.Name)}
        if self.stored & counters or not (self.stored | counters) <= self.steady:
            raise Unfit
        self.counters = counters

    def finish(self) -> None:
        """Note what was bound, and raise if an array was."""
        program = self.program
        program.bound = {named(name): name for name in sorted(self.stored | self.counters)}
        if program.bound.keys() & program.bases.keys() or not any(program.assignments()):
            raise Unfit
        if not set(map(lambda pair: pair[0], program.extents.values())) <= program.bases.keys():
            raise Unfit
        program.steered &= program.counts

    # Statements.

    def loop(self, node: ast.For, text: str) -> Repeat:
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        if name in self.within:
            raise Unfit
        before = set(self.defined)
        self.defined.add(name)
        self.within.append(name)
        body = self.block(node.body)
        self.within.pop()
        self.defined = before
        return Repeat(named(name), text, body)

    def block(self, body: list[ast.stmt]) -> Block:
        result: Block = []
        for node in body:
            result += self.statement(node)
        return result

    def statement(self, node: ast.stmt) -> Block:
        match node:
            case ast.For():
                return [self.inner(node)]
            case ast.If():
                return [self.branch(node)]
            case ast.Assign(targets=[ast.Tuple() as targets], value=ast.Tuple() as values):
                return self.in_parallel(targets.elts, values.elts)
            case ast.Assign(targets=[target], value=value):
                return [self.assigned(target, value)]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [self.assigned(target, value)]
            case ast.AugAssign(target=target, op=op, value=value):
                return [self.augmented(target, op, value)]
            case ast.Pass():
                return []
        raise Unfit

    def inner(self, node: ast.For) -> Repeat:
        """A loop within: its range must be the same on the way back."""
        assert isinstance(node.iter, ast.Call)
        if node.iter.keywords or not 1 <= len(node.iter.args) <= 3:
            raise Unfit
        args = [self.whole(arg) for arg in node.iter.args]
        bound = {
            part.id for item in node.body for part in walk(item)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        if bound & {part.id for part in walk(node.iter) if isinstance(part, ast.Name)}:
            raise Unfit
        return self.loop(node, f"range({', '.join(args)})")

    def branch(self, node: ast.If) -> Branch:
        test = self.native(node.test)
        before = set(self.defined)
        body = self.block(node.body)
        after = self.defined
        self.defined = set(before)
        orelse = self.block(node.orelse)
        self.defined &= after
        return Branch(test, body, orelse)

    def in_parallel(self, targets: list[ast.expr], values: list[ast.expr]) -> Block:
        """``a, b = b, a + b``: all values before the first name is bound."""
        if len(targets) != len(values):
            raise Unfit
        first: Block = []
        then: Block = []
        for k, (target, value) in enumerate(zip(targets, values, strict=True)):
            if not isinstance(target, ast.Name):
                raise Unfit
            temporary = f"w{k}"
            if self.statics.holds(target):
                first.append(Count(temporary, self.whole(value)))
                then.append(Count(named(target.id), temporary))
                self.program.counts.add(named(target.id))
            else:
                steps, operands = self.expression(value)
                first.append(Assign(temporary, steps, operands, False))
                then.append(Assign(named(target.id), (("pos", ("v", 0)),), (temporary,), False))
        self.defined |= {target.id for target in targets if isinstance(target, ast.Name)}
        return [*first, *then]

    def assigned(self, target: ast.expr, value: ast.expr) -> Assign | Count:
        if isinstance(target, ast.Name) and self.statics.holds(target):
            return self.counted(target.id, self.whole(value))
        steps, operands = self.expression(value)
        return Assign(self.target(target), steps, operands, False)

    def augmented(self, target: ast.expr, op: ast.operator, value: ast.expr) -> Assign | Count:
        if isinstance(target, ast.Name) and self.statics.holds(target):
            old = self.name(target.id)
            return self.counted(target.id, f"{old} {symbol(op)} {self.whole(value)}")
        operation = OPERATORS.get(type(op))
        if operation is None:
            raise Unfit
        old = self.name(target.id) if isinstance(target, ast.Name) else self.item(target)
        parts, operands = self.parts(value)
        steps = tuple(self.renumbered(step, parts) for step in prepend(operation, parts))
        return Assign(self.target(target), steps, (old, *operands), True)

    def counted(self, name: str, text: str) -> Count:
        self.defined.add(name)
        self.program.counts.add(named(name))
        return Count(named(name), text)

    def target(self, node: ast.expr) -> str | Item:
        if isinstance(node, ast.Name):
            self.defined.add(node.id)
            return named(node.id)
        return self.item(node)

    # Expressions of floats.

    def expression(self, node: ast.expr) -> tuple[tuple[Step, ...], tuple[str | Item, ...]]:
        """Return the operations and the operands of an expression."""
        parts, operands = self.parts(node)
        steps = tuple(self.renumbered(step, parts) for step in parts.steps)
        return steps or (("pos", parts.root),), operands

    def parts(self, node: ast.expr) -> tuple[Parts, tuple[str | Item, ...]]:
        parts = collect(node, self.names, spans=True)
        if parts is None:
            raise Unfit
        operands = []
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
        text = ast.unparse(node)
        if text not in self.functions:
            self.functions[text] = len(self.functions)
            self.program.functions.append(node)
        return "call", self.functions[text], *step[2:]

    def number(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self.name(node.id)
        return self.given(node)

    def given(self, node: ast.expr) -> str:
        """Return the name of an attribute, which is read before the loop."""
        if dotted(node).partition(".")[0] in self.stored | self.counters:
            raise Unfit
        name = named(dotted(node).replace(".", "_of_"))
        known = self.program.inputs.setdefault(name, node)
        if dotted(known) != dotted(node):
            raise Unfit
        return name

    def name(self, name: str) -> str:
        if name in self.counters and name not in self.within:
            raise Unfit  # on the way back it has another value there
        if name not in self.defined:
            self.program.inputs.setdefault(named(name), load(name, self.place))
        return named(name)

    def item(self, node: ast.expr) -> Item:
        if not isinstance(node, ast.Subscript):
            raise Unfit
        return self.element(node.value, node.slice)

    def element(self, base: ast.expr, index: ast.expr) -> Item:
        if not isinstance(base, ast.Name | ast.Attribute) or not is_plain_index(index):
            raise Unfit
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
            return self.name(node.id)
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
            case ast.Constant(value=value) if type(value) in (int, float):
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


def symbol(op: ast.AST) -> str:
    """Return how an operator is written."""
    if type(op) not in SYMBOLS:
        raise Unfit
    return SYMBOLS[type(op)]


def named(name: str) -> str:
    """Return how a name of the user's is called in generated code."""
    return f"u_{name}"
