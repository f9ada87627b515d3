"""The Python source of jitted functions, with ints as compiled code has them: of 64 bits.

Ints that would wrap around are tested, and those of fewer bits are promoted.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from inspect import signature
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mooncake_py.jitted import captured
from mooncake_py.syntax.int_sizes import USUAL
from mooncake_py.syntax.machine_ints import guarded
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.narrow_values import Kinds, NarrowValues, is_narrow
from mooncake_py.syntax.nodes import Rebuilder, located, place_of
from mooncake_py.syntax.promotions import promoted
from mooncake_py.syntax.source import keep, locate
from mooncake_py.syntax.static_integers import bindings

__all__ = ["may_overflow", "python_for"]

Bits = frozenset[tuple[str, int]]
Made = dict[tuple[frozenset[str], Kinds, Bits], FunctionType | None]
_made: WeakKeyDictionary[Any, Made] = WeakKeyDictionary()  # by what the parameters are
UNKNOWN = Kinds()
NO_BITS: Bits = frozenset()
STEP = 16  # bits by which large ints differ for which other code is made


def python_for(f: Any, args: Any, kwargs: Any) -> FunctionType:
    """Return the Python function to derive for a call of a jitted one: its own as a rule.

    Raises
    ------
    SourceUnavailableError
        If there is no source.
    """
    own = f.py_func
    values = (*args, *kwargs.values())
    if (
        any(map(is_narrow, values))
        or any(map(is_large, values))
        or may_overflow(f, parameters(own))
    ):
        with suppress(TypeError):  # which the call is about to raise
            call = signature(own).bind(*args, **kwargs)
            call.apply_defaults()
            given = call.arguments.items()
            ints = frozenset(name for name, v in given if isinstance(v, (int, np.integer)))
            bits = frozenset((name, bits_of(int(v))) for name, v in given if is_large(v))
            return tested(f, ints, Kinds.of(given), bits) or own
    return own


def may_overflow(f: Any, ints: frozenset[str]) -> bool:
    """Return True if ints, such as these parameters, are to be tested or promoted."""
    return tested(f, ints, UNKNOWN, NO_BITS) is not None


def parameters(f: FunctionType) -> frozenset[str]:
    """Return the names of the parameters of a function, without variadic ones."""
    code = f.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def is_large(value: Any) -> bool:
    """Return True for an int of more bits than usual."""
    return isinstance(value, (int, np.integer)) and int(value).bit_length() > USUAL


def bits_of(value: int) -> int:
    """Return how many bits an int has, rounded up."""
    return -(-value.bit_length() // STEP) * STEP


def tested(f: Any, ints: frozenset[str], kinds: Kinds, bits: Bits) -> FunctionType | None:
    """Return the variant of a jitted function for other ints, None if it needs none."""
    made = _made.setdefault(f, {})
    key = ints, kinds, bits
    if key not in made:
        made[key] = with_machine_ints(f.py_func, *key)
    return made[key]


def with_machine_ints(
    f: FunctionType, ints: frozenset[str], kinds: Kinds, bits: Bits
) -> FunctionType | None:
    """Return a copy of a function with ints as in compiled code, None if it needs none."""
    source = locate(f.__code__, f.__globals__)
    node = source.node
    if isinstance(node, ast.Lambda):
        node = function_of(node)
    if not isinstance(node, ast.FunctionDef):
        return None
    names = Names(f.__globals__, bindings(node).bound().union(f.__code__.co_freevars))
    node = PowersAsOperators(names).visit(node)
    tested = promoted(node, NarrowValues(node, names, dict(captured(f)), kinds))
    tested = guarded(tested, names, ints, dict(bits))
    if tested is node:
        return None
    code = f.__code__.replace()
    keep(code, source._replace(node=tested))
    new = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    new.__kwdefaults__ = f.__kwdefaults__
    new.__module__ = f.__module__
    return new


class PowersAsOperators(Rebuilder):
    """Write the builtin ``pow(a, b)`` as ``a ** b``, which is the same."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call of two arguments by position."""
        call = self.rebuild(node)
        if not self.names.calls_builtin(node, "pow") or len(node.args) != 2 or node.keywords:
            return call
        if any(isinstance(a, ast.Starred) for a in node.args):
            return call
        return located(ast.BinOp(call.args[0], ast.Pow(), call.args[1]), place_of(node))


def function_of(node: ast.Lambda) -> ast.FunctionDef:
    """Return a function that does what a lambda does."""
    body = located(ast.Return(node.body), place_of(node.body))
    new = located(ast.FunctionDef("lambda_", node.args, [body], [], None, None), place_of(node))
    new.type_params = []  # which Python 3.12 and later read
    return new
