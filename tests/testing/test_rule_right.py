"""`test_rule` passes right rules, of all kinds of arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import PullbackReuseError
from mooncake_py.tangents import CoDual, NoFData, NoRData, increment, zero_codual
from mooncake_py.testing import test_rule

RNG = np.random.default_rng(20240501)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))
V = RNG.standard_normal(4)


def cotangent(y: CoDual, dy: Any) -> Any:
    return dy if isinstance(y.fdata, NoFData) else y.fdata


def fit(g: Any, like: Any) -> Any:
    """Sum over broadcast axes, and take the real part for a real argument."""
    g, like = np.asarray(g), np.asarray(like)
    g = g.sum(axis=tuple(range(g.ndim - like.ndim)))
    stretched = tuple(i for i, n in enumerate(like.shape) if n == 1 != g.shape[i])
    g = g.sum(axis=stretched, keepdims=True) if stretched else g
    return (g if like.dtype.kind == "c" else g.real).astype(like.dtype)


def deliver(x: CoDual, g: Any) -> Any:
    """Add to the fdata of an array; return the rdata of any other number."""
    g = fit(g, x.primal)
    if isinstance(x.primal, np.ndarray):
        increment(x, g)
        return NoRData()
    return type(x.primal)(g[()])


# The example of the documents: a tuple of a number and an array.


def foo(x):
    return x[0] + np.sum(x[1])


def foo_rule(_, x):
    def foo_pullback(dy):
        if not isinstance(x.fdata, NoFData):
            x.fdata[1][...] += np.real(dy) if x.primal[1].dtype.kind != "c" else dy
        return NoRData(), (type(x.primal[0])(np.real(dy) if x_is_real else dy), NoRData())

    x_is_real = not isinstance(x.primal[0], complex)
    return CoDual(foo(x.primal), NoFData()), foo_pullback


def test_tuple_of_number_and_array() -> None:
    test_rule(foo, (5.0, np.array([1.0, 2.0])), rule=foo_rule)


# A broadcasting product, real and complex.


def multiply(a, b):
    return a * b


def multiply_rule(_, a, b):
    y = zero_codual(a.primal * b.primal)

    def multiply_pullback(dy):
        g = cotangent(y, dy)
        da = deliver(a, g * np.conj(b.primal))
        db = deliver(b, g * np.conj(a.primal))
        return NoRData(), da, db

    return y, multiply_pullback


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "args",
    [
        (A, B),
        (A, V),
        (A + 1j * B, B),
        (A + 1j * B, B - 2j * A),
        (A.astype(np.float32), B.astype(np.float32)),
        (2.5, 1.5),
        (2.5, A),
        (np.float32(2.5), np.float32(0.5)),
        (1.5 + 2j, 0.5 - 1j),
        (A.T, B.T),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (1e8 * A, 1e-8 * B),
    ],
    ids=[
        "f64-f64",
        "broadcast",
        "c128-f64",
        "c128-c128",
        "f32",
        "floats",
        "float-array",
        "np.float32",
        "complex",
        "F-ordered",
        "empty",
        "scales",
    ],
)
def test_multiply(args: tuple[Any, ...]) -> None:
    test_rule(multiply, *args, rule=multiply_rule)


# A change in place, which returns its argument.


def scale_in_place(x, a):
    x *= a
    return x


def scale_in_place_rule(_, x, a):
    old = x.primal.copy()
    scale_in_place(x.primal, a.primal)

    def scale_pullback(_):
        x.primal[...] = old
        g = x.fdata.copy()
        x.fdata[...] = g * np.conj(a.primal)
        return NoRData(), NoRData(), deliver(a, np.sum(g * np.conj(old)))

    return x, scale_pullback


@pytest.mark.sampled(4)
@pytest.mark.parametrize("x", [A, A + 1j * B, A[::2, ::-1], V.astype(np.float32)])
def test_scale_in_place(x: np.ndarray) -> None:
    test_rule(scale_in_place, x.copy(), 1.7, rule=scale_in_place_rule)


# An assignment to a slice; the value may overlap what it is written to.


def assign(x, v):
    x[1:3] = v


def assign_rule(_, x, v):
    old = x.primal[1:3].copy()
    assign(x.primal, v.primal)

    def assign_pullback(_):
        x.primal[1:3] = old
        g = np.array(x.fdata[1:3])
        x.fdata[1:3] = 0
        return NoRData(), NoRData(), deliver(v, g)

    return CoDual(None, NoFData()), assign_pullback


@pytest.mark.parametrize("v", [np.array([3.0, 4.0]), np.array([3.0]), 7.0])
def test_assign(v: Any) -> None:
    test_rule(assign, np.arange(4.0) + 0.5, v, rule=assign_rule)


def test_assign_with_overlapping_views() -> None:
    x = np.arange(5.0) ** 2
    test_rule(assign, x, x[2:4], rule=assign_rule)


# Linear algebra.


def solve_rule(_, a, b):
    y = zero_codual(np.linalg.solve(a.primal, b.primal))

    def solve_pullback(_):
        gb = np.linalg.solve(np.conj(a.primal.T), y.fdata)
        ga = -np.outer(gb, np.conj(y.primal)) if gb.ndim == 1 else -gb @ np.conj(y.primal.T)
        return NoRData(), deliver(a, ga), deliver(b, gb)

    return y, solve_pullback


@pytest.mark.parametrize("b", [RNG.standard_normal(3), RNG.standard_normal((3, 3))])
def test_solve(b: np.ndarray) -> None:
    a = RNG.standard_normal((3, 3)) + 3 * np.eye(3)
    test_rule(np.linalg.solve, a, b, rule=solve_rule)


# A view as the output.


def transpose(x):
    return x.T


def transpose_rule(_, x):
    return CoDual(x.primal.T, x.fdata if isinstance(x.fdata, NoFData) else x.fdata.T), (
        lambda _: (NoRData(), NoRData())
    )


def test_view_as_output() -> None:
    test_rule(transpose, A, rule=transpose_rule)


# Lists, dicts and objects, changed in place.


def push_scaled(items, a):
    items.append(a * items[0])


def push_scaled_rule(_, items, a):
    push_scaled(items.primal, a.primal)
    items.fdata.append(0.0 * items.fdata[0])

    def push_pullback(_):
        items.primal.pop()
        g = items.fdata.pop()
        items.fdata[0] += np.conj(a.primal) * g
        return NoRData(), NoRData(), deliver(a, g * np.conj(items.primal[0]))

    return CoDual(None, NoFData()), push_pullback


def test_list_that_grows() -> None:
    test_rule(push_scaled, [2.0, 3.0], 1.5, rule=push_scaled_rule)


def total(weights):
    return sum(np.sum(w) for w in weights.values())


def total_rule(_, weights):
    def total_pullback(dy):
        for name, w in weights.primal.items():
            if isinstance(w, np.ndarray):
                weights.fdata[name][...] += dy
            else:
                weights.fdata[name] += dy
        return NoRData(), NoRData()

    return CoDual(total(weights.primal), NoFData()), total_pullback


def test_dict() -> None:
    test_rule(total, {"w": A, "b": 2.0}, rule=total_rule)


@dataclass
class Particle:
    position: np.ndarray
    mass: float
    name: str = "p"


def kick(particle, dv):
    particle.mass = particle.mass * dv
    return particle


def kick_rule(_, particle, dv):
    old = particle.primal.mass
    kick(particle.primal, dv.primal)

    def kick_pullback(_):
        particle.primal.mass = old
        g = particle.fdata.mass
        particle.fdata.mass = g * dv.primal
        return NoRData(), NoRData(), g * old

    return particle, kick_pullback


def test_object() -> None:
    test_rule(kick, Particle(V, 2.0), 1.5, rule=kick_rule, dtypes=False)


def test_closure_is_an_argument_of_its_rule() -> None:
    weights = np.array([1.0, -2.0, 0.5])

    def weigh(x):
        return float(weights @ x)

    def weigh_rule(f, x):
        y = f.primal(x.primal)

        def weigh_pullback(dy):
            f.fdata.weights.cell_contents[...] += dy * x.primal
            increment(x, dy * f.primal.__closure__[0].cell_contents)
            return NoRData(), NoRData()

        return CoDual(y, NoFData()), weigh_pullback

    test_rule(weigh, np.array([3.0, 1.0, 2.0]), rule=weigh_rule, dtypes=False)


def test_keyword_arguments_reach_the_rule() -> None:
    def power(x, *, n):
        return x**n

    def power_rule(_, x, *, n):
        y = zero_codual(x.primal**n)

        def power_pullback(dy):
            return NoRData(), deliver(x, cotangent(y, dy) * np.conj(n * x.primal ** (n - 1)))

        return y, power_pullback

    test_rule(power, A, kwargs={"n": 3}, rule=power_rule)
    with pytest.raises(TypeError, match="missing 1 required keyword"):
        test_rule(power, A, rule=power_rule)


def test_kink_passes_with_interface_only() -> None:
    def absolute_rule(_, x):
        y = zero_codual(np.abs(x.primal))

        def absolute_pullback(dy):
            return NoRData(), deliver(x, cotangent(y, dy) * np.sign(x.primal))

        return y, absolute_pullback

    x = np.array([-1.0, 0.0, 2.0])
    test_rule(np.abs, x, rule=absolute_rule, interface_only=True)


def test_pullback_may_refuse_to_run_twice() -> None:
    def scale_once_rule(_, x, a):
        y, pullback = scale_in_place_rule(_, x, a)
        used = []

        def once(dy):
            if used:
                raise PullbackReuseError("used")
            used.append(True)
            return pullback(dy)

        return y, once

    test_rule(scale_in_place, A.copy(), 1.7, rule=scale_once_rule)


def test_domain_edge_uses_the_steps_that_stay_inside() -> None:
    def log_rule(_, x):
        return CoDual(math.log(x.primal), NoFData()), lambda dy: (NoRData(), dy / x.primal)

    test_rule(math.log, 1e-3, rule=log_rule)


@pytest.mark.parametrize("x", [1e-9, 1.0, 1e3])
def test_small_derivative_under_a_large_value(x: float) -> None:
    def nearly_constant(x):
        return 1.0 + 1e-9 * math.sin(x)

    def rule(_, x):
        y = nearly_constant(x.primal)
        return CoDual(y, NoFData()), lambda dy: (NoRData(), dy * 1e-9 * math.cos(x.primal))

    test_rule(nearly_constant, x, rule=rule)


def test_arguments_are_left_alone() -> None:
    x = A.copy()
    test_rule(scale_in_place, x, 1.7, rule=scale_in_place_rule)
    assert x.tobytes() == A.tobytes()


def test_pytest_does_not_collect_it() -> None:
    assert getattr(test_rule, "__test__") is False  # noqa: B009, pyright knows no __test__


def test_generator_as_seed_is_reproducible() -> None:
    for _ in range(2):
        test_rule(multiply, A, B, rule=multiply_rule, rng=np.random.default_rng(7))


def test_error_of_the_primal_passes_unchanged_with_a_note() -> None:
    with pytest.raises(ValueError, match="math domain error") as info:
        test_rule(math.log, -1.0, rule=multiply_rule)
    assert any("itself raised this" in note for note in info.value.__notes__)
