"""Loops over known items, which are read pass by pass.

    for p in (a, b, c):             if f(a) > 0:
        if f(p) > 0:                    x = g(a)
            x = g(p)                    broke = True
            break                   if not broke:
                                        if f(b) > 0:
                                            ...

What leaves a pass under a test on numbers lets the rest of the pass be the other side of the test.
A ``break`` sets a flag, which each later pass is under; a flag that is known decides.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mooncake_py.compiler.native.building.findings import TooMuch
from mooncake_py.compiler.native.building.values import Number, Tuple, Value
from mooncake_py.compiler.native.reading.bodies import names_bound
from mooncake_py.compiler.native.reading.branches import Unrolled
from mooncake_py.compiler.native.reading.conditions import opposite
from mooncake_py.compiler.native.reading.iterables import IterableReader
from mooncake_py.compiler.native.reading.lowering import BROKE
from mooncake_py.compiler.native.reading.prepared import bound_in
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.syntax.nodes import place_of

__all__ = ["MOST_STATEMENTS", "UnrollingReader"]

MOST_STATEMENTS = 3000
"""The number of statements that unrolled loops may add to a region after their first passes.

First calls take three seconds for a thousand statements on numbers, eight for those on arrays.
"""
FAR = 2
"""So many times as many are too many if one pass is a measure of the others."""


class UnrollingReader(IterableReader):
    """Reads loops over known items.

    Attributes
    ----------
    repeated : int
        How many statements later passes have added.
    outer : int
        How many such loops the reader is in.
    """

    repeated = 0
    outer = 0

    def unrolled(self, node: ast.For, items: Sequence[Value], is_back: bool) -> None:
        """Read a loop over items that are known, once for each."""
        scope = self.scope
        self.bind_again([node])
        flag = self.b.fresh(BROKE)
        scope.env[flag] = Number(Const(False), "bool")
        scope.repeats += 1
        self.jumps.append(Unrolled(flag))
        for k, item in enumerate(items):
            if not is_back:
                self.iterating[-1] = self.iterating[-1][0], k
            left = self.truth(scope.env[flag])
            if left == Const(True):
                break
            with self.counting(k > 0, node, len(items)):
                self.under(left, lambda: self.one_pass(node, item), node)  # noqa: B023
        self.jumps.pop()
        scope.repeats -= 1
        del scope.env[flag]

    def bind_again(self, body: Sequence[ast.stmt]) -> None:
        """Note that statements are read more than once: what they bind is bound again."""
        self.scope.bindings.update(bound_in([*body]))

    def under(self, left: Expr, read: Callable[[], None], node: ast.For) -> None:
        """Read a pass that runs unless the loop has been left."""
        if isinstance(left, Const):
            read()
        else:
            self.split(opposite(left), (read, lambda: None), (False, False), node)

    def one_pass(self, node: ast.For, item: Value) -> None:
        """Read the body for an item."""
        scope = self.scope
        others = names_bound(node.body)
        self.to_target(node.target, item)
        ints = {k: v for k, v in known_ints(node.target, item).items() if k not in others}
        bound = {name: scope.env[name] for name in ints}
        scope.env.update(ints)
        self.read(node.body)
        for name, value in bound.items():  # what it is after the loop
            if scope.env.get(name) == ints[name]:
                scope.env[name] = value

    def leave_pass(self, jump: Unrolled, is_break: bool) -> None:
        """Read ``break`` or ``continue`` of a loop over known items."""
        if is_break:
            self.scope.env[jump.flag] = Number(Const(True), "bool")

    @contextmanager
    def counting(self, counts: bool, node: ast.expr | ast.stmt, passes: int) -> Iterator[None]:
        """Count what a pass adds, unless it is the first, once where loops are in others."""
        self.outer += 1
        added, before = self.b.added, self.repeated
        yield
        self.outer -= 1
        if counts:
            self.repeated = before + self.b.added - added
        alike = (self.b.added - added) * (passes - 2) if counts else 0
        if self.repeated > MOST_STATEMENTS or alike > FAR * MOST_STATEMENTS:
            raise TooMuch(
                f"{passes} passes over known items, read one by one: more than {MOST_STATEMENTS} "
                "statements in all; use arrays and ranges",
                place_of(node),
            )


def known_ints(target: ast.expr, item: Value) -> dict[str, Value]:
    """Return the names in the target of a loop that an item binds to ints that are written down."""
    if isinstance(target, ast.Tuple) and isinstance(item, Tuple):
        pairs = [known_ints(*pair) for pair in zip(target.elts, item.items, strict=True)]
        return {name: v for pair in pairs for name, v in pair.items()}
    is_int = isinstance(item, Number) and item.type == "int" and isinstance(item.e, Const)
    return {target.id: item} if is_int and isinstance(target, ast.Name) else {}
