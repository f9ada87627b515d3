"""Rewrite statements that bind or store: see `rewrite` for the grammar.

Python evaluates the value first and then the parts of the targets, left to right.  If a call of the
context would evaluate them in another order with a visible effect, the value is bound to a
temporary name, which is deleted again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mooncake_py.frontend.expressions import ExpressionRewriter, leaves, pattern
from mooncake_py.syntax.nodes import (
    EFFECTS,
    INPLACE,
    PREFIX,
    Place,
    assign,
    attribute_place,
    constant,
    context_call,
    forget,
    load,
    place_of,
    replaced,
    statement,
    store,
)
from mooncake_py.syntax.trees import walk

__all__ = ["AssignmentRewriter", "Temporaries"]

_OPERATIONS = ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript


class Temporaries:
    """Names for the parts of one statement; a fresh object for each statement."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def new(self) -> str:
        """Return one more name."""
        self._names.append(f"{PREFIX}t{len(self._names)}")
        return self._names[-1]

    def delete(self, place: Place) -> list[ast.stmt]:
        """Return the statement that forgets them, so that they leak into no class body."""
        return [forget(self._names, place)] if self._names else []


class AssignmentRewriter(ExpressionRewriter):
    """Assignments of every form, and the targets of ``for`` and ``with``."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite ``o[i] = v`` to ``C.setitem(o, i, v)``, and so on for each target."""
        if all(isinstance(target, ast.Name) for target in node.targets):
            return replaced(node, value=self.visit(node.value))
        if len(node.targets) == 1:
            return self._assign_one(node.targets[0], node.value, node)
        place = place_of(node)
        used = Temporaries()
        value = used.new()
        result: list[ast.stmt] = [assign(store(value, place), self.visit(node.value), place)]
        for target in node.targets:
            result += self.stored(target, load(value, place_of(target)), place, used)
        return result + used.delete(place)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Rewrite as an assignment; a class evaluates annotations, a function never does."""
        if isinstance(node.target, ast.Name):
            value = None if node.value is None else self.visit(node.value)
            annotation = self.annotation(node.annotation) if self.in_class else node.annotation
            return replaced(node, value=value, annotation=annotation)
        if node.value is not None:
            result = self._assign_one(node.target, node.value, node)
        else:
            # Without a value Python still evaluates the parts of the target, and stores nothing.
            parts = [self.visit(node.target.value)]
            if isinstance(node.target, ast.Subscript):
                parts.append(self.index(node.target.slice))
            result = [statement(part, place_of(node)) for part in parts]
        if self.in_class and self.evaluates_annotations:
            result.append(statement(self.annotation(node.annotation), place_of(node)))
        return result

    def _assign_one(self, target: ast.expr, value: ast.expr, node: Any) -> list[ast.stmt]:
        place = place_of(node)
        used = Temporaries()
        if isinstance(target, ast.Subscript) and self.order_is_free(target, value):
            fused = self.fused_store(node, target, value)
            if fused is not None:
                return [statement(fused, place)]
        new = self.visit(value)
        if isinstance(target, ast.Tuple | ast.List):
            if _pairs_up(target, value):
                result = self._unpack(target, new, place, used)
            else:
                result = self.stored(target, new, place, used)
        elif self.order_is_free(target, value):
            result = self.stored(target, new, place, used)
        else:
            name = used.new()
            result = [assign(store(name, place), new, place)]
            result += self.stored(target, load(name, place_of(target)), place, used)
        return result + used.delete(place)

    def stored(
        self, target: Any, value: ast.expr, place: Place, used: Temporaries
    ) -> list[ast.stmt]:
        """Return the statements that store an already evaluated value in a target."""
        if isinstance(target, ast.Subscript):
            args = [self.visit(target.value), self.index(target.slice), value]
            return [statement(context_call("setitem", args, place_of(target)), place)]
        if isinstance(target, ast.Attribute):
            name = constant(self.mangled(target.attr), place_of(target))
            args = [self.visit(target.value), name, value]
            where = attribute_place(target, target)
            return [statement(context_call("setattr", args, where), place)]
        if isinstance(target, ast.Tuple | ast.List):
            where = place_of(target)
            template = constant(pattern(target), where)
            unpacked = context_call("unpack", [value, template], where)
            return self._unpack(target, unpacked, place, used)
        return [assign(target, value, place)]

    def _unpack(
        self, target: ast.Tuple | ast.List, value: ast.expr, place: Place, used: Temporaries
    ) -> list[ast.stmt]:
        """Return the statements that take apart what already has the shape of the target."""
        bound, stores = self._bind(target, place, used)
        return [assign(bound, value, place), *stores]

    def _bind(
        self, target: Any, place: Place, used: Temporaries
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a target made of names only, and the statements that store the rest from it."""
        ends = leaves(target)
        if all(isinstance(leaf, ast.Name) for leaf in ends):
            return target, []
        names = [used.new() for _ in ends]
        stores: list[ast.stmt] = []
        for leaf, name in zip(ends, names, strict=True):
            stores += self.stored(leaf, load(name, place_of(leaf)), place, used)
        return _with_leaves(target, iter(names)), stores

    def bind_loop(self, target: Any) -> tuple[ast.expr, list[ast.stmt]]:
        """Bind as `_bind` does, for targets that a statement binds before its body runs."""
        used = Temporaries()
        place = place_of(target)
        bound, stores = self._bind(target, place, used)
        return bound, stores + used.delete(place)

    def bind_manager(self, target: Any) -> tuple[ast.expr, list[ast.stmt]]:
        """Bind as `bind_loop` does, for a value that is not unpacked yet."""
        if isinstance(target, ast.Name):
            return target, []
        used = Temporaries()
        place = place_of(target)
        name = used.new()
        stores = self.stored(target, load(name, place), place, used)
        return store(name, place), stores + used.delete(place)

    # augmented assignment

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Rewrite ``x += v`` to ``x = C.iadd(x, v)``."""
        target = node.target
        place = place_of(node)
        if isinstance(target, ast.Name):
            old = load(target.id, place_of(target))
            if self.statics.holds(ast.BinOp(old, node.op, node.value)):
                return replaced(node, value=self.visit(node.value))
            fused = self.fused_augmented(node, old)
            if fused is not None:
                return assign(target, fused, place)
            args = [old, self.visit(node.value)]
            return assign(target, context_call(INPLACE[type(node.op)], args, place), place)
        fused = self.fused_store(node, target, node.value)
        if fused is not None:
            return statement(fused, place)
        owner = self.visit(target.value)
        if isinstance(target, ast.Subscript):
            kinds, key = ("augitem", "getitem", "storeback"), self.index(target.slice)
        else:
            kinds = ("augattr", "getattr", "setattr")
            key = constant(self.mangled(target.attr), place_of(target))
        value = self.visit(node.value)
        if any(map(self._may_change, walk(node.value))):
            return self._augmented_in_order(node, kinds, owner, key, value)
        name = constant(INPLACE[type(node.op)], place)
        return statement(context_call(kinds[0], [name, owner, key, value], place), place)

    def _may_change(self, part: ast.AST) -> bool:
        """Return whether a part of a value may change what the target holds.

        Properties and operators of objects may change it too.
        """
        if isinstance(part, ast.Attribute):
            return not self.names.is_in_module(part)
        if isinstance(part, _OPERATIONS):
            return not self.statics.holds(part)
        return isinstance(part, EFFECTS)

    def _augmented_in_order(
        self,
        node: Any,
        kinds: tuple[str, str, str],
        owner: ast.expr,
        key: ast.expr,
        value: ast.expr,
    ) -> list[ast.stmt]:
        """Read the old value before the new one is computed, as Python does."""
        _, get, put = kinds
        place, where = place_of(node), place_of(node.target)
        if isinstance(node.target, ast.Attribute):
            where = attribute_place(node.target, node.target)
        used = Temporaries()
        result: list[ast.stmt] = []
        parts = [owner, key]
        for position, part in enumerate(parts):
            if not isinstance(part, ast.Constant):
                name = used.new()
                result.append(assign(store(name, where), part, place))
                parts[position] = load(name, where)
        old = used.new()
        read = context_call(get, list(parts), where)
        combined = context_call(INPLACE[type(node.op)], [load(old, where), value], place)
        written = context_call(put, [*parts, load(old, where)], where)
        result.append(assign(store(old, where), read, place))
        result.append(assign(store(old, where), combined, place))
        result.append(statement(written, place))
        return result + used.delete(place)

    # deletion

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Rewrite ``del o[i]`` to ``C.delitem(o, i)``."""
        return [self._delete(leaf, node) for target in node.targets for leaf in leaves(target)]

    def _delete(self, target: Any, node: ast.Delete) -> ast.stmt:
        where = place_of(target)
        if isinstance(target, ast.Subscript):
            args = [self.visit(target.value), self.index(target.slice)]
            return statement(context_call("delitem", args, where), place_of(node))
        if isinstance(target, ast.Attribute):
            args = [self.visit(target.value), constant(self.mangled(target.attr), where)]
            where = attribute_place(target, target)
            return statement(context_call("delattr", args, where), place_of(node))
        return replaced(node, targets=[target])

    # order of evaluation

    def order_is_free(self, target: Any, value: ast.expr) -> bool:
        """Return whether the parts of a target may be evaluated before the value."""
        if self._is_fixed(value):
            return True
        parts = [target.value]
        if isinstance(target, ast.Subscript):
            parts.append(target.slice)
        if not all(self._is_fixed(part) for part in parts):
            return False
        return not any(isinstance(part, ast.NamedExpr) for part in walk(value))

    def _is_fixed(self, node: ast.expr | None) -> bool:
        """Return whether nothing that runs meanwhile can change an expression, nor it anything."""
        match node:
            case None | ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.steady
            case ast.Tuple(elts=elts):
                return all(self._is_fixed(item) for item in elts)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return all(self._is_fixed(part) for part in (lower, upper, step))
            case ast.BinOp(left=left, right=right) if self.statics.holds(node):
                return self._is_fixed(left) and self._is_fixed(right)
            case ast.UnaryOp(operand=operand) if self.statics.holds(node):
                return self._is_fixed(operand)
        return False


def _pairs_up(target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """Return whether a display is assigned to a flat list of targets, without unpacking."""
    return isinstance(value, ast.Tuple | ast.List) and not any(map(pattern, target.elts))


def _with_leaves(target: Any, names: Iterator[str]) -> Any:
    """Return a target of the same shape that binds names instead."""
    if isinstance(target, ast.Starred):
        return replaced(target, value=_with_leaves(target.value, names))
    if isinstance(target, ast.Tuple | ast.List):
        return replaced(target, elts=[_with_leaves(item, names) for item in target.elts])
    return store(next(names), place_of(target))
