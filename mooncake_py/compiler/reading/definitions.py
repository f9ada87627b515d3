"""The definition of a function that a region calls: its body, its names, its defaults.

Either a global name or a captured variable is bound to the function, which may change: see
`callees`.  Or the function is nested in the function with the region and is only called there: then
it is the same in every call, and reads the variables of that function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from mooncake_py.compiler.reading.callees import Callee
from mooncake_py.compiler.reading.dict_items import with_items_as_attributes
from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.compiler.reading.heads import head_of
from mooncake_py.errors import MooncakeError
from mooncake_py.syntax.comprehensions import is_hidden, with_sums_as_loops
from mooncake_py.syntax.imported import with_functions_as_attributes
from mooncake_py.syntax.local_modules import local_modules
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import PREFIX, located, place_of
from mooncake_py.syntax.source import locate
from mooncake_py.syntax.static_integers import Bindings, bindings
from mooncake_py.syntax.trees import walk

__all__ = ["Definition", "definition_of", "nested_definition"]

Loop = ast.For | ast.While


class Definition(NamedTuple):
    """A function as it is read.

    Attributes
    ----------
    key : object
        Equal for what is read of the same function.
    args : arguments
    body : list of stmt
    names : Names
    found : Bindings
    stored, counters : set of str
        The names that statements bind, and those that loops count by.
    defaults : dict of str to float
        Of the parameters that have a number as default.
    callee : Callee or None
        What is assumed of it, None for a function that stands in the one around the region.
    """

    key: Any
    args: ast.arguments
    body: list[Any]
    names: Names
    found: Bindings
    stored: set[str]
    counters: set[str]
    defaults: dict[str, float]
    callee: Callee | None


def definition_of(callee: Callee) -> Definition:
    """Return the definition of a function, read from its source."""
    f = callee.function()
    assert f is not None
    try:
        source = locate(f.__code__, f.__globals__)
    except MooncakeError:
        raise Unfit from None
    names_used = (*f.__code__.co_names, *f.__code__.co_varnames)
    if any(n.startswith(PREFIX) for n in names_used):
        raise Unfit
    node = source.node
    if source.class_name is not None and has_private_names(node):
        raise Unfit
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        raise Unfit
    found = bindings(node)
    modules = local_modules(source, f.__code__, found)
    names = Names(f.__globals__, found.bound().union(f.__code__.co_freevars), modules=modules)
    known = defaults_of(node.args, f.__defaults__ or (), f.__kwdefaults__ or {})
    return made(f.__code__, node, names, found, known, callee)


def has_private_names(node: Any) -> bool:
    """Return True if a class gives names in a function another meaning."""
    names = [
        part.attr if isinstance(part, ast.Attribute) else part.id
        for part in walk(node)
        if isinstance(part, ast.Attribute | ast.Name)
    ]
    return any(name.startswith("__") for name in names)


def nested_definition(names: Names, found: Bindings, function: Any, name: str) -> Definition | None:
    """Return the definition of a function nested in another one, or None.

    Parameters
    ----------
    names, found : Names, Bindings
        Of the function around it.
    function : FunctionDef
    name : str
    """
    bound = found.own.get(name, [])
    if len(bound) != 1 or name not in found.steady():
        return None
    defined = [
        part for part in walk(function) if isinstance(part, ast.FunctionDef) and part.name == name
    ]
    node = bound[0] if not defined else defined[0]
    if len(defined) > 1 or not isinstance(node, ast.FunctionDef | ast.Lambda):
        return None
    called = {id(part.func) for part in walk(function) if isinstance(part, ast.Call)}
    if any(
        isinstance(part, ast.Name)
        and part.id == name
        and isinstance(part.ctx, ast.Load)
        and id(part) not in called
        for part in walk(function)
    ):
        return None  # it may be changed, or have a rule
    args = node.args
    if args.vararg or args.kwarg or getattr(node, "decorator_list", []):
        return None
    own = bindings(node)
    keywords = {
        arg.arg: value
        for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if value is not None
    }
    known = defaults_of(args, args.defaults, keywords)
    values = {name: value.value for name, value in known.items() if isinstance(value, ast.Constant)}
    return made(id(node), node, names.within(own.bound()), own, values, None)


def made(
    key: Any,
    node: ast.FunctionDef | ast.Lambda,
    names: Names,
    found: Bindings,
    defaults: dict[str, Any],
    callee: Callee | None,
) -> Definition:
    """Return a definition."""
    if isinstance(node, ast.Lambda):
        body: list[Any] = [located(ast.Return(node.body), place_of(node.body))]
    else:
        body = node.body
    body = [with_functions_as_attributes(s, names) for s in body]
    body, found = with_sums(body, names, found)
    body = [with_items_as_attributes(s) for s in body]
    args = node.args
    parameters = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    stored = {name for name, values in found.own.items() if values != [None]}
    stored |= found.own.keys() - parameters
    counters = counters_of(names, body)
    bound_twice = any(
        not isinstance(value, ast.For) for name in counters for value in found.own[name]
    )
    if bound_twice or not stored <= found.steady():
        raise Unfit
    numbers = {k: v for k, v in defaults.items() if type(v) is int or type(v) is float}
    return Definition(key, args, body, names, found, stored - counters, counters, numbers, callee)


def with_sums(body: list[Any], names: Names, found: Bindings) -> tuple[list[Any], Bindings]:
    """Return statements with sums as loops, and the bindings of these too."""
    new = with_sums_as_loops(body, names) if found.sum_lines else body
    return (body, found) if new is body else (new, found.with_names_of(new, is_hidden))


def counters_of(names: Names, body: list[Any]) -> set[str]:
    """Return the names that loops of a function count by; no loop may return."""
    loops = [part for s in body for part in walk(s) if isinstance(part, Loop)]
    if any(isinstance(part, ast.Return) for loop in loops for part in walk(loop)):
        raise Unfit
    heads = [head_of(names, loop) for loop in loops if isinstance(loop, ast.For)]
    return {head.counter for head in heads if head.counter is not None}


def defaults_of(
    args: ast.arguments, values: Sequence[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Return the default of each parameter that has one."""
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    first = len(positional) - len(values)
    return dict(zip(positional[first:], values, strict=True)) | keywords
