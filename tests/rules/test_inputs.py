"""A rule by partial derivatives is refused where it does not cover all arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from mooncake_py import elementwise, grad, jvp, local_rules
from mooncake_py.errors import MissingRuleError


def scaled(x, k=2.0):
    return x * k


def scaled_by_name(x, *, k=2.0):
    return x * k


def both(x, *, k=2.0):
    return x * k, x + k


X = np.array([1.0, 2.0])
CALLS = {
    "position": (scaled, lambda x: np.sum(scaled(x, 3.0)), "argument 1"),
    "keyword": (scaled, lambda x: np.sum(scaled(x, k=3.0)), "argument 'k'"),
    "keyword-only": (scaled_by_name, lambda x: np.sum(scaled_by_name(x, k=3.0)), "argument 'k'"),
    "number": (scaled, lambda x: scaled(x[0], k=3.0), "argument 'k'"),
    "statement": (scaled, lambda x: np.sum(2.0 * scaled(x, k=3.0) + 1.0), "argument 'k'"),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_argument_without_a_partial_is_refused(call: str) -> None:
    function, f, name = CALLS[call]
    with local_rules():
        elementwise(function, lambda x, y: 2.0)
        refused(f, rf"the rule of .*{function.__name__} does not cover {name}$")


def test_so_it_is_for_several_outputs() -> None:
    with local_rules():
        elementwise(both, (2.0, 1.0))
        assert grad(lambda x: both(x)[0])(1.0) == 2.0
        refused(lambda x: np.sum(both(x, k=3.0)[0]), "does not cover argument 'k'$")


def refused(f: Any, message: str) -> None:
    for derive in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(MissingRuleError) as caught:
            derive()
        assert re.search(message, caught.value.what)


def test_what_is_covered_may_be_given_by_position_or_name() -> None:
    with local_rules():
        elementwise(scaled, lambda x, k, y: k, None)
        for f in (
            lambda x: scaled(x, 3.0),
            lambda x: scaled(x, k=3.0),
            lambda x: scaled(k=3.0, x=x),
        ):
            assert grad(f)(1.0) == 3.0
        assert grad(lambda x: scaled(x))(1.0) == 2.0


def test_constants_need_no_partials_and_ufuncs_take_their_options() -> None:
    with local_rules():
        elementwise(scaled, 2.0)
        assert grad(lambda x: scaled(2.0, k=3.0) * x)(1.0) == 6.0
    np.testing.assert_allclose(
        grad(lambda x: np.sum(np.sin(x, dtype=np.float64, where=x > 1.0, out=np.zeros(2))))(X),
        [0.0, np.cos(2.0)],
    )
