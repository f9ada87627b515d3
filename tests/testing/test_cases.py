"""Cases to parametrize tests of rules over."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import elementwise
from mooncake_py.errors import RuleTestError
from mooncake_py.testing import RuleCase, rule_cases

X = np.array([0.5, 1.0])
CASES = rule_cases(
    (np.sin, X),
    (np.dot, X, X.astype(np.complex128)),
    RuleCase(np.sum, (np.ones((2, 3)),), {"axis": 0}, "columns", {"aliasing": True}),
    layouts=False,
    aliasing=False,
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_check(case: RuleCase, request: pytest.FixtureRequest) -> None:
    assert request.node.name == f"test_check[{case.id}]"
    case.check()


def test_names_say_function_types_and_shapes() -> None:
    assert [case.id for case in CASES] == [
        "numpy.sin-f64(2)",
        "numpy.dot-f64(2)-c128(2)",
        "numpy.sum-columns",
    ]


def test_options_of_a_case_come_before_those_of_all() -> None:
    assert CASES[0].options == {"layouts": False, "aliasing": False}
    assert CASES[2].options == {"layouts": False, "aliasing": True}


def wrong(x: float) -> float:
    return 3.0 * x


elementwise(wrong, 2.0)


def test_wrong_rule_fails() -> None:
    (case,) = rule_cases((wrong, 1.0), dtypes=False)
    assert case.id.endswith("wrong-float")
    with pytest.raises(RuleTestError, match="derivative"):
        case.check()
