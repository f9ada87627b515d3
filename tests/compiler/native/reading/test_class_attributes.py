"""Attributes of classes that programs assign: flags, counters, and what is set after the call."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.decided import agrees_compiled

pytestmark = pytest.mark.plain
X = np.array([0.4, -0.7, 0.9])


class Layer:
    training = True
    made = 0
    mode = "tanh"
    scale = 1.0

    def __init__(self, weight):
        self.weight = weight
        Layer.made += 1

    @classmethod
    def use(cls, mode):
        cls.mode = mode

    def __call__(self, x):
        y = self.weight * x * self.scale
        if self.training:
            y = y + 0.1 * x**2
        return np.tanh(y) if self.mode == "tanh" else np.sin(y)


class Wide(Layer):
    training = True


@pytest.fixture(autouse=True)
def as_defined():
    before = {cls: dict(vars(cls)) for cls in (Layer, Wide)}
    yield
    for cls, names in before.items():
        for name in ("training", "made", "mode", "scale"):
            if name in names:
                setattr(cls, name, names[name])
            elif name in vars(cls):
                delattr(cls, name)


def flags(x):
    first, second = Layer(x[0]), Wide(x[1])
    total = first(x[2]) + 2.0 * second(x[2])
    Layer.training = False
    try:
        total += first(x[1]) * second(x[0])
        Wide.training = False
        total *= second(x[1]) + 2.0
    finally:
        Layer.training = True
        Wide.training = True
    return total + first(x[0])


def modes(x):
    layer = Layer(x[0])
    total = layer(x[1])
    Layer.use("sine")
    total += layer(x[1]) * 3.0
    setattr(Layer, "mode", "tanh")  # noqa: B010
    return total + layer(x[2])


def under_tests(x):
    layer = Layer(x[0])
    total = 0.0
    for v in x:
        if v > 0.0:
            Layer.training = not Layer.training
            Layer.scale = Layer.scale * v
        total += layer(v) * (2.0 if type(layer).training else 1.0)
    Layer.training, Layer.scale = True, 1.0
    return total


@pytest.mark.parametrize("f", [flags, modes, under_tests])
def test_values_and_derivatives(f, tried):
    Layer.made = 0
    agrees_compiled(f, tried, X)
    assert Layer.training is True
    assert Layer.mode == "tanh"
    assert Layer.scale == 1.0


def test_they_are_as_before_after_a_derivative(tried):
    Layer.made = 5

    def leaves_others(x):
        Layer.training = x[0] > 1.0
        Layer.scale = x[0] * 2.0
        Layer.mode = "sine"
        return Layer(x[1])(x[2])

    for way in (False, True):
        g = grad(leaves_others, compile=way)(X.copy())
        assert Layer.training is True
        assert (Layer.made, Layer.mode, Layer.scale) == (5, "tanh", 1.0)
        ends = []
        for s in (1e-6, -1e-6):
            ends.append([leaves_others(X + s * e) for e in np.eye(3)])
            as_at_first()
        assert_allclose(g, np.subtract(*ends) / 2e-6, rtol=1e-7, atol=1e-9)
    require_compiled(leaves_others, tried)


def as_at_first():
    Layer.training, Layer.made, Layer.mode, Layer.scale = True, 5, "tanh", 1.0


def counted(x):
    Layer.scale = Layer.scale * x[0]
    Layer.made += 1
    return Layer.scale * x[1]


def counts_twice(x, label):
    seen = {label}
    first = counted(x) + counted(x) * Layer.made
    seen.add(first > 0.0)
    return first * Layer.scale


def test_what_is_left_is_seen_after_a_part():
    expected = counts_twice(X.copy(), "a")
    assert Layer.made == 2
    Layer.made, Layer.scale = 0, 1.0
    ways = [value_and_grad(counts_twice, compile=way)(X.copy(), "a") for way in (False, True)]
    assert Layer.made == 0
    assert_allclose([v for v, _ in ways], expected, rtol=1e-14)
    assert_allclose(ways[1][1], ways[0][1], rtol=1e-13)


def test_changes_from_outside_are_noticed(tried):
    def of_layer(x, layer):
        before = layer(x[0])
        Layer.training = False
        after = layer(x[1])
        Layer.training = True
        return before * after

    layer = Layer(1.5)

    def agrees():
        expected, g = value_and_grad(of_layer)(X.copy(), copy.deepcopy(layer))
        found, h = value_and_grad(of_layer, compile=True)(X.copy(), layer)
        assert_allclose(found, expected, rtol=1e-14)
        assert_allclose(h, g, rtol=1e-13)
        tried.clear()
        return found

    first = agrees()
    assert report(of_layer)[0].found == "compiled"
    Layer.training = False
    without = agrees()
    assert without != first
    layer.training = True  # its own, which no class hides
    assert agrees() != first
    del layer.training
    Layer.training = True
    assert agrees() == first
    Layer.mode = "sine"
    assert agrees() != first


def test_the_same_name_in_instances_and_classes():
    def both(x):
        one, two = Layer(x[0]), Layer(x[1])
        one.training = False
        Layer.training = False
        total = one(x[2]) + two(x[2])
        Layer.training = True
        return total + one(x[0]) + two(x[1])

    found, h = value_and_grad(both, compile=True)(X.copy())
    Layer.training = True
    expected, g = value_and_grad(both)(X.copy())
    assert_allclose(found, expected, rtol=1e-14)
    assert_allclose(h, g, rtol=1e-13)
