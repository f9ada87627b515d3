"""Statements that span several lines or read attributes, recorded as one entry.

Separate operations name their own lines in a traceback; one call for all of them cannot.  It also
cannot read attributes in their order, which may run code.  So the call is only a trial: if it finds
no quick form it has no effect, and the statement runs as written.

    y = (a * b          _mk_tried = _mk_f0.run(C, (), (a, b, c))
         + c)           if _mk_tried is _mk_else:
                            y = C.add(C.mul(a, b), c)
                        else:
                            y = _mk_tried
                        del _mk_tried
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.methods import METHODS
from mooncake_py.frontend.assignments import AssignmentRewriter, Temporaries
from mooncake_py.syntax.nodes import (
    PREFIX,
    Place,
    assign,
    load,
    located,
    place_of,
    replaced,
    store,
)
from mooncake_py.syntax.static_integers import Bindings, is_literal
from mooncake_py.syntax.trees import walk

__all__ = ["ELSE", "SpanningRewriter"]

ELSE, TRIED = f"{PREFIX}else", f"{PREFIX}tried"


class SpanningRewriter(AssignmentRewriter):
    """Assignments and ``return`` that are tried as a whole."""

    found: Bindings

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite as on one line, after a trial."""
        return self._tried(node, super().visit_Assign(node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Rewrite as on one line, after a trial."""
        return self._tried(node, super().visit_AnnAssign(node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Rewrite as on one line, after a trial."""
        return self._tried(node, super().visit_AugAssign(node))

    def visit_Return(self, node: ast.Return) -> Any:
        """Rewrite as on one line, after a trial."""
        return self._tried(node, self.rebuild(node))

    def _tried(self, node: Any, plain: Any) -> Any:
        """Return code that tries a statement as a whole, and then runs it plainly."""
        if node.value is None:
            return plain
        if node.lineno == node.end_lineno and not self._reads_attributes(node):
            return plain
        self.spans = True
        run = self._whole(node)
        self.spans = False
        if run is None:
            return plain
        place = place_of(node)
        plain = plain if isinstance(plain, list) else [plain]
        if any(isinstance(target, ast.Subscript) for target in _targets(node)):
            return [self.unless_served(run, plain, [], place)]
        value = load(TRIED, place)
        if isinstance(node, ast.Return):
            done = [replaced(node, value=value)]
        elif any(isinstance(target, ast.Attribute) for target in _targets(node)):
            done = self.stored(_targets(node)[0], value, place, Temporaries())
        else:
            done = [replaced(assign(node, value, place), targets=_targets(node))]
        forget = located(ast.Delete([replaced(value, ctx=ast.Del())]), place)
        return [
            assign(store(TRIED, place), run, place),
            self.unless_served(value, plain, done, place),
            *([] if isinstance(node, ast.Return) else [forget]),
        ]

    def unless_served(
        self, result: ast.expr, plain: list[ast.stmt], done: list[ast.stmt], place: Place
    ) -> ast.stmt:
        """Return the statement that runs `plain` where a trial has done nothing, else `done`."""
        self.injected[ELSE] = Elsewhere
        test = located(ast.Compare(result, [ast.Is()], [load(ELSE, place)]), place)
        return located(ast.If(test, plain, done), place)

    def _reads_attributes(self, node: Any) -> bool:
        """Return whether a statement on one line reads attributes of names other than modules."""
        if node.lineno not in self.found.attribute_lines:
            return False
        parts = walk(node)
        called = [part.func for part in parts if isinstance(part, ast.Call)]
        return any(
            isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and not self.names.is_in_module(part)
            and not (part.attr in METHODS and any(part is f for f in called))
            for part in parts
        )

    def _whole(self, node: Any) -> ast.expr | None:
        """Return the call that tries a statement, or None if it cannot be one entry."""
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target):
                old = load(name, place_of(target))
                if self.statics.holds(ast.BinOp(old, node.op, node.value)):
                    return None
                return self.fused_augmented(node, old)
            case ast.AugAssign(target=ast.Attribute(value=ast.Name()) as target):
                return self.fused_augmented(node, replaced(target, ctx=ast.Load()))
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                return self.fused_store(node, target, value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                free = self.order_is_free(target, value) or self.can_peek(target.value)
                return self.fused_store(node, target, value) if free else None
            case ast.Assign(targets=[ast.Attribute(value=ast.Name())]):
                pass
            case ast.AugAssign():
                return None
            case ast.Assign() | ast.AnnAssign() if not all(
                isinstance(target, ast.Name) for target in _targets(node)
            ):
                return None
        if is_literal(node.value) or self.statics.holds(node.value):
            return None
        return self.fused(node.value)


def _targets(node: Any) -> list[ast.expr]:
    """Return the targets of a statement."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [] if isinstance(node, ast.Return) else [node.target]
