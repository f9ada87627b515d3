"""A derivative inside another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import NoTangent, jvp, value_and_grad
from mooncake_py.tangents.subclasses import plain_parts
from tests.support.modes.problem import ModeError, Problem, number, require_close, require_value

__all__ = ["inside_forward", "inside_reverse"]

STEPS = 1e-3, 1e-4  # the other where the first finds an error: a third derivative may jump here
LARGEST = 1e4


def inside_forward(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Take the derivative of the gradient along a direction."""
    value, g = expected
    tangents, across = problem.directions(rng), problem.directions(rng)
    (y, inner_g), (dy, dg) = jvp(
        value_and_grad(problem.f, problem.argnums, problem.has_aux), problem.args, tangents
    )
    if problem.has_aux:
        y, dy = y[0], dy[0]
    rtol = problem.rtol()
    # The value of a class of arrays is a plain array there.
    require_value(plain_parts(y), plain_parts(value), rtol, "inside another derivative")
    for along in (across, tangents):
        got, size = problem.paired(along, inner_g)
        outside, _ = problem.paired(along, g)
        require_close(got, outside, size, rtol, "the gradient inside another derivative")
    along, size = problem.paired(tangents, g)
    require_close(number(dy), along, size, rtol, "the derivative of the value")
    if type(dg) is NoTangent:
        dg = (NoTangent(),) * len(problem.argnums)
    second, size = problem.paired(across, dg)
    require_difference(problem, tangents, across, g, second, counts)


def inside_reverse(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Differentiate the derivative along a direction in reverse mode."""
    _, g = expected
    tangents, across = problem.directions(rng), problem.directions(rng)
    f, has_aux = problem.f, problem.has_aux

    def slope(*args: Any) -> Any:
        _, dy = jvp(f, args, tangents)
        dy = dy[0] if has_aux else dy
        return 0.0 if isinstance(dy, NoTangent) else np.sum(dy)

    value, dg = value_and_grad(slope, problem.argnums)(*problem.args)
    along, size = problem.paired(tangents, g)
    require_close(number(value), along, size, problem.rtol(), "the derivative along a direction")
    second, _ = problem.paired(across, dg)
    require_difference(problem, tangents, across, g, second, counts)


def require_difference(
    problem: Problem, along: Any, across: Any, g: Any, second: float, counts: Any
) -> None:
    """Compare with differences of the gradient, where these agree with each other."""
    if problem.rtol() > 1e-8:
        return

    def at(t: float) -> float:
        try:
            _, there = problem.moved(along, t).value_and_grad()
        except Exception as error:
            raise NoDifference from error
        return problem.paired(across, there)[0]

    middle = problem.paired(across, g)[0]
    expected = bound = 0.0
    for step in STEPS:
        try:
            expected, bound = two_sided(at, middle, step)
        except NoDifference:
            counts["without differences of the gradient"] += 1
            return
        if abs(second - expected) <= bound:
            return
    raise ModeError(f"the second derivative: got {second!r}, expected {expected!r} +- {bound:.1e}")


class NoDifference(Exception):
    """The function has no derivative here that differences could find."""


def two_sided(at: Callable[[float], float], middle: float, h: float) -> tuple[float, float]:
    """Return the derivative at zero, and a bound of its error."""
    near, far = [at(h), at(-h)], [at(2 * h), at(-2 * h)]
    second = (near[0] - near[1]) / (2 * h)
    fourth = (4 * second - (far[0] - far[1]) / (4 * h)) / 3
    right = (-3 * middle + 4 * near[0] - far[0]) / (2 * h)
    left = (3 * middle - 4 * near[1] + far[1]) / (2 * h)
    scale = max(1.0, abs(fourth))
    if not max(abs(fourth), abs(middle)) < LARGEST:
        raise NoDifference
    if max(abs(right - left), abs(second - fourth)) > 1e-3 * scale:
        raise NoDifference
    return fourth, 1e-6 * scale + 4 * (abs(second - fourth) + abs(right - left))
