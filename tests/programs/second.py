"""Check forward mode and second derivatives of one program.

The slope by `jvp` is compared with differences of the value, and the derivative of the gradient
along a direction, taken in three ways, with differences of gradients.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py import grad, jvp
from mooncake_py.errors import MooncakeError
from tests.programs.checking import (
    Finding,
    by_bases,
    close,
    frozen,
    inner,
    plain_value,
    random_direction,
    require_trust,
    same_value,
)
from tests.programs.program import Bases, Program, defined
from tests.programs.truth import Untestable, difference, moved, two_sided
from tests.programs.ways import as_one, gradient_of_memory

__all__ = ["check_second"]

RTOL = 1e-5
NEAR = 1e-4
KINKS = re.compile(r"\b(f?abs|absolute|copysign|clip|f?max|f?min|maximum|minimum)\(")

Function = Callable[..., Any]


def check_second(program: Program, seed: int = 0) -> Finding | None:
    """Return an error in forward mode or the second derivatives of a program, or None.

    All is computed in double precision.

    Raises
    ------
    Untestable
        If differences cannot find the derivative.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a random program may well be odd
        rng = np.random.default_rng(seed)
        along, across = random_direction(program, rng), random_direction(program, rng)
        program = replace(program, bases=moved(program.bases, along, 0.0))
        value = plain_value(program, exact=True)
        slope, error = difference(program, along)
        with defined(program.source.replace("np.empty", "np.zeros"), exact=True) as f:
            found = forward_finding(program, f, value, along, (slope, error))
            found = found or second_finding(program, f, along, across)
    if found is not None:
        require_trust(program, value, exact=True)
    return found


def forward_finding(
    program: Program, f: Function, value: Any, along: Bases, slope: tuple[float, float]
) -> Finding | None:
    """Return an error of the derivative by forward mode."""
    tangents = tangents_along(program, along)

    def moved_forward(*args: Any) -> Any:
        one = as_one(f, program.argnums, args)
        if one is None:
            return jvp(f, args, tangents)
        function, packed = one
        parts = [tuple([x[i] for i in packed]) for x in (args, tangents)]
        return jvp(function, (parts[0],), (parts[1],))

    pairs = [called(program, moved_forward) for _ in range(2)]
    for pair in pairs:
        if isinstance(pair, Finding):
            return replace(pair, kind=f"{pair.kind} forward")
        if not same_value(program, pair[0], value):
            return Finding("wrong value forward", repr(value), repr(pair[0]), program)
        if not close(pair[1], *slope, RTOL):
            return Finding("wrong slope forward", str(slope[0]), str(pair[1]), program)
    if pairs[0] != pairs[1]:
        return Finding("unsteady forward", str(pairs[0]), str(pairs[1]), program)
    return None


def second_finding(program: Program, f: Function, along: Bases, across: Bases) -> Finding | None:
    """Return an error of the derivative of the gradient."""

    def slope_across(t: float) -> float:
        there = replace(program, bases=moved(program.bases, along, t))
        gradient = gradient_by_bases(
            there, lambda *args: gradient_of_memory(f, program.argnums, args)[1]
        )
        if isinstance(gradient, Finding):
            raise Untestable(f"a gradient nearby is {gradient.kind}")
        return inner(gradient, across)

    expected, error = two_sided(slope_across)
    tangents = tangents_along(program, along)
    for name, way in WAYS.items():
        if way is reverse_over_reverse and shares_memory(program):
            continue
        got = gradient_by_bases(
            program, lambda *args, way=way: second(way, f, program.argnums, args, tangents)
        )
        if isinstance(got, Finding):
            return replace(got, kind=f"{got.kind} {name}")
        if not close(inner(got, across), expected, error, RTOL):
            near = replace(program, bases=moved(program.bases, along, NEAR))
            beside = gradient_by_bases(
                near, lambda *args, way=way: second(way, f, program.argnums, args, tangents)
            )
            if KINKS.search(program.source) and agrees(beside, across, expected):
                raise Untestable("a kink is touched, as that of abs(x * x) at zero")
            return Finding(f"wrong second {name}", str(expected), str(inner(got, across)), program)
    return None


def agrees(beside: Bases | Finding, across: Bases, expected: float) -> bool:
    """Return True if a second derivative at a nearby point is close to the expected one here."""
    if isinstance(beside, Finding):
        return False
    return abs(inner(beside, across) - expected) < 100 * NEAR * max(1.0, abs(expected))


def gradient_by_bases(program: Program, differentiated: Function) -> Bases | Finding:
    """Return something like a gradient, by bases, or what went wrong."""
    got = called(program, differentiated)
    return got if isinstance(got, Finding) else by_bases(program, got)


def called(program: Program, differentiated: Function) -> Any:
    """Return the result of a derivative, or its error."""
    arguments = program.build(copy.deepcopy(program.bases))
    before = frozen(arguments)
    try:
        got = differentiated(*arguments)
    except Exception as error:
        kind = "refused" if isinstance(error, MooncakeError) else "spurious error"
        return Finding(kind, "a derivative", f"{type(error).__name__}: {error}", program)
    if frozen(arguments) != before:
        return Finding("not restored", str(program.build(program.bases)), str(arguments), program)
    return got


def tangents_along(program: Program, direction: Bases) -> tuple[Any, ...]:
    """Return a tangent for each argument, None for those that stay as they are."""
    steps = {
        n: direction.get(n, 0.0 if isinstance(v, float) else np.zeros_like(v))
        for n, v in program.bases.items()
    }
    tangents = program.build(steps)
    return tuple(t if i in program.argnums else None for i, t in enumerate(tangents))


def shares_memory(program: Program) -> bool:
    """Tell whether a block occurs twice: the product of gradient and direction counts it twice."""
    names = [n for a in program.arguments for n in compile(a, "<argument>", "eval").co_names]
    twice = len(set(names)) < len(names)
    return twice or any(a.count("m2") > 1 for a in program.arguments)


def second(way: Any, f: Function, argnums: Any, args: Any, tangents: Any) -> Any:
    """Take a second derivative; memory that arguments share is one variable."""
    one = as_one(f, argnums, args)
    if one is None:
        return way(f, argnums, args, tangents)
    function, packed = one
    parts = [tuple([x[i] for i in packed]) for x in (args, tangents)]
    (found,) = way(function, (0,), (parts[0],), (parts[1],))
    return tuple(found[packed.index(i)] for i in argnums)


# The derivative of the gradient along a direction: value and gradient of the slope.


def forward_over_reverse(f: Function, argnums: Any, args: Any, tangents: Any) -> Any:
    """Move the gradient."""
    return jvp(grad(f, argnums), args, tangents)[1]


def reverse_over_forward(f: Function, argnums: Any, args: Any, tangents: Any) -> Any:
    """Differentiate the slope."""
    return grad(lambda *args: jvp(f, args, tangents)[1], argnums)(*args)


def reverse_over_reverse(f: Function, argnums: Any, args: Any, tangents: Any) -> Any:
    """Differentiate the product of the gradient with the direction."""

    def product(*args: Any) -> Any:
        return dot(grad(f, argnums)(*args), tuple(tangents[i] for i in argnums))

    return grad(product, argnums)(*args)


WAYS = {
    "forward over reverse": forward_over_reverse,
    "reverse over forward": reverse_over_forward,
    "reverse over reverse": reverse_over_reverse,
}


def dot(g: Any, t: Any) -> Any:
    """Return Re<g, t>."""
    if isinstance(g, (list, tuple, dict)):
        names = list(g) if isinstance(g, dict) else range(len(g))
        total = 0.0
        for name in names:
            total = total + dot(g[name], t[name])
        return total
    return np.sum(np.real(g) * np.real(t) + np.imag(g) * np.imag(t))
