"""Returns within loops, and ``else`` of loops, in terms of flags and ``break``.

    for i in range(n):              _mk_left = False
        if x[i] > a:                _mk_result0 = ...
            return x[i]             for i in range(n):
    return a                            if x[i] > a:
                                            _mk_result0 = x[i]
                                            _mk_left = True
                                            break
                                    if _mk_left:
                                        return _mk_result0
                                    return a

    for i in range(n):              _mk_broke0 = False
        if x[i] > a:                for i in range(n):
            break                       if x[i] > a:
    else:                                   _mk_broke0 = True
        a = 0.0                             break
                                    if not _mk_broke0:
                                        a = 0.0

A flag of an outer loop is asked after each loop within it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from mooncake_py.syntax.nodes import (
    PREFIX,
    Place,
    assign,
    constant,
    load,
    located,
    place_of,
    replaced,
    store,
    when,
)
from mooncake_py.syntax.trees import walk

__all__ = ["BROKE", "RESULT", "ended", "has_return", "is_flag", "lowered", "own_breaks"]

LOOPS = ast.For | ast.While
LEFT, RESULT, BROKE = (f"{PREFIX}{name}" for name in ("left", "result", "broke"))
FLAGS = LEFT, BROKE


def ended(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function, whose end gives back None, with a return there."""
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return body
    return [*body, located(ast.Return(None), place_of(last))]


def lowered(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function without returns within loops and ``else`` of loops.

    Where they give back values of several structures they are left as they are.
    """
    loops = list(own(body, LOOPS))
    returns = {id(node): node for loop in loops for node in own(loop.body, ast.Return)}
    if not returns and not any(loop.orelse for loop in loops):
        return body
    widths = {width(node.value) for node in returns.values()}
    if len(widths) > 1:
        return body
    return Lowering(list(returns.values())).block(body, 0, "")


class Lowering:
    """Rewrites one function.

    Parameters
    ----------
    returns : list of Return
        Those within loops; all give back a tuple of one length, a value, or None.
    """

    def __init__(self, returns: Sequence[ast.Return]) -> None:
        self.width = len(parts(returns[0].value)) if returns else 0
        self.is_tuple = any(isinstance(node.value, ast.Tuple) for node in returns)
        self.count = 0

    def block(self, nodes: Sequence[ast.stmt], depth: int, flag: str) -> list[ast.stmt]:
        """Rewrite statements that are in so many loops.

        Parameters
        ----------
        flag : str
            What a ``break`` here sets, empty for nothing.
        """
        found: list[ast.stmt] = []
        for node in nodes:
            match node:
                case ast.For() | ast.While():
                    found += self.loop(node, depth, flag)
                case ast.If(body=body, orelse=orelse):
                    sides = [self.block(side, depth, flag) for side in (body, orelse)]
                    found.append(replaced(node, body=sides[0], orelse=sides[1]))
                case ast.Return() if depth:
                    found += self.left(node)
                case ast.Break() if flag:
                    found += [truth(flag, True, place_of(node)), node]
                case _:
                    found.append(node)
        return found

    def left(self, node: ast.Return) -> list[ast.stmt]:
        """Return the statements that replace a return within a loop."""
        place = place_of(node)
        results = [
            assign(store(f"{RESULT}{k}", place), value, place)
            for k, value in enumerate(parts(node.value))
        ]
        return [*results, truth(LEFT, True, place), located(ast.Break(), place)]

    def loop(self, node: ast.For | ast.While, depth: int, outer: str) -> list[ast.stmt]:
        """Return the statements that replace a loop."""
        place = place_of(node)
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        flag = ""
        if node.orelse and any(own_breaks(node.body)):
            flag, self.count = f"{BROKE}{self.count}", self.count + 1
            before.append(truth(flag, False, place))
        if any(own(node.body, ast.Return)):
            if not depth:
                before.append(truth(LEFT, False, place))
                for k in range(self.width):
                    nothing = constant(..., place)
                    before.append(assign(store(f"{RESULT}{k}", place), nothing, place))
            after += self.leaving(node, depth, place)
        orelse = self.block(node.orelse, depth, outer)
        if flag and orelse:
            after.append(when(load(flag, place), [located(ast.Pass(), place)], orelse, place))
        else:
            after += orelse
        return [*before, replaced(node, body=self.block(node.body, depth + 1, flag), orelse=[]),
                *after]  # fmt: skip

    def leaving(self, node: ast.For | ast.While, depth: int, place: Place) -> list[ast.stmt]:
        """Return the statements that leave after a loop that a return has left."""
        if depth:
            leave: ast.stmt = located(ast.Break(), place)
        else:
            values: list[ast.expr] = [load(f"{RESULT}{k}", place) for k in range(self.width)]
            value = values[0] if len(values) == 1 and not self.is_tuple else None
            if value is None and self.is_tuple:
                value = located(ast.Tuple(values, ast.Load()), place)
            leave = located(ast.Return(value), place)
        if not depth and isinstance(node, ast.While) and is_endless(node):
            return [leave]
        return [when(load(LEFT, place), [leave], [], place)]


def has_return(node: ast.stmt) -> bool:
    """Return True if a statement may leave its function by a return."""
    return any(isinstance(part, ast.Return) for part in walk(node))


def own(body: Sequence[ast.stmt], kind: Any) -> Iterator[Any]:
    """Yield the statements of a kind in a block and in those within it; not in functions within."""
    for s in body:
        if isinstance(s, kind):
            yield s
        if not isinstance(s, ast.FunctionDef):
            for block in ("body", "orelse"):
                yield from own(getattr(s, block, ()), kind)


def own_breaks(body: Sequence[ast.stmt]) -> Iterator[ast.Break]:
    """Yield the ``break``s that leave the loop with this body."""
    for s in body:
        if isinstance(s, ast.Break):
            yield s
        elif isinstance(s, ast.If):
            yield from own_breaks([*s.body, *s.orelse])
        elif isinstance(s, LOOPS):
            yield from own_breaks(s.orelse)


def is_endless(node: ast.While) -> bool:
    """Return True for a loop that only a return leaves."""
    return (
        isinstance(node.test, ast.Constant)
        and bool(node.test.value)
        and not any(own_breaks(node.body))
    )


def parts(value: ast.expr | None) -> list[ast.expr]:
    """Return the values in what is given back."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return []
    return value.elts if isinstance(value, ast.Tuple) else [value]


def width(value: ast.expr | None) -> tuple[bool, int]:
    """Return whether a tuple is given back, and of how many values."""
    return isinstance(value, ast.Tuple), len(parts(value))


def is_flag(name: str) -> bool:
    """Return True for what tells whether a loop, or the function, has been left."""
    return name.startswith(FLAGS)


def truth(name: str, value: bool, place: Place) -> ast.stmt:
    """Return a statement that sets a flag."""
    return assign(store(name, place), constant(value, place), place)
