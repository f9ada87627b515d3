"""CoDual, Dual and increment."""

import numpy as np
import pytest

from mooncake_py.tangents import (
    CoDual,
    Dual,
    MutableTangent,
    NoFData,
    increment,
    zero_codual,
    zero_coduals,
)


def test_repr_and_match():
    assert repr(CoDual(8.0, NoFData())) == "CoDual(8.0, NoFData())"
    assert repr(Dual(8.0, 1.0)) == "Dual(8.0, 1.0)"
    match CoDual(1, 2), Dual(3, 4):
        case CoDual(a, b), Dual(c, d):
            assert (a, b, c, d) == (1, 2, 3, 4)


def test_increment_adds_in_place():
    d = np.zeros(3, np.float32)
    x = CoDual(np.ones(3, np.float32), d)
    assert increment(x, np.arange(3.0)) is None
    increment(x, 1)
    assert x.fdata is d
    np.testing.assert_array_equal(d, np.array([1, 2, 3], np.float32), strict=True)


def test_increment_does_not_unbroadcast():
    with pytest.raises(ValueError, match="broadcast"):
        increment(CoDual(np.ones(3), np.zeros(3)), np.ones((2, 3)))


def test_increment_of_constant_is_ignored():
    x = CoDual(np.ones(3), NoFData())
    increment(x, np.ones(3))
    assert x.fdata is NoFData()


def test_increment_of_structures():
    x = CoDual((1.0, [np.ones(2)]), (NoFData(), [np.zeros(2)]))
    increment(x, (5.0, [np.ones(2)]))
    np.testing.assert_array_equal(x.fdata[1][0], [1, 1])
    y = CoDual(object(), MutableTangent(x=1.0))
    increment(y, MutableTangent(x=2.0))
    assert y.fdata.x == 3.0


def test_increment_uses_the_method_of_a_subclass():
    class Deferred(CoDual):
        __slots__ = ("kept",)

        def increment(self, g):
            self.kept = g

    x = Deferred(np.ones(2), None)
    increment(x, 3.0)
    assert x.kept == 3.0


def test_zero_codual_makes_fdata_once():
    x = zero_codual((1.0, np.ones(2)))
    d = x.fdata
    assert d[0] is NoFData()
    np.testing.assert_array_equal(d[1], np.zeros(2))
    assert x.fdata is d
    assert zero_codual(3).fdata is NoFData()


def test_zero_codual_is_lazy():
    x = zero_codual(np.array([None]))  # has no tangent type, and nobody asks
    assert x.primal[0] is None
    with pytest.raises(TypeError, match="array of objects"):
        _ = x.fdata


def test_zero_coduals_share():
    x = np.ones(3)
    n, whole, part = zero_coduals(1, x, x[1:])
    assert n.fdata is NoFData()
    part.fdata[...] = 1.0
    np.testing.assert_array_equal(whole.fdata, [0, 1, 1])
