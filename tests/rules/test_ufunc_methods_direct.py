"""The methods of ufuncs: overlays equal NumPy, formulas equal finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mooncake_py.rules.nondifferentiable  # noqa: F401  (ufuncs without derivative)
from mooncake_py.rules import registry
from mooncake_py.rules import ufunc_methods as methods
from tests.rules.direct import check_rule
from tests.rules.equal_calls import assert_same_call
from tests.support.pairs import rotating

X = np.random.default_rng(0).uniform(0.5, 1.5, (3, 4))


def test_bound_methods_are_found_again() -> None:
    assert registry.find(np.add.at) is registry.find(np.add.at) is not None
    assert registry.find(np.multiply.at) is None
    assert registry.find(np.ufunc.at) is not None


INDICES: list[tuple[Any, tuple[int, ...]]] = [
    ([0, 2, 0, 1], (4, 4)), ([0, 2, 0, -1], ()), (1, (4,)), (np.array([], int), ()), ([], ()),
    (([0, 0, 2], [1, 1, 3]), (3,)), ((np.array([[0], [2]]), [1, 1]), (2, 2)), (slice(0, 2), (4,)),
    ((slice(None), [1, 1]), (3, 2)), (X > 1, ()), ((Ellipsis, 1), (3,)),
    ((1, slice(None, None, 2)), ()),
    ([True, False, True], (4,)), ([5], ()), ((), (3, 4)), (None, ()),
]  # fmt: skip


@pytest.mark.parametrize(("indices", "shape"), INDICES, ids=str)
def test_at_equals_numpy(indices: Any, shape: tuple[int, ...]) -> None:
    b = np.random.default_rng(1).uniform(0.5, 1.5, shape)
    assert_same_call(methods.add_at, np.add.at, X, indices, b)
    assert_same_call(methods.subtract_at, np.subtract.at, X, indices, b)
    for ufunc in (np.multiply, np.power, np.maximum):
        assert_same_call(methods.ufunc_at, np.ufunc.at, ufunc, X, indices, b)
    for ufunc in (np.negative, np.sqrt, np.floor):
        assert_same_call(methods.ufunc_at, np.ufunc.at, ufunc, X, indices)


def test_at_casts_as_numpy_does() -> None:
    integers = np.arange(5)
    assert_same_call(methods.add_at, np.add.at, integers, [1, 1], 1)
    assert_same_call(methods.add_at, np.add.at, integers, [1, 1], 1.5)
    assert_same_call(methods.ufunc_at, np.ufunc.at, np.multiply, integers, [1, 1], 1.5)
    assert_same_call(methods.ufunc_at, np.ufunc.at, np.multiply, X.astype(np.float32), [1, 1], X[0])
    assert_same_call(methods.add_at, np.add.at, np.array(1.0), (), 2.0)
    assert_same_call(methods.add_at, np.add.at, X[::2, ::-1], [1, 1], 2.0)


@pytest.mark.parametrize("function", [methods.add_to_slots, methods.subtract_from_slots])
@pytest.mark.parametrize("shape", [(), (4,), (3, 4), (1, 4)], ids=str)
def test_slots_match_differences(function: Any, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(2).standard_normal(shape)
    check_rule(function, X, np.array([2, 0, 2]), values, wrt=(0, 2))


# Not np.power: np.power.reduce of NumPy 2.4 does not equal the chain of powers.
REDUCTIONS: list[dict[str, Any]] = [
    {}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"initial": 2.0}, {"dtype": np.float32},
    {"axis": 1, "initial": 0.5, "where": X > 1}, {"axis": 5}, {"axis": None}, {"axis": (0, 1)},
    {"initial": 0.5, "where": X > 1, "dtype": np.float32}, {"axis": ()},
]  # fmt: skip


@pytest.mark.parametrize(
    ("ufunc", "kwargs"),
    rotating(
        [np.logaddexp, np.hypot, np.subtract, np.divide, np.less, np.logical_or],
        REDUCTIONS,
        times=2,
    ),
)
def test_reduce_equals_numpy(ufunc: np.ufunc, kwargs: dict[str, Any]) -> None:
    assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, ufunc, X, **kwargs)
    assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, ufunc, X[:1], **kwargs)
    assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, ufunc, X[0])


def test_reduce_of_nothing_equals_numpy() -> None:
    empty = np.zeros((0, 3))
    for ufunc in (np.logaddexp, np.hypot, np.subtract):
        assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, ufunc, empty)
        assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, ufunc, empty, initial=1.0)
        assert_same_call(methods.ufunc_accumulate, np.ufunc.accumulate, ufunc, empty)


def test_reduce_writes_to_out() -> None:
    assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, np.hypot, X, out=np.zeros(4))
    assert_same_call(methods.ufunc_reduce, np.ufunc.reduce, np.less, X, out=np.zeros(4, bool))


def test_reduce_of_one_row_is_no_view() -> None:
    x = X[:1].copy()
    methods.ufunc_reduce(np.hypot, x)[...] = 0
    assert_allclose(x, X[:1])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("ufunc", [np.hypot, np.subtract, np.less], ids=lambda u: u.__name__)
def test_accumulate_and_reduceat_equal_numpy(ufunc: np.ufunc, axis: int) -> None:
    assert_same_call(methods.ufunc_accumulate, np.ufunc.accumulate, ufunc, X, axis)
    for indices in ([0, 2, 1], [1], [2, 2], [9]):
        if ufunc is not np.less or indices != [9]:
            assert_same_call(methods.ufunc_reduceat, np.ufunc.reduceat, ufunc, X, indices, axis)


@pytest.mark.parametrize("ufunc", [np.add, np.power, np.less], ids=lambda u: u.__name__)
def test_outer_equals_numpy(ufunc: np.ufunc) -> None:
    assert_same_call(methods.ufunc_outer, np.ufunc.outer, ufunc, X, X[0])
    assert_same_call(methods.ufunc_outer, np.ufunc.outer, ufunc, 2.0, X[0])
    assert_same_call(methods.ufunc_outer, np.ufunc.outer, ufunc, [1.0, 2.0], 3)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("a", "b"), [((2,), (3,)), ((2, 3), (2,)), ((), (2,)), ((2, 2), ())])
def test_multiply_outer_matches_differences(a: Any, b: Any, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    x, z = (np.asarray(rng.standard_normal(s) * (1 + (dtype is complex) * 1j)) for s in (a, b))
    check_rule(methods.outer_product, x, z)


@pytest.mark.parametrize("indices", [[0, 2], [0, 2, 1], [1, 1, 3], [3]], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
def test_add_reduceat_matches_differences(indices: list[int], axis: int) -> None:
    x = np.random.default_rng(4).standard_normal((4, 4))
    check_rule(np.add.reduceat, x, indices, wrt=(0,), kwargs={"axis": axis})
