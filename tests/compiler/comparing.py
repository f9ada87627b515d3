"""Programs with loops: as one entry, against statement by statement, and against differences."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.programs.ways import WAYS
from tests.support.gradients import differences, numbers

__all__ = ["agrees", "agrees_along", "equals_reference"]


def equals_reference(f: Callable[..., Any], *args: Any) -> Any:
    """Check value and gradient against the reference, arguments restored; return the gradient."""
    argnums = tuple(i for i, a in enumerate(args) if any(True for _ in numbers(a)))
    given = copy.deepcopy(args)
    value, found = value_and_grad(f, argnums)(*given)
    again, found_again = value_and_grad(f, argnums)(*given)
    reference, expected = WAYS["unfused"](f, argnums, list(copy.deepcopy(args)))
    plain = f(*copy.deepcopy(args))
    assert type(value) is type(plain)
    assert value == plain
    assert again == plain
    assert reference == plain
    for a, b, c in zip(found, expected, found_again, strict=True):
        for p, q, r in zip(numbers(a), numbers(b), numbers(c), strict=True):
            assert_allclose(p, q, rtol=1e-10, atol=1e-12)
            assert p == r
    for a, b in zip(args, given, strict=True):
        assert_array_equal(list(numbers(a)), list(numbers(b)))
    return found


def agrees_along(f: Callable[..., Any], args: Any, v: Any) -> None:
    """Check `jvp` against the gradient, and `hvp` against differences of it, for several arrays."""
    argnums = tuple(range(len(args)))
    gradient = grad(f, argnums)
    along = sum(np.sum(g * t) for g, t in zip(gradient(*args), v, strict=True))
    assert_allclose(jvp(f, args, v)[1], along, rtol=1e-11)
    ahead, back = (
        gradient(*[a + step * t for a, t in zip(args, v, strict=True)]) for step in (1e-6, -1e-6)
    )
    for found, p, q in zip(hvp(f, args, v, argnums=argnums), ahead, back, strict=True):
        assert_allclose(found, (p - q) / 2e-6, rtol=1e-5, atol=1e-7)


def agrees(f: Callable[..., Any], *args: Any, rtol: float = 1e-6) -> None:
    """Check also against differences."""
    found = iter(equals_reference(f, *args))
    for i, a in enumerate(args):
        if any(True for _ in numbers(a)):
            expected = differences(f, args, i)
            got = np.array(list(numbers(next(found))))
            assert_allclose(got, expected, rtol=rtol, atol=1e-8, err_msg=f"argument {i}")
