"""Comprehensions and sums as loops, for those who read loops.

    [a * v for v in x if v > 0]         for _mk_v_0 in x:
                                            if _mk_v_0 > 0: _mk_made.append(a * _mk_v_0)

    y = b - sum(v * v for v in x)       _mk_sum_0 = 0
                                        for _mk_v_0 in x: _mk_sum_0 += _mk_v_0 * _mk_v_0
                                        y = b - _mk_sum_0

The names that a comprehension binds are its own, so they get names that no other one has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import count
from typing import Any

from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    PREFIX,
    Place,
    Rebuilder,
    load,
    located,
    place_of,
    replaced,
    store,
)
from mooncake_py.syntax.trees import walk

__all__ = ["MADE", "TOTAL", "collecting", "is_hidden", "is_sum", "summing", "with_sums_as_loops"]

MADE = f"{PREFIX}made"
"""Name of the list that a comprehension makes."""
TOTAL = f"{PREFIX}sum_"
"""Begins the names of sums."""
COMPREHENSION = ast.ListComp | ast.GeneratorExp
SCOPES = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.NamedExpr
CHOICES = ast.IfExp | ast.BoolOp
SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr

Numbers = Callable[[], int]


def is_hidden(name: str) -> bool:
    """Return True for a name that is ours."""
    return name.startswith(PREFIX)


def is_sum(node: ast.AST, names: Names) -> bool:
    """Return True for ``sum(e for ...)`` and ``sum([e for ...])``."""
    return (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], COMPREHENSION)
        and names.calls_builtin(node, "sum")
    )


def collecting(node: Any, names: Names) -> ast.For | None:
    """Return a comprehension as a loop that appends to `MADE`; None if it is none of such."""
    number = count().__next__

    def append(e: ast.expr, place: Place) -> list[ast.stmt]:
        f = located(ast.Attribute(load(MADE, place), "append", ast.Load()), place)
        call = located(ast.Call(f, [e], []), place)
        return [located(ast.Expr(call), place)]

    return as_loop(node, names, number, append)


def summing(node: ast.Call, names: Names) -> tuple[str, ast.For] | None:
    """Return a sum as the name of what is added up, and the loop; None if it is none of such."""
    return added_up(node, names, count().__next__)


def added_up(node: Any, names: Names, number: Numbers) -> tuple[str, ast.For] | None:
    """Return the same for a sum among others."""
    total = f"{TOTAL}{number()}"

    def add(e: ast.expr, place: Place) -> list[ast.stmt]:
        more = located(ast.BinOp(load(total, place), ast.Add(), e), place)
        return [located(ast.Assign([store(total, place)], more), place)]

    loop = as_loop(node.args[0], names, number, add)
    return None if loop is None else (total, loop)


def as_loop(
    node: Any, names: Names, number: Numbers, body_of: Callable[[Any, Place], list[ast.stmt]]
) -> ast.For | None:
    """Return a comprehension as a loop, with sums in it as loops; None if it cannot be one."""
    inner = [node.elt, *(part for g in node.generators for part in g.ifs)]
    own = {
        part.id for g in node.generators for part in walk(g.target) if isinstance(part, ast.Name)
    }
    for part in (part for e in inner for part in walk(e)):
        if isinstance(part, SCOPES) and not any(
            is_sum(call, names) and call.args[0] is part for e in inner for call in walk(e)
        ):
            return None
    if any(g.is_async for g in node.generators):
        return None
    new = {name: f"{PREFIX}{name}_{number()}" for name in sorted(own)}
    renamed = Renamed(new)
    place = place_of(node.elt)
    body = body_of(renamed.visit(node.elt), place)
    for k, g in reversed(list(enumerate(node.generators))):
        for test in reversed(g.ifs):
            body = [located(ast.If(renamed.visit(test), body, []), place_of(test))]
        iterable = renamed.visit(g.iter) if k else g.iter
        target = renamed.visit(g.target)
        body = [located(ast.For(target, iterable, body, []), place_of(node))]
    (loop,) = with_sums_as_loops(body, names, number)
    return loop


class Renamed(Rebuilder):
    """Renames the names that a comprehension binds."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit(self, node: Any) -> Any:
        """Visit a node, with names renamed."""
        if isinstance(node, ast.Name):
            return replaced(node, id=self.names.get(node.id, node.id))
        return super().visit(node)


def with_sums_as_loops(body: list[Any], names: Names, number: Numbers | None = None) -> list[Any]:
    """Return statements with the sums in them before those that they are part of.

    The same list comes back where there are none.
    """
    return Sums(names, count().__next__ if number is None else number).visit_all(body)


class Sums(Rebuilder):
    """Takes sums out of simple statements and tests of branches.

    What stands in a choice is left: it may not be computed.
    """

    def __init__(self, names: Names, number: Numbers) -> None:
        self.names = names
        self.number = number
        self.before: list[ast.stmt] = []

    def visit(self, node: Any) -> Any:
        """Visit a node; a statement may come with others before it."""
        if isinstance(node, SIMPLE):
            return self.after_sums(node, self.rebuild)
        if isinstance(node, ast.If):
            new = self.blocks(node)
            return self.after_sums(new, lambda n: replaced(n, test=self.visit(n.test)))
        if isinstance(node, ast.For | ast.While):
            return self.blocks(node)
        if isinstance(node, SCOPES | CHOICES | ast.stmt):
            return node
        return self.total(node) if is_sum(node, self.names) else super().visit(node)

    def blocks(self, node: Any) -> Any:
        """Return a statement with its blocks visited."""
        body, orelse = self.visit_all(node.body), self.visit_all(node.orelse)
        if body is node.body and orelse is node.orelse:
            return node
        return replaced(node, body=body, orelse=orelse)

    def after_sums(self, node: Any, change: Callable[[Any], Any]) -> Any:
        """Return a statement after the sums in it."""
        outer, self.before = self.before, []
        new = change(node)
        before, self.before = self.before, outer
        return [*before, new] if before else node if isinstance(node, ast.If) else new

    def total(self, node: ast.Call) -> ast.expr:
        """Return the name of a sum, which is added up before."""
        found = added_up(node, self.names, self.number)
        if found is None:
            return node
        name, loop = found
        place = place_of(node)
        zero = located(ast.Constant(0), place)
        self.before += [located(ast.Assign([store(name, place)], zero), place), loop]
        return load(name, place)
