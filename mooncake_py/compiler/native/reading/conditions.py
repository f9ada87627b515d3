"""From conditions in the source to tests in a region.

What takes statements is computed only where the source computes it: `p and f(q)` becomes

    c = p
    if c:
        ...
        c = f(q)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.native.building import narrow, operations
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.generator import Generator
from mooncake_py.compiler.native.building.values import (
    Cells,
    Dictionary,
    Known,
    Number,
    Object,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.declared import DeclaredReader
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Compare,
    Const,
    Count,
    Expr,
    If,
    Name,
    Op,
    Select,
    Statement,
)
from mooncake_py.syntax.nodes import place_of

__all__ = ["ConditionReader", "all_of", "opposite"]

LOGIC: dict[type[ast.boolop], str] = {ast.And: "and", ast.Or: "or"}


class ConditionReader(DeclaredReader):
    """Reads conditions."""

    def value(self, node: ast.expr) -> Value:
        """Read an expression."""
        raise NotImplementedError

    def compared(
        self, ops: Sequence[ast.cmpop], nodes: Sequence[ast.expr], tested: bool = False
    ) -> Value:
        """Read comparisons."""
        raise NotImplementedError

    def number(self, node: ast.expr) -> Number:
        """Read an expression that must be a number."""
        raise NotImplementedError

    def source_of(self, generator: Generator) -> Value:
        """Return x of a new ``iter(x)``, and generators as they are."""
        raise NotImplementedError

    def item_of_row(self, base: Tuple, at: Number) -> Value | None:
        """Read an item that a loop over known items tells, None in other loops."""
        raise NotImplementedError

    def same_rows(self, x: Object, y: Object) -> Expr:
        """Return whether two objects are one, of which one is another one in each pass."""
        raise NotImplementedError

    def among_others(self) -> AbstractContextManager[None]:
        """Read what is part of something else."""
        raise NotImplementedError

    def pin(self, e: Expr, most: int = 0) -> None:
        """Find out that ints and lengths of arguments must be known, on which something depends."""
        raise NotImplementedError

    def logical(self, op: ast.boolop, nodes: Sequence[ast.expr]) -> Value:
        """Read ``and`` or ``or``, which give one of their operands back."""
        first, *others = nodes
        x = self.value(first)
        if not others:
            return x
        test = self.truth(x)
        if isinstance(test, Const):
            return x if bool(test.value) == isinstance(op, ast.Or) else self.logical(op, others)
        is_or = isinstance(op, ast.Or)
        place = place_of(others[0])
        if place in self.findings.choosing:
            kept = self.kept_apart(x)
            rest = lambda: self.logical(op, others)  # noqa: E731
            first_side, other_side = (lambda: kept, rest) if is_or else (rest, lambda: kept)
            with self.among_others():
                return self.read_sides([test], [first_side, other_side])
        with self.supposing(test, not is_or), self.b.within() as block, self.among_others():
            y = self.logical(op, others)
        if (
            not isinstance(x, Number)
            or not isinstance(y, Number)
            or x.kind != BOOL
            or x.type != y.type
        ):
            self.findings.choosing.add(place)
            raise Again
        if block:
            return Number(self.decided(LOGIC[type(op)], test, block, self.truth(y)), x.type)
        return Number(Op(LOGIC[type(op)], (test, self.truth(y))), x.type)

    def decided(self, op: str, first: Expr, block: list[Statement], second: Expr) -> Name:
        """Return ``first and second``, or ``or``; a block computes the second, if it counts."""
        b = self.b
        found = b.changing(first, BOOL)
        self.implied[found.name] = Op(op, (first, second))
        block.append(Count(found.name, second, place=b.place))
        test = found if op == "and" else Op("not", (found,))
        b.add(If(test, tuple(block), (), place=b.place))
        return found

    def test(self, node: ast.expr) -> Expr:
        """Read a test, of which only the truth counts."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return opposite(self.test(node.operand))
        if isinstance(node, ast.Compare):
            chain = [node.left, *node.comparators]
            return self.truth(self.compared(node.ops, chain, tested=True))
        if not isinstance(node, ast.BoolOp):
            return self.truth(self.value(node))
        op, decides = LOGIC[type(node.op)], isinstance(node.op, ast.Or)
        parts: list[Expr] = []
        for part in node.values:
            test = self.later_test(op, parts, part) if parts else self.test(part)
            if not isinstance(test, Const):
                parts.append(test)
            elif bool(test.value) == decides:
                parts.append(test)
                break
        if not parts:
            return Const(not decides)
        return all_of(op, parts)

    def later_test(self, op: str, parts: list[Expr], node: ast.expr) -> Expr:
        """Read a test that is computed only if those before, its parts so far, do not decide.

        If that takes statements, it is returned together with these parts, which are dropped.
        """
        with (
            self.supposing(all_of(op, parts), op == "and"),
            self.b.within() as block,
            self.among_others(),
        ):
            test = self.test(node)
        if block:
            test = self.decided(op, all_of(op, parts), block, test)
            parts.clear()
        return test

    def truth(self, x: Value) -> Expr:
        """Return a value as a test."""
        if isinstance(x, Known) and not x.never_changes:
            raise Unfit(f"whether an object of type {type(x.value).__name__} is true", self.b.place)
        if isinstance(x, Known | Tuple | Dictionary):
            return Const(bool(x.value if isinstance(x, Known) else x.items))
        if isinstance(x, Cells | Stack):
            return Compare(("lt",), (ZERO, x.shape[0]))
        if not isinstance(x, Number):
            raise Unfit("an array as a condition: use np.any, np.all or an element", self.b.place)
        if isinstance(x.e, Const):
            return Const(bool(x.e.value))
        return x.e if x.kind == BOOL else Compare(("ne",), (x.e, ZERO))

    def either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        """Read ``a if test else b``, of which one side only is computed."""
        chosen = self.test(test)
        if isinstance(chosen, Const):
            return self.value(body if chosen.value else orelse)
        b, asked = self.b, chosen
        sources = (body, orelse)
        if place_of(body) in self.findings.choosing:
            with self.among_others():
                return self.read_sides([asked], [lambda n=n: self.value(n) for n in sources])
        if not isinstance(chosen, Name):
            chosen = b.counted(chosen)
            b.kinds[chosen.name] = BOOL
            self.implied[chosen.name] = asked
        sides: list[list[Any]] = []
        values: list[Value] = []
        for node in sources:
            with self.supposing(asked, not values), b.within() as block, self.among_others():
                found = self.value(node)
            if not is_of_numbers(found):
                self.pin(asked)
                self.findings.choosing.add(place_of(body))
                raise Again
            values.append(found)
            sides.append(block)
        if not may_be_either(*values):
            self.findings.choosing.add(place_of(body))
            raise Again
        found = self.either_value(chosen, sides, values[0], values[1])
        b.add(If(chosen, tuple(sides[0]), tuple(sides[1]), place=b.place))
        return found

    def either_value(self, chosen: Name, sides: Sequence[list[Any]], x: Value, y: Value) -> Value:
        """Return one value or another, after the statements that compute them.

        Of two tuples item by item: equal tuples are indistinguishable.
        """
        if isinstance(x, Tuple) and isinstance(y, Tuple) and are_alike(x, y):
            pairs = zip(x.items, y.items, strict=True)
            return replace(
                x, items=tuple([self.either_value(chosen, sides, *pair) for pair in pairs])
            )
        assert isinstance(x, Number)
        assert isinstance(y, Number)
        return self.either_number(chosen, sides, x, y)

    def either_number(
        self, chosen: Name, sides: Sequence[list[Any]], x: Number, y: Number
    ) -> Number:
        """Return one number or another, after the statements that compute them."""
        b = self.b
        kind = x.kind if x.kind == y.kind else FLOAT
        is_narrow = narrow.may_be_narrow(b, (x, y)) and kind == FLOAT
        if BOOL in (x.kind, y.kind) and x.kind != y.kind:
            raise Unfit("a value that is a bool on one way and a number on another", b.place)
        name = b.fresh("e")
        b.kinds[name] = kind
        for block, found in zip(sides, (x, y), strict=True):
            e = narrow.as_float64(found) if kind == FLOAT else found.e
            block.append(
                Assign(Name(name), e, place=b.place)
                if kind in REAL
                else Count(name, e, place=b.place)
            )
        if x.type == y.type and x.rank is None and y.rank is None:
            return Number(Name(name), x.type)
        if kind != FLOAT:
            raise Unfit(
                "a number that is an int of Python on one way and of NumPy on another", b.place
            )
        ranks = (operations.rank_of(b, x), operations.rank_of(b, y))
        return Number(Name(name), "float64", Select(chosen, *ranks), is_narrow)


def is_of_numbers(value: Value) -> bool:
    """Return True for a number, or a tuple of such."""
    if isinstance(value, Tuple):
        return not value.is_list and all(map(is_of_numbers, value.items))
    return isinstance(value, Number)


def may_be_either(x: Value, y: Value) -> bool:
    """Return True for two numbers, or two tuples of as many."""
    if isinstance(x, Tuple) and isinstance(y, Tuple):
        return are_alike(x, y) and all(map(may_be_either, x.items, y.items))
    if isinstance(x, Number) and isinstance(y, Number):
        return (x.kind == BOOL) == (y.kind == BOOL)
    return False


def are_alike(x: Tuple, y: Tuple) -> bool:
    """Return True for two tuples of one class and length, which are not lists."""
    return not (x.is_list or y.is_list) and x.cls is y.cls and len(x.items) == len(y.items)


def all_of(op: str, tests: Sequence[Expr]) -> Expr:
    """Return tests that ``and`` or ``or`` joins."""
    return tests[0] if len(tests) == 1 else Op(op, tuple(tests))


def opposite(test: Expr) -> Expr:
    """Return the opposite of a test."""
    if isinstance(test, Const):
        return Const(not test.value)
    return Op("not", (test,))
