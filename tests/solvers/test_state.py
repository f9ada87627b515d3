"""What callbacks of solvers change: seen as in a plain call, with derivatives, and put back."""

import collections
import contextlib
import functools
import io
import itertools
import math
import random
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from scipy import integrate, optimize

from mooncake_py import (
    checkpoint,
    grad,
    hessian,
    hvp,
    implicit,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from tests.support.pairs import rotating

Solver = Callable[[Any], Any]

TIGHT: Any = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}

SOLVERS: dict[str, Solver] = {
    "brentq": lambda r: optimize.brentq(r, 0.5, 10, xtol=1e-13),
    "newton": lambda r: optimize.newton(r, 1.5, tol=1e-13),
    "toms748": lambda r: optimize.toms748(r, 0.5, 10, xtol=1e-13),
    "root_scalar": lambda r: optimize.root_scalar(r, bracket=(0.5, 10), xtol=1e-13).root,
    "fsolve": lambda r: optimize.fsolve(lambda x: [r(x[0])], [1.5], xtol=1e-13)[0],
    "root": lambda r: optimize.root(lambda x: [r(x[0])], [1.5], tol=1e-13).x[0],
    "least_squares": lambda r: optimize.least_squares(lambda x: [r(x[0])], [1.5], **TIGHT).x[0],
    "minimize": lambda r: optimize.minimize(lambda x: r(x[0]) ** 2, [1.5], tol=1e-13).x[0],
    "minimize_scalar": lambda r: (
        cast("Any", optimize.minimize_scalar(lambda x: r(x) ** 2, bracket=(1.4, 1.5), tol=1e-13)).x
    ),
    "quad": lambda r: integrate.quad(r, 0, 1)[0],
    "dblquad": lambda r: integrate.dblquad(lambda x, y: r(x) + 0 * y, 0, 1, 0, 1)[0],
    "quad_vec": lambda r: integrate.quad_vec(r, 0, 1)[0],
    "odeint": lambda r: integrate.odeint(
        lambda y, t: r(t), 0.0, [0.0, 1.0], rtol=1e-10, atol=1e-10
    )[-1, 0],
    "lsoda": lambda r: integrate.solve_ivp(
        lambda t, y: [r(t)], (0.0, 1.0), [0.0], method="LSODA", rtol=1e-9
    ).y[0, -1],
    "implicit": lambda r: implicit(lambda: optimize.brentq(r, 0.5, 10, xtol=1e-13), r)(),
}


def right(name: str, a: float) -> float:
    """Return the derivative of what a solver makes of ``x * x - a * a``."""
    is_integral = name in ("quad", "dblquad", "quad_vec", "odeint", "lsoda")
    return -2 * a if is_integral else 1.0


# Data that are made in the first call.


class Cached:
    def __init__(self, a: Any) -> None:
        self.a = a

    @functools.cached_property
    def square(self) -> Any:
        return self.a * self.a


class Slots:
    __slots__ = ("square",)


def in_variable(a: Any) -> Callable[[], Any]:
    square = None

    def get() -> Any:
        nonlocal square
        if square is None:
            square = a * a
        return square

    return get


def in_dict(a: Any) -> Callable[[], Any]:
    held: dict[str, Any] = {}

    def get() -> Any:
        if "square" not in held:
            held["square"] = a * a
        return held["square"]

    return get


def in_array(a: Any) -> Callable[[], Any]:
    held = np.full(2, np.nan)

    def get() -> Any:
        if math.isnan(held[0]):
            np.multiply(a, a, out=held[:1])
        return held[0]

    return get


def in_slots(a: Any) -> Callable[[], Any]:
    held = Slots()

    def get() -> Any:
        if not hasattr(held, "square"):
            held.square = a * a
        return held.square

    return get


def in_class(a: Any) -> Callable[[], Any]:
    class Holder:
        square: Any = None

    def get() -> Any:
        if Holder.square is None:
            Holder.square = a * a
        return Holder.square

    return get


def in_property(a: Any) -> Callable[[], Any]:
    model = Cached(a)
    return lambda: model.square


def in_attribute_of_function(a: Any) -> Callable[[], Any]:
    def get() -> Any:
        if not hasattr(get, "square"):
            get.square = a * a  # type: ignore[attr-defined]
        return get.square  # type: ignore[attr-defined]

    return get


def in_cache(a: Any) -> Callable[[], Any]:
    return functools.cache(lambda: a * a)


def in_default(a: Any) -> Callable[[], Any]:
    def get(held: list[Any] = []) -> Any:  # noqa: B006
        if not held:
            held.append(a * a)
        return held[-1]

    return get


def once(a: Any, take: Callable[[], float]) -> Callable[[], Any]:
    """Return data that the first call makes with the number 1, of which later ones are others."""
    held: list[Any] = []

    def get() -> Any:
        if not held:
            held.append(a * a * take())
        return held[0]

    return get


def with_item(a: Any) -> Callable[[], Any]:
    items = iter([1.0, 5.0, 7.0])
    return once(a, lambda: next(items))


def with_mapped_item(a: Any) -> Callable[[], Any]:
    items = map(lambda v: v * a / a, itertools.count(1.0))  # noqa: C417
    return once(a, lambda: next(items))


def with_draw(a: Any) -> Callable[[], Any]:
    draws = np.random.default_rng(7)
    first = np.random.default_rng(7).random()
    return once(a, lambda: draws.random() / first)


def with_draw_of_the_module(a: Any) -> Callable[[], Any]:
    random.seed(7)
    first = random.Random(7).random()
    return once(a, lambda: random.random() / first)


def with_text(a: Any) -> Callable[[], Any]:
    def caught() -> float:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print(end="a")
        return float(len(text.getvalue()))

    return lambda: a * a * caught()


LAZY = [in_variable, in_dict, in_array, in_slots, in_class, in_property, in_attribute_of_function,
        in_cache, in_default, with_item, with_mapped_item, with_draw, with_draw_of_the_module,
        with_text]  # fmt: skip


def lazily(make: Any, solve: Solver) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        get = make(a)
        return solve(lambda x: x * x - get())

    return f


MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(2.0),
    "debug": lambda f: grad(f, debug=True)(2.0),
    "compile": lambda f: grad(f, compile=True)(2.0),
    "vjp": lambda f: vjp(f, 2.0)[1](1.0)[0],
    "jvp": lambda f: jvp(f, (2.0,), (1.0,))[1],
    "checkpoint": lambda f: grad(lambda a: checkpoint(f, a))(2.0),
}


@pytest.mark.parametrize(("make", "name"), rotating(LAZY, SOLVERS, times=2))
def test_data_made_in_the_first_call(make: Any, name: str) -> None:
    f = lazily(make, SOLVERS[name])
    assert grad(f)(2.0) == pytest.approx(right(name, 2.0), rel=1e-5)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(right(name, 2.0), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["brentq", "quad", "least_squares"])
def test_modes(mode: str, name: str) -> None:
    f = lazily(in_variable, SOLVERS[name])
    assert MODES[mode](f) == pytest.approx(right(name, 2.0), rel=1e-5)


@pytest.mark.parametrize("name", ["brentq", "quad"])
def test_second_derivatives(name: str) -> None:
    f = lazily(in_dict, SOLVERS[name])
    second = -2.0 if name == "quad" else 0.0
    assert hessian(f)(2.0) == pytest.approx(second, abs=1e-6)
    assert hvp(f, (2.0,), 1.0) == pytest.approx(second, abs=1e-6)
    assert grad(lambda a: a * grad(f)(a))(2.0) == pytest.approx(right(name, 2.0) + 2 * second)


# What callbacks write, which the program reads afterwards.


class Record:
    count = 0

    def __init__(self) -> None:
        self.steps = 0


class Slot:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


Pair = collections.namedtuple("Pair", ["n", "x"])
TOTAL = 0


def into_global() -> tuple[Any, Any]:
    def write(x: Any) -> None:
        global TOTAL
        TOTAL += 1

    return write, lambda: TOTAL


def into_variable() -> tuple[Any, Any]:
    n = 0

    def write(x: Any) -> None:
        nonlocal n
        n += 1

    return write, lambda: n


def into(holder: Any, write: Callable[[Any, Any], Any], read: Callable[[Any], Any]) -> Any:
    return lambda: (lambda x: write(holder, x), lambda: read(holder))


def add_item(holder: Any, key: Any) -> None:
    holder[key] += 1


def add_attribute(holder: Any, name: str) -> None:
    setattr(holder, name, getattr(holder, name) + 1)


def replace(pairs: list[Pair]) -> None:
    pairs[0] = pairs[0]._replace(n=pairs[0].n + 1)


def fill(a: Any) -> None:
    np.add(a, 1.0, out=a)


COUNTERS: dict[str, Any] = {
    "global": into_global,
    "variable": into_variable,
    "list": into([], lambda o, x: o.append(1), len),
    "list of points": into([], lambda o, x: o.append(x), len),
    "item": into([0], lambda o, x: add_item(o, 0), lambda o: o[0]),
    "dict": into({"n": 0}, lambda o, x: add_item(o, "n"), lambda o: o["n"]),
    "defaultdict": into(
        collections.defaultdict(int), lambda o, x: add_item(o, "n"), lambda o: o["n"]
    ),
    "Counter": into(collections.Counter(), lambda o, x: o.update("n"), lambda o: o["n"]),
    "OrderedDict": into(collections.OrderedDict(), lambda o, x: o.__setitem__(len(o), x), len),
    "set": into(set(), lambda o, x: o.add(len(o)), len),
    "deque": into(collections.deque(maxlen=3), lambda o, x: o.append(1), len),
    "bytearray": into(bytearray(), lambda o, x: o.append(1), len),
    "element": into(np.zeros(1), lambda o, x: add_item(o, 0), lambda o: o[0]),
    "int element": into(np.zeros(1, int), lambda o, x: add_item(o, 0), lambda o: int(o[0])),
    "slice": into(np.zeros(4)[::2], lambda o, x: fill(o[:1]), lambda o: o[0]),
    "out": into(np.zeros(2), lambda o, x: fill(o), lambda o: o[1]),
    "array of objects": into(np.array([0, None]), lambda o, x: add_item(o, 0), lambda o: o[0]),
    "attribute": into(Record(), lambda o, x: add_attribute(o, "steps"), lambda o: o.steps),
    "class": into(Record, lambda o, x: add_attribute(o, "count"), lambda o: o.count),
    "slots": into(Slot(), lambda o, x: add_attribute(o, "n"), lambda o: o.n),
    "namedtuple": into([Pair(0, 1.0)], lambda o, x: replace(o), lambda o: o[0].n),
    "nested": into({"log": [[]]}, lambda o, x: o["log"][0].append(x), lambda o: len(o["log"][0])),
}


@pytest.mark.parametrize(("kind", "name"), rotating(COUNTERS, SOLVERS, times=2))
def test_counters(kind: str, name: str) -> None:
    write, read = COUNTERS[kind]()

    def f(a: Any) -> Any:
        before = read()
        y = SOLVERS[name](lambda x: (write(x), x * x - a * a)[1])
        return y * (read() - before)

    first = read()
    value, slope = value_and_grad(f)(2.0)
    forward = jvp(f, (2.0,), (1.0,))[1]
    again = grad(lambda a: checkpoint(f, a))(2.0)
    assert read() == first  # all is put back
    y, n = lazily(in_variable, SOLVERS[name])(2.0), 0
    expected = f(2.0)
    n = round(expected / y)
    assert value == pytest.approx(expected, rel=1e-12)
    assert [slope, forward, again] == pytest.approx([n * right(name, 2.0)] * 3, rel=1e-5)


# Iterators, and the modes in which marks of points matter.


def from_count(solve: Any) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        held = {"count": itertools.count()}
        y = solve(lambda x: (next(held["count"]), x * x - a * a)[1])
        return y * next(held["count"])

    return f


@pytest.mark.parametrize("name", ["brentq", "quad"])
def test_iterators_are_seen_where_the_solver_has_left_them(name: str) -> None:
    f = from_count(SOLVERS[name])
    y = lazily(in_variable, SOLVERS[name])(2.0)
    slope = pytest.approx(f(2.0) / y * right(name, 2.0))
    assert value_and_grad(f)(2.0) == (f(2.0), slope)
    assert jvp(f, (2.0,), (1.0,))[1] == slope


@pytest.mark.parametrize("name", ["brentq", "odeint", "least_squares"])
@pytest.mark.parametrize("debug", [False, True])
def test_buffers_in_debug_mode_and_along_several_directions(name: str, debug: bool) -> None:
    def f(p: Any) -> Any:
        buffer = np.zeros(2)
        calls = []

        def r(x: Any) -> Any:
            calls.append(x)
            buffer[0] = x * x
            buffer[1] = p[0] * p[0] + 0.0 * p[1]
            return buffer[0] - buffer[1]

        return np.array([SOLVERS[name](r)])

    p = np.array([2.0, 1.0])
    expected = [[right(name, 2.0), 0.0]]
    if debug:
        np.testing.assert_allclose(grad(lambda p: f(p)[0], debug=True)(p), expected[0], atol=1e-6)
    else:
        np.testing.assert_allclose(jacobian(f, mode="forward")(p), expected, atol=1e-6)
        np.testing.assert_allclose(jacobian(f, mode="reverse")(p), expected, atol=1e-6)
