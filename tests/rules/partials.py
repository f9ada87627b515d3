"""Direct checks of elementwise rules and rules for scalars, without the engine.

``cotangents(case, dy)`` evaluates the rule of a case as the engine does: an elementwise rule
contributes ``conj(partial) * dy``, zero where dy is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules import registry
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.rules.kinds import ElementwiseRule, LinearRule, VjpRule
from mooncake_py.runtime.values import like
from tests.rules.cases import Case

STEP = 1e-6


def is_active(x: Any) -> bool:
    """Tell whether an argument has a derivative: a float or complex number, array or sequence."""
    return x is not None and np.asarray(x).dtype.kind in "fc"


def partial_values(rule: ElementwiseRule, args: Any, y: Any) -> list[Any]:
    """Evaluate the partials; division by zero falls back to NumPy's infinities."""
    values: list[Any] = []
    for partial, x in zip(rule.partials, args, strict=False):
        if not callable(partial) or not is_active(x):
            values.append(partial if is_active(x) else None)
            continue
        try:
            values.append(partial(*args, y))
        except (ZeroDivisionError, OverflowError, ValueError):
            as_numpy = [None if a is None else np.asarray(a)[()] for a in (*args, y)]
            values.append(partial(*as_numpy))
    return values


def contribution(partial: Any, dy: Any) -> Any:
    """Return the cotangent of an argument by one partial derivative."""
    if isinstance(partial, Wirtinger):
        return contribution(partial.dz, dy) + np.conj(contribution(partial.dzbar, dy))
    partial = np.asarray(partial)
    conjugate = np.conj(partial) if partial.dtype.kind == "c" else partial
    return np.where(np.asarray(dy) == 0, 0, conjugate * dy)


def cotangents(case: Case, dy: Any) -> list[Any]:
    """Return the cotangent that the rule gives each argument, fitted to it; None for none."""
    rule = registry.find(case.function)
    args = case.args
    with np.errstate(all="ignore"):
        y = case.function(*args, **case.kwargs)
        if isinstance(rule, ElementwiseRule):
            given = [
                None if p is None else contribution(p, dy) for p in partial_values(rule, args, y)
            ]
        elif isinstance(rule, LinearRule):
            seen = [like(x) if i in rule.wrt else x for i, x in enumerate(args)]
            found = rule.adjoint(dy, *seen, **case.kwargs)
            parts = found if isinstance(found, tuple) else (found,)
            by_position = dict(zip(rule.wrt, parts, strict=True))
            given = [by_position.get(i) for i in range(len(args))]
        else:
            assert isinstance(rule, VjpRule), f"{rule} cannot be checked directly"
            _, pullback = rule.rule(*args, **case.kwargs)
            found = pullback(dy)
            given = list(found) if isinstance(found, tuple) else [found]
            given = [c() if callable(c) else c for c in given]
    return [fitted(g, x) if is_active(x) else None for g, x in zip(given, args, strict=False)]


def fitted(g: Any, x: Any) -> np.ndarray:
    """Return a cotangent in the shape and dtype of its argument."""
    x = np.asarray(x)
    return fit(np.zeros(x.shape) if g is None else np.asarray(g), x.shape, x.dtype)


def pairing(dy: Any, y: Any) -> float:
    """Return Re<dy, y>, summed over a tuple of outputs; None is zero."""
    if isinstance(y, tuple):
        return sum(pairing(d, part) for d, part in zip(dy, y, strict=True) if d is not None)
    return float(np.real(np.vdot(dy, y)))


def random_like(rng: np.random.Generator, y: Any) -> Any:
    """Return normal numbers like an output; None for outputs that are not inexact."""
    if isinstance(y, tuple):
        return tuple(random_like(rng, part) for part in y)
    y = np.asarray(y)
    if y.dtype.kind not in "fc":
        return None
    values = rng.standard_normal(y.shape)
    if y.dtype.kind == "c":
        values = values + 1j * rng.standard_normal(y.shape)
    return values.astype(y.dtype)[()]


def difference(case: Case, position: int, dx: Any, dy: Any) -> float:
    """Return the derivative of ``Re<dy, f>`` along `dx` in one argument, by differences."""
    ends = []
    for sign in (1, -1):
        x = case.args[position]
        moved: Any = np.asarray(x) + sign * STEP * dx
        if isinstance(x, (list, tuple)):
            moved = type(x)(moved.tolist())
        elif not isinstance(x, np.ndarray):
            moved = moved.item()
        args = (*case.args[:position], moved, *case.args[position + 1 :])
        ends.append(pairing(dy, case.function(*args, **case.kwargs)))
    return (ends[0] - ends[1]) / (2 * STEP)
