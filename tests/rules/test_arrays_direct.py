"""The rules for reductions, shaping, joining, selection, creation, sorting and differences:
their formulas against finite differences, and their choices at ties and singular points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad
from mooncake_py.rules import registry
from mooncake_py.rules.interpolation import interpolated
from mooncake_py.rules.kinds import VjpRule
from mooncake_py.rules.sorting import nanmedian_of
from tests.rules.cases import (
    Case,
    creation,
    differences,
    joining,
    reductions,
    selection,
    shaping,
    sorting,
)
from tests.rules.direct_cases import (
    check_differences,
    check_single_precision,
    cotangents,
    gradient,
)
from tests.support.pairs import of_each_kind, rotating

FAMILIES = (reductions, joining, selection, creation, sorting, differences)
CASES = [
    *of_each_kind(
        (case for family in FAMILIES for case in family.cases()), lambda case: case.function
    ),
    *shaping.cases(),  # in a derivative views share memory, and few of these formulas are asked
]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rules_match_differences_and_keep_single_precision(case: Case) -> None:
    check_differences(case)
    check_single_precision(case)


# Reductions at ties, zeros and nan.


@pytest.mark.parametrize("function", [np.max, np.ndarray.max, np.maximum.reduce, np.fmax.reduce])
def test_ties_of_maxima_share_equally(function: Any) -> None:
    x = np.array([3.0, 1.0, 3.0, 3.0, 2.0])
    assert_array_equal(gradient(function, x), np.array([1, 0, 1, 1, 0]) / 3)


def test_initial_takes_part_in_a_tie() -> None:
    assert_array_equal(gradient(np.max, np.array([1.0, 2.0]), initial=2.0), [0.0, 0.5])
    assert_array_equal(gradient(np.max, np.array([1.0, 2.0]), initial=3.0), [0.0, 0.0])


@pytest.mark.parametrize("function", [np.max, np.min, np.nanmax])
def test_extremum_that_is_nan_gives_zero(function: Any) -> None:
    assert_array_equal(gradient(function, np.array([np.nan, np.nan])), [0.0, 0.0])


def test_masked_elements_do_not_tie() -> None:
    x = np.array([2.0, 2.0, 1.0])
    mask = np.array([True, False, True])
    assert_array_equal(gradient(np.max, x, where=mask, initial=0.0), [1.0, 0.0, 0.0])


def test_product_of_one_zero_is_the_product_of_the_others() -> None:
    assert_array_equal(gradient(np.prod, np.array([2.0, 0.0, 3.0])), [0.0, 6.0, 0.0])
    assert_array_equal(gradient(np.prod, np.array([0.0, 0.0, 3.0])), [0.0, 0.0, 0.0])
    assert_array_equal(gradient(np.prod, np.array([np.inf, 2.0])), [2.0, np.inf])


def test_cumulative_product_of_zeros_is_right() -> None:
    # y = (a, a b, a b c) at (2, 0, 3)
    assert_array_equal(gradient(np.cumprod, np.array([2.0, 0.0, 3.0])), [1.0, 8.0, 0.0])


@pytest.mark.parametrize("function", [np.std, np.nanstd])
def test_std_of_equal_elements_has_zero_gradient(function: Any) -> None:
    assert_array_equal(gradient(function, np.full(4, 1.5)), np.zeros(4))


@pytest.mark.parametrize(
    "function", [np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nancumsum, np.nancumprod]
)
def test_nan_elements_have_zero_gradient(function: Any) -> None:
    x = np.array([1.0, np.nan, 2.0, 4.0])
    valid = ~np.isnan(x)
    dx = gradient(function, x)
    assert dx[1] == 0
    plain = getattr(np, function.__name__.removeprefix("nan"))
    if function in (np.nancumsum, np.nancumprod):
        return assert_array_equal(dx[2:], gradient(plain, x[valid])[1:])
    return assert_array_equal(dx[valid], gradient(plain, x[valid]))


def test_masked_infinity_does_not_reach_the_gradient() -> None:
    dy = np.array([np.inf, 1.0])
    mask = np.array([[False, True], [False, True]])
    assert_array_equal(gradient(np.sum, np.ones((2, 2)), dy=dy, axis=0, where=mask), mask)


def test_gradient_of_empty_mean_is_empty() -> None:
    assert gradient(np.mean, np.zeros(0)).shape == (0,)


# Views and choices elsewhere.


@pytest.mark.parametrize("function", [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack])
def test_cotangents_of_joined_arrays_are_views(function: Any) -> None:
    arrays = [np.ones((2, 2)), np.ones((2, 2))]
    dy = np.ones_like(function(arrays))
    (pieces,) = cotangents(function, (arrays,), {}, dy)
    assert all(np.shares_memory(piece, dy) for piece in pieces)


def test_spread_cotangent_cannot_be_written() -> None:
    (dx,) = cotangents(np.sum, (np.ones((2, 3)),), {}, np.float64(2.0))
    assert not dx.flags.writeable


NUMBERED = np.arange(24.0).reshape(2, 3, 4)
LAID_OUT = {
    "C": NUMBERED,
    "F": np.asfortranarray(NUMBERED),
    "transposed": NUMBERED.transpose(1, 2, 0),
    "strided": NUMBERED[:, ::2, ::3],
    "reversed": NUMBERED.transpose(2, 0, 1)[::-1, :, ::-1],
    "reversed-F": np.asfortranarray(NUMBERED)[:, ::-1],
    "broadcast": np.broadcast_to(NUMBERED[0].T, (2, 4, 3)),
    "length-1": NUMBERED.transpose(2, 1, 0)[:, :1],
    "empty": NUMBERED[:, :0].transpose(2, 1, 0),
    "number": np.array(3.0),
}


@pytest.mark.parametrize(("layout", "order"), rotating(LAID_OUT, ["A", "K"]))
def test_copies_in_memory_order_are_put_back(layout: str, order: Any) -> None:
    a = LAID_OUT[layout]
    for function in (np.ravel, np.ndarray.flatten):
        dx = cotangents(function, (a, order), {}, a.flatten(order))[0]
        assert_array_equal(dx, a)
    if order == "A":
        y = np.reshape(a, (-1, 1), "A")
        dx = cotangents(np.reshape, (a, (-1, 1)), {"order": "A"}, y)[0]
        assert_array_equal(dx, a)


def test_interpolation_at_nan_and_outside_gives_zero_for_x() -> None:
    x = np.array([np.nan, -1.0, 5.0])
    dx, dxp, dfp, *_ = cotangents(
        interpolated, (x, np.array([0.0, 1.0]), np.array([1.0, 2.0]), None, None), {}, np.ones(3)
    )
    assert_array_equal(dx, np.zeros(3))
    assert_array_equal(dxp, np.zeros(2))
    assert_array_equal(dfp, np.ones(2))


def test_median_passes_over_nan() -> None:
    x = np.array([[3.0, np.nan, 1.0, 2.0], [np.nan] * 4, [np.nan, 2.0, np.nan, 7.0]])
    dx = gradient(nanmedian_of, x, 1, False)
    assert_array_equal(dx, [[0, 0, 0, 1], [0] * 4, [0, 0.5, 0, 0.5]])


def test_partition_is_undone_whatever_numpy_does() -> None:
    x = np.random.default_rng(3).permutation(100).astype(float)
    y = np.partition(x, [10, 60])
    assert_array_equal(gradient(np.partition, x, [10, 60], dy=y), x)


def test_short_iterators_are_refused_as_numpy_does() -> None:
    rule: Any = registry.find(np.fromiter)
    with pytest.raises(ValueError, match="iterator too short: Expected 5"):
        rule.replacement(iter([1.0]), float, 5)


def test_ediff1d_refuses_what_numpy_refuses() -> None:
    rule: Any = registry.find(np.ediff1d)
    for replacement in (np.ediff1d, rule.replacement):
        with pytest.raises(TypeError, match="to_end"):
            replacement(np.array([1, 2]), np.array([1.5]))


def test_rules_do_not_run_numpy_twice() -> None:
    rule = registry.find(np.sort)
    assert isinstance(rule, VjpRule)
    y, pullback = rule.rule(np.array([2.0, 1.0]))
    assert_array_equal(y, [1.0, 2.0])
    assert_array_equal(pullback(np.array([1.0, 5.0])), [5.0, 1.0])


def test_interpolation_at_no_place_has_cotangents_of_zero() -> None:
    nodes = np.array([0.0, 1.0])
    for period in (None, 3.0):
        x, dx = nodes[:0], grad(lambda x, p=period: np.interp(x, nodes, nodes, period=p).sum())
        assert_array_equal(dx(x), x)
