"""What has its own scope within a function: functions, and lists that are made by a loop.

def g(t): return a * t          g(x) is read where it is called, a in the scope around it

[f(t) for t in x]               b = array(len(x))
for i in range(len(x)):
b[i] = f(x[i])
"""

from __future__ import annotations

import ast
import copy
from types import CellType, CodeType, FunctionType

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.operations import as_float
from mooncake_py.compiler.native.building.values import (
    Cells,
    Function,
    Number,
    Tuple,
    Unfit,
    Value,
    stored,
)
from mooncake_py.compiler.native.reading import lists
from mooncake_py.compiler.native.reading.iterables import Iterable, memory_of
from mooncake_py.compiler.native.reading.lowering import ended, lowered
from mooncake_py.compiler.native.reading.objects import ObjectReader
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.regions.linear import ONE, minus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Alloc, Assign, Compare, Const, For, Load, Name, Op
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of

__all__ = ["NestedReader"]

Made = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.GeneratorExp


class NestedReader(ObjectReader):
    """Reads functions within functions, and comprehensions."""

    @override
    def made_function(self, node: Made) -> Value:
        a = node.args
        if a.vararg or a.kwarg or a.posonlyargs or getattr(node, "decorator_list", ()):
            raise Unfit(
                "a nested function that is decorated, or has keyword-only or starred parameters",
                place_of(node),
            )
        if any(isinstance(n, ast.Nonlocal | ast.Global | ast.Yield) for n in ast.walk(node)):
            raise Unfit("a nested function with `nonlocal` or `global`", place_of(node))
        code = code_of(node, self.scope.function.__code__)
        self.scope.makes_functions = True
        cells = tuple([CellType() for _ in code.co_freevars])
        f = FunctionType(code, self.scope.function.__globals__, closure=cells)
        positional = [p.arg for p in a.args]
        given = dict(zip(positional[::-1], a.defaults[::-1], strict=False))
        given |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d}
        defaults = {name: self.kept_apart(self.value(d)) for name, d in given.items()}
        return Function(node, f, self.scope, defaults)

    def scope_of(self, made: Function) -> Scope:
        """Return a scope for the body of a function that is made within another one."""
        if any(scope.function.__code__ is made.function.__code__ for scope in self.scopes):
            raise Unfit("a function that calls itself: use a loop", self.b.place)
        outer: Scope = made.scope
        body = body_of(made.node)
        f = made.function
        return Scope(outer.callee, f, body, self.b.fresh("u"), self.slots, outer)  # type: ignore[arg-type]

    # Comprehensions.

    @override
    def comprehension(self, node: Comprehension) -> Value:
        if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
            raise Unfit(
                "a comprehension with several loops or with `if`: use a loop", place_of(node)
            )
        (generator,) = node.generators
        over = self.iterated(generator.iter)
        known = self.known_items(over)
        if known is None:
            return self.looped(node, over, *self.renamed(node))
        items: list[Value] = []
        for item in known:
            loop, element = self.renamed(node)
            self.to_target(loop.target, item)
            items.append(self.kept_apart(self.value(element)))
        return Tuple(tuple(items), is_list=True)

    def renamed(self, node: Comprehension) -> tuple[ast.For, ast.expr]:
        """Return the loop and the element of a comprehension, with their own names."""
        generator = copy.deepcopy(node.generators[0])
        element = copy.deepcopy(node.elt)
        suffix = self.b.fresh(".of")
        names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
        for part in (*ast.walk(generator.target), *ast.walk(element)):
            if isinstance(part, ast.Name) and part.id in names:
                part.id += suffix
        self.scope.local.update(name + suffix for name in names)
        loop = ast.For(generator.target, generator.iter, [ast.Expr(element)], [])
        return ast.copy_location(loop, node), element

    def looped(
        self, node: Comprehension, over: Iterable, loop: ast.For, element: ast.expr
    ) -> Cells:
        """Read a comprehension over what has a length that is known only when it runs."""
        b = self.b
        counter = b.fresh("i")
        heads, (low, high, step) = self.head(loop.target, over)
        if step != 1:
            raise Unfit("a comprehension over a range with a step", place_of(node))
        n = b.natural(b.steady(minus(high, low)))
        runs = Compare(("lt",), (low, high))
        name = b.fresh("b")
        b.arrays[name], b.made[name] = 1, b.loops
        self.enter_loop(loop.body, runs, memory_of(over))
        with b.loop(counter, low, minus(high, ONE)) as block:
            self.bind_heads(heads, Number(Name(counter), "int"), low)
            found = self.number(element)
            if found.kind not in (FLOAT, INT) or found.rank is not None:
                raise Unfit(
                    f"{said(found)} in a list comprehension: use floats only, or ints only",
                    place_of(node),
                )
            target = Load(name, (minus(Name(counter), low),))
            e = as_float(found.e) if found.kind == FLOAT else found.e
            b.add(Assign(target, e, place=b.place))
        self.leave_loop(runs)
        b.kinds[name] = found.kind
        b.add(Alloc(name, (n,), found.kind, False, place=b.place))
        steps = Op("range", (low, high, Const(1)), place=place_of(node))
        b.add(For(counter, steps, tuple(block), place=place_of(node)))
        return lists.made(b, stored(name, (n,), found.kind), found.type, self.findings.mixed)


def body_of(node: Made) -> list[ast.stmt]:
    """Return the statements of a function."""
    if isinstance(node, ast.FunctionDef):
        return lowered(ended(node.body))
    return [ast.copy_location(ast.Return(node.body), node.body)]


def code_of(node: Made, outer: CodeType) -> CodeType:
    """Return the code of a function that is made within another one."""
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    parameters = tuple([p.arg for p in (*node.args.args, *node.args.kwonlyargs)])
    found = [
        c
        for c in outer.co_consts
        if isinstance(c, CodeType)
        and c.co_name == name
        and c.co_firstlineno == node.lineno
        and c.co_varnames[: len(parameters)] == parameters
    ]
    if len(found) != 1:
        raise Unfit("functions that cannot be told apart", place_of(node))
    return found[0]
