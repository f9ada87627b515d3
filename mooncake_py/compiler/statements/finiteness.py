"""Cotangents that need a check, because zero times an infinite slope must be zero.

A finite cotangent remains finite in sums, and in products with finite numbers.  It is checked once,
after products with arbitrary numbers, because a value that is not finite remains so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from mooncake_py.compiler.regions.ir import Call, Const, Expr, Let, Name, Op, parts_of
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.statements.choices import is_choice
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.reductions import is_extremum, is_reduction, is_spread
from mooncake_py.rules.extrema import extremum_cotangent

__all__ = ["Factor", "factors_of", "is_finite", "numbers_behind", "to_check", "without_implied"]

Factor = tuple[str, bool]
"""The name of a number by which tangents are multiplied, and whether they are divided by it."""


def to_check(totals: Iterable[Expr], lets: Sequence[Let], bounded: Iterable[str]) -> list[str]:
    """Return the names among `totals` that must be finite, without those that others tell of.

    Parameters
    ----------
    totals : iterable of Expr
        Names, or negatives of such.
    lets : sequence of Let
        How they are computed, operation by operation.
    bounded : iterable of str
        What is finite for certain where a cotangent of zero is concerned: the cotangent that
        comes in, shares of a choice, shapes.
    """
    safe, risky = set(bounded), set[str]()
    for let in lets:
        (safe if is_safe(let.value, safe) else risky).add(let.name)
    return without_implied(sorted(risky.intersection(names_of(totals))), lets)


def is_safe(e: Expr, safe: set[str]) -> bool:
    """Return True if a result is finite as long as the cotangent that comes in is."""
    if isinstance(e, Call):  # those cotangents of extrema are chosen, and of sums repeated
        chosen = e.function is extremum_cotangent or is_spread(e)
        return chosen and isinstance(e.args[0], Name) and e.args[0].name in safe
    if isinstance(e, Op) and e.op in ("truediv", "pow"):
        return False
    return all(
        is_finite(part) if isinstance(part, Const) else isinstance(part, Name) and part.name in safe
        for part in parts_of(e)
    )


def is_finite(e: Const) -> bool:
    """Return True for a finite number that is written down, or nothing."""
    return e.value is None or abs(e.value) < math.inf


def without_implied(names: list[str], lets: Sequence[Let]) -> list[str]:
    """Return names without those of which others are multiples or sums.

    A value that is not finite stays so in arithmetic, if nothing is left out, as BLAS may do
    with factors of zero.  Measured on Thomas's elimination of rows: a pass over memory in nine.
    """
    if len(names) < 2:
        return names
    values = {let.name: let.value for let in lets}
    sources: dict[str, set[str]] = {}
    for let in lets:
        read = set() if leaves_out(let.value, values) else set(names_of([let.value]))
        sources[let.name] = read.union(*(sources.get(name, ()) for name in read))
    return [
        name
        for name in names
        if not any(name in sources.get(other, ()) for other in names if other != name)
    ]


def leaves_out(e: Expr, values: Mapping[str, Expr]) -> bool:
    """Return True for what BLAS may compute as a product with a matrix; inner ones take all in.

    So does a real part, as another one may not be finite.
    """
    if isinstance(e, Op) and e.op == "real":
        return True
    if isinstance(e, Op) and e.op == "fitted":
        summed = e.args[0]
        if isinstance(summed, Name):
            summed = values.get(summed.name, summed)
        return isinstance(summed, Op) and summed.op == "mul"
    return isinstance(e, Call)


def numbers_behind(
    name: str, lets: Mapping[str, Expr], arrays: Collection[str]
) -> frozenset[str] | None:
    """Return the numbers of which one must be zero for a multiple of them to be spoilt.

    A multiple of a number, or of numbers one after the other, is what it should be if none of them
    is zero, whatever the factors are.  To see that takes a tenth of a look at an array.

    Parameters
    ----------
    name : str
        A cotangent; that of the value, g, is a number.
    lets : mapping of str to Expr
        How the cotangents are computed.
    arrays : collection of str
        The operands and results that are arrays.

    Returns
    -------
    frozenset of str or None
        None for anything other than such a multiple.
    """
    if name == "g":
        return frozenset({name})
    e = lets.get(name)
    if e is None or not is_multiple(e):
        return None
    parts = [number_of(part.name, lets) for part in parts_of(e) if isinstance(part, Name)]
    numbers = [part for part in parts if part == "g" or part in lets]
    if len(numbers) != 1 or (numbers[0] != "g" and not is_number(lets[numbers[0]], arrays)):
        return None
    behind = numbers_behind(numbers[0], lets, arrays)
    return None if behind is None else behind | {numbers[0]}


def number_of(name: str, lets: Mapping[str, Expr]) -> str:
    """Return the name of the number that an array of no axes is made of, else the name."""
    e = lets.get(name)
    if isinstance(e, Op) and e.op == "array" and isinstance(e.args[0], Name):
        return e.args[0].name
    return name


def is_multiple(e: Expr) -> bool:
    """Return True for what is linear in a cotangent: a product, a quotient, a product of arrays."""
    if isinstance(e, Op):
        return e.op in ("mul", "truediv")
    return isinstance(e, Call) and any(is_description(part) for part in e.args)


def is_description(e: Expr) -> bool:
    """Return True for what tells of the shape of a factor, as adjoints of products take it."""
    return isinstance(e, Name) and e.name.startswith("like_")


def is_number(e: Expr, arrays: Collection[str]) -> bool:
    """Return True for an operation of which no operand is an array."""
    return isinstance(e, Op) and all(
        isinstance(part, Const) or (isinstance(part, Name) and part.name not in arrays)
        for part in parts_of(e)
    )


def factors_of(
    tangents: Iterable[str], own: Sequence[Let], lets: Sequence[Let], numbers: Collection[str]
) -> list[Factor] | None:
    """Return the numbers that keep zeros of tangents exact if they are finite and not zero.

    None if tangents meet something else, such as arrays: then the result shows whether all went
    well, by a pass over it.

    Parameters
    ----------
    tangents : iterable of str
        Of the operands.
    own, lets : sequence of Let
        The operations of the value, and those of its tangent.
    numbers : collection of str
        The operands that are numbers.
    """
    moving, known = set(tangents), set(numbers)
    factors: dict[Factor, None] = {}
    for let in (*own, *lets):
        parts = [part.name for part in parts_of(let.value) if isinstance(part, Name)]
        if not moving.intersection(parts):
            if is_sum(let.value) or (not is_contraction(let.value) and known.issuperset(parts)):
                known.add(let.name)
            continue
        found = factors_within(let.value, moving, known)
        if found is None:
            return None
        moving.add(let.name)
        factors |= dict.fromkeys(found)
    return list(factors)


def factors_within(e: Expr, moving: set[str], numbers: set[str]) -> list[Factor] | None:
    """Return the numbers by which one operation multiplies or divides a tangent."""
    if is_sum(e) or is_choice(e) or (is_reduction(e) and not is_extremum(e)):
        return []
    if not isinstance(e, Op) or e.op not in ("add", "sub", "neg", "pos", "mul", "truediv"):
        return None
    if e.op not in ("mul", "truediv"):
        return []
    factors = [part for part in e.args if not (isinstance(part, Name) and part.name in moving)]
    if len(factors) != 1 or (e.op == "truediv" and factors[0] is e.args[0]):
        return None
    (factor,) = factors
    if isinstance(factor, Const):
        return [] if is_finite(factor) and factor.value else None
    if isinstance(factor, Name) and factor.name in numbers:
        return [(factor.name, e.op == "truediv")]
    return None
