"""Loops that are tried as one entry before they run statement by statement.

    for i in range(1, n):           _mk_steps0 = range(1, n)
        x[i] += a[i] * x[i - 1]     try:
                                        _mk_result0 = _mk_loop0.run(C, (), (_mk_steps0, x, a))
                                    except NameError:
                                        _mk_result0 = _mk_else
                                    if _mk_result0.__class__ is not _mk_bound:
                                        ...     as text of NumPy, see `compiled_loops`, or
                                        for i in _mk_steps0: ...    as it is written
                                        if _mk_result0 is not _mk_else:
                                            _mk_result0.compare(i)
                                    else:
                                        (i,) = _mk_result0
                                    del _mk_result0, _mk_steps0

Debug mode runs a loop both ways, and compares the bound variables.
An unbound name is not an error of the trial, because the loop may never read it.
Attributes are read by ``C.field(o, "v")``, or ``C.own_field(o, "v", ...)`` where the loop stores in
them, given the other objects with such an attribute; they are stored as the user would do it.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any

from mooncake_py.compiler.read import Reading, read_loop
from mooncake_py.compiler.reading.methods import owner_of
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.tried import TriedLoop
from mooncake_py.frontend.compiled_loops import PrintedLoops, compared, is_range
from mooncake_py.frontend.named_iterables import Released
from mooncake_py.frontend.outputs import OutputRewriter
from mooncake_py.frontend.spanning import ELSE
from mooncake_py.syntax.compiled import FunctionNode
from mooncake_py.syntax.comprehensions import MADE, TOTAL
from mooncake_py.syntax.nodes import (
    CELL,
    CONTEXT,
    GLOBAL,
    ITEM,
    OBJECT,
    PREFIX,
    Place,
    assign,
    constant,
    context_call,
    dotted,
    forget,
    load,
    located,
    place_of,
    replaced,
    store,
    undotted,
    when,
)

__all__ = ["LoopRewriter"]

BOUND = f"{PREFIX}bound"
"""Name of the type of what a loop that ran as one entry returns."""


class LoopRewriter(OutputRewriter):
    """Loops as a whole."""

    root: FunctionNode  # the function that is rewritten
    printed: PrintedLoops | None = None
    ranges = 0  # that have become names

    @cached_property
    def _trials(self) -> dict[int, tuple[ast.AST, Reading | None, TriedLoop | None]]:
        return {}

    def trial_of(self, node: ast.For | ast.While) -> tuple[Reading | None, TriedLoop | None]:
        """Return the reading of a loop and its trial; kept, so that its id stays unique."""
        if id(node) not in self._trials:
            owner = owner_of(self.names, self.class_name, self.root)
            reading = read_loop(self.names, self.statics, self.found, self.root, node, owner)
            site = None if reading is None else TriedLoop(reading.region, reading.callees)
            self._trials[id(node)] = node, reading, site
        return self._trials[id(node)][1:]

    def tried_loop(self, node: ast.For | ast.While, plain: Any, original: Any) -> Any:
        """Return code that tries a loop and then runs it plainly, or `plain` if it cannot be one.

        Parameters
        ----------
        node, original : For or While
            With names for what it runs over, and as it is in the function.
        """
        reading, site = self.trial_of(node)
        is_given = site is not None and site.is_given
        loop = None if self.printed is None else self.printed.loop(original)
        if reading is None and loop is None:
            return plain
        place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        first: list[ast.stmt] = []
        last: list[ast.stmt] = []
        steps = ""
        if is_given or (isinstance(plain, ast.For) and is_range(original.iter)):
            steps = f"{PREFIX}steps{self.ranges}"
            self.ranges += 1
            first.append(assign(store(steps, place), plain.iter, place))
            last.append(forget([steps], place))
            plain = replaced(plain, iter=load(steps, place))
        elif reading is not None and isinstance(plain, ast.For):
            plain = replaced(plain, iter=Released().visit(plain.iter))
        lines: list[ast.stmt] = [plain]
        if self.printed is not None and loop is not None:
            lines = self.printed.tried(loop, original, node, lines, steps, self.injected)
        if reading is not None and site is not None:
            lines = self.with_trial(reading, site, steps if is_given else "", lines, place)
        return [*first, *lines, *last]

    def with_trial(
        self, reading: Reading, site: TriedLoop, steps: str, otherwise: list[ast.stmt], place: Place
    ) -> list[ast.stmt]:
        """Return code that tries a loop over numbers, as read, and runs it otherwise if that fails.

        Parameters
        ----------
        steps : str
            The name of what it is given to run over, if it is.
        """
        number = sum(isinstance(v, TriedLoop) for v in self.injected.values())
        loop, result = (f"{PREFIX}{part}{number}" for part in ("loop", "result"))
        self.injected |= {loop: site, ELSE: Elsewhere, BOUND: tuple}
        given = load(steps, place) if steps else constant(None, place)
        bound, stores = self.bind_loop(located(ast.Tuple(
            [target(user, place) for user in reading.region.bound.values()], ast.Store()
        ), place))  # fmt: skip
        tried = load(result, place)
        kind = located(ast.Attribute(tried, "__class__", ast.Load()), place)
        test = located(ast.Compare(kind, [ast.IsNot()], [load(BOUND, place)]), place)
        values = [self._object(undotted(v, place)) for v in reading.region.bound.values()]
        plainly = [*otherwise, compared(tried, values, place)]
        return [
            self._trial(reading, loop, given, store(result, place), place),
            when(test, plainly, [assign(bound, tried, place), *stores], place),
            forget([result], place),
        ]

    def _trial(
        self, reading: Reading, loop: str, steps: ast.expr, result: ast.expr, place: Place
    ) -> ast.stmt:
        call = self.run_call(reading, loop, "run", steps, place)
        otherwise: list[ast.stmt] = [assign(result, load(ELSE, place), place)]
        handler = located(ast.ExceptHandler(load("NameError", place), None, otherwise), place)
        body: list[ast.stmt] = [assign(result, call, place)]
        return located(ast.Try(body, [handler], [], []), place)

    def run_call(
        self, reading: Reading, loop: str, method: str, steps: ast.expr, place: Place
    ) -> ast.expr:
        """Return the call of a method of what is tried, with all that a region is given."""
        inputs = zip(reading.region.inputs, reading.inputs, strict=True)
        values = [steps, *(self._given(reading, *pair) for pair in inputs)]
        run = ast.Attribute(load(loop, place), method, ast.Load())
        calls = [self._object(f) if isinstance(f, ast.Attribute) else f for f in reading.calls]
        functions = ast.Tuple([*reading.functions, *calls], ast.Load())
        parts = [load(CONTEXT, place), functions, ast.Tuple(values, ast.Load())]
        call = ast.Call(located(run, place), [located(part, place) for part in parts], [])
        return located(call, place)

    def _given(self, reading: Reading, name: str, node: ast.expr) -> ast.expr:
        """Return code that reads an input, without effects."""
        if isinstance(node, ast.Name) and node.id == MADE:
            return located(ast.List([], ast.Load()), place_of(node))
        if isinstance(node, ast.Name) and node.id.startswith(TOTAL):
            return constant(0, place_of(node))
        if not isinstance(node, ast.Attribute) or self.names.is_in_module(node):
            return self.operand(node)
        if name not in reading.region.bound:
            return self._object(node)
        others = [
            self._object(other.value)
            for other in reading.inputs
            if isinstance(other, ast.Attribute)
            and other.attr == node.attr
            and not self.names.is_in_module(other)
            and dotted(other) != dotted(node)
        ]
        method, name = self._read(node.attr)
        args = [self._object(node.value), constant(name, place_of(node)), *others]
        return context_call(
            "own_item" if method == "item_of" else "own_field", args, place_of(node)
        )

    def _object(self, node: ast.expr) -> ast.expr:
        """Return code that reads an object that has an attribute, without effects."""
        if not isinstance(node, ast.Attribute) or self.names.module(node) is not None:
            return self.visit(node)
        place = place_of(node)
        method, *name = self._read(node.attr)
        args = [constant(part, place) for part in name]
        return context_call(method, [self._object(node.value), *args], place)

    def _read(self, attribute: str) -> tuple[Any, ...]:
        """Return the method of the context that reads an attribute, and what it is given."""
        if attribute == OBJECT:
            return ("bound_object",)
        if attribute.startswith(CELL):
            return "captured_by", int(attribute.removeprefix(CELL))
        for prefix, method in ((GLOBAL, "global_of"), (ITEM, "item_of")):
            if attribute.startswith(prefix):
                return method, attribute.removeprefix(prefix)
        return "field", self.mangled(attribute)


def target(path: str, place: Place) -> ast.expr:
    """Return the target of an assignment: a name, or an attribute or item of one."""
    base, _, attribute = path.partition(".")
    if not attribute:
        return store(base, place)
    if attribute.startswith(ITEM):
        key = constant(attribute.removeprefix(ITEM), place)
        return located(ast.Subscript(load(base, place), key, ast.Store()), place)
    return located(ast.Attribute(load(base, place), attribute, ast.Store()), place)
