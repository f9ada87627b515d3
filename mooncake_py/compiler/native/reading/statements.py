"""From statements in the source to those of a region: branches and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    Number,
    Unfit,
)
from mooncake_py.compiler.native.reading.bodies import has_jump
from mooncake_py.compiler.native.reading.branches import LEAVING, NOTHING, Unrolled, may_leave
from mooncake_py.compiler.native.reading.consuming import ConsumingReader
from mooncake_py.compiler.native.reading.drawing import Running
from mooncake_py.compiler.native.reading.iterables import (
    Enumerated,
    Generated,
    Iterable,
    Range,
    Zipped,
    known_count,
    memory_of,
    names_of,
    runs_back,
)
from mooncake_py.compiler.native.reading.prepared import bound_in
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus
from mooncake_py.compiler.regions.ir import (
    Break,
    Check,
    Compare,
    Const,
    Expr,
    For,
    If,
    Name,
    Op,
    While,
)
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of, statement

__all__ = ["Heads", "StatementReader"]

Heads = list[tuple[ast.expr, Iterable | None]]
FEW = 4  # passes of a loop that are read one by one where arrays get other shapes


class StatementReader(ConsumingReader):
    """Reads statements.

    Attributes
    ----------
    counted : dict of Slot to Number
        What variables that are counters of loops stand for afterwards.
    """

    counted: dict[Slot, Number]

    @override
    def read(self, nodes: Sequence[ast.stmt]) -> None:
        """Read statements; what follows a branch that may leave is part of it."""
        for k, node in enumerate(nodes):
            self.b.place = place_of(node)
            if isinstance(node, ast.If) and may_leave(node):
                self.branch(node, nodes[k + 1 :])
                return
            self.statement(node)
            if isinstance(node, LEAVING):
                return

    def statement(self, node: ast.stmt) -> None:
        """Read a statement."""
        self.findings.count_statement(place_of(node))
        match node:
            case ast.Assign(targets=targets, value=value):
                with self.taking_masks():
                    self.assigned(targets, self.assigned_value(targets, value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assigned([target], self.value(value))
            case ast.AugAssign():
                with self.taking_masks():
                    self.augmented(node)
            case ast.For():
                self.loop(node)
            case ast.While():
                self.as_long_as(node)
            case ast.If():
                self.branch(node, [])
            case ast.Return(value=value):
                self.returned(NOTHING if value is None else self.value(value))
            case ast.Break() | ast.Continue() if not self.jumps:
                raise Unfit("an else of a loop that leaves the one around it", place_of(node))
            case ast.Break() | ast.Continue() if isinstance(self.jumps[-1], Unrolled):
                self.leave_pass(self.jumps[-1], isinstance(node, ast.Break))
            case ast.Break():
                self.jumps[-1].append(self.slots.snapshot())
                self.b.add(Break(place=self.b.place))
            case ast.Continue():
                self.jumps[-1].append(self.slots.snapshot())
            case ast.Nonlocal() if self.scope.parent is not None:
                pass
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.value(value)
            case ast.FunctionDef(name=name):
                self.bind(name, self.made_function(node))
            case ast.Delete(targets=targets):
                self.deleted(targets)
            case ast.Assert(test=test):
                found = self.test(test)
                if found != Const(True):
                    self.b.require(found)
            case ast.Raise():
                self.b.add(Check(Const(False), place=self.b.place))
            case _:
                raise Unfit(f"a statement of the kind {type(node).__name__}", place_of(node))

    # Loops.

    def loop(self, node: ast.For) -> None:
        """Read ``for`` over a range, or over arrays; over known items, once for each."""
        if node.orelse:
            raise Unfit("`else` of a loop: use a flag", place_of(node))
        over = self.iterated(node.iter)
        if isinstance(over, Generated):
            self.loop_over(node, over)
            return
        count = known_count(over, as_items=True)
        is_short = count is not None and count <= MOST_ITEMS
        known = self.known_items(over, is_short and place_of(node) in self.findings.unrolled)
        if known is not None:
            self.iterating.append((names_of(over), -1))
            self.unrolled(node, known, runs_back(over))
            self.iterating.pop()
            return
        self.kept_loop(node, over, count)

    def kept_loop(self, node: ast.For, over: Iterable, count: int | None) -> None:
        """Read ``for`` as a loop, over so many items if that is known."""
        b = self.b
        is_short = count is not None and count <= MOST_ITEMS
        counter = b.fresh("i")
        heads, (low, high, step) = self.head(node.target, over)
        start = self.first_passes(node, heads, (low, high, step))
        if count is not None and is_short:
            self.short[counter] = place_of(node)
            if count <= FEW and not has_jump(node.body, LEAVING):
                self.few[counter] = place_of(node)
        elif count is None:
            self.passes[place_of(node)] = minus(high, low) if step > 0 else minus(low, high)
        least, greatest = (start, minus(high, ONE)) if step > 0 else (plus(high, ONE), start)
        runs = Compare(("lt",), (start, high) if step > 0 else (high, start))
        self.enter_loop(node.body, runs, memory_of(over))
        with b.loop(counter, least, greatest) as block:
            may_leave = has_jump(node.body, ast.Break | ast.Return)
            self.running.append(Running(block, counter, (start, high, step), may_leave))
            at = Number(Name(counter), "int")
            self.kept_pass(node, heads, at, low)
            self.settle_counters(at)
            self.running.pop()
        self.leave_loop(runs)
        steps = Op("range", (start, high, Const(step)), place=place_of(node.iter))
        b.add(For(counter, steps, tuple(block), place=place_of(node)))

    def first_passes(self, node: ast.For, heads: Heads, steps: tuple[Expr, Expr, int]) -> Expr:
        """Read the passes that come before a loop, if any; return where it starts then."""
        start, high, step = steps
        low, count = start, self.peeled_of(node)
        for _ in range(0 if place_of(node) in self.findings.rows else count):
            self.b.require(Compare(("lt",), (start, high) if step > 0 else (high, start)))
            counters = [t.id for t, over in heads if over is None and isinstance(t, ast.Name)]
            self.scope.bindings.update([k for k in bound_in([node]) if k not in counters])
            self.jumps.append(Unrolled(""))
            self.scope.repeats += 1
            for name in counters:
                self.slots.bound(self.scope.slot(name), Number(start, "int"))
            others: Heads = [(target, over) for target, over in heads if over is not None]
            self.kept_pass(node, others, Number(start, "int"), low)
            for name in counters:
                self.slots.unbound(self.scope.slot(name))
            self.scope.repeats -= 1
            self.jumps.pop()
            start = plus(start, Const(step))
        return start

    def kept_pass(self, node: ast.For, heads: Heads, at: Number, low: Expr) -> None:
        """Read a pass of a loop."""
        self.bind_heads(heads, at, low)
        self.read(node.body)

    def deleted(self, targets: Sequence[ast.expr]) -> None:
        """Read ``del`` of variables and items."""
        for target in targets:
            if isinstance(target, ast.Subscript):
                self.delete_item(self.value(target.value), self.value(target.slice))
                continue
            if not isinstance(target, ast.Name) or target.id not in self.scope.env:
                raise Unfit(
                    "`del` of an attribute",
                    place_of(target),
                )
            del self.scope.env[target.id]

    def bind_heads(self, heads: Heads, at: Number, low: Expr) -> None:
        """Bind the targets of a loop in a pass, given the counter, and where that begins."""
        place = minus(at.e, low)
        for target, over in heads:
            if over is None:
                self.bind_counter(target, at)
            else:
                self.to_target(target, self.item_at(over, place))

    def bind_counter(self, target: ast.expr, at: Number) -> None:
        """Bind a variable to the counter of a loop."""
        if not isinstance(target, ast.Name):
            raise Unfit("a counter of a loop that is an item: use a variable", place_of(target))
        scope = self.scope
        if scope.bindings[target.id] > 1 and scope.slot(target.id) in self.rebound:
            raise Unfit("a loop that assigns its counter: use another variable", place_of(target))
        slot = scope.slot(target.id)
        if not self.is_bound_once(slot):  # what it is after the loop may be read
            self.counted[slot] = self.bind_number(slot, at)
        self.slots.bound(slot, at)

    def settle_counters(self, at: Number) -> None:
        """Let variables that were counters stand for numbers, as they do after the loop."""
        for end in (self.slots, *self.jumps[-1]):
            for slot, value in end.values.items():
                if slot in self.counted and value == at:
                    end.values[slot] = self.counted[slot]

    def head(self, target: ast.expr, over: Iterable) -> tuple[Heads, tuple[Expr, Expr, int]]:
        """Return the targets of a loop with what gives their items, and its bounds.

        The first target is the counter where nothing gives its items.
        """
        if isinstance(over, Range):
            return [(target, None)], (over.low, over.high, over.step)
        if isinstance(over, Enumerated) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            index, item = target.elts
            end = plus(over.start, self.length(over))
            return [(index, None), *apart(item, over.inner)], (over.start, end, 1)
        return apart(target, over), (ZERO, self.length(over), 1)

    def as_long_as(self, node: ast.While) -> None:
        """Read ``while``, whose test is computed in each pass."""
        if node.orelse:
            raise Unfit("`else` of a loop: use a flag", place_of(node))
        b = self.b
        self.enter_loop([*node.body, statement(node.test, place_of(node))], None, set())
        with b.within() as block:
            test = self.test(node.test)
            if block:
                b.add(If(test, (), (Break(),), place=place_of(node)))
                test = Const(True)
            self.read(node.body)
        self.leave_loop(None)
        b.add(While(test, tuple(block), place=place_of(node)))


def apart(target: ast.expr, over: Iterable) -> Heads:
    """Return the targets in one with what gives their items."""
    if (
        not isinstance(over, Zipped)
        or not isinstance(target, ast.Tuple)
        or len(target.elts) != len(over.parts)
    ):
        return [(target, over)]
    pairs = zip(target.elts, over.parts, strict=True)
    return [head for pair in pairs for head in apart(*pair)]
