"""Which pullbacks may raise in the reverse pass: their entries keep the user's line.

The line costs one or two microseconds, which the other rules of this package save.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import PACKAGE, NotImplementedDerivative, Rule, VjpRule

__all__ = ["may_raise"]

RAISE = dis.opmap["RAISE_VARARGS"]

_known: dict[int, tuple[CodeType, bool]] = {}
"""By the id of the code of a pullback of this package; the code is held, so that the id stays."""


def may_raise(rule: Rule, pullback: Any) -> bool:
    """Return whether the pullback of a rule may raise: one of the user's, or one that refuses."""
    if rule.by_user:
        return True
    code = getattr(pullback, "__code__", None)
    if code is None:
        return any(map(refuses, reached_from(pullback)))
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, any(map(refuses, reached_from(pullback)))
    return known[1]


def reached_from(f: Any) -> list[FunctionType]:
    """Return the functions of this package that a function captures or names, and their rules."""
    found: dict[FunctionType, None] = {}
    todo = [f]
    while todo:
        f = todo.pop()
        if isinstance(f, functools.partial):
            f = f.func
        if type(f) is MethodType:
            f = f.__func__
        if type(f) is FunctionType and f not in found and is_own(f):
            found[f] = None
            rule = registry.find(f)
            todo += [*values_named(f), rule.rule if isinstance(rule, VjpRule) else None]
    return list(found)


def is_own(f: FunctionType) -> bool:
    return f.__code__.co_filename.startswith(PACKAGE)


def values_named(f: FunctionType) -> Iterator[Any]:
    """Yield the captured variables of a function, and the global variables that it names."""
    for cell in f.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    for code in codes_of(f):
        yield from [f.__globals__.get(name) for name in code.co_names]


def codes_of(f: FunctionType) -> list[CodeType]:
    """Return the code of a function and of those defined in it."""
    codes = [f.__code__]
    for code in codes:
        codes += [value for value in code.co_consts if type(value) is CodeType]
    return codes


def refuses(f: FunctionType) -> bool:
    """Return whether a function raises, or uses a derivative that is not implemented."""
    return any(RAISE in code.co_code[::2] for code in codes_of(f)) or any(
        isinstance(value, NotImplementedDerivative) for value in values_named(f)
    )
