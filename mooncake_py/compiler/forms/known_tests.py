"""Branches on None are decided before type inference, as None has no numeric type.

Before: any block.  After: without the sides that are not taken::

    if clip is not None and s > clip:       if s > clip:        where `clip` is a float
        s = clip                                s = clip        nothing where it is None
"""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.forms.infer import NONE
from mooncake_py.compiler.regions.ir import (
    Block,
    Compare,
    Const,
    Expr,
    If,
    Name,
    Op,
    Statement,
    with_blocks,
)

__all__ = ["with_known_tests"]


def with_known_tests(block: Block, kinds: Mapping[str, str]) -> Block:
    """Return a block without branches that are decided by which names are None.

    Parameters
    ----------
    kinds : dict of str to str
        The types of the numbers that no statement binds.
    """
    result: list[Statement] = []
    for s in block:
        if isinstance(s, If):
            test = decided(s.test, kinds)
            if isinstance(test, Const):
                result += with_known_tests(s.body if test.value else s.orelse, kinds)
                continue
            outcome = outcome_of(test)
            body = () if outcome is False else s.body
            s = If(test, body, () if outcome is True else s.orelse, place=s.place)
        result.append(with_blocks(s, lambda inner: with_known_tests(inner, kinds)))
    return tuple(result)


def decided(e: Expr, kinds: Mapping[str, str]) -> Expr:
    """Return a test without the parts that are known; True or False where it is."""
    match e:
        case Compare(ops=("is" | "is_not" as op,), args=(Name(name=name), Const(value=None))) if (
            name in kinds
        ):
            return Const((kinds[name] == NONE) is (op == "is"), place=e.place)
        case Op(op="not", args=(a,)):
            test = decided(a, kinds)
            return Const(not test.value) if isinstance(test, Const) else Op("not", (test,))
        case Op(op="and" | "or" as op, args=args):
            return combined(op, [decided(a, kinds) for a in args])
    return e


def outcome_of(test: Expr) -> bool | None:
    """Return how a test ends whose last part is known; what comes before it may still raise."""
    if isinstance(test, Op) and test.op in ("and", "or"):
        last = test.args[-1]
        if isinstance(last, Const) and type(last.value) is bool:
            return last.value
    return None


def combined(op: str, tests: list[Expr]) -> Expr:
    """Return tests that are joined by ``and`` or ``or``, up to the one that decides."""
    kept: list[Expr] = []
    for test in tests:
        if not isinstance(test, Const) or type(test.value) is not bool:
            kept.append(test)
        elif test.value is (op == "or"):
            kept.append(test)
            break
    if not kept:
        return Const(op == "and")
    return kept[0] if len(kept) == 1 else Op(op, tuple(kept))
