"""Find loops over numbers and elements of arrays, which may be one entry as a whole.

Taken: loops over ``range`` and vectors (also with ``zip`` and ``enumerate``), and ``while``, within
one another; assignments to names and elements of what `~mooncake_py.forms.fusion`
takes; ints, ``if`` with comparisons, ``break`` and ``continue``.  Nothing of that has effects but
on the arrays and the names.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from mooncake_py.forms.adjoint_text import identifiers
from mooncake_py.forms.fusion import OPERATORS, prepend
from mooncake_py.forms.loops.expressions import LoopExpressions, Unfit, named, symbol
from mooncake_py.forms.loops.program import (
    Assign,
    Block,
    Branch,
    Count,
    Item,
    Program,
    Repeat,
    Stop,
    While,
)
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import load
from mooncake_py.syntax.static_integers import StaticInts
from mooncake_py.syntax.trees import walk

__all__ = ["LoopReader"]

STATEMENTS = frozenset({
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Break,
    ast.Continue,
})
SIZE = 200  # statements, at most: what follows a branch that may leave a loop is written twice


class Head(NamedTuple):
    """What a loop runs over: a range, or arrays whose elements names are bound to."""

    counter: str | None
    targets: list[Any]
    arrays: list[ast.expr]


class LoopReader(LoopExpressions):
    """Reads one loop.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    steady : frozenset of str
        Names of the function that only its own statements bind.
    function : FunctionDef
        The function that the loop is in.
    node : For or While
    """

    def __init__(
        self, names: Names, statics: StaticInts, steady: frozenset[str], function: Any,
        node: ast.For | ast.While,
    ) -> None:
        super().__init__(names, statics, node)
        self.steady = steady
        self.function = function
        self.node = node
        self.size = 0

    def read(self) -> Program | None:
        """Return what the loop consists of, or None if something cannot be part."""
        try:
            self.check()
            if isinstance(self.node, ast.While):
                self.program.loop = self.as_long_as(self.node)
                self.after = set()  # it may not run at all
            else:
                self.program.loop = self.loop(self.node, True)
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
                if item.orelse:
                    raise Unfit
                head = self.head(item)
                counters |= {name for name in (head.counter,) if name is not None}
                targets += head.targets
                todo += item.body
            elif isinstance(item, ast.While):
                if item.orelse:
                    raise Unfit
                todo += item.body
            elif isinstance(item, ast.If):
                todo += [*item.body, *item.orelse]
            elif not isinstance(item, ast.Pass | ast.Break | ast.Continue):
                targets += item.targets if isinstance(item, ast.Assign) else [item.target]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            self.stored |= {part.id for part in parts if isinstance(part, ast.Name)}
        if self.stored & counters or not (self.stored | counters) <= self.steady:
            raise Unfit
        self.counters = counters

    def finish(self) -> None:
        """Note what was bound, and raise if an array was, or was read as a number."""
        program = self.program
        uncertain = (self.stored | self.counters) - self.after
        if uncertain:  # who asks what is bound before looks through the whole function
            for name in sorted(uncertain & bound_before(self.function, self.node)):
                if name in self.counters and not self.statics.holds(load(name, self.place)):
                    raise Unfit  # what is no int before and one after has two meanings
                self.given_name(name)  # it may keep its value
        program.bound = {named(name): name for name in sorted(self.stored | self.counters)}
        if program.bases.keys() & (program.bound.keys() | self.numbers):
            raise Unfit
        if not any(program.assignments()):
            raise Unfit
        if not {base for base, _ in program.extents.values()} <= program.bases.keys():
            raise Unfit
        program.steered &= program.counts

    # Statements.

    def head(self, node: ast.For) -> Head:
        """Return what a loop runs over and what it binds."""
        call = node.iter if isinstance(node.iter, ast.Call) else None
        if self.names.calls_builtin(node.iter, "range") and isinstance(node.target, ast.Name):
            return Head(node.target.id, [], [])
        targets: list[ast.expr] = [node.target]
        arrays: list[ast.expr] = [node.iter]
        if isinstance(node.iter, ast.Name | ast.Attribute):
            pass
        elif call is None or call.keywords or not isinstance(node.target, ast.Tuple):
            raise Unfit
        elif self.names.calls_builtin(call, "zip"):
            targets, arrays = node.target.elts, call.args
        elif self.names.calls_builtin(call, "enumerate"):
            targets, arrays = node.target.elts, call.args
            if len(targets) == 2 and len(arrays) == 1 and isinstance(targets[0], ast.Name):
                return Head(targets[0].id, targets[1:], arrays)
            raise Unfit
        else:
            raise Unfit
        if len(targets) != len(arrays) or not all(isinstance(t, ast.Name) for t in targets):
            raise Unfit
        return Head(None, targets, arrays)

    def loop(self, node: ast.For, outermost: bool) -> Repeat:
        """Read a loop; the range of the outermost is known as ``r0``."""
        head = self.head(node)
        name = f"{len(self.within)} counter" if head.counter is None else head.counter
        if name in self.within:
            raise Unfit
        text = self.steps(node, head)
        if outermost:
            self.program.steps = text if head.arrays else None
            text = "r0"
        before = set(self.defined)
        self.defined.add(name)
        self.within.append(name)
        counter = f"h{len(self.within)}" if head.counter is None else named(name)
        reads: Block = []
        for target, array in zip(head.targets, head.arrays, strict=True):
            item = Item(self.array(array), counter)
            if self.program.bases.setdefault(item.base, 1) != 1:
                raise Unfit
            reads.append(Assign(self.target(target), (("pos", ("v", 0)),), (item,), False))
        body = self.block(node.body)
        self.within.pop()
        self.after, self.defined = self.defined, before
        return Repeat(counter, text, [*reads, *body])

    def steps(self, node: ast.For, head: Head) -> str:
        """Return the text of the range of a loop, which must be the same on the way back."""
        if head.arrays:
            lengths = [self.extent(array, 0) for array in head.arrays]
            self.program.equal.append(lengths)
            return f"range({lengths[0]})"
        assert isinstance(node.iter, ast.Call)
        if node is self.node:
            return ""
        if node.iter.keywords or not 1 <= len(node.iter.args) <= 3:
            raise Unfit
        args = [self.whole(arg) for arg in node.iter.args]
        if any(word.startswith("m_") for text in args for word in identifiers(text)):
            raise Unfit  # elements may have other values then
        bound = {
            part.id for item in node.body for part in walk(item)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        if bound & {part.id for part in walk(node.iter) if isinstance(part, ast.Name)}:
            raise Unfit
        return f"range({', '.join(args)})"

    def block(self, body: list[ast.stmt]) -> Block:
        """Read statements."""
        result: Block = []
        for k, node in enumerate(body):
            self.size += 1
            if self.size > SIZE:
                raise Unfit
            if isinstance(node, ast.Continue):
                return result
            if isinstance(node, ast.Break):
                return [*result, Stop()]
            if isinstance(node, ast.If) and may_jump(node):
                return [*result, self.branch(node, body[k + 1 :])]
            result += self.statement(node)
        return result

    def statement(self, node: ast.stmt) -> Block:
        """Read a statement."""
        match node:
            case ast.For():
                return [self.loop(node, False)]
            case ast.If():
                return [self.branch(node, [])]
            case ast.While():
                return [self.as_long_as(node)]
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

    def as_long_as(self, node: ast.While) -> While:
        """Read ``while``."""
        test = self.native(node.test)
        before = set(self.defined)
        body = self.block(node.body)
        self.defined = before
        return While(test, body)

    def branch(self, node: ast.If, rest: list[ast.stmt]) -> Branch:
        """Read ``if`` and what follows it, where one side may leave the pass of the loop.

        What only one side binds is not bound for certain.
        """
        test = self.native(node.test)
        before = set(self.defined)
        body = self.block([*node.body, *rest])
        after = self.defined
        self.defined = set(before)
        orelse = self.block([*node.orelse, *rest])
        self.defined &= after
        return Branch(test, body, orelse)

    def in_parallel(self, targets: list[ast.expr], values: list[ast.expr]) -> Block:
        """Read ``a, b = b, a + b``: all values come before the first target."""
        if len(targets) != len(values):
            raise Unfit
        first: Block = []
        for k, (target, value) in enumerate(zip(targets, values, strict=True)):
            if self.is_count(target):
                first.append(Count(f"w{k}", self.whole(value)))
            else:
                steps, operands = self.expression(value)
                first.append(Assign(f"w{k}", steps, operands, False))
        then: Block = []
        for k, target in enumerate(targets):
            if self.is_count(target):
                assert isinstance(target, ast.Name)
                then.append(self.counted(target.id, f"w{k}"))
            else:
                copy = (("pos", ("v", 0)),)
                then.append(Assign(self.target(target), copy, (f"w{k}",), False))
        return [*first, *then]

    def is_count(self, target: ast.expr) -> bool:
        """Tell whether a target is a name that is an int for certain."""
        return isinstance(target, ast.Name) and self.statics.holds(target)

    def assigned(self, target: ast.expr, value: ast.expr) -> Assign | Count:
        """Read ``target = value``."""
        if isinstance(target, ast.Name) and self.is_count(target):
            return self.counted(target.id, self.whole(value))
        steps, operands = self.expression(value)
        return Assign(self.target(target), steps, operands, False)

    def augmented(self, target: ast.expr, op: ast.operator, value: ast.expr) -> Assign | Count:
        """Read ``target op= value``."""
        if isinstance(target, ast.Name) and self.is_count(target):
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
        """Note that a name is an int."""
        self.defined.add(name)
        self.program.counts.add(named(name))
        return Count(named(name), text)


def may_jump(node: ast.If) -> bool:
    """Tell whether a statement may leave the pass of the loop that it is in."""
    return any(
        isinstance(part, ast.Break | ast.Continue) or (isinstance(part, ast.If) and may_jump(part))
        for part in (*node.body, *node.orelse)
    )


def bound_before(function: Any, loop: ast.For | ast.While) -> set[str]:
    """Return the names that are bound for certain when a loop of a function begins."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = _bound_on_the_way(function.body, loop)
    deleted = {
        part.id for part in walk(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)
    }
    return set() if found is None else found.union(arg.arg for arg in given) - deleted


def _bound_on_the_way(body: list[Any], loop: ast.For | ast.While) -> set[str] | None:
    """Return the names bound in a block, and in those within it, before a loop is reached."""
    found: set[str] = set()
    for node in body:
        if node is loop:
            return found
        for field in ("body", "orelse", "finalbody"):
            within = _bound_on_the_way(getattr(node, field, []), loop)
            if within is not None:
                return found | within
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value):
            targets = [node.target]
        else:
            continue
        found.update(
            part.id for target in targets for part in walk(target)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        )
    return None
