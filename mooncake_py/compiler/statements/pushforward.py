"""The tangent of an expression: from operands and their tangents to that of the value.

v0 * np.sin(v1)      d0 * np.sin(v1) + v0 * (d1 * np.cos(v1))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.cotangents import atom
from mooncake_py.compiler.derivatives.partials import NoPartial, called
from mooncake_py.compiler.derivatives.trace import Untraceable, trace
from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import (
    Call,
    Const,
    Expr,
    Let,
    Name,
    Op,
    parts_of,
    rebuilt,
    substituted,
)
from mooncake_py.compiler.regions.simplify import added
from mooncake_py.compiler.regions.steps import Steps
from mooncake_py.compiler.statements.array_adjoint import along, carefully_times, quotient_first
from mooncake_py.compiler.statements.array_partials import (
    evaluated_at_once,
    is_conjugate,
    partials_on_arrays,
)
from mooncake_py.compiler.statements.choices import (
    is_choice,
    is_selection,
    tangent_by_comparisons,
    tangent_of_choice,
    tangent_of_selection,
)
from mooncake_py.compiler.statements.complexes import is_arithmetic, is_complex
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.reductions import (
    axes_of,
    is_extremum,
    is_reduction,
    tangent_by_ties,
)
from mooncake_py.rules.exact_zeros import pushed, sum_of_pushed
from mooncake_py.rules.extrema import extremum_tangent

__all__ = ["in_one", "tangent_of"]

LARGEST = 2000
"""Operations of a tangent as one expression; one that reads results twice may double with each."""


def tangent_of(
    core: Core,
    moving: Iterable[int],
    steps: Steps,
    careful: bool = False,
    is_followed: bool = False,
    complexes: Collection[str] = (),
) -> Expr | None:
    """Return the tangent of the value of a statement, None where it is zero.

    Parameters
    ----------
    core : Core
    moving : iterable of int
        The operands that have a tangent; that of operand k is called ``d{k}``.
    steps : Steps
        Takes what is computed; it may read the results of the operations.
    careful : bool
        Whether a zero tangent stays zero next to numbers that are not finite.
    is_followed : bool
        Whether the tangent is differentiated in turn.
    complexes : collection of str
        The operands and results that are complex.

    Raises
    ------
    NoPartial
        If what is summed may have a tangent of another shape: ``np.sum(x - a)`` where a moves.
    """
    tangents: dict[str, Expr | None] = {f"v{k}": Name(f"d{k}") for k in moving}

    def of_operand(e: Expr) -> Expr | None:
        return tangents.get(e.name) if isinstance(e, Name) else None

    for let in core.lets:
        if is_sum(let.value) or is_reduction(let.value):
            summed = parts_of(let.value)[0]
            moving_part = of_operand(summed)
            lets = (*core.lets, *steps.lets)
            if moving_part is not None and shaped_by(summed, lets) - shaped_by(moving_part, lets):
                raise NoPartial
        if is_selection(let.value):
            select = tangent_by_comparisons if is_followed else tangent_of_selection
            found = of_selection(let.value, of_operand, select)
        elif is_extremum(let.value):
            found = of_extremum(let, of_operand, is_followed)
        else:
            found = of_operation(let, of_operand, careful, complexes)
        if found is not None and is_real_part(let, complexes):
            found = Call(np.real, (found,)) if is_followed else Op("real", (found,))
        tangents[let.name] = None if found is None else atom(steps, found)
    return of_operand(core.root)


def in_one(e: Expr, lets: Iterable[Let]) -> Expr:
    """Return an expression that reads no names that are bound before.

    Raises
    ------
    NoPartial
        If that is too large: what is read twice is written twice.
    """
    values: dict[str, Expr] = {}
    sizes: dict[str, int] = {}

    def size(e: Expr) -> int:
        if isinstance(e, Name):
            return sizes.get(e.name, 1)
        return 1 + sum(map(size, parts_of(e)))

    for let in lets:
        sizes[let.name] = size(let.value)
        if sizes[let.name] > LARGEST:
            raise NoPartial
        values[let.name] = substituted(let.value, values)
    if size(e) > LARGEST:
        raise NoPartial
    return substituted(e, values)


def shaped_by(e: Expr, lets: Sequence[Let]) -> set[str]:
    """Return the operands and reductions whose shapes are broadcast to that of a value."""
    known: dict[str, set[str]] = {}  # a result may be read by many others

    def of(e: Expr) -> set[str]:
        if isinstance(e, Name):
            return known[e.name] if e.name in known else {e.name[1:]}
        if is_sum(e):
            return set()
        shapes = set[str]().union(*map(of, parts_of(e)))
        return {f"{axes_of(e)} of {sorted(shapes)}"} if is_reduction(e) else shapes

    for let in lets:
        known[let.name] = of(let.value)
    return of(e)


def of_selection(
    e: Expr, of_operand: Callable[[Expr], Expr | None], select: Callable[..., Expr]
) -> Expr | None:
    """Return the tangent of a maximum or a minimum of two operands."""
    moving = [of_operand(part) for part in parts_of(e)]
    return None if moving == [None, None] else select(e, *moving)


def of_extremum(
    let: Let, of_operand: Callable[[Expr], Expr | None], is_followed: bool
) -> Expr | None:
    """Return the tangent of a maximum or a minimum along axes."""
    array, axes = parts_of(let.value)
    t = of_operand(array)
    if t is None:
        return None
    if is_followed:
        return tangent_by_ties(let.value, t)
    return Call(extremum_tangent, (t, array, Name(let.name), axes))


def is_real_part(let: Let, complexes: Collection[str]) -> bool:
    """Return True for an operation with a real result of what is complex."""
    parts = parts_of(let.value)
    return let.name not in complexes and any(is_complex(part, complexes) for part in parts)


def of_operation(
    let: Let,
    of_operand: Callable[[Expr], Expr | None],
    careful: bool,
    complexes: Collection[str],
) -> Expr | None:
    """Return the tangent of the result of one operation."""
    e = let.value
    parts = parts_of(e)
    moving = [of_operand(part) for part in parts]
    if is_flat(e) or all(t is None for t in moving):
        return None
    if is_sum(e) or is_contraction(e) or is_reduction(e) or is_conjugate(e):
        total: Expr = Const(0.0)
        for k, t in enumerate(moving):
            if t is not None:
                part = with_part_carefully if careful and is_contraction(e) else with_part
                total = added(total, along(lambda t, k=k, part=part: part(e, k, t), t))
        return total
    if is_choice(e):
        return tangent_of_choice(e, *moving[1:])
    total = Const(0.0)
    mixed = any(is_complex(part, complexes) for part in parts)
    call = called if mixed else traced  # formulas may be those of real numbers
    for a, p in partials_on_arrays(e, Name(let.name), evaluated_at_once, call):
        t = of_operand(a)
        if t is not None and p is not None:
            exactly = careful or (mixed and not is_arithmetic(p))
            term = carefully_times(t, p, pushed) if exactly else quotient_first(t, p)
            total = added(total, term)
    return None if total == Const(0.0) else total


def with_part(e: Expr, k: int, t: Expr) -> Expr:
    """Return an operation with another operand."""
    parts = parts_of(e)
    return rebuilt(e, (*parts[:k], t, *parts[k + 1 :]))


def with_part_carefully(e: Expr, k: int, t: Expr) -> Expr:
    """Return a product of vectors or matrices with a tangent, in which zeros are exact."""
    f = e.function if isinstance(e, Call) else np.matmul
    other = parts_of(e)[1 - k]

    def product_of(t: Any, other: Any) -> Any:
        ordered = (lambda t, other: f(t, other)) if k == 0 else (lambda t, other: f(other, t))
        return sum_of_pushed(ordered, t, other)

    return Call(product_of, (t, other))


def traced(partial: Any, args: list[Expr]) -> Expr:
    """Return a partial derivative in operations that have their own derivatives, or its call."""
    try:
        return trace(partial, args, of_arrays=True)
    except Untraceable:
        return called(partial, args)
