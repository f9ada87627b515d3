"""Loops in passes, in functions that are rewritten for a derivative within a budget of memory.

Some passes of such a loop may be recorded, and others run again: the loop becomes a function that
runs the passes it is told to::

    for t in range(n):                  def _mk_body0(_mk_start, _mk_stop, _mk_step):
        u, v = step(u, t)                   nonlocal t, u, v
        if v > 1.0:                         for t in range(_mk_start, _mk_stop, _mk_step):
            break                               u, v = step(u, t)
                                                if v > 1.0:
                                                    break
                                            else:
                                                return None
                                            return False
                                        names = (("t", "u", "v"), ())
                                        _mk_exit0 = C.run_passes(_mk_body0, names, "range", ...)

Of another iterable it is ``for t in _mk_items``.  A ``while`` loop tests its condition within
``for _mk_pass in range(...)``, and returns an empty tuple where that is false.  For the rest see
`loops`.
"""

from __future__ import annotations

import ast

from mooncake_py.frontend.loops import CheckpointedLoop, Exits
from mooncake_py.syntax.nodes import (
    PREFIX,
    constant,
    load,
    located,
    replaced,
    store,
    when,
)
from mooncake_py.syntax.static_integers import Bindings
from mooncake_py.syntax.trees import children

__all__ = ["BOUNDS", "ITEMS", "LoopInPasses"]

SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

ITEMS = f"{PREFIX}items"
PASS = f"{PREFIX}pass"
BOUNDS = tuple(f"{PREFIX}{name}" for name in ("start", "stop", "step"))


class LoopInPasses(CheckpointedLoop):
    """One such loop; it runs over a range if `is_range`."""

    runner = "run_passes"

    def __init__(
        self, node: ast.For | ast.While, number: int, found: Bindings, *, is_range: bool
    ) -> None:
        super().__init__(node, number, found)
        self.by_number = is_range or isinstance(node, ast.While)
        self.parameters = BOUNDS if self.by_number else (ITEMS,)

    @property
    def kind(self) -> str:
        """What the loop runs over."""
        if isinstance(self.node, ast.While):
            return "while"
        return "range" if self.by_number else "items"

    def loop(self) -> ast.For:
        """Return the loop over some passes, in the user's terms."""
        node, place = self.node, self.place
        body = Exits(depth=1).visit_all(node.body)
        if self.by_number:
            bounds: list[ast.expr] = [load(name, place) for name in self.parameters]
            over: ast.expr = located(ast.Call(load("range", place), bounds, []), place)
        else:
            over = load(ITEMS, place)
        if isinstance(node, ast.For):
            return replaced(node, iter=over, body=body, orelse=self.otherwise())
        ends: list[ast.stmt] = [
            located(ast.Return(located(ast.Tuple([], ast.Load()), place)), place)
        ]
        gone = located(ast.UnaryOp(ast.Not(), node.test), place)
        target = store(PASS, place)
        body = [when(gone, ends, [], place), *body]
        return located(ast.For(target, over, body, self.otherwise(), None), place)

    def otherwise(self) -> list[ast.stmt]:
        """Return the ``else`` of the loop over some passes, if ``break`` may leave it."""
        return self.returned(None) if self.has_break() else []

    def left(self) -> list[ast.stmt]:
        """Return the statements that follow ``break``."""
        return self.returned(False) if self.has_break() else []

    def returned(self, value: object) -> list[ast.stmt]:
        """Return a statement of the function that returns a constant."""
        return [located(ast.Return(constant(value, self.place)), self.place)]

    def gone_through(self, left: ast.expr) -> ast.expr:
        """Return a test whether the loop has come to its end, from how it was left."""
        place = self.place
        return located(ast.Compare(left, [ast.IsNot()], [constant(False, place)]), place)

    def has_break(self) -> bool:
        """Return whether a statement may leave the loop itself."""
        todo: list[ast.AST] = [*self.node.body]
        while todo:
            item = todo.pop()
            if isinstance(item, ast.Break):
                return True
            if isinstance(item, ast.For | ast.While):
                todo += item.orelse
            elif not isinstance(item, SCOPES | ast.expr):
                todo += children(item)
        return False
