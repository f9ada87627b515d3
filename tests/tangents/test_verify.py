"""verify_* name the part that does not fit, and accept what does."""

import dataclasses

import numpy as np
import pytest

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import (
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    verify_fdata,
    verify_rdata,
    verify_tangent,
)

X = np.ones((2, 3))


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    w: object


@pytest.mark.parametrize(
    ("p", "f", "part", "expected"),
    [
        (1.0, 0.0, "fdata does", "NoFData()"),
        (3, NoRData(), "fdata does", "NoFData()"),
        (X, NoFData(), "fdata does", "ndarray of float64, shape (2, 3)"),
        (X, X.T, "fdata does", "shape (2, 3)"),
        (X, X.astype(np.float32), "fdata does", "float64"),
        (X, X.tolist(), "fdata does", "ndarray"),
        ((1.0, X), (NoFData(), X[0]), "fdata[1] does", "shape (2, 3)"),
        ((1.0, X), (NoFData(),), "fdata does", "tuple with the parts [0, 1]"),
        ((1.0, X), [NoFData(), X], "fdata does", "tuple"),
        ((1.0, 2.0), (NoFData(), NoFData()), "fdata does", "NoFData(), since all parts are"),
        ([1.0], [NoTangent()], "fdata[0] does", "float"),
        ([1.0], [np.float32(0)], "fdata[0] does", "float"),
        ([1.0], (0.0,), "fdata does", "list"),
        ({"w": [X]}, {"w": [X[:1]]}, "fdata['w'][0] does", "shape (2, 3)"),
        ({"w": 1.0}, {"v": 1.0}, "fdata does", "dict with the parts ['w']"),
        (Point(1.0, X), FData(x=NoFData(), w=X[0]), "fdata['w'] does", "shape (2, 3)"),
        (Point(1.0, X), RData(x=NoFData(), w=X), "fdata does", "FData"),
        (np.arange(3), np.zeros(3), "fdata does", "NoFData()"),
    ],
)
def test_wrong_fdata(p, f, part, expected):
    with pytest.raises(InvalidTangentError) as caught:
        verify_fdata(p, f)
    assert part in caught.value.what
    assert f"expected: {expected}" in caught.value.why or expected in caught.value.why
    assert "got:" in caught.value.why


@pytest.mark.parametrize(
    ("p", "r", "part"),
    [
        (1.0, NoRData(), "rdata does"),
        (1.0, 1, "rdata does"),
        (1.0, 1j, "rdata does"),
        (1.0, np.float32(1), "rdata does"),
        (np.float32(1), 1.0, "rdata does"),
        (1.0, np.array(1.0), "rdata does"),
        (X, X, "rdata does"),
        ([1.0], [1.0], "rdata does"),
        ((1.0, 2), (1.0, 0), "rdata[1] does"),
        ((X, 2), (NoRData(), NoRData()), "rdata does"),
        (Point(1.0, X), RData(x=1j, w=NoRData()), "rdata['x'] does"),
        (Point(1.0, X), (1.0, NoRData()), "rdata does"),
    ],
)
def test_wrong_rdata(p, r, part):
    with pytest.raises(InvalidTangentError) as caught:
        verify_rdata(p, r)
    assert part in caught.value.what


def test_double_precision_has_two_names():
    verify_rdata(1.0, np.float64(2))
    verify_rdata(np.float64(1), 2.0)
    verify_rdata(1j, np.complex128(2))


def test_constants_may_have_no_fdata():
    verify_fdata([X, 1.0], NoFData(), constants=True)
    verify_fdata((X, X), (X, NoFData()), constants=True)
    with pytest.raises(InvalidTangentError):
        verify_fdata((X, X), (X, NoFData()))


def test_sharing_of_memory_is_required():
    x, d = np.arange(4.0), np.zeros(4)
    verify_fdata((x, x[1:]), (d, d[1:]))
    for wrong in (np.zeros(3), d[:3]):
        with pytest.raises(InvalidTangentError, match=r"fdata\[1\]") as caught:
            verify_fdata((x, x[1:]), (d, wrong))
        assert "same view of the shadow" in str(caught.value)


def test_sharing_of_objects_is_required():
    x = [1.0]
    d = [0.0]
    verify_tangent((x, x), (d, d))
    with pytest.raises(InvalidTangentError, match=r"one tangent of an object met before"):
        verify_tangent((x, x), (d, [0.0]))
    with pytest.raises(InvalidTangentError) as caught:
        verify_tangent((x, [1.0]), (d, d))
    assert "no other object has" in caught.value.why


def test_cyclic_values():
    x: list = [1.0]
    x.append(x)
    d: list = [0.0]
    d.append(d)
    verify_fdata(x, d)
    with pytest.raises(InvalidTangentError, match=r"fdata\[1\]"):
        verify_fdata(x, [0.0, d])


def test_methods_without_derivative_have_nothing():
    verify_fdata(np.add.reduce, NoFData())
    verify_tangent(np.add.reduce, NoTangent())
    method = np.ones(2).sum
    verify_fdata(method, MutableTangent(__self__=np.zeros(2)))
    with pytest.raises(InvalidTangentError, match="__self__"):
        verify_fdata(method, MutableTangent(__self__=np.zeros(3)))
