"""Evaluation of int expressions before their region runs, and of what it has to do."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mooncake_py.compiler.regions.ir import (
    Block,
    Call,
    Compare,
    Const,
    Expr,
    For,
    If,
    Length,
    Load,
    Name,
    Op,
    Select,
    While,
    walk,
)
from mooncake_py.compiler.regions.simplify import expressions_of

__all__ = ["Work", "evaluated", "passes"]

DONE = Call, Compare, Load, Op, Select
"""Nodes evaluated one by one where a loop runs as it is written; so are statements."""

FUNCTIONS: dict[str, Any] = {
    "range": range, "int": int, "abs": abs, "float": float,
}  # fmt: skip


def evaluated(e: Expr, scope: Mapping[str, Any]) -> Any:
    """Return the value of ints, lengths, arithmetic on them and ranges; others raise LookupError.

    Parameters
    ----------
    scope : mapping
        Numbers and arrays by name.
    """
    match e:
        case Const(value=value):
            return value
        case Name(name=name):
            return scope[name]
        case Length(array=array, axis=axis):
            found = scope[array]  # a list has a length too
            return len(found) if axis == 0 else found.shape[axis]
        case Op(op=op, args=args):
            f = FUNCTIONS.get(op) or getattr(operator, op, None)
            if f is None:
                raise LookupError(e)
            return f(*[evaluated(a, scope) for a in args])
    raise LookupError(e)


def passes(loop: For, found: range, scope: dict[str, Any]) -> int:
    """Estimate how often the innermost loop runs, from the middle of each range.

    `scope` has the values of names, and is written.
    """
    if not found:
        return 0
    scope[loop.name] = found[len(found) // 2]
    each = 1
    for s in loop.body:
        if isinstance(s, For):
            with suppress(Exception):  # where it depends on what is computed within
                each += passes(s, evaluated(s.range, scope), scope)
    return len(found) * each


class Work:
    """How much a block has to do.

    Attributes
    ----------
    own : int
        How many statements and operations it has, those of inner loops not counted.
    loops : list of (For, Work)
        The loops in it.
    ends : bool
        Whether it is known when it ends: it has no loops that go on while something holds.
    """

    def __init__(self, block: Block) -> None:
        self.own = 0
        self.loops: list[tuple[For, Work]] = []
        self.ends = True
        self.add(block)

    def add(self, block: Block) -> None:
        """Add what a block has to do; of branches, all."""
        for s in block:
            if isinstance(s, For):
                inner = Work(s.body)
                self.loops.append((s, inner))
                self.ends &= inner.ends
                continue
            self.own += 1
            if isinstance(s, While):
                self.ends = False
            elif isinstance(s, If):
                self.add(s.body)
                self.add(s.orelse)
            else:
                parts = [part for e in expressions_of(s) for part in walk(e)]
                self.own += sum(isinstance(part, DONE) for part in parts)

    def amount(self, loop: For, steps: range, scope: dict[str, Any], more: int = 0) -> int | None:
        """Return how much a loop over this block does, from the middle of each range.

        None where something tells that only as it runs.  `scope` has the values of names, and is
        written; `more` is added for each pass of an innermost loop.
        """
        if not steps:
            return 0
        scope[loop.name] = steps[len(steps) // 2]
        each = self.own if self.loops else self.own + more
        for inner, work in self.loops:
            try:
                found = work.amount(inner, evaluated(inner.range, scope), scope, more)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                return None
            if found is None:
                return None
            each += found
        return len(steps) * each
