"""Comprehensions and sums that are tried as one entry before they run as they are written.

    [a * v for v in x]      (_mk_made0.value(C, x, (a, x))
                             or _mk_made0.same(([C.mul(a, v) for v in C.iter(x)],)))[0]

What is tried is an assignment of what is made, like a loop: see `compiled_loops`.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.native.printed_loop import PrintedComprehension
from mooncake_py.frontend.bound_names import bound_before
from mooncake_py.frontend.tried_loops import LoopRewriter
from mooncake_py.overriding import override
from mooncake_py.syntax.comprehensions import is_sum
from mooncake_py.syntax.nodes import (
    CONTEXT,
    EFFECTS,
    PREFIX,
    Place,
    constant,
    load,
    located,
    place_of,
    replaced,
)
from mooncake_py.syntax.trees import walk

__all__ = ["ComprehensionRewriter"]

REPEATABLE = frozenset({"range", "len", "min", "max", "abs"})
CONSUMERS = "list", "tuple", "sum", "max", "min", "sorted"
"""The builtins that take all that a generator yields before they return."""


class ComprehensionRewriter(LoopRewriter):
    """Comprehensions as a whole.

    Attributes
    ----------
    around : tuple of comprehension
        Those around an expression.
    """

    around: tuple[ast.comprehension, ...] = ()

    @override
    def visit_ListComp(self, node: Any) -> ast.expr:
        """Rewrite a comprehension, which is tried if it makes a list."""
        outer = self.around
        self.around = (*outer, *node.generators)
        plain = super().visit_ListComp(node)
        self.around = outer
        return self.tried(node, node, plain) if isinstance(node, ast.ListComp) else plain

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    @override
    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call: a sum is tried, and what is given to a builtin that takes all of it."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.ListComp | ast.GeneratorExp):
            return super().visit_Call(node)
        plain = super().visit_Call(node)
        if is_sum(node, self.names):
            return self.tried(node.args[0], node, plain)
        if isinstance(node.args[0], ast.GeneratorExp) and any(
            self.names.calls_builtin(node, name) for name in CONSUMERS
        ):
            assert isinstance(plain, ast.Call)
            generator = node.args[0]
            made = ast.ListComp(generator.elt, generator.generators)
            tried = self.tried(generator, located(made, place_of(generator)), plain.args[-1])
            plain = replaced(plain, args=[*plain.args[:-1], tried])
        return plain

    def tried(self, node: Any, value: ast.expr, plain: ast.expr) -> ast.expr:
        """Return code that tries what is made by a comprehension, or `plain`."""
        if self.printed is None or self.in_class or self.peeks:
            return plain
        if self.statics.within(node.generators).holds(node.elt):
            return plain  # ints run as they are
        around = {p.id for g in self.around for p in walk(g.target) if isinstance(p, ast.Name)}
        loop = self.printed.expression(value, around)
        if loop is None or not self.are_bound(set(loop.given) - around, node):
            return plain
        place = place_of(node)
        number = sum(isinstance(v, PrintedComprehension) for v in self.injected.values())
        name = f"{PREFIX}made{number}"
        self.injected[name] = PrintedComprehension(loop, self.printed.code, value)
        values = located(ast.Tuple([load(n, place) for n in loop.given], ast.Load()), place)
        arguments = [load(CONTEXT, place), self.steps(node.generators[0].iter), values]
        call = self.of_site(name, "value", arguments, place)
        captured = sorted(n for n in loop.given if n not in around and n not in self.found.own)
        if captured:
            call = located(
                ast.BoolOp(ast.And(), [self.captured_are_bound(name, captured, place), call]), place
            )
        return self.choice(name, call, plain)

    def are_bound(self, names: set[str], node: ast.expr) -> bool:
        """Return True if variables are bound for certain, or captured.

        Else it may be an error; captured variables are looked at when the expression runs.
        """
        local = names & self.found.own.keys()
        return not local or local <= bound_before(self.root, node)

    def steps(self, node: ast.expr) -> ast.expr:
        """Return the object that is iterated, if it can be evaluated once more, else None.

        Names can, and ranges of names.
        """
        place = place_of(node)
        is_simple = all(
            self.names.builtin(part.func) in REPEATABLE
            if isinstance(part, ast.Call)
            else not isinstance(part, (*EFFECTS, ast.Attribute))
            for part in walk(node)
        )
        is_range = isinstance(node, ast.Name) or self.names.calls_builtin(node, "range")
        return self.visit(node) if is_simple and is_range else constant(None, place)

    def captured_are_bound(self, name: str, captured: list[str], place: Place) -> ast.expr:
        """Return a test that captured variables have values.

        A function reads them: it captures them too, and raises where one has no value.
        """
        values = ast.Tuple([load(n, place) for n in captured], ast.Load())
        nothing = ast.arguments([], [], None, [], [], None, [])
        read = located(ast.Lambda(nothing, located(values, place)), place)
        return self.of_site(name, "are_bound", [read], place)

    def of_site(self, name: str, method: str, arguments: list[Any], place: Place) -> ast.expr:
        """Return the call of a method of what tries it."""
        found = located(ast.Attribute(load(name, place), method, ast.Load()), place)
        return located(ast.Call(found, arguments, []), place)

    def choice(self, name: str, call: ast.expr, plain: ast.expr) -> ast.expr:
        """Return the result of a trial, or else the comprehension as written."""
        place = place_of(plain)
        tuple_ = located(ast.Tuple([plain], ast.Load()), place)
        otherwise = self.of_site(name, "same", [tuple_], place)
        either = located(ast.BoolOp(ast.Or(), [call, otherwise]), place)
        return located(ast.Subscript(either, constant(0, place), ast.Load()), place)
