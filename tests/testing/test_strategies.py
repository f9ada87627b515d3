"""Strategies for arguments, and rules under them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from mooncake_py import from_vjp, local_rules
from mooncake_py.errors import RuleTestError
from mooncake_py.testing import strategies, test_rule

QUICK = settings(max_examples=6, deadline=None, derandomize=True)
# One example is enough: to make it smaller takes most of the time.
UNSHRUNK = settings(QUICK, max_examples=2000, database=None, phases=[Phase.generate])
BASE: dict[str, Any] = {"layouts": False, "dtypes": False, "aliasing": False, "constants": False}


@QUICK
@given(strategies.arrays(dtypes=(np.float32, np.complex128), bounds=(0.5, 2.0)))
def test_arrays_have_what_was_asked_for(x: Any) -> None:
    assert x.dtype in (np.float32, np.complex128)
    assert x.ndim <= 3
    assert np.all((x.real >= 0.5) & (x.real <= 2.0))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "property_of",
    [
        lambda x: x.ndim == 0,
        lambda x: x.size == 0,
        lambda x: x.ndim > 1 and x.flags.f_contiguous and not x.flags.c_contiguous,
        lambda x: x.strides and x.strides[0] < 0,
        lambda x: x.base is not None and x.ndim == 1 and x.strides[0] > 8,
    ],
    ids=["0-d", "empty", "Fortran", "reversed", "strided"],
)
def test_every_layout_is_drawn(property_of: Any) -> None:
    find(strategies.arrays(), lambda x: bool(property_of(x)), settings=UNSHRUNK)


@pytest.mark.parametrize("shares", [True, False])
def test_memory_is_shared_and_is_not(shares: bool) -> None:
    found = find(
        strategies.aliased(2), lambda xs: np.shares_memory(*xs) is shares, settings=UNSHRUNK
    )
    assert found[0].shape == found[1].shape


@pytest.mark.thorough
@QUICK
@given(strategies.arrays(shape=st.tuples(st.integers(1, 4), st.just(2)), bounds=(0.5, 2.0)))
def test_rules_of_rows(x: Any) -> None:
    test_rule(np.linalg.norm, x, kwargs={"axis": 1}, **BASE)


def shifted_product(a: Any, b: Any) -> Any:
    a[1:] *= b[:-1]
    b += a
    return np.sum(a * b)


@pytest.mark.thorough
@QUICK
@given(strategies.aliased(2))
def test_function_that_writes_into_arguments_that_overlap(arrays: Any) -> None:
    test_rule(shifted_product, *arrays, **BASE)


def reversed_copy(x: Any) -> Any:
    return x[::-1].copy()


def test_wrong_rule_is_found() -> None:
    @UNSHRUNK
    @given(strategies.arrays(shape=(3,)))
    def check(x: Any) -> None:
        test_rule(reversed_copy, x, **BASE)

    with local_rules():
        from_vjp(reversed_copy)(lambda x: (reversed_copy(x), lambda dy: dy))
        with pytest.raises(RuleTestError, match="derivative"):
            check()
