"""The classes of tangent that Python has no type for."""

import copy
import pickle

import numpy as np
import pytest

from mooncake_py.tangents import FData, MutableTangent, NoFData, NoRData, NoTangent, RData, Tangent


@pytest.mark.parametrize("kind", [NoTangent, NoFData, NoRData])
def test_singletons_stay_single(kind):
    one = kind()
    assert kind() is one
    assert copy.copy(one) is one
    assert copy.deepcopy([one])[0] is one
    assert pickle.loads(pickle.dumps(one)) is one
    assert repr(one) == f"{kind.__name__}()"
    assert one
    assert one == kind()
    assert hash(one) == hash(kind())


def test_singletons_differ():
    assert len({NoTangent(), NoFData(), NoRData()}) == 3
    assert NoTangent() != NoFData()


def test_nofdata_ignores_what_is_added():
    d = NoFData()
    d[1:, ...] += np.ones(3)
    d[0] = 1.0
    d += 2.0
    d -= 2.0
    assert d is NoFData()
    assert d["w"][0] is d
    assert np.ones(2) + d is d
    assert d * 2.0 is d
    assert -d is d


def test_nofdata_is_no_sequence():
    with pytest.raises(TypeError):
        iter(NoFData())
    with pytest.raises(TypeError):
        _ = 1 in NoFData()  # pyright: ignore[reportOperatorIssue]


@pytest.mark.parametrize("kind", [Tangent, MutableTangent, FData, RData])
def test_fields_by_attribute_and_item(kind):
    t = kind(x=1.0, items=np.zeros(2), self=3.0)
    assert t.x == t["x"] == 1.0
    assert t["self"] == 3.0
    assert list(t) == ["x", "items", "self"]
    assert "x" in t
    assert "y" not in t
    assert len(t) == 3
    with pytest.raises(AttributeError, match="no field 'y'"):
        _ = t.y
    assert repr(t) == f"{kind.__name__}(x=1.0, items=array([0., 0.]), self=3.0)"


def test_fields_equality_looks_at_kind_dtype_and_value():
    assert Tangent(x=np.zeros(2)) == Tangent(x=np.zeros(2))
    assert Tangent(x=np.zeros(2)) != Tangent(x=np.zeros(2, np.float32))
    assert Tangent(x=np.zeros(2)) != Tangent(x=np.zeros(3))
    assert Tangent(x=1.0) != Tangent(x=2.0)
    assert Tangent(x=1.0) != Tangent(y=1.0)
    assert Tangent(x=1.0) != FData(x=1.0)
    assert Tangent(x=np.nan) == Tangent(x=np.nan)


def test_only_mutable_tangents_can_be_assigned():
    m = MutableTangent(x=1.0)
    m.x = 2.0
    m["y"] = 3.0
    del m.x
    assert m == MutableTangent(y=3.0)
    with pytest.raises(AttributeError, match="no field 'x'"):
        del m.x
    t = Tangent(x=1.0)
    with pytest.raises(AttributeError, match="immutable Tangent"):
        t.x = 2.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="immutable Tangent"):
        del t.x


def test_cyclic_tangent_prints_compares_and_copies():
    m = MutableTangent(x=1.0)
    m.me = m
    assert repr(m) == "MutableTangent(x=1.0, me=...)"
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert other is not m
        assert other.me is other
        assert other == m


def test_keys_compare_and_print():
    key = Tangent[{"x": float, "y": object, "z": NoTangent}]
    assert repr(key) == "Tangent[{'x': float, 'y': object, 'z': NoTangent}]"
    assert key == Tangent[{"x": float, "y": object, "z": NoTangent}]
    assert key != FData[{"x": float, "y": object, "z": NoTangent}]
    assert key != Tangent[{"x": float}]
    assert len({key, Tangent[{"x": float, "y": object, "z": NoTangent}]}) == 1
