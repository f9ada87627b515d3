"""Statements that span several lines, recorded as one entry.

Operation by operation each one names its own line in a traceback; one call that runs them all
cannot.  So the call only tries: where it finds no quick form it has done nothing, and the
statement runs as it is written.

    y = (a * b          _mk_t0 = _mk_f0.run(C, (), (a, b, c))
         + c)           if _mk_t0 is _mk_else:
                            y = C.add(C.mul(a, b), c)
                        else:
                            y = _mk_t0
                        del _mk_t0
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.derive.recording.fusion import Elsewhere
from mooncake_py.derive.rewriting.assignments import AssignmentRewriter, Temporaries
from mooncake_py.derive.rewriting.nodes import (
    PREFIX,
    Place,
    assign,
    load,
    located,
    place_of,
    replaced,
    store,
)
from mooncake_py.derive.rewriting.statics import is_literal

__all__ = ["SpanningRewriter"]

ELSE = f"{PREFIX}else"


class SpanningRewriter(AssignmentRewriter):
    """Assignments and ``return`` over several lines."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        """As on one line, after a trial."""
        return self._tried(node, super().visit_Assign(node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """As on one line, after a trial."""
        return self._tried(node, super().visit_AnnAssign(node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """As on one line, after a trial."""
        return self._tried(node, super().visit_AugAssign(node))

    def visit_Return(self, node: ast.Return) -> Any:
        """As on one line, after a trial."""
        return self._tried(node, self.rebuild(node))

    def _tried(self, node: Any, plain: Any) -> Any:
        """Return what tries a statement as a whole, and then runs it plainly."""
        if node.lineno == node.end_lineno or node.value is None:
            return plain
        self.spans = True
        run = self._whole(node)
        self.spans = False
        if run is None:
            return plain
        place = place_of(node)
        self.injected[ELSE] = Elsewhere
        plain = plain if isinstance(plain, list) else [plain]
        if any(isinstance(target, ast.Subscript) for target in _targets(node)):
            return [_where_it_failed(run, plain, [], place)]
        used = Temporaries()
        name = used.new()
        value = load(name, place)
        if isinstance(node, ast.AugAssign):
            done: Any = assign(node.target, value, place)
        else:
            done = replaced(node, value=value)
        tried = _where_it_failed(load(name, place), plain, [done], place)
        rest = [] if isinstance(node, ast.Return) else used.delete(place)
        return [assign(store(name, place), run, place), tried, *rest]

    def _whole(self, node: Any) -> ast.expr | None:
        """Return the call that tries a statement, or None if it cannot be one entry."""
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target):
                old = load(name, place_of(target))
                if self.statics.holds(ast.BinOp(old, node.op, node.value)):
                    return None
                return self.fused_augmented(node, old)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                return self.fused_store(node, target, value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                free = self.order_is_free(target, value)
                return self.fused_store(node, target, value) if free else None
            case ast.Assign(targets=targets) if not all(
                isinstance(target, ast.Name) for target in targets
            ):
                return None
            case ast.AnnAssign(target=target) if not isinstance(target, ast.Name):
                return None
            case ast.AugAssign():
                return None
        if is_literal(node.value) or self.statics.holds(node.value):
            return None
        return self.fused(node.value)


def _targets(node: Any) -> list[ast.expr]:
    """Return the targets of a statement."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [] if isinstance(node, ast.Return) else [node.target]


def _where_it_failed(
    result: ast.expr, plain: list[ast.stmt], done: list[ast.stmt], place: Place
) -> ast.stmt:
    """Return the statement that runs `plain` where a trial has done nothing, else `done`."""
    test = located(ast.Compare(result, [ast.Is()], [load(ELSE, place)]), place)
    return located(ast.If(test, plain, done), place)
