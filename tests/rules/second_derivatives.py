"""The second derivative of a case, along a direction, against differences of gradients."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from mooncake_py import grad, jvp
from tests.rules.cases import Case

__all__ = ["curvatures", "is_inexact", "program"]

STEP = 1e-4
WEIGHTS = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # central, sixth order


def is_inexact(x: Any) -> bool:
    """Tell whether an argument has a derivative."""
    return (isinstance(x, (float, complex)) and np.isfinite(x)) or (
        isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.size > 0
    )


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


def curvatures(case: Case, seed: int = 0) -> tuple[dict[str, float], float, float]:
    """Return <H d, e> for random d and e: in two ways, by differences, and the scale."""
    rng = np.random.default_rng(seed)
    f = program(case)
    args = tuple(copy.deepcopy(x) for x in case.args if is_inexact(x))
    argnums = tuple(range(len(args)))
    along, across = directions(args, rng), directions(args, rng)

    def slope(t: float) -> float:
        moved = tuple(like(x, x + t * d) for x, d in zip(args, along, strict=True))
        return inner(grad(f, argnums)(*moved), across)

    expected = sum(w * (slope(k * STEP) - slope(-k * STEP)) for k, w in WEIGHTS) / STEP
    found = {
        "forward over reverse": jvp(grad(f, argnums), args, along)[1],
        "reverse over forward": grad(lambda *x: jvp(f, x, along)[1], argnums)(*args),
    }
    scale = 1.0 + abs(slope(0.0)) + abs(expected)
    return {name: inner(h, across) for name, h in found.items()}, expected, scale


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
