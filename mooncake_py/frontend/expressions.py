"""Rewrite expressions: see :mod:`mooncake_py.frontend.rewrite` for the grammar."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.effects import INDEXING, unseen, writer
from mooncake_py.diagnostics.places import current_place
from mooncake_py.frontend.fusing import FusingRewriter
from mooncake_py.frontend.variables import variable_names, variables
from mooncake_py.runtime.active import Active
from mooncake_py.syntax import unsupported
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    BINARY,
    PREFIX,
    SLICE,
    STEADY_SLICE,
    UNARY,
    Place,
    attribute_place,
    constant,
    context_call,
    is_settled,
    load,
    located,
    mangle,
    place_of,
    replaced,
)
from mooncake_py.syntax.source import SourceNode
from mooncake_py.syntax.static_integers import StaticInts, is_literal
from mooncake_py.syntax.unsupported import Unsupported

__all__ = ["ExpressionRewriter"]

STEADY = frozenset({int, type(None), Active, np.int64})
"""Types of bounds of slices that do not change and run no code."""

# `globals` answers for the frame that calls it, so it must be called by the user's.
_NATIVE_BUILTINS = frozenset({"globals", "breakpoint"})
_TEXT_BUILTINS = frozenset({"eval", "exec"})
_SCOPE_BUILTINS = frozenset({"locals", "vars", "dir"})  # without arguments
_NOT_CONSTANT: Any = object()


class ExpressionRewriter(FusingRewriter):
    """Expressions to expressions whose operations are calls of the context."""

    in_class = False
    evaluates_annotations = False

    def __init__(
        self,
        names: Names,
        statics: StaticInts,
        steady: frozenset[str],
        source: SourceNode,
        refused: Unsupported,
    ) -> None:
        self.names = names
        self.statics = statics
        self.steady = steady
        self.class_name = source.class_name
        self.imports = source.imports
        self.refused = refused
        self.injected: dict[str, Any] = {}
        self._constant_names: dict[str, str] = {}
        self._refusals = 0

    # operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Rewrite ``a + b`` to ``C.add(a, b)``."""
        if is_literal(node):
            return node
        if self.statics.holds(node):
            return self.rebuild(node)
        if self.peeks:
            return self._peeked(BINARY[type(node.op)], node, node.left, node.right)
        fused = self.fused(node)
        if fused is not None:
            return fused
        operands = [self.visit(node.left), self.visit(node.right)]
        return context_call(BINARY[type(node.op)], operands, place_of(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Rewrite ``-a`` to ``C.neg(a)``."""
        if is_literal(node):
            return node
        if self.peeks and not self.statics.holds(node):
            return self._peeked(UNARY.get(type(node.op), "not_"), node, node.operand)
        if isinstance(node.op, ast.Not):
            return self.test(node)
        if self.statics.holds(node):
            return self.rebuild(node)
        fused = self.fused(node)
        if fused is not None:
            return fused
        return context_call(UNARY[type(node.op)], [self.visit(node.operand)], place_of(node))

    def _peeked(self, name: str, node: ast.expr, *operands: ast.expr) -> ast.expr:
        """Rewrite ``a + b`` to ``C.peek_operator("add", a, b)``, which runs no user code."""
        place = place_of(node)
        args = [constant(name, place), *map(self.visit, operands)]
        return context_call("peek_operator", args, place)

    # attributes and elements

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite ``o.name`` to ``C.getattr(o, "name")``."""
        if self.names.is_in_module(node):
            return node
        name = constant(self.mangled(node.attr), place_of(node))
        return context_call("getattr", [self.visit(node.value), name], attribute_place(node, node))

    def peek(self, node: Any) -> ast.expr:
        """Rewrite ``o.name`` to ``C.peek(o, "name")``."""
        name = constant(self.mangled(node.attr), place_of(node))
        return context_call("peek", [self.visit(node.value), name], attribute_place(node, node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite ``o[i]`` to ``C.getitem(o, i)``."""
        operands = [self.visit(node.value), self.index(node.slice)]
        return context_call("getitem", operands, place_of(node))

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite a subscript; constant slices are built once, in advance."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if any(isinstance(part, ast.Slice) for part in parts):
            value = _constant_value(node)
            if value is not _NOT_CONSTANT:
                return self._inject(value, node)
        if isinstance(node, ast.Tuple):
            return replaced(node, elts=[self.index(item) for item in node.elts])
        if isinstance(node, ast.Slice):
            return self._slice(node)
        return self.visit(node)

    def _slice(self, node: ast.Slice) -> ast.expr:
        place = place_of(node)
        parts = [node.lower, node.upper, *([] if node.step is None else [node.step])]
        args: list[ast.expr] = [
            constant(None, place) if part is None else self.visit(part) for part in parts
        ]
        certain = all(part is None or self.statics.holds(part) for part in parts)
        name, maker = (SLICE, slice) if certain else (STEADY_SLICE, steady_slice)
        self.injected[name] = maker
        return located(ast.Call(load(name, place), args, []), place)

    def _inject(self, value: object, node: ast.expr | ast.stmt) -> ast.Name:
        text = repr(value)
        name = self._constant_names.get(text)
        if name is None:
            name = f"{PREFIX}k{len(self._constant_names)}"
            self._constant_names[text] = name
            self.injected[name] = value
        return load(name, place_of(node))

    # calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite ``f(x)`` to ``C.call(f, x)``, ``o.m(x)`` to ``C.method(o, "m", x)``."""
        function = node.func
        fused = self.fused(node)
        if fused is not None:
            return fused
        builtin = self.names.builtin(function)
        plain = not node.args and not node.keywords
        if builtin == "super" and plain:
            return node
        if builtin in _NATIVE_BUILTINS or (builtin == "range" and self._is_of_ints(node)):
            return self.rebuild(node)
        if plain and builtin in _SCOPE_BUILTINS and not self.in_class:
            return self._variables(node, builtin)
        if builtin in _TEXT_BUILTINS:
            return self.unless_refused(node, unsupported.TEXT, self.rebuild(node))
        if builtin in _SCOPE_BUILTINS and plain:
            return self.unless_refused(node, unsupported.SCOPE, node)
        args = self.visit_all(node.args)
        keywords = [self._keyword(keyword) for keyword in node.keywords]
        for keyword in keywords:
            if keyword.arg is not None and keyword.arg.startswith(PREFIX):
                self.refused.add(keyword, unsupported.RESERVED)
        # A single argument, the commonest call, needs no packing into tuple and dict.
        single = len(args) == 1 and not keywords and not isinstance(args[0], ast.Starred)
        call = "call_one" if single else "call"
        if builtin == "len" and single:
            return context_call("len", args, place_of(node))
        if builtin == "range" and not keywords:
            return context_call("range_of", args, place_of(node))
        if not isinstance(function, ast.Attribute):
            args = [self.visit(function), *args]
            return context_call(call, args, place_of(node), keywords)
        place = self._method_call_place(node, function)
        if self.names.is_in_module(function):
            return context_call(call, [function, *args], place, keywords)
        name = constant(self.mangled(function.attr), place_of(function))
        receiver = self.visit(function.value)
        if not all(map(is_settled, (*node.args, *node.keywords))):
            receiver = context_call("looked_up", [receiver, name], place_of(function))
        return context_call("method", [receiver, name, *args], place, keywords)

    def _is_of_ints(self, node: ast.Call) -> bool:
        """Return whether all arguments are ints for certain, which Python does not ask."""
        return not node.keywords and all(
            self.statics.holds(arg) or self.names.calls_builtin(arg, "len") for arg in node.args
        )

    def _keyword(self, node: ast.keyword) -> ast.keyword:
        """Rewrite ``**d`` to ``**C.mapping(d)``."""
        if node.arg is not None:
            return self.rebuild(node)
        value = context_call("mapping", [self.visit(node.value)], place_of(node.value))
        return replaced(node, value=value)

    def _variables(self, node: ast.Call, builtin: str) -> ast.expr:
        """Rewrite ``locals()`` to ``variables(locals())``, ``dir()`` to the names in it."""
        place = place_of(node)
        shown = variable_names if builtin == "dir" else variables
        own = located(ast.Call(self._inject(locals, node), [], []), place)
        return located(ast.Call(self._inject(shown, node), [own], []), place)

    def _method_call_place(self, node: ast.Call, function: ast.Attribute) -> Place:
        # CPython's short way of method calls names the line of the attribute; it is not taken
        # for stars and for imported names.
        starred = any(isinstance(item, ast.Starred) for item in node.args)
        if starred or any(keyword.arg is None for keyword in node.keywords):
            return place_of(node)
        if isinstance(function.value, ast.Name) and function.value.id in self.imports:
            return place_of(node)
        return attribute_place(function, node)

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        """Rewrite ``*x`` to ``*C.items(x)``."""
        value = context_call("items", [self.visit(node.value)], place_of(node.value))
        return replaced(node, value=value)

    # scopes

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Rewrite the defaults only."""
        return replaced(node, args=self.parameters(node.args))

    def parameters(self, node: ast.arguments) -> ast.arguments:
        """Rewrite defaults and annotations of a nested function, which this scope evaluates."""
        return replaced(
            node,
            posonlyargs=[self._annotated(arg) for arg in node.posonlyargs],
            args=[self._annotated(arg) for arg in node.args],
            vararg=node.vararg and self._annotated(node.vararg),
            kwonlyargs=[self._annotated(arg) for arg in node.kwonlyargs],
            kwarg=node.kwarg and self._annotated(node.kwarg),
            defaults=self.visit_all(node.defaults),
            kw_defaults=self.visit_all(node.kw_defaults),
        )

    def _annotated(self, node: ast.arg) -> ast.arg:
        if node.annotation is None or not self.evaluates_annotations:
            return node
        return replaced(node, annotation=self.annotation(node.annotation))

    def annotation(self, node: ast.expr) -> ast.expr:
        """Rewrite an annotation if it is evaluated where it stands, and not kept as a text."""
        return self.visit(node) if self.evaluates_annotations else node

    def visit_ListComp(self, node: Any) -> ast.expr:
        """Rewrite a comprehension of any kind in place."""
        outer = self.statics
        # Python evaluates the first iterable outside the comprehension.
        first = self.iterable(node.generators[0])
        self.statics = outer.within(node.generators)
        hashed = "key" if isinstance(node, ast.DictComp) else "elt"
        visit = self.key if isinstance(node, ast.DictComp | ast.SetComp) else self.visit
        changes: dict[str, Any] = {hashed: visit(getattr(node, hashed))}
        if isinstance(node, ast.DictComp):
            changes["value"] = self.visit(node.value)
        changes["generators"] = [
            replaced(
                generator,
                iter=self.iterable(generator) if position else first,
                ifs=[self.test(condition) for condition in generator.ifs],
            )
            for position, generator in enumerate(node.generators)
        ]
        self.statics = outer
        for generator in node.generators:
            if generator.is_async:
                self.refused.add(generator.target, unsupported.ASYNCHRONOUS)
        rewritten = replaced(node, **changes)
        for generator in reversed(node.generators):
            if any(not isinstance(leaf, ast.Name) for leaf in leaves(generator.target)):
                rewritten = self.unless_refused(generator.target, unsupported.TARGET, rewritten)
        return rewritten

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def iterable(self, loop: Any) -> ast.expr:
        """Rewrite the iterable of a loop or a comprehension."""
        if isinstance(loop.target, ast.Name) and self.names.calls_builtin(loop.iter, "range"):
            return self.visit(loop.iter)
        args = [self.visit(loop.iter)]
        if not isinstance(loop.target, ast.Name):
            template = pattern(loop.target)
            if template is not None:
                args.append(constant(template, place_of(loop.target)))
        return context_call("iter", args, place_of(loop.iter))

    # the rest

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        """Rewrite ``{x!r:>9}`` to ``{C.format(x, "r", ">9")}``."""
        place = place_of(node.value)
        conversion = constant("" if node.conversion == -1 else chr(node.conversion), place)
        spec = constant("", place) if node.format_spec is None else self.visit(node.format_spec)
        text = context_call("format", [self.visit(node.value), conversion, spec], place)
        return replaced(node, value=text, conversion=-1, format_spec=None)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        """Rewrite ``yield from e`` to ``yield from C.delegate(e)``."""
        value = context_call("delegate", [self.visit(node.value)], place_of(node.value))
        return replaced(node, value=value)

    def visit_Await(self, node: Any) -> Any:
        """Refuse asynchronous code."""
        self.refused.add(node, unsupported.ASYNCHRONOUS)
        return node

    def refusal(self, node: Any, why: str) -> ast.expr:
        """Return ``C.unsupported(refusal)``, which raises if the derivative gets there."""
        refusal = self.refused.add_reached(node, why)
        name = f"{PREFIX}r{self._refusals}"
        self._refusals += 1
        self.injected[name] = refusal
        return context_call("unsupported", [load(name, place_of(node))], place_of(node))

    def unless_refused(self, node: Any, why: str, otherwise: ast.expr) -> ast.expr:
        """Return ``C.unsupported(refusal) or otherwise``: the second for contexts that go on."""
        values = [self.refusal(node, why), otherwise]
        return located(ast.BoolOp(ast.Or(), values), place_of(otherwise))

    def mangled(self, name: str) -> str:
        """Return the attribute name that the user's class turns `name` into."""
        return mangle(name, self.class_name)


def leaves(target: Any) -> list[Any]:
    """Return the targets that an assignment binds in the end, left to right, stars removed."""
    if isinstance(target, ast.Starred):
        return leaves(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return [leaf for item in target.elts for leaf in leaves(item)]
    return [target]


def pattern(target: ast.expr) -> Any:
    """Return the shape of a target: None for a leaf, "*" for a starred one, tuples nested."""
    if isinstance(target, ast.Starred):
        return "*"
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(pattern(item) for item in target.elts)
    return None


def steady_slice(start: Any, stop: Any, step: Any = None) -> slice:
    """Return a slice that stays as it is: a bound that is an array could change later.

    A bound whose ``__index__`` changes something is refused: the slice may be used several times.
    """
    if type(start) in STEADY and type(stop) in STEADY and type(step) in STEADY:
        return slice(start, stop, step)
    bounds = start, stop, step
    for bound in bounds:
        found = None if isinstance(bound, int) else writer(type(bound), INDEXING)
        if found is not None:
            raise unseen(current_place()[0], *found)
    return slice(*[b.__index__() if type(b) is ndarray else b for b in bounds])


def _constant_value(node: Any) -> Any:
    """Evaluate a constant index; `_NOT_CONSTANT` if it is not one."""
    kind = node.__class__  # asked for each part of each index: a match takes three times as long
    if node is None:
        return None
    if kind is ast.Constant:
        return node.value
    if kind is ast.Slice:
        parts = [_constant_value(part) for part in (node.lower, node.upper, node.step)]
        return _NOT_CONSTANT if _NOT_CONSTANT in parts else slice(*parts)
    if kind is ast.Tuple:
        items = [_constant_value(item) for item in node.elts]
        return _NOT_CONSTANT if _NOT_CONSTANT in items else tuple(items)
    if kind is ast.UnaryOp and isinstance(node.op, ast.USub):
        value = _constant_value(node.operand)
        return -value if isinstance(value, int) else _NOT_CONSTANT
    return _NOT_CONSTANT
