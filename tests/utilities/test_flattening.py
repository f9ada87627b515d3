"""Structures as one vector, and back."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from mooncake_py import flatten, grad, hessian, jvp
from mooncake_py.testing import test_rule as check
from tests.utilities.support import WAYS

Pair = namedtuple("Pair", "first second")


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    weights: np.ndarray
    bias: float
    name: str = "layer"


@dataclasses.dataclass
class Counted:
    x: float
    calls: int = dataclasses.field(default=0, init=False)

    def __post_init__(self) -> None:
        self.calls += 1


def structure() -> dict[str, Any]:
    return {
        "layers": [Layer(np.arange(6.0).reshape(2, 3), 2.0), Layer(np.ones((0, 2)), -1.0)],
        "pair": Pair(np.float32(1.5), 1.0 + 2.0j),
        "steps": 3,
        "ordered": OrderedDict(z=np.array([1j, 2.0], np.complex64), f=np.ones(2, np.float32)),
        "scalar": np.array(2.0),
        "nothing": None,
    }


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    else:
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)


def test_there_and_back() -> None:
    params = structure()
    vector, unflatten = flatten(params)
    assert vector.dtype == np.float64
    assert vector.tolist()[6:] == [2, -1, 1.5, 1, 2, 0, 2, 1, 0, 1, 1, 2]
    assert_same(unflatten(vector), params)


def test_new_memory() -> None:
    x = np.ones(3)
    vector, unflatten = flatten([x])
    vector[0] = 5.0
    (y,) = unflatten(vector)
    y[1] = 7.0
    assert x.tolist() == [1, 1, 1]
    assert vector.tolist() == [5, 1, 1]


def test_one_array_is_copied_too() -> None:
    x = np.ones(3)
    vector, unflatten = flatten(x)
    assert not np.shares_memory(x, vector)
    assert not np.shares_memory(vector, unflatten(vector))


def test_dataclass_is_not_initialized_again() -> None:
    vector, unflatten = flatten(Counted(2.0))
    made = unflatten(vector * 3)
    assert (made.x, made.calls) == (6.0, 1)


def test_without_numbers() -> None:
    vector, unflatten = flatten({"n": 3, "name": "x"})
    assert vector.shape == (0,)
    assert unflatten(vector) == {"n": 3, "name": "x"}


def test_infinite_parts() -> None:
    values = [complex(np.inf, 1.0), np.array([complex(-0.0, -np.inf)])]
    vector, unflatten = flatten(values)
    assert repr(unflatten(vector)) == repr(values)


def test_vector_of_another_shape() -> None:
    _, unflatten = flatten([1.0, 2.0])
    for wrong in (np.ones(3), np.ones((2, 1))):
        with pytest.raises(ValueError, match="2 numbers"):
            unflatten(wrong)


class Model:
    """Callable, with an attribute in a slot of its base, and one that is shared."""

    def __init__(self, scale: float) -> None:
        self.w = np.array([1.0, 2.0])
        self.scale = scale
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        return np.sum(self.w * x) * self.scale


class Slotted:
    __slots__ = ("__secret", "unset", "x")

    def __init__(self) -> None:
        self.x = 3.0
        self.__secret = [4.0]

    def secret(self) -> Any:
        return self.__secret[0]


def test_objects_and_their_gradients() -> None:
    model = Model(3.0)
    params = [model, Slotted(), {"again": model}]

    def loss(params: Any) -> Any:
        model, slotted, others = params
        return model(np.array([1.0, 10.0])) * slotted.x * others["again"].scale * slotted.secret()

    vector, unflatten = flatten(params)
    assert sorted(vector) == [1.0, 2.0, 3.0, 3.0, 4.0]
    made = unflatten(vector * 2.0)
    assert made[0] is made[2]["again"] is not model
    assert (made[0].w.tolist(), made[0].scale, made[0].calls) == ([2.0, 4.0], 6.0, 0)
    assert (made[1].x, made[1].secret(), model.scale) == (6.0, 8.0, 3.0)
    g, ungradient = flatten(grad(loss)(params))
    np.testing.assert_allclose(grad(lambda v: loss(unflatten(v)))(vector), g)
    assert ungradient(2.0 * g)[0].scale == 2.0 * grad(loss)(params)[0].scale


def test_what_holds_itself() -> None:
    model = Model(3.0)
    model.itself = model
    with pytest.raises(TypeError, match="holds itself: a Model"):
        flatten(model)


class MoreThanList(list[float]):
    pass


@pytest.mark.parametrize("value", [MoreThanList([1.0]), np.ones(2).view(np.matrix)])
def test_other_objects(value: Any) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        flatten([value])


def loss(p: Any) -> Any:
    layer = p["layers"][0]
    total = np.sum(layer.weights**2) * layer.bias + p["pair"].first * abs(p["pair"].second) ** 2
    return total + np.sum(abs(p["ordered"]["z"]) ** 2) * p["scalar"]


@pytest.mark.without_modes("they round single precision in other places")
@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_gradient_through_unflatten(way: Any) -> None:
    vector, unflatten = flatten(structure())
    expected = flatten(grad(loss)(structure()))[0]
    found = way(lambda v: loss(unflatten(v)), vector)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_gradient_through_flatten() -> None:
    params = structure()

    def squares(params: Any) -> Any:
        return np.sum(flatten(params)[0] ** 2)

    found, _ = flatten(grad(squares)(params))
    np.testing.assert_allclose(found, 2 * flatten(params)[0])


def test_both_ways_inside() -> None:
    def doubled(params: Any) -> Any:
        vector, unflatten = flatten(params)
        again = unflatten(vector**2)
        return again["a"][0] * again["b"]

    assert grad(doubled)({"a": [3.0], "b": 2.0}) == {"a": [24.0], "b": 36.0}
    check(doubled, {"a": [3.0], "b": 2.0})


def test_second_order() -> None:
    vector, unflatten = flatten({"a": np.array([1.0, 2.0]), "b": 3.0})

    def product(v: Any) -> Any:
        p = unflatten(v)
        return np.prod(p["a"]) * p["b"]

    np.testing.assert_allclose(hessian(product)(vector), [[0, 3, 2], [3, 0, 1], [2, 1, 0]])
    assert jvp(product, (vector,), (np.ones(3),))[1] == 11.0
