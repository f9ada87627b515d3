"""A function whose body is read as part of a region, and the scope of its call."""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.compiler.reading.definitions import Definition
from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.syntax.nodes import constant, place_of

__all__ = ["SCOPE", "Frame", "arguments_of", "home_of"]

SCOPE = "names", "statics", "stored", "counters", "indices", "fields", "within", "defined", "frame"
"""The attributes of a reader that belong to one function."""


class Frame:
    """A function while its body is read.

    Attributes
    ----------
    definition : Definition
    number : int
        Of the call, by which its names are told from others.
    passed : dict of str to expr
        The parameters that stand for an expression of the caller.
    outer : dict
        The scope of the caller.
    home : dict or None
        The scope in which the function stands, if that is the function around the region.
    count : int
        How many values are wanted.
    """

    def __init__(
        self, definition: Definition, number: int, outer: dict[str, Any], count: int
    ) -> None:
        self.definition = definition
        self.number = number
        self.outer = outer
        self.home = home_of(outer) if definition.callee is None else None
        self.count = count
        self.passed: dict[str, ast.expr] = {}

    def named(self, name: str) -> str:
        """Return how a local name of the function is called in IR."""
        return f"i{self.number}_{name}"

    def results(self) -> list[str]:
        """Return the names of what is returned in several places."""
        return [f"i{self.number}r{k}" for k in range(self.count)]


def home_of(scope: dict[str, Any]) -> dict[str, Any]:
    """Return the scope of the region itself, from that of a function that it calls."""
    while scope["frame"] is not None:
        scope = scope["frame"].outer
    return scope


def arguments_of(
    definition: Definition, node: ast.Call, first: ast.expr | None
) -> dict[str, ast.expr]:
    """Return for each parameter what a call passes, or its default if that is a number.

    To a method its object is passed `first`.
    """
    args = definition.args
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    named = [arg.arg for arg in (*args.args, *args.kwonlyargs)]
    passed = [*([] if first is None else [first]), *node.args]
    if len(passed) > len(positional) or any(isinstance(a, ast.Starred) for a in passed):
        raise Unfit
    given: dict[str, Any] = dict(zip(positional, passed, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in named or keyword.arg in given:
            raise Unfit
        given[keyword.arg] = keyword.value
    for name in (*positional, *(arg.arg for arg in args.kwonlyargs)):
        if name not in given:
            if name not in definition.defaults:
                raise Unfit
            given[name] = constant(definition.defaults[name], place_of(node))
    return given
