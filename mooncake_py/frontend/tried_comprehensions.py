"""Comprehensions and sums that are tried as one entry before they run as they are written.

    [a * v for v in x]      (_mk_made0.value(C, (), (None, a, x, []))
                             or _mk_made0.same(([C.mul(a, v) for v in C.iter(x)],)))[0]

What is tried is the loop that it runs as: see `syntax.comprehensions`.  The list that it appends to
is passed to it.  A range is evaluated once more where it is not taken, so attributes in it are
looked at before, as in ``C.field(o, "n") is not ... and _mk_made0.value(...) or ...``.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.read import Reading, read_comprehension
from mooncake_py.compiler.reading.bound_names import bound_before
from mooncake_py.compiler.reading.methods import owner_of
from mooncake_py.compiler.sites.tried import TriedComprehension, TriedLoop
from mooncake_py.frontend.tried_loops import LoopRewriter
from mooncake_py.overriding import override
from mooncake_py.syntax.comprehensions import MADE, collecting, is_hidden, is_sum, summing
from mooncake_py.syntax.nodes import (
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

REPEATABLE = frozenset({"range", "len", "zip", "enumerate", "reversed", "min", "max", "abs"})
SIZES = frozenset({"shape", "size", "ndim"})
"""Attributes that are taken for those of an array."""
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
        return self.tried_list(node, plain) if isinstance(node, ast.ListComp) else plain

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    @override
    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call: a sum is tried, and what is given to a builtin that takes all of it."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.ListComp | ast.GeneratorExp):
            return super().visit_Call(node)
        tried = self.tried_sum(node)
        plain = super().visit_Call(node)
        if isinstance(node.args[0], ast.GeneratorExp) and any(
            self.names.calls_builtin(node, name) for name in CONSUMERS
        ):
            assert isinstance(plain, ast.Call)
            made = self.tried_list(node.args[0], plain.args[-1])
            plain = replaced(plain, args=[*plain.args[:-1], made])
        return plain if tried is None else self.choice(*tried, plain)

    def tried_sum(self, node: ast.Call) -> tuple[str, ast.expr] | None:
        """Return code that tries a sum, or None."""
        found = summing(node, self.names) if is_sum(node, self.names) else None
        if found is None:
            return None
        reading = self.read(node.args[0], found[1], found[0])
        return None if reading is None else self.trial(reading, found[1], node)

    def tried_list(self, node: Any, plain: ast.expr) -> ast.expr:
        """Return code that tries a comprehension, or `plain`."""
        loop = collecting(node, self.names)
        reading = None if loop is None else self.read(node, loop)
        if loop is None or reading is None:
            return plain
        return self.choice(*self.trial(reading, loop, node), plain)

    def read(self, node: Any, loop: ast.For, total: str = "") -> Reading | None:
        """Return the reading of what a comprehension runs as, or None."""
        if self.in_class or self.peeks or not self.may_be_repeated(loop.iter):
            return None
        if self.statics.within(node.generators).holds(node.elt):
            return None  # ints run as they are
        owner = owner_of(self.names, self.class_name, self.root)
        reading = read_comprehension(
            self.names, self.statics, self.found, self.root, node, loop, total, owner
        )
        if reading is None or not self.are_bound(reading, node):
            return None
        return reading

    def may_be_repeated(self, node: ast.expr) -> bool:
        """Return True if what is iterated can be evaluated once more: builtins of names."""
        return all(
            self.names.builtin(part.func) in REPEATABLE
            if isinstance(part, ast.Call)
            else not isinstance(part, EFFECTS)
            for part in walk(node)
        )

    def are_bound(self, reading: Reading, node: ast.expr) -> bool:
        """Return True if all that is passed is bound for certain, or captured.

        Else it may be an error; captured variables are looked at when the expression runs.
        """
        names = passed(reading)
        if any(not is_hidden(n) and not self.is_known(n) for n in names):
            return False
        local = names & self.found.own.keys()
        local -= {part.id for g in self.around for part in walk(g.target) if type(part) is ast.Name}
        return not local or local <= bound_before(self.root, node)

    def is_known(self, name: str) -> bool:
        """Return True for a name that is bound in a function, or global now."""
        return self.names.is_bound(name) or name in self.names.globals

    def trial(self, reading: Reading, loop: ast.For, node: ast.expr) -> tuple[str, ast.expr]:
        """Return the name of what runs a comprehension, and the call."""
        place = place_of(node)
        number = sum(isinstance(v, TriedComprehension) for v in self.injected.values())
        name = f"{PREFIX}made{number}"
        inputs = zip(reading.region.inputs, reading.inputs, strict=True)
        made = "".join([own for own, e in inputs if root(e) == MADE])
        tried = self.injected[name] = TriedComprehension(
            TriedLoop(reading.region, reading.callees), made
        )
        is_given = tried.loop.is_given
        steps = self.visit(loop.iter) if is_given else constant(None, place)
        call = self.run_call(reading, name, "value", steps, place)
        tests = self.captured_are_bound(reading, name, place)
        tests += self.run_no_code(loop.iter) if is_given else []
        return name, located(ast.BoolOp(ast.And(), [*tests, call]), place) if tests else call

    def captured_are_bound(self, reading: Reading, name: str, place: Place) -> list[ast.expr]:
        """Return a test that the captured variables that are passed have values, if there are any.

        A function reads them: it captures them too, and raises where one has no value.
        """
        captured = sorted(n for n in passed(reading) if self.is_captured(n))
        if not captured:
            return []
        values = ast.Tuple([load(n, place) for n in captured], ast.Load())
        nothing = ast.arguments([], [], None, [], [], None, [])
        read = located(ast.Lambda(nothing, located(values, place)), place)
        test = located(ast.Attribute(load(name, place), "are_bound", ast.Load()), place)
        return [located(ast.Call(test, [read], []), place)]

    def is_captured(self, name: str) -> bool:
        """Return True for a variable of a function around this one."""
        return self.names.is_bound(name) and name not in self.found.own and not is_hidden(name)

    def run_no_code(self, node: ast.expr) -> list[ast.expr]:
        """Return tests that reading the attributes in an expression runs no code."""
        return [
            located(ast.Compare(self._object(part), [ast.IsNot()], [nothing]), place)
            for part in walk(node)
            if isinstance(part, ast.Attribute)
            and part.attr not in SIZES
            and self.names.module(part) is None
            and not self.names.is_in_module(part)
            for place in [place_of(part)]
            for nothing in [constant(..., place)]
        ]

    def choice(self, name: str, call: ast.expr, plain: ast.expr) -> ast.expr:
        """Return the result of a trial, or else the comprehension as written."""
        place = place_of(plain)
        same = located(ast.Attribute(load(name, place), "same", ast.Load()), place)
        tuple_ = located(ast.Tuple([plain], ast.Load()), place)
        otherwise = located(ast.Call(same, [tuple_], []), place)
        either = located(ast.BoolOp(ast.Or(), [call, otherwise]), place)
        return located(ast.Subscript(either, constant(0, place), ast.Load()), place)


def passed(reading: Reading) -> set[str]:
    """Return the names that what is passed begins with."""
    return {root(e) for e in (*reading.inputs, *reading.calls, *reading.functions)} - {""}


def root(node: ast.expr) -> str:
    """Return the name that an expression begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
