"""From the syntax tree of a loop to IR.

Before::

    for t in range | reversed(range) | array | zip(arrays) | enumerate(array | zip(arrays)):
        statement*
    while test: statement*
    statement = t = e | t = t = e | t op= e | a, b = e, e | for | while | if | break | continue
              | pass
    t         = name | array[e, ...] | name.attribute

After: the grammar of `ir`.  Arrays that a loop runs over are read by a counter; what follows an
``if`` that may leave the pass of its loop stands in both of its sides; ``a, b = e, f`` computes
all values before it binds a name; a conditional expression comes as a branch before the statement
that it stands in; an attribute is a name here, read on entry and stored on exit.
Nothing of that has effects but on arrays, names and attributes.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.reading.assignments import AssignmentReader
from mooncake_py.compiler.reading.bound_names import bound_before
from mooncake_py.compiler.reading.branches import LEAVING, is_told, may_jump
from mooncake_py.compiler.reading.definitions import Definition, nested_definition
from mooncake_py.compiler.reading.expressions import (
    Unfit,
    field_named,
    named,
)
from mooncake_py.compiler.reading.heads import Head, head_of, reversed_range
from mooncake_py.compiler.reading.index_names import index_names
from mooncake_py.compiler.reading.methods import Owner, made_class
from mooncake_py.compiler.regions.ir import (
    STEPS,
    Assign,
    Block,
    Break,
    Check,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Name,
    Op,
    Statement,
    While,
    statements,
    walk,
)
from mooncake_py.compiler.regions.region import Region
from mooncake_py.overriding import override
from mooncake_py.syntax.comprehensions import is_hidden
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import dotted, load, place_of
from mooncake_py.syntax.static_integers import Bindings, StaticInts
from mooncake_py.syntax.trees import walk as walk_tree

__all__ = ["LoopReader"]

STATEMENTS = frozenset({
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Break,
    ast.Continue, ast.Expr, ast.Raise, ast.Assert,
})  # fmt: skip
BINDING = ast.Assign | ast.AugAssign | ast.AnnAssign
SIZE = 200  # statements, at most: what follows a branch that may leave a loop is read twice


class LoopReader(AssignmentReader):
    """Reads one loop.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    found : Bindings
        Of the function.
    function : FunctionDef
        The function that the loop is in.
    node : For or While
    owner : Owner, optional
        The class of which the function is a method.

    Attributes
    ----------
    original : For, While or expr
        What the loop is in the function.
    total : str
        The name of ours that something outside the loop reads, if there is one.
    """

    total = ""

    def __init__(
        self,
        names: Names,
        statics: StaticInts,
        found: Bindings,
        function: Any,
        node: ast.For | ast.While,
        owner: Owner | None = None,
    ) -> None:
        place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        super().__init__(names, statics, place, owner)
        self.found = found
        self.steady = found.steady()
        self.definition = function
        self.node = node
        self.original: ast.For | ast.While | ast.expr = node
        self.size = 0
        self.choices = 0
        self.checks: list[Statement] = []

    def read(self) -> Region:
        """Return the region, or raise."""
        self.survey()
        loop: Statement
        if isinstance(self.node, ast.While):
            loop = self.as_long_as(self.node)
            self.after = set()  # it may not run at all
        else:
            loop = self.loop(self.node)
        bound = self.finish()
        if not any(isinstance(s, Assign) for s in statements((loop,))):
            raise Unfit
        if self.arrays.keys() & self.numbers:
            raise Unfit  # whole arrays
        body = (*self.checks, loop)
        return Region(
            body, tuple(self.inputs), self.arrays, bound, frozenset(self.counts),
            shaped=frozenset(self.shaped), data=frozenset(self.data), sums=frozenset(self.sums),
        )  # fmt: skip

    def survey(self) -> None:
        """Raise if a statement of the loop is of another kind, or binds another kind of name."""
        todo: list[Any] = [self.node]
        targets: list[ast.expr] = []
        changed: list[ast.expr] = []
        counters: set[str] = set()
        while todo:
            item = todo.pop()
            if type(item) not in STATEMENTS:
                raise Unfit
            if isinstance(item, ast.For | ast.While):
                todo += item.body
                if isinstance(item, ast.For):
                    head = head_of(self.names, item)
                    counters |= {name for name in (head.counter,) if name is not None}
                    targets += head.targets
            elif isinstance(item, ast.If):
                todo += [*item.body, *item.orelse]
            elif isinstance(item, ast.AugAssign):
                changed.append(item.target)
            elif isinstance(item, BINDING):
                targets += item.targets if isinstance(item, ast.Assign) else [item.target]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            self.stored |= {part.id for part in parts if isinstance(part, ast.Name)}
            self.fields |= {self.field(part) for part in parts if isinstance(part, ast.Attribute)}
        self.only_changed = {node.id for node in changed if isinstance(node, ast.Name)}
        self.only_changed -= self.stored
        self.stored |= self.only_changed
        self.fields |= {self.field(node) for node in changed if isinstance(node, ast.Attribute)}
        if self.stored & counters or not (self.stored | counters) <= self.steady:
            raise Unfit
        self.counters = counters
        self.indices = {
            name
            for name in index_names(self.names, [self.node]) & self.stored
            if not self.statics.holds(load(name, self.place))
        }

    def field(self, node: ast.Attribute) -> str:
        """Return an attribute that is stored in as text; only those of names are."""
        if not isinstance(node.value, ast.Name) or self.names.module(node.value) is not None:
            raise Unfit
        return dotted(node)

    @override
    def nested_definition(self, name: str) -> Definition | None:
        if name not in bound_before(self.definition, self.original):
            return None
        return nested_definition(self.outermost, self.found, self.definition, name)

    @override
    def class_of(self, node: ast.Attribute) -> type | None:
        return super().class_of(node) or made_class(self.names, self.found, node.value)

    def finish(self) -> dict[str, str]:
        """Return the names bound; raise if one is an array, or was read as a number but is one."""
        passed = {name for name in self.met if named(name) not in self.inputs}
        if passed:  # an unbound name is an error, also of a function that does not read it
            for name in sorted(passed - bound_before(self.definition, self.original)):
                self.given_name(name)
        uncertain = (self.stored | self.counters) - self.after
        if uncertain:  # who asks what is bound before looks through the whole function
            for name in sorted(uncertain & bound_before(self.definition, self.original)):
                if name in self.counters and not self.statics.holds(load(name, self.place)):
                    raise Unfit  # a name that becomes an int only later has two meanings
                self.given_name(name)  # it may keep its value
        visible = {n for n in self.stored | self.counters if not is_hidden(n) or n == self.total}
        bound = {named(name): name for name in sorted(visible)}
        bound |= {field_named(path): path for path in sorted(self.fields)}
        if self.arrays.keys() & bound.keys() - set(map(named, self.only_changed)):
            raise Unfit
        if not self.measured <= self.arrays.keys() or self.data & (self.stores | self.grown):
            raise Unfit
        if self.measured & self.grown:
            raise Unfit  # it has another length then
        for name in self.inputs.keys() - self.numbers - self.arrays.keys() - bound.keys():
            if name in self.objects():
                del self.inputs[name]  # passed to a function that reads attributes of it
        if self.ways & {path.partition(".")[2] for path in self.fields}:
            raise Unfit  # it may be another object afterwards
        return bound

    # Loops.

    def loop(self, node: ast.For) -> For:
        """Read ``for``."""
        head = head_of(self.names, node)
        place = place_of(node)
        user = f"{len(self.within)} counter" if head.counter is None else head.counter
        if user in self.within or node.orelse:
            raise Unfit
        steps = self.steps(node, head)
        before = set(self.defined)
        self.defined.add(user)
        self.within.append(user)
        counter = self.hidden_counter() if head.counter is None else self.own_name(user)
        reads: list[Statement] = []
        for target, array in zip(head.targets, head.arrays, strict=True):
            item = self.element(self.array(array), (Name(counter, place=place),), place)
            if self.is_count(target):
                self.data.add(item.array)
                reads.append(self.counted(target, item))
            else:
                reads.append(Assign(self.target(target), item, place=place))
        body = self.block(node.body)
        self.within.pop()
        self.after, self.defined = self.defined, before
        return For(counter, steps, (*reads, *body), place=place)

    def steps(self, node: ast.For, head: Head) -> Expr:
        """Read the range of a loop, which must be the same in the reverse pass."""
        place = place_of(node.iter)
        if head.arrays:
            first, *others = [self.length(array, 0) for array in head.arrays]
            self.checks += [
                Check(Compare(("eq",), (first, other), place=place), place=place)
                for other in others
            ]
            return Op("range", (first,), place=place)
        assert isinstance(node.iter, ast.Call)
        forward = reversed_range(self.names, node.iter)
        if node is self.node and forward is None:
            return Name(STEPS, place=place)
        call = forward or node.iter
        if node.iter.keywords or call.keywords or not 1 <= len(call.args) <= 3:
            raise Unfit
        steps = Op("range", tuple(map(self.steady_int, call.args)), place=place)
        if forward is not None:
            steps = Op("backwards", (steps,), place=place)
        if node is self.node and any(isinstance(part, Load) for part in walk(steps)):
            raise Unfit
        bound = {
            part.id
            for item in node.body
            for part in walk_tree(item)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        if bound & {part.id for part in walk_tree(node.iter) if isinstance(part, ast.Name)}:
            raise Unfit
        return steps

    def as_long_as(self, node: ast.While) -> While:
        """Read ``while``."""
        test = self.native(node.test)
        if self.before or node.orelse:
            raise Unfit  # each pass would need it
        before = set(self.defined)
        body = self.block(node.body)
        self.defined = before
        return While(test, body, place=place_of(node))

    # Statements.

    def block(self, body: list[ast.stmt]) -> Block:
        """Read statements."""
        result: list[Statement] = []
        for k, node in enumerate(body):
            self.size += 1
            if self.size > SIZE:
                raise Unfit
            outer, self.before = self.before, []
            jumps = may_jump(node)
            found = self.statement(node, body[k + 1 :] if jumps else [])
            result += [*self.before, *found]
            self.before = outer
            if jumps or isinstance(node, LEAVING):
                break
        return tuple(result)

    def statement(self, node: ast.stmt, rest: list[ast.stmt]) -> list[Statement]:
        """Read a statement; what follows a branch that may leave is part of it."""
        place = place_of(node)
        match node:
            case ast.For():
                return [self.loop(node)]
            case ast.If():
                return [self.branch(node, rest)]
            case ast.While():
                return [self.as_long_as(node)]
            case ast.Break():
                return [Break(place=place)]
            case ast.Return():
                return self.returning(node)
            case ast.Raise():
                return [Check(Const(False, place=place), place=place)]
            case ast.Assert(test=test):
                return [Check(self.native(test), place=place)]
            case ast.Expr(value=ast.Call() as call):
                return self.alone(call)
            case ast.Assign(targets=[ast.Tuple() as targets], value=ast.Call() as call):
                return self.unpacked(targets.elts, self.called(call, len(targets.elts)))
            case ast.Assign(targets=[ast.Tuple() as targets], value=ast.Tuple() as values):
                return self.in_parallel(targets.elts, values.elts)
            case ast.Assign(targets=[target], value=value):
                return [self.assigned(node, target, value)]
            case ast.Assign(targets=[_, *_] as targets, value=value):
                return self.shared(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [self.assigned(node, target, value)]
            case ast.AugAssign(target=target, op=op, value=value):
                return [self.augmented(node, target, op, value)]
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                return []
        raise Unfit

    def branch(self, node: ast.If, rest: list[ast.stmt]) -> If:
        """Read ``if`` and what follows it, where one side may leave the pass of the loop.

        What only one side binds is not bound for certain.
        """
        test = self.test(node.test)
        before = set(self.defined)
        body = self.told(node.body) if is_told(node) else self.block([*node.body, *rest])
        after = self.defined
        self.defined = set(before)
        orelse = self.block([*node.orelse, *rest])
        self.defined &= after
        return If(test, body, orelse, place=place_of(node))

    def told(self, body: list[ast.stmt]) -> Block:
        """Read calls that compute nothing for the loop, such as of `print`, or leave the region.

        What was noted until something could not be read is forgotten.
        """
        known = {name: copied(value) for name, value in self.__dict__.items()}
        callees = self.callees.copy()
        try:
            return self.block(body)
        except Unfit:
            self.__dict__.update(known)
            self.callees = callees
            place = place_of(body[0])
            return (Check(Const(False, place=place), place=place),)

    @override
    def chosen(self, node: ast.IfExp) -> Expr:
        place = place_of(node)
        name = Name(f"q{self.choices}", place=place)
        self.choices += 1
        test = self.test(node.test)
        sides: list[Block] = []
        outer = self.before
        for part in (node.body, node.orelse):
            self.before = []
            value = self.value(part)
            sides.append((*self.before, Assign(name, value, place=place_of(part))))
        self.before = outer
        outer.append(If(test, *sides, place=place))
        return name


def copied(value: Any) -> Any:
    """Return a copy of a container, and anything else as it is."""
    return value.copy() if isinstance(value, set | dict | list) else value
