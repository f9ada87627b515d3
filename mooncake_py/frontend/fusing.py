"""Rewrite expressions and statements of several operations to what is recorded as one entry.

``a * b + c`` becomes ``_mk_f0.run(C, (), (a, b, c))``, ``x[i] = a * x[i - 1]`` becomes
``_mk_f0.run(C, (), (a, x, i - 1, i))``.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.forms.elements import Elements, Way
from mooncake_py.forms.fusion import (
    OPERATORS,
    Elsewhere,
    Fused,
    Parts,
    TriedFused,
    collect,
    is_plain_index,
    prepend,
)
from mooncake_py.frontend.conditions import ConditionRewriter
from mooncake_py.syntax.nodes import CONTEXT, INPLACE, PREFIX, load, located, place_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["FusingRewriter", "elsewhere", "expression"]


class FusingRewriter(ConditionRewriter):
    """What can be one entry, and the calls that run it.

    Attributes
    ----------
    injected : dict
        Constants that the rewritten code refers to by name.
    fused_count : int
        How many of them run expressions as a whole.
    spans : bool
        Whether what is made is only tried, and may span lines: see `spanning`.
    """

    injected: dict[str, Any]
    fused_count = 0
    spans = False
    peeks = False  # within an index of what is only tried

    def fusible(self, steps: Any, count: int, *rest: Any) -> Fused:
        """Return an expression that runs as a whole."""
        return (TriedFused if self.spans else Fused)(tuple(steps), count, *rest)

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite what stands between brackets."""
        raise NotImplementedError

    def peek(self, node: ast.expr) -> ast.expr:
        """Rewrite an attribute that is read before its turn."""
        raise NotImplementedError

    def operand(self, node: ast.expr) -> ast.expr:
        """Rewrite what is passed to the call that runs a whole statement."""
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute) and self.names.module(node.value) is None:
            return self.peek(node)
        self.peeks = self.spans
        index = self.index(node)
        self.peeks = False
        return index

    def fused(self, node: ast.expr) -> ast.expr | None:
        """``a * b + c`` and ``math.sin(x[i])``: an expression of several operations."""
        parts = collect(node, self.names, self.spans)
        if parts is None or not parts.values:
            return None
        if len(parts.order) < 2:
            return None
        core = self.fusible(parts.steps, len(parts.layout))
        if not parts.has_items:
            return self._run_fused(core, parts, node)
        whole = expression(parts)
        elements = self._elements(core, parts, None, False, whole.general, whole)
        return self._run_fused(elements, parts, node)

    def can_peek(self, node: ast.expr) -> bool:
        """Whether an expression is an attribute that what is tried may read before its turn."""
        return self.spans and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)

    def fused_augmented(
        self, node: ast.AugAssign, old: ast.Name | ast.Attribute
    ) -> ast.expr | None:
        """``s += a * b`` with operand s, in place where s is an array."""
        operation = OPERATORS.get(type(node.op))
        parts = collect(node.value, self.names, self.spans) if operation is not None else None
        if parts is None or not parts.order or not parts.values:
            return None
        assert operation is not None
        name = INPLACE[type(node.op)]
        steps, count = prepend(operation, parts), len(parts.layout) + 1
        if parts.has_items:
            core = self.fusible(steps, count)
            whole = expression(parts)
            value = way_of(whole)
            position = parts.add_value(old)
            parts.layout.insert(0, position)

            def otherwise(ctx: Language, functions: Any, values: Any) -> Any:
                new = value(ctx, functions, values[:position])
                return getattr(ctx, name)(values[position], new)

            elements = self._elements(core, parts, position, True, otherwise, whole)
            return self._run_fused(elements, parts, node)
        rest = Fused(tuple(parts.steps), len(parts.layout))
        parts.values.insert(0, old)
        return self._run_fused(self.fusible(steps, count, name, rest), parts, node)

    def fused_store(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, target: Any, value: ast.expr
    ) -> ast.expr | None:
        """``x[i] = e`` and ``x[i] op= e`` for elements and slices of what a name is bound to."""
        operation = OPERATORS.get(type(node.op)) if isinstance(node, ast.AugAssign) else "pos"
        if (
            operation is None
            or not isinstance(target, ast.Subscript)
            or not isinstance(target.value, ast.Name | ast.Attribute)
            or not (isinstance(target.value, ast.Name) or self.can_peek(target.value))
            or not is_plain_index(target.slice)
            or (node.lineno != node.end_lineno and not self.spans)
        ):
            return None
        parts = collect(value, self.names, self.spans)
        if parts is None:
            return None
        if operation == "pos" and not parts.order:
            return None  # nothing to compute: a store like any other
        whole = expression(parts)
        way = way_of(whole)
        count = len(parts.values)
        o, i = parts.add_base(target.value), parts.add_index(target.slice)
        augments = isinstance(node, ast.AugAssign)
        if isinstance(node, ast.AugAssign):
            core = Fused(prepend(operation, parts), len(parts.layout) + 1)
            parts.layout.insert(0, (o, i))
            name = INPLACE[type(node.op)]

            def otherwise(ctx: Language, functions: Any, values: Any) -> None:
                if type(values[o]) is ndarray:
                    new = way(ctx, functions, values[:count])
                    ctx.augitem(name, values[o], values[i], new)
                    return
                old = ctx.getitem(values[o], values[i])  # first, as objects can tell
                new = getattr(ctx, name)(old, way(ctx, functions, values[:count]))
                ctx.setitem(values[o], values[i], new)
        else:
            steps = tuple(parts.steps) or (("pos", parts.root),)
            core = Fused(steps, len(parts.layout))

            def otherwise(ctx: Language, functions: Any, values: Any) -> None:
                new = way(ctx, functions, values[:count])
                ctx.setitem(values[o], values[i], new)

        elements = self._elements(core, parts, (o, i), augments, otherwise, whole)
        return self._run_fused(elements, parts, node)

    def _elements(
        self,
        core: Fused,
        parts: Parts,
        target: Any,
        augments: bool,
        otherwise: Way,
        whole: Any,
        into: bool = False,
    ) -> Elements:
        certain = {
            position
            for position in parts.index_positions
            if self._is_certain(parts.values[position])
        }
        layout = tuple(parts.layout)
        if self.spans:
            otherwise = elsewhere
        return Elements(
            core, layout, target, augments, parts.indices, certain, otherwise, whole, into
        )

    def _is_certain(self, index: ast.expr) -> bool:
        """Whether an index is made of ints, slices, None and the ellipsis for certain."""
        match index:
            case ast.Tuple(elts=elts):
                return all(map(self._is_certain, elts))
            case ast.Slice() | ast.Constant(value=None) | ast.Constant(value=builtins.Ellipsis):
                return True
        return self.statics.holds(index)

    def _run_fused(self, fused: Any, parts: Parts, node: ast.AST) -> ast.expr:
        """Inject what is fused, and return the call that runs it on its operands."""
        place = place_of(node)
        name = f"{PREFIX}f{self.fused_count}"
        self.fused_count += 1
        self.injected[name] = fused
        run = located(ast.Attribute(load(name, place), "run", ast.Load()), place)
        values = list(map(self.operand, parts.values))
        args: list[ast.expr] = [
            load(CONTEXT, place),
            located(ast.Tuple(parts.functions, ast.Load()), place),
            located(ast.Tuple(values, ast.Load()), place),
        ]
        return located(ast.Call(run, args, []), place)


def elsewhere(ctx: Language, functions: Any, values: Any) -> Any:
    """Do nothing, and say so."""
    return Elsewhere


def expression(parts: Parts) -> Any:
    """Return what computes an expression; a reference if it computes nothing."""
    if not parts.order:
        return parts.ordered_root
    if not parts.has_items:
        return Fused(tuple(parts.steps), len(parts.layout))
    return Fused(tuple(parts.order), len(parts.values))


def way_of(whole: Any) -> Way:
    """Return the function that computes an expression, whatever the operands are."""
    if type(whole) is tuple:
        kind, which = whole
        return lambda ctx, functions, values: values[which] if kind == "v" else which
    if any(step[0] == "item" for step in whole.steps):
        return whole.general
    return lambda ctx, functions, values: whole.run(ctx, functions, values)
