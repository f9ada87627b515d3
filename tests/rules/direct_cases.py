"""Direct checks of the rule of a case against finite differences, without the engine.

Arguments may be nested sequences of arrays and numbers, for which `from_vjp` rules return nested
lists of cotangents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py.rules import registry
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.kinds import (
    BilinearRule,
    LinearRule,
    NotImplementedDerivative,
    OverlayRule,
    VjpRule,
)
from mooncake_py.runtime.values import like
from tests.rules.cases import Case

__all__ = ["check_differences", "check_single_precision", "cotangents", "gradient"]

STEP = 1e-6
DIRECT = (BilinearRule, LinearRule, VjpRule)
Path = tuple[int, ...]


def gradient(function: Any, *args: Any, dy: Any = None, **kwargs: Any) -> np.ndarray:
    """Return the cotangent of the first argument, by default for `dy` of ones."""
    y = function(*args, **kwargs)
    found = cotangents(function, args, kwargs, np.ones_like(y) if dy is None else dy)
    x = np.asarray(args[0])
    return fit(found[0], x.shape, x.dtype)


def cotangents(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dy: Any) -> list[Any]:
    """Return the cotangents that the rule gives; None where it gives none."""
    rule = registry.find(function)
    if isinstance(rule, VjpRule):
        y, pullback = rule.rule(*args, **kwargs)
        assert_same(y, function(*args, **kwargs))
        found = pullback(dy)
        found = found if isinstance(found, tuple) else (found,)
        return [c() if callable(c) else c for c in found]
    if isinstance(rule, BilinearRule):
        left, right = rule.adjoints
        a, b, *rest = args
        return [left(dy, like(a), b, *rest, **kwargs), right(dy, a, like(b), *rest, **kwargs)]
    assert isinstance(rule, LinearRule)
    seen = [like(a) if i in rule.wrt else a for i, a in enumerate(args)]
    found = rule.adjoint(dy, *seen, **kwargs)
    found = found if isinstance(found, tuple) else (found,)
    placed = dict(zip(rule.wrt, found, strict=True))
    return [placed.get(i) for i in range(len(args))]


def check_differences(case: Case, rtol: float = 1e-6) -> None:
    """Compare the rule with central differences in each inexact leaf of the arguments."""
    rng = np.random.default_rng(7)
    if isinstance(rule := registry.find(case.function), OverlayRule):
        assert_same(rule.replacement(*case.args, **case.kwargs), run(case, case.args))
        return
    if not isinstance(rule, DIRECT):
        return
    y = run(case, case.args)
    dy = random_like(rng, y)
    before = copied(dy)
    found = cotangents(case.function, case.args, case.kwargs, dy)
    assert_same(dy, before)
    zeros = cotangents(case.function, case.args, case.kwargs, scaled(dy, 0))
    for path, x in leaves(case.args):
        if path[0] >= len(found) or isinstance(found[path[0]], NotImplementedDerivative):
            continue
        g = fitted(found, path, x)
        assert not np.any(fitted(zeros, path, x))
        assert np.isfinite(g).all()
        if not case.interface_only:
            compare(case, path, x, g, dy, rng, rtol)


def compare(
    case: Case, path: Path, x: Any, g: np.ndarray, dy: Any, rng: np.random.Generator, rtol: float
) -> None:
    """Compare Re<g, dx> with the difference quotient of Re<dy, y> in three directions."""
    for _ in range(3):
        dx = random_like(rng, x)
        upper, lower = (
            inner(dy, run(case, replaced(case.args, path, moved(x, s * dx)))) for s in (STEP, -STEP)
        )
        scale = np.sqrt(inner(g, g) * inner(dx, dx)) + 1e-2
        assert_allclose(
            inner(g, dx), (upper - lower) / (2 * STEP), rtol=0, atol=rtol * scale,
            err_msg=f"argument {path}",
        )  # fmt: skip


def check_single_precision(case: Case) -> None:
    """Check that float32 arguments get float32 cotangents, close to those in float64."""
    if not isinstance(registry.find(case.function), DIRECT):
        return
    single = converted(case.args)
    y = run(case, single)
    if not all(np.asarray(part).dtype.char in "fF" for part in parts(y)):
        return  # NumPy itself computes in float64, as in np.interp
    dy = converted(random_like(np.random.default_rng(7), run(case, case.args)))
    found = cotangents(case.function, single, case.kwargs, dy)
    precise = cotangents(case.function, case.args, case.kwargs, dy)
    for path, x in leaves(single):
        c = at(found, path)
        if c is None or isinstance(c, NotImplementedDerivative):
            continue
        assert not isinstance(c, np.ndarray) or c.dtype.char in "fF", f"argument {path}: {c.dtype}"
        expected = fitted(precise, path, x)
        assert_allclose(fitted(found, path, x), expected, rtol=1e-3, atol=1e-3)


# Nested values.


def leaves(args: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the inexact arrays and numbers among the arguments, with their places."""
    for i, value in enumerate(args):
        if isinstance(value, (list, tuple)):
            yield from leaves(value, (*path, i))
        elif isinstance(value, (np.ndarray, np.inexact, float, complex)) and is_inexact(value):
            yield (*path, i), value


def is_inexact(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


def at(nested: Any, path: Path) -> Any:
    for i in path:
        if (
            nested is None
            or isinstance(nested, NotImplementedDerivative)
            or (isinstance(nested, list) and i >= len(nested))
        ):
            return None
        nested = nested[i]
    return nested


def fitted(found: list[Any], path: Path, x: Any) -> np.ndarray:
    c = at(found, path)
    x = np.asarray(x)
    return np.zeros(x.shape, x.dtype) if c is None else fit(c, x.shape, x.dtype)


def replaced(nested: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    items = list(nested)
    items[path[0]] = replaced(items[path[0]], path[1:], value)
    return type(nested)(items) if isinstance(nested, (list, tuple)) else np.array(items)


def moved(x: Any, step: Any) -> Any:
    return np.asarray(x + step) if isinstance(x, np.ndarray) else x + step


def run(case: Case, args: Any) -> Any:
    return case.function(*args, **case.kwargs)


def parts(y: Any) -> list[Any]:
    return list(y) if isinstance(y, (tuple, list)) else [y]


def mapped(function: Any, y: Any) -> Any:
    return tuple(function(part) for part in y) if isinstance(y, tuple) else function(y)


def random_like(rng: np.random.Generator, y: Any) -> Any:
    return mapped(lambda part: _random(rng, np.asarray(part)), y)


def _random(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    values = rng.standard_normal(x.shape)
    if x.dtype.kind == "c":
        values = values + 1j * rng.standard_normal(x.shape)
    return np.asarray(values, x.dtype)


def copied(y: Any) -> Any:
    return mapped(np.copy, y)


def scaled(y: Any, factor: float) -> Any:
    return mapped(lambda part: part * np.asarray(factor, part.dtype), y)


def converted(nested: Any) -> Any:
    if isinstance(nested, (list, tuple)):
        return type(nested)([converted(item) for item in nested])
    if isinstance(nested, (np.ndarray, float, complex)) and is_inexact(nested):
        x = np.asarray(nested)
        x = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
        return x if isinstance(nested, np.ndarray) else x[()]
    return nested


def inner(a: Any, b: Any) -> float:
    """Return Re<a, b>, summed over the parts."""
    return sum(
        float(np.real(np.vdot(np.asarray(p), np.asarray(q))))
        for p, q in zip(parts(a), parts(b), strict=True)
    )


def assert_same(actual: Any, desired: Any) -> None:
    """Compare values, shapes and dtypes, bit for bit."""
    if isinstance(desired, (tuple, list)):
        assert type(actual) is type(desired)
        assert len(actual) == len(desired)
        for a, d in zip(actual, desired, strict=True):
            assert_same(a, d)
        return
    assert type(actual) is type(desired)
    np.testing.assert_array_equal(actual, desired, strict=True)
