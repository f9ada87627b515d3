"""Direct checks of a rule's formula against finite differences, without the engine.

``check_rule(function, *args)`` takes the rule of `function` from the registry, asks it for the
cotangent of each argument in `wrt`, fits these as the engine does, and compares
``Re<dy, J dx>`` by central differences with ``Re<J^H dy, dx>`` in random directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py.rules import registry
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.kinds import BilinearRule, LinearRule, VjpRule
from mooncake_py.runtime.values import like

STEP = 1e-6


def random_like(rng: np.random.Generator, x: Any) -> Any:
    """Return normal numbers with the shape and dtype of `x`, for each part of a tuple."""
    if isinstance(x, tuple):
        return tuple(random_like(rng, part) for part in x)
    x = np.asarray(x)
    values = rng.standard_normal(x.shape)
    if np.iscomplexobj(x):
        values = values + 1j * rng.standard_normal(x.shape)
    return np.asarray(values, x.dtype)


def inner(a: Any, b: Any) -> float:
    """Return Re<a, b>, summed over the parts of a tuple."""
    if isinstance(a, tuple):
        return sum(inner(x, y) for x, y in zip(a, b, strict=True))
    return float(np.real(np.vdot(a, b)))


def cotangents(function: Any, args: Sequence[Any], kwargs: dict[str, Any], dy: Any) -> list[Any]:
    """Return the cotangents that the rule of `function` gives, None where it gives none."""
    rule = registry.find(function)
    likes = [like(x) for x in args]
    if isinstance(rule, BilinearRule):
        left = rule.adjoints[0](dy, likes[0], *args[1:], **kwargs)
        return [left, rule.adjoints[1](dy, args[0], likes[1], *args[2:], **kwargs)]
    if isinstance(rule, LinearRule):
        seen = [likes[i] if i in rule.wrt else x for i, x in enumerate(args)]
        given = rule.adjoint(dy, *seen, **kwargs)
        given = given if isinstance(given, tuple) else (given,)
        found = dict(zip(rule.wrt, given, strict=True))
        return [found.get(i) for i in range(len(args))]
    assert isinstance(rule, VjpRule), f"{rule} is not a rule that can be checked directly"
    y, pullback = rule.rule(*args, **kwargs)
    assert_allclose_all(y, function(*args, **kwargs))
    given = pullback(dy)
    given = given if isinstance(given, tuple) else (given,)
    return [c() if callable(c) else c for c in given]


def assert_allclose_all(actual: Any, desired: Any, rtol: float = 1e-12) -> None:
    """Compare arrays, or tuples of arrays, in values, shape and dtype."""
    if isinstance(desired, tuple):
        assert len(actual) == len(desired)
        for a, d in zip(actual, desired, strict=True):
            assert_allclose_all(a, d, rtol)
        return
    assert np.asarray(actual).dtype == np.asarray(desired).dtype
    assert_allclose(actual, desired, rtol=rtol, equal_nan=False)


def check_rule(
    function: Any,
    *args: Any,
    wrt: Sequence[int] | None = None,
    kwargs: dict[str, Any] | None = None,
    seed: int = 0,
    rtol: float = 1e-6,
) -> None:
    """Compare the rule of `function` with central differences, in three random directions."""
    rng = np.random.default_rng(seed)
    kwargs = kwargs or {}
    y = function(*args, **kwargs)
    dy = random_like(rng, y)
    given = cotangents(function, args, kwargs, dy)
    chosen = range(len(args)) if wrt is None else wrt
    active = [i for i in chosen if np.asarray(args[i]).dtype.kind in "fc"]
    for i in active:
        x = np.asarray(args[i])
        g = fit(given[i], x.shape, x.dtype)
        assert g.shape == x.shape
        assert np.isfinite(g).all()
        for _ in range(3):
            dx = random_like(rng, x)
            upper, lower = (
                function(*args[:i], x + s * dx, *args[i + 1 :], **kwargs) for s in (STEP, -STEP)
            )
            expected = (inner(dy, tuple_or_self(upper)) - inner(dy, tuple_or_self(lower))) / (
                2 * STEP
            )
            scale = np.sqrt(inner(g, g) * inner(dx, dx)) + 1e-3
            assert_allclose(
                inner(g, dx), expected, rtol=0, atol=rtol * scale, err_msg=f"argument {i}"
            )


def tuple_or_self(y: Any) -> Any:
    """Return a named tuple as a plain one."""
    return tuple(y) if isinstance(y, tuple) else y
