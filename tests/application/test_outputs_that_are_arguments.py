"""Rules of users whose output is memory of an argument, which has one cotangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import from_vjp, grad, linear, zero_derivative
from mooncake_py.errors import MissingRuleError


def reversed_by_vjp(f: Any) -> None:
    from_vjp(f)(lambda x: (f(x), lambda dy: (-dy,)))


def reversed_by_adjoint(f: Any) -> None:
    linear(f)(lambda dy, x: -dy)


def without_any(f: Any) -> None:
    zero_derivative(f, because="a constant here")


OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "argument": lambda x: x,
    "view": lambda x: x[::-1],
    "owner": lambda x: x.base if x.base is not None else x,
}


@pytest.mark.parametrize("declare", [reversed_by_vjp, reversed_by_adjoint, without_any])
@pytest.mark.parametrize("name", OUTPUTS)
def test_they_are_refused(name: str, declare: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        return OUTPUTS[name](x)

    declare(f)
    for derivative in (grad(lambda x: np.sum(f(x) * 2.0)), grad(lambda x: np.sum(f(x[:]) * x))):
        with pytest.raises(MissingRuleError, match="returns an argument, or a view of one"):
            derivative(np.ones(3))


def test_copies_follow_their_rule() -> None:
    def f(x: Any) -> Any:
        return x.copy()

    reversed_by_vjp(f)
    np.testing.assert_array_equal(grad(lambda x: np.sum(f(x) * 2.0))(np.ones(3)), -2.0)
