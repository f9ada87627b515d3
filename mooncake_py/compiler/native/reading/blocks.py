"""``try``, ``with`` and ``match`` in terms of simpler statements.

    try:                            with np.errstate(divide="ignore"):
        y = a / b                       y = a / b
    except ZeroDivisionError:
        y = 0.0                     y = a / b
    finally:
        n = n + 1

    y = a / b
    n = n + 1

A body is read as if it raised nothing.  Whatever would raise in Python leaves the region, or is not
compiled at all, so that handlers run the plain way.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Known, Unfit, Value
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of
from mooncake_py.compiler.native.reading.matches import MATCHING, as_branches, call
from mooncake_py.syntax.nodes import PREFIX, assign, load, place_of, replaced, statement, store

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["BLOCKS", "simplified"]

GIVEN_BACK = f"{PREFIX}given_back"
LOOPS = ast.For | ast.While
SILENT = frozenset({"ignore", "warn", None})
CONTEXTS = np.errstate, contextlib.nullcontext, contextlib.suppress


def simplified(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements without ``try``, ``with`` and ``match``."""
    found: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.If() | ast.For() | ast.While():
                sides = [simplified(side) for side in (node.body, node.orelse)]
                if sides != [node.body, node.orelse]:
                    node = replaced(node, body=sides[0], orelse=sides[1])
                found.append(node)
            case ast.Try(body=tried, orelse=orelse, finalbody=final):
                inner = simplified([*tried, *orelse])
                last = simplified(final)
                found += [*(with_last(inner, last) if last else inner), *last]
            case ast.With():
                found += [*entering(node), *simplified(node.body)]
            case ast.Match(cases=cases):
                found += as_branches(node, [simplified(c.body) for c in cases])
            case _:
                found.append(node)
    return found


def with_last(
    body: Sequence[ast.stmt], last: Sequence[ast.stmt], is_looped: bool = False
) -> list[ast.stmt]:
    """Return statements that run others before they leave a block.

    Parameters
    ----------
    is_looped : bool
        Whether they are in a loop within the block, which ``break`` and ``continue`` do not leave.
    """
    found: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Return(value=None) | ast.Return(value=ast.Constant()):
                found += [*last, node]
            case ast.Return(value=ast.expr() as value):
                place = place_of(node)
                name = f"{GIVEN_BACK}{place.line}_{place.column}"
                found.append(assign(store(name, place), value, place))
                found += [*last, replaced(node, value=load(name, place))]
            case ast.Break() | ast.Continue() if not is_looped:
                found += [*last, node]
            case ast.If() | ast.For() | ast.While():
                inside = is_looped or isinstance(node, LOOPS)
                found.append(
                    replaced(
                        node,
                        body=with_last(node.body, last, inside),
                        orelse=with_last(node.orelse, last, is_looped),
                    )
                )
            case _:
                found.append(node)
    return found


def entering(node: ast.With) -> list[ast.stmt]:
    """Return the statements that enter the contexts of a ``with``."""
    found: list[ast.stmt] = []
    for item in node.items:
        e, place = item.context_expr, place_of(item.context_expr)
        if not isinstance(e, ast.Call):
            raise Unfit("`with` of other than np.errstate, nullcontext or suppress", place)
        entered = replaced(call(entering, [e.func, *e.args], place), keywords=e.keywords)
        if item.optional_vars is None:
            found.append(statement(entered, place))
        else:
            found.append(assign(item.optional_vars, entered, place))
    return found


def read_entering(r: ExpressionReader, args: Sequence[Value], given: Any) -> Value:
    """Read how a context is entered, which gives back what ``as`` binds."""
    f, *rest = args
    if not isinstance(f, Known) or not any(f.value is context for context in CONTEXTS):
        raise Unfit(
            f"`with` of {said(f)}: use np.errstate, contextlib.nullcontext or suppress", r.b.place
        )
    if f.value is np.errstate:
        options = [python_of(v) for v in given.values()]
        if rest or any(v is UNKNOWN or v not in SILENT for v in options):
            raise Unfit("np.errstate that raises, calls or prints", r.b.place)
    if f.value is contextlib.nullcontext:
        values = [*rest, *given.values()]
        return values[0] if values else Known(None)
    return Known(None)


Reader = Callable[["ExpressionReader", Sequence[Value], Any], Value]
BLOCKS: dict[Any, Reader] = {entering: read_entering, **MATCHING}
