"""Read a loop, and the functions of the user that it calls, as a region."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from mooncake_py.compiler.callees import Callees
from mooncake_py.compiler.dict_items import with_items_as_attributes
from mooncake_py.compiler.methods import Owner
from mooncake_py.compiler.read_expressions import Unfit
from mooncake_py.compiler.region import Region
from mooncake_py.compiler.slices.named_views import local_names
from mooncake_py.compiler.slices.read import SlicedLoopReader
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.static_integers import Bindings, StaticInts

__all__ = ["Reading", "read_loop"]


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
    local : callable
        Returns the names that nothing outside the loop reads.
    """

    region: Region
    inputs: list[ast.expr]
    functions: list[ast.expr]
    calls: list[ast.expr]
    callees: Callees
    local: Callable[[], frozenset[str]]


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
    for tree in dict.fromkeys((with_items_as_attributes(node), node)):
        reader = SlicedLoopReader(names, statics, found, function, tree, owner)
        reader.original = node
        try:
            region = reader.read()
            break
        except Unfit:
            pass
    else:
        return None
    inputs = list(reader.inputs.values())
    local = partial(local_names, function, node)
    return Reading(region, inputs, reader.functions, reader.calls, reader.callees, local)
