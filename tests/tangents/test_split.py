"""fdata and rdata: what belongs to which, and that they join to the tangent again."""

import numpy as np
import pytest
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import (
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
    fdata,
    increment_rdata,
    randn_tangent,
    rdata,
    tangent,
    verify_fdata,
    verify_rdata,
    verify_tangent,
    zero_rdata,
    zero_tangent,
)

X = np.ones(2)
M = MutableTangent(x=1.0)

SPLITS = [
    (NoTangent(), NoFData(), NoRData()),
    (1.0, NoFData(), 1.0),
    (np.float32(1), NoFData(), np.float32(1)),
    (1j, NoFData(), 1j),
    (X, X, NoRData()),
    ([1.0], [1.0], NoRData()),
    ({"a": X}, {"a": X}, NoRData()),
    (M, M, NoRData()),
    ((1.0, X, NoTangent()), (NoFData(), X, NoFData()), (1.0, NoRData(), NoRData())),
    ((1.0, 2.0), NoFData(), (1.0, 2.0)),
    ((X, M), (X, M), NoRData()),
    ((1.0, (X,)), (NoFData(), (X,)), (1.0, NoRData())),
    (Tangent(x=1.0, y=X), FData(x=NoFData(), y=X), RData(x=1.0, y=NoRData())),
    (Tangent(x=1.0), NoFData(), RData(x=1.0)),
    (Tangent(y=M, n=NoTangent()), FData(y=M, n=NoFData()), NoRData()),
]


@pytest.mark.parametrize(("t", "f", "r"), SPLITS, ids=lambda v: repr(v)[:40])
def test_split_and_join(t, f, r):
    assert Tangent(part=fdata(t)) == Tangent(part=f)
    assert Tangent(part=rdata(t)) == Tangent(part=r)
    assert Tangent(part=tangent(f, r)) == Tangent(part=t)
    joined = addressed(tangent(fdata(t), rdata(t)))
    assert all(a is b for a, b in zip(joined, addressed(t), strict=True))


def addressed(t):
    if isinstance(t, (ndarray, list, dict, MutableTangent)):
        return [t]
    if isinstance(t, (tuple, Tangent)):
        parts = t if isinstance(t, tuple) else [t[name] for name in t]
        return [found for part in parts for found in addressed(part)]
    return []


@pytest.mark.parametrize(
    ("f", "r"),
    [
        (X, 1.0),
        (NoFData(), NoTangent()),
        ((X,), (1.0, 2.0)),
        (RData(x=X), NoRData()),
        (3, NoRData()),
    ],
)
def test_parts_that_do_not_belong_together(f, r):
    with pytest.raises(InvalidTangentError, match="do not belong together"):
        tangent(f, r)


@pytest.mark.parametrize("wrong", [3, "a", object(), NoFData()])
def test_only_tangents_are_split(wrong):
    for part in (fdata, rdata):
        with pytest.raises(InvalidTangentError, match="is not a tangent"):
            part(wrong)


def test_value_splits(value, rng):
    t = randn_tangent(rng, value)
    verify_tangent(value, t)
    verify_fdata(value, fdata(t))
    verify_rdata(value, rdata(t))
    assert Tangent(t=zero_rdata(value)) == Tangent(t=rdata(zero_tangent(value)))
    assert Tangent(t=tangent(fdata(t), rdata(t))) == Tangent(t=t)


def test_zero_rdata_does_not_look_into_containers():
    assert zero_rdata((1.0, [np.array([None])], np.float32(2))) == (0.0, NoRData(), np.float32(0))


def test_increment_rdata_leaves_fdata_alone():
    t = (1.0, X)
    total = increment_rdata(t, (2.0, NoRData()))
    assert total[0] == 3.0
    assert total[1] is X
    np.testing.assert_array_equal(X, [1.0, 1.0])
