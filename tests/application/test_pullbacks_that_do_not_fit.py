"""Pullbacks of hand-written rules that return more, or other, than their arguments have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import InvalidRuleError, NoRData, rrule, vjp, zero_codual

pytestmark = pytest.mark.without_modes("what is refused is the same in every mode")


def pulled(of: Callable[[Any], Any], x: Any, rdata: Any) -> Any:
    """Return the cotangent of `x` where the pullback of a rule returns these rdata for it."""

    def f(x: Any) -> Any:
        return of(x)

    @rrule.register(f)
    def rule(_: Any, x: Any) -> Any:
        return zero_codual(of(x.primal)), lambda dy: (NoRData(), rdata)

    return vjp(lambda x: f(x), x)[1](1.0)


@pytest.mark.plain  # debug mode has checks and messages of its own
@pytest.mark.parametrize(
    ("x", "rdata", "expected"),
    [
        (3.0, np.ones(1), "a number"),
        (3.0, [1.0, 2.0], "a number"),
        ((3.0, 2.0), (1.0, 1.0, 1.0), "a tuple of 2"),
        ((3.0, 2.0), (1.0,), "a tuple of 2"),
        ((3.0, 2.0), [1.0, 1.0], "a tuple of 2"),
        ((3.0, 2.0), (np.ones(2), 1.0), "a number"),
        ((3.0, (2.0, 1.0)), (1.0, (1.0, 1.0, 1.0)), "a tuple of 2"),
    ],
)
def test_rdata_that_do_not_fit(x: Any, rdata: Any, expected: str) -> None:
    first = lambda x: x if isinstance(x, float) else x[0]  # noqa: E731
    with pytest.raises(InvalidRuleError, match=expected):
        pulled(first, x, rdata)


@pytest.mark.parametrize(
    ("x", "rdata"),
    [
        (3.0, 2.0), (3.0, np.float64(2.0)), ((3.0, 2.0), (1.0, 1.0)),
        pytest.param(3.0, np.array(2.0), marks=pytest.mark.plain),  # debug mode wants a number
        ((3.0, 2), (1.0, NoRData())), ((3.0, (2.0, 1.0)), (1.0, (1.0, 1.0))),
    ],
)  # fmt: skip
def test_rdata_that_fit(x: Any, rdata: Any) -> None:
    pulled(lambda x: x if isinstance(x, float) else x[0], x, rdata)
