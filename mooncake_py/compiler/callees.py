"""Functions of the user that a region calls: read at each call, as part of the region.

    def speed(u, rate):             c0_return = ...
        if u < 0.0:                 if u_u < 0.0:
            return 0.0                  c0_return = 0.0
        return rate * u             else:
                                        c0_return = u_rate * u_u

Taken: functions of the same module that take and return numbers, whose bodies are assignments to
their own names, branches and returns.  Such a function is the one that was read as long as its
name, its code and its lack of a rule are as they were; that is seen to where the region runs.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mooncake_py.compiler.ir import Assign, Block, Expr, If, Name
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.rules import registry
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.source import locate
from mooncake_py.syntax.static_integers import bindings

__all__ = ["Callee", "Inlined", "Scope", "found_callee", "is_still", "returns"]


class Inlined(NamedTuple):
    """A function that was read: its number among those that are passed, itself, and its code."""

    number: int
    function: FunctionType
    code: CodeType


class Callee(NamedTuple):
    """The text of a function.

    Attributes
    ----------
    parameters : list of str
    body : list of stmt
    own, rebound : frozenset of str
        The names that it binds, and those that it binds more than once.
    names : Names
        What the others mean.
    """

    function: FunctionType
    parameters: list[str]
    body: list[ast.stmt]
    own: frozenset[str]
    rebound: frozenset[str]
    names: Names


class Scope(NamedTuple):
    """What names mean while the body of a function is read.

    Attributes
    ----------
    prefix : str
        Before the names of the function, in IR.
    own : frozenset of str
    given : dict of str to Expr
        Parameters that stand for what was passed.
    """

    prefix: str
    own: frozenset[str]
    given: dict[str, Expr]


def found_callee(node: ast.Name, caller: Names) -> Callee | None:
    """Return the function that a global name stands for, or None if it cannot be part."""
    scope = caller.globals
    f = scope.get(node.id)
    if type(f) is not FunctionType or not caller.refers_to(node, f) or not is_plain(f, scope):
        return None
    try:
        definition: Any = locate(f.__code__).node
    except SourceUnavailableError:
        return None
    if not isinstance(definition, ast.FunctionDef):
        return None
    arguments = definition.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        return None
    found = bindings(definition)
    if found.global_names or found.nonlocal_names:
        return None
    names = Names(scope, found.bound())
    names.assumed = caller.assumed
    parameters = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    body = definition.body[1:] if ast.get_docstring(definition, False) else definition.body
    rebound = frozenset(name for name, values in found.own.items() if len(values) > 1)
    return Callee(f, parameters, list(body), frozenset(found.own), rebound, names)


def is_plain(f: FunctionType, scope: dict[str, Any]) -> bool:
    """Return True if a function is one of a module, which reads nothing else from outside."""
    return f.__globals__ is scope and not f.__code__.co_freevars and not has_rule(f)


def has_rule(f: FunctionType) -> bool:
    """Return True if derivatives of a function are declared."""
    return registry.find(f) is not None or registry.find_forward(f) is not None


def is_still(inlined: Inlined, functions: tuple[Any, ...]) -> bool:
    """Return True if a function that is passed is the one that was read."""
    number, f, code = inlined
    return functions[number] is f and f.__code__ is code and not has_rule(f)


def returns(block: Block, name: str) -> bool:
    """Return True if a block binds what its function returns, whatever way it takes."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, If):
        return returns(last.body, name) and returns(last.orelse, name)
    return isinstance(last, Assign) and last.target == Name(name)
