"""Loops over ``checkpointed(...)``: the body becomes a function that can run again.

Example::

    for t in checkpointed(items, slots=5):      if False: t = u = v = None
        u, v = step(u, t)                       def _mk_body0(_mk_item):
        if v > 1.0:                                 nonlocal t, u, v
            break                                   t = _mk_item
    else:                                           u, v = step(u, t)
        v = 0.0                                     if v > 1.0:
                                                        return False
                                                names = (("t", "u", "v"), ())
                                                _mk_exit0 = C.run_again(_mk_body0, names, items, 5)
                                                if _mk_exit0 is None: v = 0.0

The names are those that the body binds, local and global ones.  It returns None to go on, False
for ``break``, and a tuple of one for ``return``.  A name that is not bound yet is a free variable
there, of which Python raises a `NameError`: see `CheckpointedLoop.guarded`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mooncake_py.checkpointing import checkpointed
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    PREFIX,
    Place,
    Rebuilder,
    assign,
    constant,
    context_call,
    load,
    located,
    place_of,
    replaced,
    store,
    when,
)
from mooncake_py.syntax.static_integers import Bindings, bindings_of
from mooncake_py.syntax.trees import children, walk

__all__ = ["CheckpointedLoop", "Exits", "in_scope", "is_checkpointed"]

ITEM = f"{PREFIX}item"
ERROR = f"{PREFIX}error"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_checkpointed(node: ast.For, names: Names) -> bool:
    """Return whether a loop runs over a call of :func:`mooncake_py.checkpointed`."""
    return isinstance(node.iter, ast.Call) and names.refers_to(node.iter.func, checkpointed)


class CheckpointedLoop:
    """One such loop, with its body as a function, not yet rewritten.

    The number tells it from others in the same function, whose bindings were found.
    """

    runner = "run_again"
    parameters: tuple[str, ...] = (ITEM,)  # of the function

    def __init__(self, node: ast.For | ast.While, number: int, found: Bindings) -> None:
        self.node = node
        head = node.iter if isinstance(node, ast.For) else node.test
        self.place = place_of(head)
        self.name = f"{PREFIX}body{number}"
        self.exit = f"{PREFIX}exit{number}"
        self.found = found
        bound = set(bindings_of([*targets(node), head, *node.body]).own)
        self.bound = sorted(bound - found.global_names)
        self.globals = sorted(bound & found.global_names)

    def reason_to_refuse(self) -> ast.AST | None:
        """Return a part of the loop that cannot be in its own function, or None."""
        tests = [self.node.test] if isinstance(self.node, ast.While) else []
        for item in in_scope([*tests, *self.node.body]):
            match item:
                case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.AsyncFor():
                    return item
                case ast.Call(func=ast.Name(id="super" | "locals" | "vars" | "dir"), args=[]):
                    return item  # it looks for the arguments or the variables of its function
        return None

    def body(self) -> list[ast.stmt]:
        """Return the statements of the function, in the user's terms."""
        items = [assign(t, load(ITEM, self.place), self.place) for t in targets(self.node)]
        return [*items, *Exits().visit_all(self.node.body)]

    def gone_through(self, left: ast.expr) -> ast.expr:
        """Return a test whether the loop has come to its end, from how it was left."""
        place = self.place
        return located(ast.Compare(left, [ast.Is()], [constant(None, place)]), place)

    def statements(self, body: list[ast.stmt], args: list[Any], orelse: list[ast.stmt]) -> Any:
        """Return the statements that replace the loop, from its rewritten parts."""
        place = self.place
        scope: list[ast.stmt] = []
        body = self.guarded(Guards(self.guarded).visit_all(body))
        if self.globals:
            scope.append(located(ast.Global(self.globals), place))
        if self.bound:
            scope.append(located(ast.Nonlocal(self.bound), place))
        given = [located(ast.arg(name), place) for name in self.parameters]
        arguments = ast.arguments([], given, None, [], [], None, [])
        fields: dict[str, Any] = {
            "name": self.name, "args": arguments, "body": [*scope, *body], "decorator_list": [],
            "returns": None, "type_comment": None, "type_params": [],
        }  # fmt: skip
        function = located(ast.FunctionDef(**fields), place)
        positional, keywords = args
        names = constant((tuple(self.bound), tuple(self.globals)), place)
        run = context_call(
            self.runner, [load(self.name, place), names, *positional], place, keywords
        )
        result: list[ast.stmt] = [
            *self.declarations(place),
            function,
            assign(store(self.exit, place), run, place),
        ]
        left = load(self.exit, place)
        if any(isinstance(item, ast.Return) for item in in_scope(self.node.body)):
            value = located(ast.Subscript(left, constant(0, place), ast.Load()), place)
            result.append(when(left, [located(ast.Return(value), place)], [], place))
        if orelse:
            result.append(when(self.gone_through(left), orelse, [], place))
        return result

    def guarded(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements in which names that are not bound yet raise what local ones raise.

        ``try: body`` ``except NameError as e: C.unbound(e, names); raise``
        """
        place = self.place
        names = constant(tuple(sorted(self.found.steady() | set(self.bound))), place)
        told = context_call("unbound", [load(ERROR, place), names], place)
        again: list[ast.stmt] = [located(ast.Expr(told), place), located(ast.Raise(), place)]
        handler = located(ast.ExceptHandler(load("NameError", place), ERROR, again), place)
        return [located(ast.Try(body, [handler], [], []), place)]

    def declarations(self, place: Place) -> list[ast.stmt]:
        """Return a statement that never runs: it makes the names those of the outer function."""
        own = [name for name in self.bound if name not in self.found.nonlocal_names]
        if not own:
            return []
        bind = located(
            ast.Assign([store(name, place) for name in own], constant(None, place)), place
        )
        return [when(constant(False, place), [bind], [], place)]


def targets(node: ast.For | ast.While) -> list[ast.expr]:
    """Return the targets in the head of a loop."""
    return [node.target] if isinstance(node, ast.For) else []


def in_scope(nodes: list[Any]) -> list[ast.AST]:
    """Return all parts that belong to the scope of the nodes: not those of inner functions."""
    found: list[ast.AST] = []
    todo = list(nodes)
    while todo:
        item = todo.pop()
        found.append(item)
        if isinstance(item, _SCOPES):
            continue
        if isinstance(item, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            todo += [part for part in walk(item) if isinstance(part, ast.NamedExpr)]
            continue
        todo += children(item)
    return found


class Guards(Rebuilder):
    """Guards what stands under ``try`` in the body of a loop; see `CheckpointedLoop.guarded`."""

    def __init__(self, guarded: Callable[[list[ast.stmt]], list[ast.stmt]]) -> None:
        self.guarded = guarded

    def visit(self, node: Any) -> Any:
        if isinstance(node, _SCOPES):
            return node
        node = super().visit(node)
        if isinstance(node, (ast.Try, ast.TryStar)) and node.handlers:
            return replaced(node, body=self.guarded(node.body))
        return node


class Exits(Rebuilder):
    """Turns exits from the body into results of its function.

    Depth 1 leaves those alone that go on with the loop or leave it.
    """

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth  # of loops within

    def visit(self, node: Any) -> Any:
        """Rewrite a statement; other functions have exits of their own."""
        if isinstance(node, _SCOPES):
            return node
        if isinstance(node, ast.Return):
            place = place_of(node)
            value = constant(None, place) if node.value is None else node.value
            return replaced(node, value=located(ast.Tuple([value], ast.Load()), place))
        if isinstance(node, (ast.Break, ast.Continue)):
            if self.depth:
                return node
            place = place_of(node)
            signal = False if isinstance(node, ast.Break) else None
            return located(ast.Return(constant(signal, place)), place)
        if isinstance(node, (ast.For, ast.While)):
            self.depth += 1
            body = self.visit_all(node.body)
            self.depth -= 1
            return replaced(node, body=body, orelse=self.visit_all(node.orelse))
        return super().visit(node)
