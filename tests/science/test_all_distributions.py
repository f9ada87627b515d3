"""All continuous distributions of `scipy.stats`: each method, in each argument and parameter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad

st: Any = pytest.importorskip("scipy.stats")
parameters: Any = pytest.importorskip("scipy.stats._distr_params")

METHODS = "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"
QUANTILES = np.array([0.13, 0.37, 0.58, 0.86])
WEIGHTS = np.array([0.7, -1.3, 0.9, 1.1])
LOC, SCALE = 0.3, 1.4
# Where SciPy has its examples at a limit of which it has no values on both sides.
ELSEWHERE = {"kappa4": (0.1, 0.2)}
SHAPES = {
    name: ELSEWHERE.get(name, tuple(map(float, shapes)))
    for name, shapes in parameters.distcont
    if isinstance(name, str)
}
PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


def refused() -> list[tuple[str, list[str], list[str]]]:
    """Return the refused cases of the page on SciPy: distribution, methods, arguments."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|.*\|$", PAGE.read_text("utf-8"), re.M)
    return [
        (name, words(methods) or [*METHODS], words(arguments) or arguments_of(name))
        for name, methods, arguments in rows
    ]


def words(text: str) -> list[str]:
    """Return the names in a cell; none if it says "all"."""
    return re.findall(r"`(\w+)`", text)


def arguments_of(name: str) -> list[str]:
    shapes = getattr(st, name).shapes
    return ["x", *(shapes.replace(",", " ").split() if shapes else ()), "loc", "scale"]


def is_refused(name: str, method: str, argument: str) -> bool:
    return any(name == n and method in ms and argument in args for n, ms, args in refused())


def difference(f: Any, x: float) -> float:
    """Return the estimate of a derivative on which two steps agree best."""
    steps = [size * max(abs(x), 0.1) for size in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)]
    found = np.array([
        (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h) for h in steps
    ])  # fmt: skip
    apart = np.abs(np.diff(found))
    return found[1 + np.argmin(np.where(np.isfinite(apart), apart, np.inf))]


def test_the_page_names_distributions_and_their_arguments() -> None:
    rows = refused()
    assert rows
    for name, methods, arguments in rows:
        assert name in SHAPES
        assert set(methods) <= set(METHODS)
        assert set(arguments) <= set(arguments_of(name))


FAST = "gamma", "beta", "t", "nct", "genpareto", "skewnorm"


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of steps that leave the domain
@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in SHAPES]
)
def test_methods_agree_with_differences_or_are_refused(name: str) -> None:
    distribution, shapes = getattr(st, name), SHAPES[name]
    points = distribution.ppf(QUANTILES, *shapes, loc=LOC, scale=SCALE)
    for method in METHODS if name not in FAST else METHODS[1::3]:
        first = QUANTILES if method in ("ppf", "isf") else points

        def f(x: Any, *parameters: Any, method: str = method) -> Any:
            *shapes, loc, scale = parameters
            y = getattr(distribution, method)(x, *shapes, loc=loc, scale=scale)
            return np.sum(WEIGHTS * y)

        args = first, *shapes, LOC, SCALE
        for i, argument in enumerate(arguments_of(name)):
            if is_refused(name, method, argument):
                with pytest.raises(MooncakeError):
                    grad(f, argnums=i)(*args)
                continue
            gradient = np.atleast_1d(grad(f, argnums=i)(*args))
            expected = [difference(line(f, args, i, j), at) for j, at in enumerated(args[i])]
            scale = max(np.max(np.abs(expected)), 1e-3)
            error = np.max(np.abs(gradient - expected))
            assert error <= 2e-6 * scale, (method, argument, gradient, expected)


def enumerated(x: Any) -> list[tuple[int, float]]:
    return list(enumerate(np.atleast_1d(x).tolist()))


def line(f: Any, args: Any, i: int, j: int) -> Any:
    """Return the function of one number, the element j of argument i."""

    def along(t: float) -> Any:
        moved = np.array(args[i], float)
        moved.reshape(-1)[j] = t
        return f(*args[:i], moved[()], *args[i + 1 :])

    return along
