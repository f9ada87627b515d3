"""From statements in the source to those of a region: branches and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Dictionary,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import lists
from mooncake_py.compiler.native.reading.bodies import has_jump, names_bound
from mooncake_py.compiler.native.reading.branches import LEAVING, NOTHING, may_leave
from mooncake_py.compiler.native.reading.loop_rule import LoopRule
from mooncake_py.compiler.native.reading.scope import bound_in
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus
from mooncake_py.compiler.native.regions.region import INT
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
from mooncake_py.jitted import is_prange
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of

__all__ = ["StatementReader"]

Heads = list[tuple[ast.expr, Array | Cells | None]]
FEW = 4  # passes of a loop that are read one by one where arrays get other shapes


class StatementReader(LoopRule):
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
            case ast.Break():
                self.jumps[-1].append(self.slots.snapshot())
                self.b.add(Break(place=self.b.place))
            case ast.Continue():
                self.jumps[-1].append(self.slots.snapshot())
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.value(value)
            case ast.FunctionDef(name=name):
                self.bind(name, self.made_function(node))
            case ast.Delete(targets=targets):
                self.deleted(targets)
            case ast.Assert(test=test):
                self.b.require(self.test(test))
            case ast.Raise():
                self.b.add(Check(Const(False), place=self.b.place))
            case _:
                raise Unfit(f"a statement of the kind {type(node).__name__}", place_of(node))

    # Loops.

    def loop(self, node: ast.For) -> None:
        """Read ``for`` over a range, or over arrays; over known items, once for each."""
        if node.orelse:
            raise Unfit("`else` of a loop: use a flag", place_of(node))
        known = self.known_items(node.iter)
        if known is not None:
            self.unrolled(node, known)
            return
        heads, counter, bounds = self.head(node)
        low, high, step = bounds
        b = self.b
        if is_short(low, high) and all(a is None for _, a in heads):
            if place_of(node) in self.findings.unrolled:
                passes = range(int(low.value), int(high.value), step)  # type: ignore[union-attr, arg-type]
                self.unrolled(node, [Number(Const(k), "int") for k in passes])
                return
            self.short[counter] = place_of(node)
            if abs(int(high.value) - int(low.value)) <= FEW and not has_jump(node.body, LEAVING):  # type: ignore[union-attr, arg-type]
                self.few[counter] = place_of(node)
        least, greatest = (low, minus(high, ONE)) if step > 0 else (plus(high, ONE), low)
        runs = Compare(("lt",), (low, high) if step > 0 else (high, low))
        self.enter_loop(node.body, runs, {a.base for _, a in heads if a is not None})
        with b.loop(counter, least, greatest) as block:
            at = Number(Name(counter), "int")
            self.bind_heads(heads, at, low)
            self.read(node.body)
            self.settle_counters(at)
        self.leave_loop(runs)
        steps = Op("range", (low, high, Const(step)), place=place_of(node.iter))
        b.add(For(counter, steps, tuple(block), place=place_of(node)))

    def unrolled(self, node: ast.For, items: Sequence[Value]) -> None:
        """Read a loop over items that are known, once for each."""
        if has_jump(node.body, ast.Break | ast.Continue):
            raise Unfit(
                "`break` or `return` in a loop over a tuple or a list: loop over a range",
                place_of(node),
            )
        self.scope.bindings.update(bound_in([node]))  # what it binds is bound again
        scope, others = self.scope, names_bound(node.body)
        scope.repeats += 1
        for item in items:
            self.to_target(node.target, item)
            ints = {k: v for k, v in known_ints(node.target, item).items() if k not in others}
            bound = {name: scope.env[name] for name in ints}
            scope.env.update(ints)
            self.read(node.body)
            for name, value in bound.items():  # what it is after the loop
                if scope.env.get(name) == ints[name]:
                    scope.env[name] = value
        scope.repeats -= 1

    def known_items(self, node: ast.expr) -> Sequence[Value] | None:
        """Return the items over which a loop runs, if they are those of tuples and lists."""
        if not isinstance(node, ast.Call):
            found = self.known(node)
            if isinstance(found, Dictionary):
                return [*map(Known, found.keys)]
            return found.items if isinstance(found, Tuple) else None
        if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            return self.items_of_dict(node.func)
        if not isinstance(node.func, ast.Name):
            return None
        f = self.value(node.func)
        if f == Known(enumerate):
            known = self.known_items(node.args[0]) if node.args else None
            return None if known is None else self.enumerated(node, known)
        if f not in (Known(zip), Known(reversed)) or any(k.arg != "strict" for k in node.keywords):
            return None
        parts = [self.known_items(a) for a in node.args]
        if not parts or any(part is None for part in parts):
            return None
        first, *others = [part for part in parts if part is not None]
        if node.keywords and any(len(part) != len(first) for part in others):
            return None
        if f == Known(zip):
            return [Tuple(pair) for pair in zip(first, *others, strict=False)]
        return None if others else first[::-1]

    def known(self, node: ast.expr) -> Value | None:
        """Read an expression that may stand for a tuple, a list or a dict, None for others."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Tuple | ast.List):
            return self.value(node)
        base = self.known(node.value) if isinstance(node, ast.Subscript) else None
        return self.value(node) if isinstance(base, Tuple | Dictionary) else None

    def items_of_dict(self, node: ast.Attribute) -> Sequence[Value] | None:
        """Return what ``d.items()``, ``d.keys()`` or ``d.values()`` run over, None for others."""
        d = self.known(node.value)
        if not isinstance(d, Dictionary) or node.attr not in ("items", "keys", "values"):
            return None
        keys = [*map(Known, d.keys)]
        if node.attr == "items":
            return [Tuple(pair) for pair in zip(keys, d.items, strict=True)]
        return keys if node.attr == "keys" else d.items

    def enumerated(self, call: ast.Call, items: Sequence[Value]) -> Sequence[Value]:
        """Return known items with what counts them."""
        start = self.start_of(call)
        counts = [Number(plus(start, Const(k)), "int") for k in range(len(items))]
        return [Tuple(pair) for pair in zip(counts, items, strict=True)]

    def start_of(self, call: ast.Call) -> Expr:
        """Read with which int an enumeration begins."""
        nodes = [*call.args[1:], *(k.value for k in call.keywords)]
        if len(nodes) > 1 or any(k.arg != "start" for k in call.keywords):
            raise Unfit("`enumerate` of other than one argument", place_of(call))
        if not nodes:
            return ZERO
        start = self.number(nodes[0])
        if start.kind != INT:
            raise Unfit("`enumerate` that does not start at an int", place_of(call))
        return self.b.steady(start.e)

    def deleted(self, targets: Sequence[ast.expr]) -> None:
        """Read ``del`` of variables."""
        for target in targets:
            if not isinstance(target, ast.Name) or target.id not in self.scope.env:
                raise Unfit(
                    "`del` of an item or an attribute",
                    place_of(target),
                )
            del self.scope.env[target.id]

    def bind_heads(self, heads: Heads, at: Number, low: Expr) -> None:
        """Bind the targets of a loop in a pass, given the counter, and where that begins."""
        place = Number(minus(at.e, low), "int")
        for target, array in heads:
            if array is None:
                self.bind_counter(target, at)
            elif isinstance(array, Cells):
                self.to_target(target, lists.item(self.b, array, place))
            else:
                view = viewed(self.b, array, [place])
                self.to_target(target, view if view.shape else self.element(view))

    def bind_counter(self, target: ast.expr, at: Number) -> None:
        """Bind a variable to the counter of a loop."""
        if not isinstance(target, ast.Name):
            raise Unfit("a counter of a loop that is an item: use a variable", place_of(target))
        scope = self.scope
        if scope.bindings[target.id] > 1 and target.id in self.rebound:
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

    def known_function(self, node: ast.expr) -> Any:
        """Return the function that a name, or an attribute of a module, refers to, if any."""
        match node:
            case ast.Name():
                f = self.value(node)
            case ast.Attribute(value=ast.Name() as module) if isinstance(self.value(module), Known):
                f = self.value(node)
            case _:
                return None
        return f.value if isinstance(f, Known) else None

    def head(self, node: ast.For) -> tuple[Heads, str, tuple[Expr, Expr, int]]:
        """Return the targets of a loop with their arrays, its counter, and its bounds."""
        counter = self.b.fresh("i")
        call = node.iter if isinstance(node.iter, ast.Call) else None
        of = None if call is None else self.known_function(call.func)
        if call is not None and (of is range or is_prange(of)):
            return [(node.target, None)], counter, self.steps(call)
        if call is not None and of is reversed:
            (inner,) = call.args
            if isinstance(inner, ast.Call) and self.value(inner.func) == Known(range):
                low, high, step = self.steps(inner)
                if abs(step) != 1:
                    raise Unfit("a reversed range with a step", place_of(node))
                shift = Const(step)
                return (
                    [(node.target, None)],
                    counter,
                    (minus(high, shift), minus(low, shift), -step),
                )
        if call is not None and of is enumerate and isinstance(node.target, ast.Tuple):
            index, item = node.target.elts
            heads, n = self.heads_over(item, call.args[0])
            low = self.start_of(call)
            return [(index, None), *heads], counter, (low, plus(low, n), 1)
        heads, n = self.heads_over(node.target, node.iter)
        return heads, counter, (ZERO, n, 1)

    def heads_over(self, target: ast.expr, node: ast.expr) -> tuple[Heads, Expr]:
        """Return the targets of a loop over an array, or over a zip of some, and the length."""
        if (
            not isinstance(node, ast.Call)
            or self.known_function(node.func) is not zip
            or not isinstance(target, ast.Tuple)
        ):
            array = self.array_of([node])
            return [(target, array)], array.shape[0]
        arrays = [self.array_of([a]) for a in node.args]
        if any(not is_strict(k) for k in node.keywords) or len(arrays) != len(target.elts):
            raise Unfit("`zip` with options", place_of(node))
        for a in arrays[1:]:  # otherwise one of them ends before, or `strict` raises
            self.b.check("eq", a.shape[0], arrays[0].shape[0])
        return [*zip(target.elts, arrays, strict=True)], arrays[0].shape[0]

    def array_of(self, nodes: Sequence[ast.expr]) -> Array | Cells:
        """Read the one array, or list of numbers, that a loop runs over."""
        found = self.value(nodes[0]) if len(nodes) == 1 else None
        if isinstance(found, Cells):
            return found
        if not isinstance(found, Array) or not found.shape:
            raise Unfit(
                f"a loop over {said(found)}: use a range, an array or a list of numbers",
                self.b.place,
            )
        return found if found.base else self.b.kept(found)

    def steps(self, call: ast.Call) -> tuple[Expr, Expr, int]:
        """Read the bounds and the step of a range."""
        with self.among_others():
            numbers = [self.number(a) for a in call.args]
        if call.keywords or not 1 <= len(numbers) <= 3 or any(n.kind != INT for n in numbers):
            raise Unfit(f"a range of {said(*numbers)}: use one to three ints", place_of(call))
        parts = [self.b.steady(n.e) for n in numbers]
        step = parts[2] if len(parts) == 3 else ONE
        if not isinstance(step, Const) or not step.value:
            raise Unfit("a range with a step that is not constant", place_of(call))
        low, high = (ZERO, parts[0]) if len(parts) == 1 else (parts[0], parts[1])
        return low, high, int(step.value)

    def as_long_as(self, node: ast.While) -> None:
        """Read ``while``, whose test is computed in each pass."""
        if node.orelse:
            raise Unfit("`else` of a loop: use a flag", place_of(node))
        b = self.b
        self.enter_loop(node.body, None, set())
        with b.within() as block:
            test = self.test(node.test)
            if block:
                b.add(If(test, (), (Break(),), place=place_of(node)))
                test = Const(True)
            self.read(node.body)
        self.leave_loop(None)
        b.add(While(test, tuple(block), place=place_of(node)))


def is_strict(keyword: ast.keyword) -> bool:
    """Return True for ``strict=True`` and ``strict=False``."""
    return keyword.arg == "strict" and isinstance(keyword.value, ast.Constant)


def is_short(low: Expr, high: Expr) -> bool:
    """Return True for a range with few ints, of which all are known."""
    return (
        isinstance(low, Const)
        and isinstance(high, Const)
        and abs(int(high.value) - int(low.value)) <= MOST_ITEMS  # type: ignore[arg-type]
    )


def known_ints(target: ast.expr, item: Value) -> dict[str, Value]:
    """Return the names in the target of a loop that an item binds to ints that are written down."""
    if isinstance(target, ast.Tuple) and isinstance(item, Tuple):
        pairs = [known_ints(*pair) for pair in zip(target.elts, item.items, strict=True)]
        return {name: v for pair in pairs for name, v in pair.items()}
    is_int = isinstance(item, Number) and item.type == "int" and isinstance(item.e, Const)
    return {target.id: item} if is_int and isinstance(target, ast.Name) else {}
