"""Checkpoints: value, gradient and restored state are those without."""

from __future__ import annotations

import contextlib
import functools
import gc
import random
import weakref
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    build_rrule,
    checkpoint,
    checkpointed,
    checkpointed_loop,
    debug_mode,
    grad,
    jvp,
    rrule,
    value_and_grad,
    vjp,
)
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.tangents import zero_coduals
from tests.support.gradients import Program, Programs, bits

programs = Programs()
X = np.array([0.5, -0.25, 1.5])
WORKSPACE = np.zeros(3)
total = 0.0


@programs(X)
def writes_into_its_argument(u):
    def step(u):
        u[1:] += 0.1 * np.sin(u[:-1])
        u *= u[0]

    for _ in range(4):
        checkpoint(step, u)
    return np.sum(u * u)


@programs(X)
def returns_new_arrays_and_views(x):
    def step(x):
        y = np.exp(x) * x
        return y, y[1:], (x.sum(), {"y": y})

    y, tail, (s, d) = checkpoint(step, x)
    tail[0] = s
    y[2] *= s
    return np.sum(d["y"] ** 2) + np.sum(tail) * s


@programs(0.3, X)
def writes_memory_of_the_caller_that_was_constant(t, x):
    buffer = np.zeros(3)

    def fill(scale):
        buffer[:] = x * scale
        buffer[0] += buffer[1]

    for k in range(3):
        checkpoint(fill, t + k)
        t = t + np.sum(buffer**2)
    return t


@programs(0.3, X)
def constant_buffer_is_overwritten_between(t, x):
    p = np.ones(3)
    y = 0.0
    for k in range(3):
        y = y + checkpoint(lambda: np.sum(x * p * t))
        p[:] = np.arange(3.0) + k
        y = y * checkpoint(lambda: np.sum(p * x))
    return y


@dataclass
class State:
    u: np.ndarray
    t: float
    log: list[Any]


@programs(State(X.copy(), 0.25, [1.0]), 0.1)
def changes_an_object(state, dt):
    def step():
        state.u = state.u + dt * np.cos(state.u) * state.t
        state.t += dt
        state.log.append(state.u[0] * state.t)
        state.log[0] *= state.t

    for _ in range(3):
        checkpoint(step)
    return sum(state.log) + np.sum(state.u) * state.t


@programs(0.7)
def changes_every_kind_of_container(x):
    items: list[Any] = [x, 1.0]
    by_name = OrderedDict(a=x, b=2.0)
    recent: deque[Any] = deque([x], maxlen=2)
    seen = {1}

    def step(k):
        items.insert(0, items[-1] * x)
        items.pop()
        by_name["c"] = by_name.pop("a") * items[0]
        by_name["a"] = by_name["b"] * by_name["c"]
        recent.append(by_name["a"] * x)
        seen.add(k)
        return next(iter(by_name.values())) * len(seen)

    y = x
    for k in range(4):
        y = y + checkpoint(step, k) * recent[0]
        by_name["b"] = y
    return y + items[0] + by_name["a"]


# ruff: noqa: B023 - that a variable is rebound is the point of the next program


@programs(0.7)
def variable_that_is_bound_anew(x):
    y = x
    for k in range(3):
        y = checkpoint(lambda: y * x + np.sin(y) * k)
    return y


@programs(0.7)
def nonlocal_and_global(x):
    global total
    total = x
    count = 1.0

    def step():
        global total
        nonlocal count
        count = count * x
        total += count
        return count * total

    y = sum(checkpoint(step) for _ in range(3))
    return y * count + total


@programs(0.7)
def global_that_the_caller_binds_anew(x):
    global total
    total = x
    y = 0.0
    for k in range(3):
        y = y + checkpoint(lambda: total * x * (k + 1))
        total = total * y
    return y * total


@programs(X)
def nested(x):
    def quarter(x):
        x *= np.tanh(x)
        return x.sum()

    def half(x):
        return checkpoint(quarter, x) * checkpoint(quarter, x)

    return checkpoint(lambda: checkpoint(half, x) + checkpoint(half, x)) * x[0]


@programs(X)
def exception_that_is_handled(x):
    def fails(x):
        x[0] *= 2.0
        raise ValueError(x[0] * x[1])

    try:
        checkpoint(fails, x)
    except ValueError as error:
        return np.sum(x * x) * error.args[0]


@programs(X)
def what_was_handled_inside(x):
    def step(x):
        with contextlib.suppress(IndexError):
            x[0] *= x[1]
            x[7] = 0.0
        return x.sum()

    return checkpoint(step, x) ** 2


@programs(0.4, X)
def random_numbers(scale, x):
    rng = np.random.default_rng(1)
    plain = random.Random(2)

    def step(u):
        u += scale * rng.normal(size=3) * plain.random()
        rng.shuffle(u)
        return u

    u = x * 1.0
    for _ in range(3):
        u = checkpoint(step, u) * rng.uniform(1.0, 2.0)
    return np.sum(u**3)


@programs(0.4)
def cached_results(x):
    @functools.cache
    def slow(k):
        return [x * k]

    def step(k):
        slow(k)[0] *= x
        return slow(k)[0]

    return checkpoint(step, 2) + checkpoint(step, 2) * slow(2)[0]


@programs(X)
def keywords_methods_and_classes(x):
    class Scaled:
        def __init__(self, a, by=2.0):
            self.a = a * by

        def norm(self, *, power):
            return np.sum(self.a**power)

    s = checkpoint(Scaled, x, by=x[0])
    return checkpoint(s.norm, power=3) * s.a[1]


@programs(X)
def index_that_is_overwritten(x):
    def step(x):
        i = np.array([0, 1])
        x[i] *= x[2]
        i[:] = [1, 2]
        x[i] += x[0] * x[i]

    checkpoint(step, x)
    checkpoint(step, x)
    return np.sum(x**2)


def negate(a: np.ndarray) -> float:
    a *= -1.0
    return float(a.sum())


@rrule.register(negate, mutates=0)
def negate_rrule(_: Any, a: CoDual) -> Any:
    np.negative(a.primal, out=a.primal)

    def negate_pullback(dy: float) -> Any:
        np.negative(a.primal, out=a.primal)
        da = a.fdata
        da += dy
        da *= -1.0
        return NoRData(), NoRData()

    return CoDual(float(a.primal.sum()), NoFData()), negate_pullback


@programs(X)
def rule_by_hand_that_writes(x):
    def step(x):
        x *= x
        y = negate(x) * x[0]
        x += y
        return y

    return checkpoint(step, x) * np.sum(checkpoint(step, x) * x)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient_in_debug_mode(program: Program) -> None:
    with debug_mode():
        program.check()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_other_ways(program: Program) -> None:
    f, args = program.f, program.args
    positions = tuple(i for i, a in enumerate(args))
    _, expected = value_and_grad(f, positions)(*args)
    _, pullback = vjp(f, *args)
    for _ in range(2):
        assert bits(pullback(1.0)) == bits(expected)
    coduals = zero_coduals(*args)
    before = bits(args)
    _, pullback = build_rrule(f)(CoDual(f, NoFData()), *coduals)
    rdata = pullback(1.0)
    assert bits(args) == before
    for i, g in enumerate(expected):
        if isinstance(g, float):
            assert rdata[i + 1] == pytest.approx(g, rel=1e-14)
        elif isinstance(g, np.ndarray):
            np.testing.assert_allclose(coduals[i].fdata, g, rtol=1e-14)


def test_constant_that_is_read_before_it_is_overwritten_with_what_is_active() -> None:
    def scale(x, y):
        x[...] = x * y
        return np.sum(x)

    def divide(x, y):
        total = np.sum(np.outer(x, x) * y)
        np.divide(x, y, out=x)
        return total + x[0]

    x, y = X.copy(), 2.0 * X
    for f in (scale, divide):
        expected = grad(f, "y")(x, y)
        got = grad(lambda x, y, f=f: checkpoint(f, x, y), "y")(x, y)
        np.testing.assert_allclose(got, expected, rtol=1e-14)
        np.testing.assert_array_equal(x, X)


def test_forward_and_nested_derivatives() -> None:
    def plain(x):
        y = x
        for k in range(5):
            y = np.sin(y) * x + k
        return y * grad(lambda t: t * t * y)(x)

    def step(y, k, x):
        return np.sin(y) * x + k

    def saving(x):
        y = checkpointed_loop(lambda y, k: step(y, k, x), x, range(2), slots=1)
        for k in checkpointed(range(2, 5), slots=1):
            y = checkpoint(step, y, k, x)
        return y * checkpoint(lambda: grad(lambda t: t * t * y)(x))

    for derivative in (
        grad,
        lambda f: grad(grad(f)),
        lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
        lambda f: lambda x: jvp(grad(f), (x,), (1.0,))[1],
        lambda f: grad(lambda x: jvp(f, (x,), (1.0,))[1]),
    ):
        assert derivative(saving)(0.7) == pytest.approx(derivative(plain)(0.7), rel=1e-13)


def test_what_an_inner_derivative_hands_out_from_a_checkpoint_keeps_its_derivative() -> None:
    def f(x, y):
        s = np.sum(x**2)

        def body(z):
            return np.sum(np.tanh(z * s)), z * s

        value, aux = value_and_grad(lambda z: checkpoint(body, z), has_aux=True)(y)[0]
        return value + np.sum(aux)

    def plain(x, y):
        s = np.sum(x**2)
        return np.sum(np.tanh(y * s)) + np.sum(y * s)

    x, y = np.array([0.3, 0.4]), np.array([0.5, 0.6, 0.7])
    np.testing.assert_allclose(grad(f)(x, y), grad(plain)(x, y), rtol=1e-13)


def test_numbers_of_containers_outside_of_the_rule() -> None:
    def f(d):
        return checkpoint(lambda: d["s"] * d["s"])

    shadow = {"s": 0.0}
    d = {"s": 3.0}
    _, pullback = build_rrule(f)(CoDual(f, NoFData()), CoDual(d, shadow))
    assert d == {"s": 3.0}
    pullback(1.0)
    assert shadow == {"s": 6.0}
    assert d == {"s": 3.0}


def test_outside_of_derivatives_it_is_a_call() -> None:
    assert checkpoint(divmod, 7, 2) == (3, 1)
    assert checkpoint(int, "11", base=2) == 3


def test_what_it_prints_appears_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("f")
        return x * x

    assert grad(lambda x: checkpoint(f, x))(3.0) == 6.0
    assert capsys.readouterr().out == "f\n"


def test_generator_is_left_as_after_one_run() -> None:
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    grad(lambda x: checkpoint(lambda: x * rng.normal()) * rng.normal())(1.0)
    other.normal(size=2)
    assert rng.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize("make", [np.random.PCG64, np.random.MT19937])
@pytest.mark.parametrize("is_new", [True, False])
def test_the_state_of_a_generator_may_be_set(make: Any, is_new: bool) -> None:
    known = np.random.Generator(make(7))
    before = known.bit_generator.state

    def part(x: Any) -> Any:
        rng = np.random.Generator(make(5)) if is_new else known
        state = rng.bit_generator.state
        first = x * rng.normal()
        rng.bit_generator.state = state
        return first * rng.normal()

    value = part(3.0)
    known.bit_generator.state = before
    np.testing.assert_allclose(grad(lambda x: checkpoint(part, x))(3.0), value / 3.0)


def test_captured_variable_that_changes_before_the_pullback() -> None:
    scale = 2.0

    def f(x):
        return checkpoint(lambda: x * scale)

    _, pullback = vjp(f, 3.0)
    scale = 5.0
    assert pullback(1.0) == (2.0,)
    assert scale == 5.0


def test_pullback_in_another_thread() -> None:
    def f(x):
        return checkpoint(lambda: sum([x, x * x]))

    _, pullback = vjp(f, 3.0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(pullback, 1.0).result() == (7.0,)


@pytest.mark.usefixtures("only_new_objects")
def test_nothing_is_left_to_the_cyclic_collector() -> None:
    if settings() is not None:
        pytest.skip("the contexts of debug mode refer to themselves")
    u = X.copy()

    def step(u):
        u *= np.sin(u)
        return [u[0]]

    def f(u):
        return checkpoint(step, u)[0] * checkpoint(step, u)[0]

    grad(f)(u)
    gc.collect()
    gc.disable()
    try:
        contexts = weakref.WeakSet[Any]()
        made = ReverseContext.__init__

        def noted(self: Any) -> None:
            made(self)
            contexts.add(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "__init__", noted)
            grad(f)(u)
            with contextlib.suppress(TypeError):
                grad(lambda u: checkpoint(step, u) + 1)(u)
        assert len(contexts) == 0
    finally:
        gc.enable()


def changes_a_shape_between_writes(x):
    y = np.zeros((2, 2))
    y[0] = x[:2]
    y[1] = x[1:]
    squares = y[1] * y[1]
    y.shape = (4,)
    y[2:] = 5.0
    return np.sum(squares) + np.sum(y * y)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_arrays_change_their_shape_between_writes():
    value, gradient = value_and_grad(lambda x: checkpoint(changes_a_shape_between_writes, x))(X)
    expected, slopes = value_and_grad(changes_a_shape_between_writes)(X)
    assert value == expected == changes_a_shape_between_writes(X)
    assert bits(gradient) == bits(slopes)
    np.testing.assert_array_equal(gradient, 2 * np.array([1, 2, 1]) * X)
