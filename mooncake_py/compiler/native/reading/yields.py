"""``yield`` in terms of what is read in its place: the body of the loop that consumes it.

    def sums(x):                    t = 0.0
        t = 0.0                     for k in range(n):
        for k in range(n):              t = t + x[k]
            t = t + x[k]                v = t               here begins what the consumer does
            yield t                     s = s + v * v
                                        if s > a:
    for v in sums(x):                       left = True
        s = s + v * v                   if left:            here it has done it
        if s > a:                           return
            break

A consumer that goes on no more lets the generator return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.blocks import simplified
from mooncake_py.syntax.nodes import (
    PREFIX,
    load,
    located,
    place_of,
    replaced,
    statement,
    store,
    when,
)

__all__ = ["Begun", "Handed", "Pulled", "handing", "loops_of", "opened", "yields_in"]

WITHIN = ast.FunctionDef | ast.Lambda | ast.GeneratorExp


class Handed(ast.expr):
    """An item that is yielded: reading it reads the consumer's work with it.

    Its value is whether the consumer goes on no more.
    """

    _fields = ("value",)

    def __init__(self, value: ast.expr | None) -> None:
        super().__init__()
        self.value = value


def yields_in(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the `yield` expressions in statements, except in functions within them."""
    for node in body:
        if isinstance(node, Handed | ast.Yield | ast.YieldFrom):
            yield node
        if not isinstance(node, WITHIN):
            yield from yields_in(list(ast.iter_child_nodes(node)))


class Begun(ast.expr):
    """The iterable of the outermost loop of a generator expression, which is read at once.

    Attributes
    ----------
    over : Iterable
    seen : dict of Slot to Value
        What lists and dicts held then.
    """

    _fields = ()

    def __init__(self, over: Any, seen: Any) -> None:
        super().__init__()
        self.over, self.seen = over, seen


class Pulled(ast.expr):
    """Whether each of several iterators has one more item, and these as one variable.

    Attributes
    ----------
    parts : list of (Generated or iterator of Value)
    numberings : dict of int to callable
        By the ids of those that are generators what numbers their items.
    name : str
        Of the variable.
    """

    _fields = ()

    def __init__(self, parts: Any, numberings: Any, name: str) -> None:
        super().__init__()
        self.parts, self.numberings, self.name = parts, numberings, name


def opened(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a generator, which does nothing when it is closed early.

    Raises
    ------
    Unfit
    """
    for node in body:
        for part in ast.walk(node):
            if isinstance(part, ast.Try) and part.finalbody and any(yields_in(part.body)):
                raise Unfit("`yield` in a `try` with `finally`", place_of(part))
    return simplified(body)


def handing(body: Sequence[ast.stmt], may_leave: bool) -> list[ast.stmt]:
    """Return statements of a generator that hand over what they yield.

    Parameters
    ----------
    may_leave : bool
        Whether the consumer may go on no more, which ends the generator.
    """
    found: list[ast.stmt] = []
    for node in body:
        place = place_of(node)
        match node:
            case ast.Expr(value=ast.Yield(value=value)):
                test = located(Handed(value), place)
                found.append(
                    when(test, [located(ast.Return(None), place)], [], place)
                    if may_leave
                    else statement(test, place)
                )
            case ast.Expr(value=ast.YieldFrom(value=value)):
                name = f"{PREFIX}item{place.line}_{place.column}"
                inner = statement(located(ast.Yield(load(name, place)), place), place)
                loop = ast.For(store(name, place), value, handing([inner], may_leave), [])
                found.append(located(loop, place))
            case ast.If() | ast.For() | ast.While():
                sides = [handing(side, may_leave) for side in (node.body, node.orelse)]
                found.append(replaced(node, body=sides[0], orelse=sides[1]))
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                found += [statement(value, place), replaced(node, value=None)]
            case ast.Return():
                found.append(replaced(node, value=None))
            case _:
                found.append(node)
    return found


def loops_of(
    element: ast.expr, generators: Sequence[ast.comprehension], over: Begun
) -> list[ast.stmt]:
    """Return the statements of a generator expression, whose outermost loop has begun."""
    place = place_of(element)
    body: list[ast.stmt] = [statement(located(ast.Yield(element), place), place)]
    for generator in generators[::-1]:
        for test in generator.ifs[::-1]:
            body = [when(test, body, [], place_of(test))]
        iterated = over if generator is generators[0] else generator.iter
        loop = ast.For(generator.target, iterated, body, [])
        body = [located(loop, place_of(generator.iter))]
    return body
