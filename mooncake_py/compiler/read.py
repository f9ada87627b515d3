"""Read a loop or a comprehension, and the functions of the user that it calls, as a region."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.reading.dict_items import with_items_as_attributes
from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.compiler.reading.loops import LoopReader
from mooncake_py.compiler.reading.methods import Owner
from mooncake_py.compiler.regions.region import Region
from mooncake_py.syntax.comprehensions import is_hidden, with_sums_as_loops
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import replaced
from mooncake_py.syntax.static_integers import Bindings, StaticInts

__all__ = ["Reading", "read_comprehension", "read_loop"]


class Reading(NamedTuple):
    """A region, and the expressions of what it is given.

    Attributes
    ----------
    region : Region
    inputs, functions : list of expr
    calls : list of expr
        The functions of the user that it names.
    callees : Callees
        What was assumed of these, and of those that they call.
    """

    region: Region
    inputs: list[ast.expr]
    functions: list[ast.expr]
    calls: list[ast.expr]
    callees: Callees


def read_loop(
    names: Names,
    statics: StaticInts,
    found: Bindings,
    function: Any,
    node: ast.For | ast.While,
    owner: Owner | None = None,
) -> Reading | None:
    """Return a loop as a region, or None if something cannot be part of one.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    found : Bindings
        Of the function.
    function : FunctionDef
        The function that the loop is in.
    node : For or While
    owner : Owner, optional
        The class of which the function is a method.
    """
    body = with_sums_as_loops(node.body, names) if found.may_sum(node) else node.body
    tree = node if body is node.body else replaced(node, body=body)
    if tree is not node:
        found = found.with_names_of([tree], is_hidden)
    for attempt in dict.fromkeys((with_items_as_attributes(tree), tree)):
        reader = LoopReader(names, statics, found, function, attempt, owner)
        reader.original = node
        region = region_of(reader)
        if region is not None:
            return reading_of(reader, region)
    return None


def read_comprehension(
    names: Names,
    statics: StaticInts,
    found: Bindings,
    function: Any,
    node: ast.expr,
    loop: ast.For,
    total: str = "",
    owner: Owner | None = None,
) -> Reading | None:
    """Return a comprehension as a region, or None if something cannot be part of one.

    Parameters
    ----------
    names, statics, found, function, owner
        See `read_loop`.
    node : expr
        Where it stands in the function.
    loop : For
        What it runs as: see `syntax.comprehensions`.
    total : str, optional
        The name of what the loop adds up, if it does.
    """
    found = found.with_names_of([loop], is_hidden)
    reader = LoopReader(names, statics, found, function, loop, owner)
    reader.original = node
    reader.total = total
    region = region_of(reader)
    return None if region is None else reading_of(reader, region)


def region_of(reader: LoopReader) -> Region | None:
    """Return the region that is read, or None."""
    try:
        return reader.read()
    except Unfit:
        return None


def reading_of(reader: LoopReader, region: Region) -> Reading:
    """Return a region with what it is given."""
    inputs = list(reader.inputs.values())
    return Reading(region, inputs, reader.functions, reader.calls, reader.callees)
