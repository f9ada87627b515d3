"""What `test_rule` warns of: its place is the line of the user."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import elementwise, local_rules, zero_derivative
from mooncake_py.errors import MooncakeWarning
from mooncake_py.testing import test_rule


def doubled(x):
    return 2 * x


def test_ints_alone_compare_nothing() -> None:
    for x in (3, np.array([1, 2])):
        with pytest.warns(MooncakeWarning, match="compared no derivative of .*doubled") as caught:
            test_rule(doubled, x)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("args", [(2.0,), ([1, 2.0],), ((2, 3),), (True,), ("text",)], ids=str)
def test_floats_and_what_is_no_number_do_not_warn(args: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        test_rule(doubled, *args)
        test_rule(lambda: 1)
        test_rule(np.sum, np.array([1, 2]))  # of the package


def test_ints_are_right_for_functions_without_derivative() -> None:
    def parity(n):
        return n % 2

    with local_rules(), warnings.catch_warnings():
        warnings.simplefilter("error")
        zero_derivative(parity, because="it is for ints")
        test_rule(parity, 3)


def test_the_warning_of_what_is_left_out_names_the_line_of_the_user() -> None:
    def real_only(x):
        return 3.0 * x if np.iscomplexobj(x) else 2.0 * x

    with local_rules():
        elementwise(real_only, 2.0)
        with pytest.warns(MooncakeWarning, match="leaves out what the rule of") as caught:
            test_rule(real_only, np.array([1.0]), dtypes=False)
    assert caught[0].filename == __file__
