"""Names for what ``for`` runs over, so that the loop may be tried as one entry.

    for u, v in zip(x[:-1], x[1:]):         _mk_over0 = x[:-1]
        s += (v - u) ** 2                   _mk_over1 = x[1:]
                                            for u, v in zip(_mk_over0, _mk_over1):
                                                s += (v - u) ** 2
                                            del _mk_over0, _mk_over1

A loop that runs plainly takes over what the names hold: Python closes a generator where an
exception leaves the loop.

The loop evaluates these expressions in the same order, once, and holds what they give.  For
``x.flat`` this is a vector of the elements, if that is a view of `x`.  Names and attributes that
stand before one of them are named too, as it may change what they are bound to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import PREFIX, Rebuilder, load, place_of, released, replaced
from mooncake_py.syntax.trees import walk

__all__ = ["NamedLoop", "Released", "is_flat", "names_over", "with_named_iterables"]

OVER = f"{PREFIX}over"


class NamedLoop(NamedTuple):
    """A loop over names alone, and the expressions that these names are bound to before."""

    node: ast.For
    values: dict[str, ast.expr]


def with_named_iterables(names: Names, node: ast.For, number: int) -> NamedLoop | None:
    """Return a loop over names in place of expressions, or None if there is none to name.

    Parameters
    ----------
    names : Names
    node : For
    number : int
        How many names of this kind the function has already.
    """
    parts = list(iterables(names, node.iter))
    last = max((k for k, e in enumerate(parts) if is_to_name(names, e)), default=-1)
    to_name = [
        e
        for e in parts[: last + 1]
        if is_to_name(names, e) or isinstance(e, ast.Name | ast.Attribute)
    ]
    values = {f"{OVER}{number + k}": e for k, e in enumerate(to_name)}
    if not values:
        return None
    known = {id(e): name for name, e in values.items()}

    def named(e: ast.expr) -> ast.expr:
        if id(e) in known:
            return load(known[id(e)], place_of(e))
        return replaced(e, args=list(map(named, e.args))) if isinstance(e, ast.Call) else e

    return NamedLoop(replaced(node, iter=named(node.iter)), values)


def iterables(names: Names, e: ast.expr) -> Iterator[ast.expr]:
    """Yield the arguments that ``zip`` and ``enumerate`` run over, in order of evaluation."""
    if isinstance(e, ast.Call) and not e.keywords and names.calls_builtin(e, "enumerate"):
        for part in e.args[:1]:
            yield from iterables(names, part)
    elif isinstance(e, ast.Call) and names.calls_builtin(e, "zip"):
        for part in e.args:
            yield from iterables(names, part)
    else:
        yield e


def is_flat(e: ast.expr) -> TypeGuard[ast.Attribute]:
    """Return True for ``x.flat``, of which a view may take the place."""
    return isinstance(e, ast.Attribute) and e.attr == "flat"


def is_to_name(names: Names, e: ast.expr) -> bool:
    """Return True for an expression that may give an array, and binds nothing."""
    if is_flat(e):
        return True
    if not isinstance(e, ast.Subscript | ast.Call | ast.BinOp | ast.UnaryOp | ast.List | ast.Tuple):
        return False
    if any(names.calls_builtin(e, builtin) for builtin in ("range", "reversed")):
        return False
    return not any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield) for part in walk(e))


def names_over(e: ast.expr) -> tuple[str, ...]:
    """Return these names in what a loop runs over."""
    names = [part.id for part in walk(e) if isinstance(part, ast.Name)]
    return tuple([name for name in names if name.startswith(OVER)])


class Released(Rebuilder):
    """Lets an expression take over what these names hold, each of which it reads once."""

    def visit(self, node: Any) -> Any:
        """Return code that reads a name and empties it, or a node with its parts visited."""
        if isinstance(node, ast.Name):
            return released(node.id, place_of(node)) if node.id.startswith(OVER) else node
        return super().visit(node)
