"""Second derivatives of a case at special points of its arguments, where rules have cases apart.

Three programs are differentiated at each point at which the gradient is smooth:

- a weighted sum of squares of the outputs, against differences of its gradient;
- half the squares of what the outputs differ from their values there, whose cotangents are zero,
  so that its second derivative is the product of two tangents;
- the first one as a function of u in x + u*u, at u = 0, where all tangents are zero, so that its
  second derivative is twice the gradient.

Rules that treat a zero cotangent or a zero tangent as a constant fail the second and the third.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mooncake_py import grad, jvp
from tests.rules.cases import Case

__all__ = ["Comparison", "comparisons", "is_inexact", "special_points"]

STEP = 1e-4
WEIGHTS = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # central, sixth order
NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0)
PAIRS = ((0.0, 1.0), (1.0, 0.0), (0.0, 2.0), (2.0, 0.0), (1.0, 2.0), (-1.0, 2.0), (2.0, 2.0))

Arguments = tuple[Any, ...]


class Comparison(NamedTuple):
    """A second derivative along two directions, what it should be, and the size of its terms."""

    program: str
    found: float
    expected: float
    scale: float


def special_points(case: Case) -> Iterator[tuple[str, Arguments]]:
    """Yield names and special values of the arguments of a case that have a derivative."""
    args = tuple(copy.deepcopy(x) for x in case.args if is_inexact(x))
    yield "given", args
    for c in NUMBERS:
        yield f"all {c:g}", tuple(full(x, c) for x in args)
    if len(args) == 2:
        for a, b in PAIRS:
            yield f"{a:g} and {b:g}", (full(args[0], a), full(args[1], b))
    if len(args) > 1:
        for k, x in enumerate(args):
            yield f"argument {k} zero", (*args[:k], full(x, 0), *args[k + 1 :])
    for change in (tied, equal_rows, identity, with_a_zero, with_zeros, rounded):
        changed = tuple(change(x) if isinstance(x, np.ndarray) else x for x in args)
        if any(a is not b for a, b in zip(args, changed, strict=True)):
            yield change.__name__, changed


def full(x: Any, c: float) -> Any:
    """Return a number, or an array of one number."""
    return np.full_like(x, c) if isinstance(x, np.ndarray) else type(x)(c)


def tied(x: np.ndarray) -> np.ndarray:
    """Return an array of equal elements."""
    return np.full_like(x, x.flat[0])


def equal_rows(x: np.ndarray) -> np.ndarray:
    """Return matrices of equal rows."""
    return np.repeat(x[..., :1, :], x.shape[-2], axis=-2) if x.ndim > 1 else x


def identity(x: np.ndarray) -> np.ndarray:
    """Return unit matrices."""
    return np.zeros_like(x) + np.eye(*x.shape[-2:]) if x.ndim > 1 else x


def with_a_zero(x: np.ndarray) -> np.ndarray:
    """Return an array with a zero."""
    return np.where(np.arange(x.size).reshape(x.shape) == 0, 0, x)


def with_zeros(x: np.ndarray) -> np.ndarray:
    """Return an array with every other element zero."""
    return np.where(np.arange(x.size).reshape(x.shape) % 2 == 0, 0, x)


def rounded(x: np.ndarray) -> np.ndarray:
    """Return an array of whole numbers."""
    return np.asarray(np.round(x))


def comparisons(case: Case, args: Arguments, seed: int = 1) -> Iterator[Comparison]:
    """Yield the comparisons at a point; none where the gradient is not smooth or not defined."""
    rng = np.random.default_rng(seed)
    along, across = directions(args, rng), directions(args, rng)
    run = program(case)
    expected = smooth_curvature(run, args, along, across)
    if expected is None:
        return
    curvature, slope = expected
    scale = 1.0 + abs(slope) + abs(curvature)
    yield Comparison("differences", second(run, args, along, across), curvature, scale)
    outputs = outputs_of(case)
    tangents = [jvp(outputs, args, d)[1] for d in (along, across)]
    expected_fit = inner(*tangents)
    found = second(misfit(outputs, args), args, along, across)
    yield Comparison("exact fit", found, expected_fit, 1.0 + abs(expected_fit))
    gradient = grad(run, tuple(range(len(args))))(*args)
    expected_square = 2 * inner(gradient, [a * b for a, b in zip(along, across, strict=True)])
    zeros = tuple(full(x, 0) for x in args)
    found = second(squared(run, args), zeros, along, across)
    yield Comparison("squares", found, expected_square, 1.0 + abs(expected_square))


def second(f: Callable[..., Any], args: Arguments, along: Arguments, across: Arguments) -> float:
    """Return the second derivative along two directions."""
    argnums = tuple(range(len(args)))
    return inner(grad(lambda *x: jvp(f, x, along)[1], argnums)(*args), across)


def smooth_curvature(
    run: Callable[..., Any], args: Arguments, along: Arguments, across: Arguments
) -> tuple[float, float] | None:
    """Return the second derivative by differences, and the first; None where there is a kink.

    A kink shows by limits or differences from the two sides that differ, or by values that jump.
    """
    gradient = grad(run, tuple(range(len(args))))

    def moved(t: float) -> Arguments:
        return tuple(like(x, x + t * STEP * d) for x, d in zip(args, along, strict=True))

    values = {t: float(run(*copy.deepcopy(moved(t)))) for t in (-1, 0, 1)}
    s = {t: inner(gradient(*moved(t)), across) for t in range(-3, 4)}
    if not np.isfinite([*values.values(), *s.values()]).all():
        return None
    scale = 1.0 + abs(s[0])
    if abs(values[1] + values[-1] - 2 * values[0]) > 1e-4 * (1.0 + abs(values[0])):
        return None
    if max(abs(s[t] - s[0]) for t in s) > 1e-2 * scale:
        return None
    if abs((3 * s[1] - 3 * s[2] + s[3]) - (3 * s[-1] - 3 * s[-2] + s[-3])) > 1e-7 * scale:
        return None
    right = (-3 * s[0] + 4 * s[1] - s[2]) / (2 * STEP)
    left = (3 * s[0] - 4 * s[-1] + s[-2]) / (2 * STEP)
    if abs(right - left) > 1e-3 * (scale + abs(left)):
        return None
    return sum(w * (s[k] - s[-k]) for k, w in WEIGHTS) / STEP, s[0]


def program(case: Case) -> Any:
    """Return a weighted sum of squares of the outputs, as a function of the chosen arguments."""

    def run(*chosen: Any) -> Any:
        rest = iter(chosen)
        args = [next(rest) if is_inexact(x) else copy.deepcopy(x) for x in case.args]
        y = case.function(*args, **copy.deepcopy(case.kwargs))
        total = 0.0
        for part in (*parts(y), *(x for x in args if isinstance(x, np.ndarray))):
            if part.dtype.kind in "fc" if isinstance(part, np.ndarray) else True:
                total = total + weighted(part)
        return total

    return run


def outputs_of(case: Case) -> Callable[..., list[Any]]:
    """Return the outputs, and the arguments after the call, as a function of the arguments."""

    def outputs(*chosen: Any) -> list[Any]:
        rest = iter(chosen)
        args = [next(rest) if is_inexact(x) else copy.deepcopy(x) for x in case.args]
        y = case.function(*args, **copy.deepcopy(case.kwargs))
        return [*parts(y), *parts([x for x in args if isinstance(x, np.ndarray)])]

    return outputs


def misfit(outputs: Callable[..., list[Any]], args: Arguments) -> Callable[..., Any]:
    """Return half the sum of squares of what outputs differ from their values at a point."""
    there = [np.array(y) for y in outputs(*copy.deepcopy(args))]

    def run(*chosen: Any) -> Any:
        total = 0.0
        for y, y_there in zip(outputs(*chosen), there, strict=True):
            r = y - y_there
            total = total + np.sum(np.real(r) ** 2) + np.sum(np.imag(r) ** 2)
        return total / 2

    return run


def squared(run: Callable[..., Any], args: Arguments) -> Callable[..., Any]:
    """Return a program as a function of u, at arguments x + u*u."""

    def of_roots(*roots: Any) -> Any:
        return run(*(like(x, x + u * u) for x, u in zip(args, roots, strict=True)))

    return of_roots


def is_inexact(x: Any) -> bool:
    """Return True if an argument has a derivative."""
    return (isinstance(x, (float, complex)) and np.isfinite(x)) or (
        isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.size > 0
    )


def parts(y: Any) -> Iterator[Any]:
    """Yield the arrays and numbers with a derivative in a result."""
    if isinstance(y, (list, tuple)):
        for part in y:
            yield from parts(part)
    elif isinstance(y, (float, complex, np.inexact)) or (
        isinstance(y, np.ndarray) and y.dtype.kind in "fc" and y.size > 0
    ):
        yield y


def weighted(part: Any) -> Any:
    """Return a product with fixed numbers, of the values and of their squares."""
    weights = 1.0 + 0.25 * np.cos(np.arange(float(np.size(part)))).reshape(np.shape(part))
    real, imaginary = np.real(part), np.imag(part)
    return np.sum(weights * (real + 0.3 * real * real)) + np.sum(
        weights * (0.5 * imaginary + 0.2 * imaginary * imaginary)
    )


def like(x: Any, value: Any) -> Any:
    """Return a value as an array where `x` is one."""
    return np.asarray(value) if isinstance(x, np.ndarray) else value


def directions(args: tuple[Any, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    """Return a random direction for each argument."""
    found = []
    for x in args:
        d = 0.3 * rng.standard_normal(np.shape(x))
        if np.iscomplexobj(x):
            d = d + 0.3j * rng.standard_normal(np.shape(x))
        found.append(np.asarray(d) if isinstance(x, np.ndarray) else type(x)(d))
    return tuple(found)


def inner(gradients: Any, direction: Any) -> float:
    """Return Re<gradients, direction>."""
    return float(
        sum(np.sum(np.real(np.conj(g) * d)) for g, d in zip(gradients, direction, strict=True))
    )
