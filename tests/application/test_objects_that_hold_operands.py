"""Objects that give arrays or numbers, where a rule is for arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import elementwise, grad, jvp
from mooncake_py.errors import MissingRuleError

X = np.array([0.3, 0.9, 1.4])


class Holder:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.held, dtype=dtype)


def tripled(x: Any) -> Any:
    return np.asarray(x) * 3.0


elementwise(tripled, 3.0)


def test_a_rule_of_the_users_does_not_lose_what_an_object_holds():
    def f(x):
        return np.sum(tripled(Holder(x * x)))

    with pytest.raises(MissingRuleError, match="an object of Holder that holds active data"):
        grad(f)(X)
    with pytest.raises(MissingRuleError, match="an object of Holder that holds active data"):
        jvp(f, (X,), (np.ones(3),))


def test_a_rule_of_the_users_takes_an_object_that_holds_constants():
    held = Holder(X)
    assert np.array_equal(grad(lambda x: np.sum(tripled(held) * x))(X), 3.0 * X)
