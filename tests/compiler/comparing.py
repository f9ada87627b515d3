"""Programs with loops: as one entry, against statement by statement, and against differences."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from tests.programs.ways import WAYS
from tests.support.gradients import differences, numbers

__all__ = ["agrees", "equals_reference"]


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


def agrees(f: Callable[..., Any], *args: Any, rtol: float = 1e-6) -> None:
    """Check also against differences."""
    found = iter(equals_reference(f, *args))
    for i, a in enumerate(args):
        if any(True for _ in numbers(a)):
            expected = differences(f, args, i)
            got = np.array(list(numbers(next(found))))
            assert_allclose(got, expected, rtol=rtol, atol=1e-8, err_msg=f"argument {i}")
