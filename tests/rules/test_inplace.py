"""The rules of the family `inplace`, checked by `test_rule` at all their cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad, vjp
from tests.rules.cases import Case
from tests.rules.cases.inplace import cases


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_inplace_follow_their_rules(case: Case) -> None:
    case.check()


def test_nothing_is_put_without_values() -> None:
    def put(x: Any, y: Any) -> Any:
        np.put(x, [7], y)
        x.put([9], y)
        return x.sum()

    value, gradient = value_and_grad(put)(np.ones(3), np.zeros(0))
    assert value == 3.0
    assert gradient.tolist() == [1, 1, 1]
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        grad(put)(np.ones(3), np.ones(1))


def test_values_that_do_not_fit_are_seen_before_indices() -> None:
    def write(x: Any, y: Any) -> Any:
        x[[5, 6]] = y
        return x.sum()

    for run in (value_and_grad(write), lambda *args: vjp(write, *args)):
        with pytest.raises(ValueError, match="shape mismatch"):
            run(np.ones(3), np.ones(3))
        with pytest.raises(IndexError, match="out of bounds"):
            run(np.ones(3), np.ones(2))
