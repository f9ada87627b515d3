"""Objects of plain classes: attributes, methods, and objects in objects."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B009, B010

from __future__ import annotations

import copy
import functools
import types
from typing import Any

import numpy as np
import pytest

from mooncake_py import from_vjp, grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Spring:
    """Plain attributes, methods, and a class attribute."""

    gravity = 9.8
    shared = np.array([1.0, 2.0, 3.0])

    def __init__(self, stiffness: Any, position: Any) -> None:
        self.stiffness = stiffness
        self.position = position

    def force(self) -> Any:
        return -self.stiffness * self.position

    def step(self, dt: Any) -> None:
        self.position = self.position + dt * self.force()
        self.velocity = self.force()

    @property
    def energy(self) -> Any:
        return 0.5 * self.stiffness * self.position**2

    @energy.setter
    def energy(self, value: Any) -> None:
        self.position = (2 * value / self.stiffness) ** 0.5

    @classmethod
    def unit(cls, stiffness: Any) -> Spring:
        return cls(stiffness, cls.gravity)

    @staticmethod
    def cube(v: Any) -> Any:
        return v**3

    @functools.cached_property
    def period(self) -> Any:
        return 1 / self.stiffness**0.5


@programs(2.0, 0.5)
def object_made_inside(k, x):
    s = Spring(k, x)
    s.step(0.1)
    s.step(k)
    return s.energy + s.velocity * Spring.unit(k).energy + s.cube(x) + s.period * s.period


@programs(Spring(2.0, 0.5), 0.1)
def object_as_argument(s, dt):
    s.step(dt)
    s.stiffness *= 2
    s.energy = s.energy * 3
    s.extra = s.position * dt
    return s.position * s.velocity + s.extra + s.period


@programs(Spring(X, X * 2))
def object_of_arrays(s):
    s.position += s.force() * 0.1
    alias = s.position
    s.stiffness[1:] *= alias[:-1]
    return np.sum(s.energy * Spring.shared)


@programs({"left": Spring(2.0, X), "right": [Spring(3.0, 1.5)]})
def objects_in_containers(d):
    d["left"].step(0.1)
    d["right"][0].position *= d["left"].stiffness
    d["right"].append(Spring(d["right"][0].position, 2.0))
    return np.sum(d["left"].position) * d["right"][0].energy + d["right"][1].energy


@programs(Spring(2.0, 0.5))
def attributes_by_name(s):
    setattr(s, "other", getattr(s, "stiffness") * 2)
    y = getattr(s, "missing", s.other) * s.__dict__["position"] + vars(s)["other"]
    if hasattr(s, "other"):
        del s.other
    delattr(s, "position")
    return y * s.stiffness + (0.0 if hasattr(s, "position") else s.stiffness)


@programs(2.0)
def class_attribute_written_and_restored(x):
    Spring.gravity = x * 2
    y = Spring.unit(x).position * x
    Spring.gravity = 9.8
    return y


@programs(Spring(2.0, 0.5))
def bound_methods_passed_around(s):
    f, step = s.force, s.step
    step(0.1)
    return f() * sum(g() for g in [s.force, f]) + Spring.force(s)


@programs(2.0)
def copies(x):
    s = Spring(x, [x, {"k": x * x}])
    shallow, deep = copy.copy(s), copy.deepcopy(s)
    s.position[0] = 100.0
    s.stiffness = 7.0
    return (
        shallow.stiffness * deep.position[0]
        + shallow.position[0]
        + deep.position[1]["k"] * deep.stiffness
    )


@programs(X)
def copies_of_arrays(a):
    b, c, d = copy.copy(a), copy.deepcopy([a, a]), a.copy()
    a *= 2
    c[0] *= 3
    return np.sum(b * d * c[1]) + np.sum(a)


@programs(2.0)
def cyclic_objects(x):
    a, b = Spring(x, None), Spring(x * x, None)
    a.position, b.position = b, a
    return a.position.position.stiffness * a.position.stiffness


@programs(2.0)
def namespace_and_function_attributes(x):
    n = types.SimpleNamespace(a=x, b=2.0)
    n.b *= n.a

    def f(v):
        return v * f.scale

    f.scale = x * 3
    return n.b * f(x)


class Model:
    """A callable object holding parameters, with a list of layers."""

    def __init__(self, weights: list[Any]) -> None:
        self.weights = weights
        self.calls = 0

    def __call__(self, v: Any) -> Any:
        self.calls += 1
        for w in self.weights:
            v = np.tanh(w @ v)
        return v


@programs(Model([np.eye(3) * 0.5, np.arange(9.0).reshape(3, 3) * 0.1]), X)
def callable_object_with_parameters(model, a):
    return np.sum(model(model(a))) + model.calls


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_class_attribute_is_restored() -> None:
    assert Spring.gravity == 9.8
    np.testing.assert_array_equal(Spring.shared, [1.0, 2.0, 3.0])


class Scaled:
    def __init__(self, factors: np.ndarray) -> None:
        self.parts = {"factors": [factors]}


def scaled(x: np.ndarray, scale: Scaled) -> Any:
    return np.sum(x * scale.parts["factors"][0])


@from_vjp(scaled)
def scaled_with_pullback(x: np.ndarray, scale: Scaled) -> Any:
    return scaled(x, scale), lambda dy: dy * scale.parts["factors"][0]


def test_array_in_an_object_that_a_pullback_reads_is_as_it_was() -> None:
    def f(x: np.ndarray) -> Any:
        scale = Scaled(np.ones(2))
        y = scaled(x, scale)
        scale.parts["factors"][0][0] = 5.0
        return y

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])
