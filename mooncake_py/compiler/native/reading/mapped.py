"""Iterators of builtin functions as generator expressions.

    map(f, x, y)            (f(a, b) for a, b in zip(x, y))
    filter(f, x)            (a for a in x if f(a))
    pairs = zip(x, y)       pairs = (a for a in zip(x, y))

The function is read where the iterator is made, and called where an item is taken.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.values import Known, Unfit, Value
from mooncake_py.syntax.nodes import load, located, place_of, store

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.iterables import IterableReader

__all__ = ["as_generator"]

NAMED: dict[str, Any] = {f.__name__: f for f in (map, filter)}
RUN_OVER: dict[str, Any] = {f.__name__: f for f in (zip, enumerate, reversed)}
"""Functions whose iterators loops and comprehensions run over as they are."""


def as_generator(
    r: IterableReader, node: ast.expr, is_value: bool = False
) -> ast.GeneratorExp | None:
    """Return a generator expression for the iterator that a call makes, None for other calls.

    Parameters
    ----------
    is_value : bool
        Whether nothing runs over it where it is made.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    own = NAMED | RUN_OVER if is_value else NAMED
    f = own.get(node.func.id)
    if f is None or r.known_function(node.func) is not f:
        return None
    place, item = place_of(node), r.b.fresh(".item")
    if f in RUN_OVER.values():
        return over(load(item, place), item, node, [])
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args) or len(node.args) < 2:
        raise Unfit(f"`{f.__name__}` with arguments that do not fit", place)
    first, *rest = node.args
    called = r.value(first)
    if f is filter and called == Known(None):
        return over(load(item, place), item, rest[0], [load(item, place)])
    function = bound(r, called, node)
    if f is filter:
        test = located(ast.Call(function, [load(item, place)], []), place)
        return over(load(item, place), item, rest[0], [test])
    if len(rest) == 1:
        made = located(ast.Call(function, [load(item, place)], []), place)
        return over(made, item, rest[0], [])
    together = located(ast.Call(bound(r, Known(zip), node), rest, []), place)
    starred = located(ast.Starred(load(item, place), ast.Load()), place)
    return over(located(ast.Call(function, [starred], []), place), item, together, [])


def bound(r: IterableReader, value: Value, node: ast.expr) -> ast.expr:
    """Return a name of its own for a value."""
    name = r.b.fresh(".function")
    r.scope.bindings[name] = 1
    r.slots.bound(r.scope.slot(name), value)
    return load(name, place_of(node))


def over(made: ast.expr, item: str, iterated: ast.expr, tests: list[ast.expr]) -> ast.GeneratorExp:
    """Return a generator expression of one loop."""
    place = place_of(iterated)
    loop = ast.comprehension(store(item, place), iterated, tests, 0)
    return located(ast.GeneratorExp(made, [loop]), place)
