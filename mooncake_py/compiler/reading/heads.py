"""The iterables of ``for`` loops, and the names that the loops bind.

    for i in range(n) | reversed(range(n))          Head("i", [], [])
    for u, v in zip(x, y)                           Head(None, [u, v], [x, y])
    for i, (u, v) in enumerate(zip(x, y))           Head("i", [u, v], [x, y])

Other loops raise `Unfit`.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.syntax.names import Names

__all__ = ["Head", "head_of", "reversed_range"]


class Head(NamedTuple):
    """The iterable of a loop: a range, or arrays whose elements names are bound to."""

    counter: str | None
    targets: list[Any]
    arrays: list[ast.expr]


def head_of(names: Names, node: ast.For) -> Head:
    """Return the iterable of a loop and the names that it binds."""
    call = node.iter if isinstance(node.iter, ast.Call) else None
    if isinstance(node.target, ast.Name) and (
        names.calls_builtin(node.iter, "range") or reversed_range(names, node.iter) is not None
    ):
        return Head(node.target.id, [], [])
    targets: list[ast.expr] = [node.target]
    arrays: list[ast.expr] = [node.iter]
    if isinstance(node.iter, ast.Name | ast.Attribute):
        pass
    elif call is None or not isinstance(node.target, ast.Tuple):
        raise Unfit
    elif names.calls_builtin(call, "zip") and is_strict_or_not(call.keywords):
        targets, arrays = node.target.elts, call.args
    elif names.calls_builtin(call, "enumerate") and not call.keywords:
        return numbered(names, node.target.elts, call.args)
    else:
        raise Unfit
    return paired(None, targets, arrays)


def numbered(names: Names, targets: list[ast.expr], given: list[ast.expr]) -> Head:
    """Return the head of ``for i, v in enumerate(x)``, and of ``i, (u, v)`` over pairs."""
    if len(targets) != 2 or len(given) != 1 or not isinstance(targets[0], ast.Name):
        raise Unfit
    counter, (second,) = targets[0].id, targets[1:]
    if not isinstance(second, ast.Tuple):
        return paired(counter, [second], given)
    (call,) = given
    if not isinstance(call, ast.Call) or not names.calls_builtin(call, "zip"):
        raise Unfit
    if not is_strict_or_not(call.keywords):
        raise Unfit
    return paired(counter, second.elts, call.args)


def reversed_range(names: Names, node: ast.expr) -> ast.Call | None:
    """Return the range that ``reversed(range(...))`` goes through backwards, or None."""
    if not isinstance(node, ast.Call) or not names.calls_builtin(node, "reversed"):
        return None
    if len(node.args) != 1 or not names.calls_builtin(node.args[0], "range"):
        return None
    assert isinstance(node.args[0], ast.Call)
    return node.args[0]


def paired(counter: str | None, targets: list[Any], arrays: list[ast.expr]) -> Head:
    """Return the head of a loop that binds a name for each array."""
    names = all(isinstance(t, ast.Name) for t in targets)
    if not targets or len(targets) != len(arrays) or not names:
        raise Unfit
    return Head(counter, targets, arrays)


def is_strict_or_not(keywords: list[ast.keyword]) -> bool:
    """Return True for no keywords, or one that decides about lengths that differ.

    Those are left to the loop as it is written in any case.
    """
    return all(k.arg == "strict" and isinstance(k.value, ast.Constant) for k in keywords)
