"""zero_tangent, randn_tangent, difference: structure, dtype, sharing."""

import array
import copy
import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import (
    MutableTangent,
    NoTangent,
    Tangent,
    add_to_primal,
    difference,
    randn_tangent,
    register_tangent,
    zero_tangent,
)
from mooncake_py.tangents.spec import TangentSpec, registered


class Subclass(np.ndarray):
    """An array class with possibly other operators."""


def test_constants_have_no_tangent(constant):
    assert zero_tangent(constant) is NoTangent()
    assert randn_tangent(np.random.default_rng(0), constant) is NoTangent()


@pytest.mark.parametrize(
    "kind", [float, complex, np.float16, np.float32, np.longdouble, np.complex64, np.clongdouble]
)
def test_numbers_keep_their_type(kind, rng):
    for t in (zero_tangent(kind(2)), randn_tangent(rng, kind(2)), difference(kind(2), kind(1))):
        assert type(t) is kind
    assert zero_tangent(kind(2)) == 0
    assert difference(kind(5), kind(2)) == 3


def test_random_complex_has_both_parts(rng):
    t = randn_tangent(rng, [1j, np.ones(2, np.complex64)])
    assert t[0].real != 0 != t[0].imag
    assert np.all(t[1].real * t[1].imag != 0)


def test_structures(rng):
    class Box:
        def __init__(self):
            self.w = 1.0

    zero = zero_tangent({"a": (1.0, 2), "b": [np.ones(2, np.float32)], "c": Box()})
    expected = {"a": (0.0, NoTangent()), "b": [np.zeros(2, np.float32)], "c": MutableTangent(w=0.0)}
    assert Tangent(all=zero) == Tangent(all=expected)


def test_absent_fields_are_absent():
    class Box:
        __slots__ = ("a", "b")

    box = Box()
    box.b = 1.0
    assert zero_tangent(box) == MutableTangent(b=0.0)


def test_closure_fields_are_cells_that_closures_share():
    total = 0.0

    def add(x):
        nonlocal total
        total += x

    def read():
        return total

    d_add, d_read = zero_tangent((add, read))
    assert d_add == MutableTangent(total=MutableTangent(cell_contents=0.0))
    assert d_add is not d_read
    assert d_add.total is d_read.total


def test_same_object_has_one_tangent():
    x = [1.0]
    a, b, (c,) = zero_tangent((x, x, [x]))
    assert a is b is c
    assert zero_tangent([1.0, x])[1] is not a


def test_cycles_close():
    x: list[Any] = [1.0]
    x.append((x,))
    t = zero_tangent(x)
    assert t[1][0] is t


def test_overlapping_arrays_have_equally_overlapping_tangents():
    x = np.arange(6.0)
    d, d_tail, d_even, d_again = zero_tangent((x, x[1:], x[::2], x))
    assert d is d_again
    d_tail[...] += 1.0
    d_even[...] += 10.0
    np.testing.assert_array_equal(d, [10, 1, 11, 1, 11, 1])


def test_owner_is_found_although_only_views_are_given():
    x = np.arange(6.0)
    left, right = zero_tangent((x[:4], x[2:]))
    left[...] = [1, 2, 3, 4]
    np.testing.assert_array_equal(right, [3, 4, 0, 0])


def test_temporaries_do_not_confuse_the_memo():
    class Fresh(TangentSpec):
        def fields(self, x):
            return {str(k): [float(k)] for k in range(50)}

    class Many:
        pass

    register_tangent(Many)(Fresh)
    try:
        t = zero_tangent(Many())
    finally:
        del registered[Many]
    assert len({id(t[name]) for name in t}) == 50


def test_random_is_reproducible_and_shares(rng):
    x = np.arange(6.0)
    t, view = randn_tangent(rng, (x, x[::2]))
    np.testing.assert_array_equal(t[::2], view)
    assert np.shares_memory(t, view)
    again = randn_tangent(np.random.default_rng(20), (x, x[::2]))
    np.testing.assert_array_equal(t, again[0])


def test_difference_undoes_a_move(value, rng):
    t = randn_tangent(rng, value)
    back = difference(add_to_primal(value, t), value)
    tolerance = 1e-2 if "float16" in repr(value) else 1e-6
    pairs = list(zip(numbers(t, {}), numbers(back, {}), strict=True))
    for expected, got in pairs:
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def numbers(t, seen):
    """All numbers and arrays of a tangent, in order."""
    if isinstance(t, (float, complex, np.inexact, np.ndarray)):
        return [t]
    if t is NoTangent() or id(t) in seen:
        return []
    seen[id(t)] = t
    parts = t.values() if isinstance(t, dict) else t
    if isinstance(t, (Tangent, MutableTangent)):
        parts = [t[name] for name in t]
    return list(itertools.chain(*(numbers(part, seen) for part in parts)))


@pytest.mark.parametrize(
    ("p", "q"),
    [(np.ones(2), np.ones(3)), ([1.0], [1.0, 2.0]), (1.0, "a"), (1.0, 1j), ((1.0,), None)],
)
def test_difference_of_unlike_values_is_refused(p, q):
    with pytest.raises(InvalidTangentError, match="different structure"):
        difference(p, q)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array([1.0, None]), "array of objects"),
        (np.zeros(2, [("a", float)]), "structured array"),
        (np.zeros(2, [("a", float)])[0], "void"),
        (iter([1.0]), "list_iterator"),
        ((x for x in [1.0]), "generator"),
        ({1.0}, "a set"),
        (array.array("d", [1.0]), "array"),
        (memoryview(b"a"), "memoryview"),
        ({}.values(), "dict_values"),
    ],
)
def test_what_hides_numbers_is_refused(x, message):
    with pytest.raises(InvalidTangentError, match=message) as caught:
        zero_tangent({"w": (1.0, x)})
    assert caught.value.__notes__ == ["  part:  x['w'][1]"]
    assert caught.value.fix


@pytest.mark.parametrize("cls", [Subclass, np.matrix, np.ma.MaskedArray])
def test_tangent_of_an_array_of_a_subclass_is_plain(cls):
    x = np.ones(2).view(cls)
    for t in (zero_tangent(x), randn_tangent(np.random.default_rng(0), x)):
        assert type(t) is np.ndarray
        assert t.shape == x.shape


def test_container_subclass_with_attributes_is_refused():
    class Weights(list):
        pass

    w = Weights([1.0])
    assert zero_tangent(w) == [0.0]
    w.scale = 2.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(InvalidTangentError, match=r"attributes \['scale'\]"):
        zero_tangent(w)


class Pair(NamedTuple):
    a: float
    b: float


@dataclass(frozen=True)
class Frozen:
    a: float


@pytest.mark.parametrize("shared", [(1.0, 2.0), Pair(1.0, 2.0), Frozen(1.0), [1.0], {"a": 1.0}])
def test_what_is_held_twice_has_one_random_tangent(shared):
    t = randn_tangent(np.random.default_rng(0), {"x": shared, "y": shared})
    assert t["x"] is t["y"]
    equal = copy.copy(shared)
    if equal is not shared:
        t = randn_tangent(np.random.default_rng(0), {"x": shared, "y": equal})
        assert t["x"] is not t["y"]
