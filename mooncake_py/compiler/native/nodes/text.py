"""Functions of Python that are printed, with a text which the engine derives as it does others."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Mapping, Sequence
from itertools import count
from types import CodeType, FunctionType
from typing import Any

__all__ = ["defined", "made_by"]

MODULE = "call_node"
"""The module of these functions: they count as the user's."""
_numbers = count(1)


def defined(
    parameters: Sequence[str], body: Sequence[str], scope: Mapping[str, Any]
) -> FunctionType:
    """Return a function of a text.

    Parameters
    ----------
    scope : mapping of str to object
        Its globals.
    """
    return function_of(
        f"<{MODULE} {next(_numbers)}>", parameters, body, {"__name__": MODULE, **scope}
    )


def made_by(parameters: Sequence[str], body: Sequence[str], scope: dict[str, Any]) -> FunctionType:
    """Return a function that makes one of the user's, with globals that are the user's own."""
    return function_of(f"<closure {next(_numbers)}>", parameters, body, scope)


def function_of(
    name: str, parameters: Sequence[str], body: Sequence[str], scope: dict[str, Any]
) -> FunctionType:
    """Return a function of a text in a file of a name."""
    lines = [f"def call({', '.join(parameters)}):", *[f"    {line}" for line in body]]
    text = "\n".join(lines) + "\n"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    code = next(c for c in compile(text, name, "exec").co_consts if isinstance(c, CodeType))
    weakref.finalize(code, linecache.cache.pop, name, None)
    return FunctionType(code, scope, "call")
