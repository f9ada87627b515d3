"""What the tests of mutants share: rules that are wrong in one thing, and how they are caught."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoRData, increment, local_rules, rrule, zero_codual
from mooncake_py.errors import RuleTestError
from mooncake_py.testing import test_rule

__all__ = [
    "NONE",
    "A",
    "B",
    "V",
    "caught",
    "caught_rule",
    "one_argument",
    "passes",
    "two_arguments",
]

RNG = np.random.default_rng(1964)
A = RNG.uniform(0.5, 1.5, (2, 3))
B = RNG.uniform(0.5, 1.5, (2, 3))
V = RNG.uniform(0.5, 1.5, 3)
NONE = NoRData()


def caught(check: str, where: str, option: str, f: Any, *args: Any, **options: Any) -> str:
    """Require that `test_rule` refuses the registered rule of a function.

    Parameters
    ----------
    check : str
        The check that fails.
    where : str
        In the headline: the argument, or the variant.
    option : str
        In the fix, what leaves the check out; empty if nothing does.
    f, *args
        The function and its arguments.
    **options
        Of `test_rule`.
    """
    with pytest.raises(RuleTestError) as info:
        test_rule(f, *args, **options)
    error = info.value
    assert f"check '{check}' failed" in error.what, str(error)
    assert where in error.what, str(error)
    named = re.findall(r"(?:\w+=False|order=1|dtypes=|layouts=)", error.fix)
    assert option in error.fix if option else not named, str(error)
    return str(error)


def caught_rule(
    check: str, where: str, option: str, rule: Any, f: Any, *args: Any, **declared: Any
) -> str:
    """Require that `test_rule` refuses a rule that is registered explicitly, in a block."""
    with local_rules():
        rrule.register(f, **{"mutates": (), **declared})(rule)
        return caught(check, where, option, f, *args)


def passes(rule: Any, f: Any, *args: Any, **declared: Any) -> None:
    """Require that a rule registered explicitly is right: its mutants differ in one thing only."""
    with local_rules():
        rrule.register(f, **{"mutates": (), **declared})(rule)
        test_rule(f, *args)


def summed(g: Any, x: CoDual) -> Any:
    """Return a cotangent in the shape and dtype of an argument."""
    if not isinstance(x.primal, np.ndarray):
        g = np.sum(g)
        return g if np.iscomplexobj(x.primal) else np.real(g)
    extra = np.ndim(g) - x.primal.ndim
    g = np.sum(g, axis=tuple(range(extra)))
    stretched = [i for i, n in enumerate(x.primal.shape) if n == 1 and g.shape[i] != 1]
    g = np.sum(g, axis=tuple(stretched), keepdims=True)
    return (g if np.iscomplexobj(x.primal) else np.real(g)).astype(x.primal.dtype)


def deliver(x: CoDual, g: Any) -> Any:
    """Add a cotangent to an argument, or return it as rdata."""
    g = summed(g, x)
    if isinstance(x.primal, np.ndarray):
        increment(x, g)
        return NONE
    return type(x.primal)(g)


def two_arguments(f: Any, slopes: Callable[[Any, Any, Any], tuple[Any, Any]]) -> Any:
    """Return a rule from ``slopes(g, a, b)``, which gives both cotangents, to be fitted."""

    def rule(_: Any, a: CoDual, b: CoDual) -> Any:
        y = zero_codual(f(a.primal, b.primal))

        def pullback(dy: Any) -> Any:
            g = y.fdata if isinstance(y.primal, np.ndarray) else dy
            da, db = slopes(g, a.primal, b.primal)
            return NONE, deliver(a, da), deliver(b, db)

        return y, pullback

    return rule


def one_argument(f: Any, slope: Callable[[Any, Any], Any]) -> Any:
    """Return a rule from ``slope(g, x)``, which gives the cotangent, to be fitted."""

    def rule(_: Any, x: CoDual) -> Any:
        y = zero_codual(f(x.primal))

        def pullback(dy: Any) -> Any:
            g = y.fdata if isinstance(y.primal, np.ndarray) else dy
            return NONE, deliver(x, slope(g, x.primal))

        return y, pullback

    return rule
