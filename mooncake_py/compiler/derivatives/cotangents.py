"""Cotangents of the operands of an expression, from the cotangent of its value.

    v0 = a * b        value v1 receives g        v0: g + g
    v1 = v0 + v0                                 a: (g + g) * b

One pass goes through the operations backwards.  The caller defines the adjoint of an operation:
products with slopes if all operands are numbers (`slopes`), and more if some are arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mooncake_py.compiler.derivatives.activity import is_active
from mooncake_py.compiler.derivatives.partials import partials
from mooncake_py.compiler.regions.ir import Expr, Let, Load, Name, Op, Target
from mooncake_py.compiler.regions.simplify import ONE, added, negated, product
from mooncake_py.compiler.regions.steps import Steps

__all__ = ["Contribution", "atom", "cotangent", "cotangents", "flows", "is_among", "slopes"]

Contribution = tuple[Expr, Expr]
"""An operand, and what it receives."""


def cotangents(
    lets: Sequence[Let],
    root: Expr,
    active: set[str],
    seed: Expr,
    contributions: Callable[[Let, Expr, set[str]], Iterable[Contribution]],
    steps: Steps,
) -> dict[Target, Expr]:
    """Return the cotangent of each active operand: a name or a number, or the negative of one.

    Parameters
    ----------
    lets : sequence of Let
        The operations, in order.
    root : Expr
        The value.
    active : set of str
        Names and arrays.
    seed : Expr
        The cotangent of the value.
    contributions : callable
        What the operands of an operation receive if its result receives something; of interest
        are those of some names.
    steps : Steps
        Takes what is computed.
    """
    found: dict[Target, Expr] = {}
    bars: dict[Expr, Expr] = {root: seed}
    flowing = flows(lets, active)
    receiving = active.union([name for name, flows in flowing.items() if flows])

    def give(e: Expr, d: Expr, into: dict[Any, Expr]) -> None:
        into[e] = atom(steps, added(into[e], d) if e in into else d)

    if isinstance(root, Name) and root.name in active:
        found[root] = seed
    for let in reversed(lets):
        d = bars.get(Name(let.name))
        if d is None or not flowing[let.name]:
            continue
        if isinstance(let.value, Load):
            give(let.value, d, found)
            continue
        for e, received in contributions(let, d, receiving):
            if isinstance(e, Name) and e.name in receiving:
                give(e, received, bars if e.name in flowing else found)
    return found


def slopes(steps: Steps, root: Expr, active: set[str]) -> dict[Target, Expr]:
    """Return the slope of a value with respect to each active operand; all are numbers."""

    def contributions(let: Let, d: Expr, receiving: set[str]) -> Iterable[Contribution]:
        found = partials(let.value, Name(let.name))
        return [(a, product(d, p)) for a, p in found if p is not None and is_among(a, receiving)]

    return cotangents(list(steps.lets), root, active, ONE, contributions, steps)


def is_among(e: Expr, names: set[str]) -> bool:
    """Return True for one of some names."""
    return isinstance(e, Name) and e.name in names


def flows(lets: Sequence[Let], active: set[str]) -> dict[str, bool]:
    """Return for each operation whether a derivative flows through it."""
    found: dict[str, bool] = {}
    on = set(active)
    for let in lets:
        found[let.name] = is_active(let.value, on)
        if found[let.name]:
            on.add(let.name)
    return found


def atom(steps: Steps, e: Expr) -> Expr:
    """Return an expression as a name or a number, or the negative of one."""
    if isinstance(e, Op) and e.op == "neg":
        return negated(steps.of(e.args[0]))
    return steps.of(e)


def cotangent(target: Target) -> Target:
    """Return the cotangent of a name or an element."""
    if isinstance(target, Load):
        return Load(f"d_{target.array}", target.index, place=target.place)
    return Name(f"d_{target.name}", place=target.place)
