"""Callbacks that can change nothing are told from those that perhaps can."""

from __future__ import annotations

import functools
import math
import operator
import random
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, is_deriving, jvp

pytest.importorskip("scipy")
from scipy import integrate, optimize

from mooncake_py.rules.declare import contextual
from mooncake_py.solvers.quiet import quiet

TABLE = np.array([1.0, 2.0, 4.0])
SETTINGS = [0.5, 1.5]
COUNT = 0
KEPT: Any = None
NAMED: dict[str, Any] = {}


def found(*callbacks: Any) -> bool | None:
    """Return whether callbacks are active, None if they may change something; outside: None."""
    return None


@contextual(found)
def found_inside(ctx: Any, *callbacks: Any) -> bool | None:
    run = quiet(ctx, callbacks, {})
    return None if run is None else run.begin is not None


def helper(x: Any) -> Any:
    return math.sin(x) + SETTINGS[0]


def recursive(x: Any) -> Any:
    return recursive(x - 1.0) * x if x > 1 else x


def with_default(a: Any) -> Any:
    return lambda x, a=a: x * a


def with_local_list(a: Any) -> Any:
    def f(x: Any) -> Any:
        found = []
        for k in range(3):
            found.append(a * x**k)
        return sum(found)

    return f


def with_local_array(a: Any) -> Any:
    def f(x: Any) -> Any:
        y = np.zeros(2)
        y[0] = a * x
        return y[0]

    return f


def of_helpers(a: Any) -> Any:
    def inner(x: Any) -> Any:
        return helper(x) * a

    return lambda x: inner(x) + abs(x)


class Curve:
    scale = 2.0

    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def twice(self) -> Any:
        return self.scale * self.a

    def of(self, x: Any) -> Any:
        return self.twice * x + self.shift(x)

    @staticmethod
    def shift(x: Any) -> Any:
        return helper(x)

    def reset(self) -> None:
        self.a = 0.0


class Steep(Curve):
    def of(self, x: Any) -> Any:
        return 3.0 * super().of(x)

    def __call__(self, x: Any) -> Any:
        return self.of(x) ** 2


@dataclass
class Pair:
    left: Any
    right: Any

    def __add__(self, x: Any) -> Any:
        return self.left * x + self.right


Named = namedtuple("Named", "k c")


READING: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda a: lambda x: x * x - a,
    "default": with_default,
    "table": lambda a: lambda x: np.interp(x * a, TABLE, TABLE),
    "captured array": lambda a: (lambda t: lambda x: t[0] * x)(np.array([1.0, 2.0]) * a),
    "list": lambda a: (lambda numbers: lambda x: numbers[1] * x)([1.0, a]),
    "dict": lambda a: (lambda names: lambda x: names["k"] * x)({"k": a}),
    "local list": with_local_list,
    "local array": with_local_array,
    "helpers": of_helpers,
    "method": lambda a: Curve(a).of,
    "object": lambda a: (lambda o: lambda x: o.of(x))(Steep(a)),
    "callable object": Steep,
    "dataclass": lambda a: (lambda p: lambda x: p + x)(Pair(a, 1.0)),
    "objects in objects": lambda a: (lambda p: lambda x: p.left.of(x))(Pair(Curve(a), [1.0])),
    "named tuple": lambda a: (lambda p: lambda x: p.k * x + p.c)(Named(a, 1.0)),
    "partial": lambda a: functools.partial(lambda b, x: b * x, a),
    "comprehension": lambda a: lambda x: sum([a * x**k for k in range(3)]),
}


def counting(a: Any) -> Any:
    calls = 0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return a * x

    return f


def counting_globally(a: Any) -> Any:
    def f(x: Any) -> Any:
        global COUNT
        COUNT += 1
        return a * x

    return f


def on_itself(a: Any) -> Any:
    def f(x: Any) -> Any:
        f.calls = 1  # type: ignore[attr-defined]
        return a * x

    return f


def active_global(a: Any) -> Any:
    global KEPT
    KEPT = a
    return lambda x: KEPT * x


def of_counting_class(a: Any) -> Any:
    class Model:
        k = 1.0

        def f(self, x: Any) -> Any:
            self.k = x
            return a * x

    return Model().f


class Cached:
    def __init__(self, a: Any) -> None:
        self.a = a

    @functools.cached_property
    def square(self) -> Any:
        return self.a**2

    def of(self, x: Any) -> Any:
        return self.square * x


class Logging:
    calls: list[Any] = []

    def __init__(self, a: Any) -> None:
        self.a = a

    def of(self, x: Any) -> Any:
        self.calls.append(x)
        return self.a * x


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a

    def of(self, x: Any) -> Any:
        return self.a * x


class Noting(Curve):
    def __getattribute__(self, name: str) -> Any:
        object.__setattr__(self, "last", name)
        return object.__getattribute__(self, name)


class Shared:
    active: Any = None

    def of(self, x: Any) -> Any:
        return self.active * x


def active_in_class(a: Any) -> Any:
    Shared.active = a
    return Shared().of


def resetting(a: Any) -> Any:
    curve = Curve(a)
    return lambda x: (curve.reset(), x * a)[1]


def into(memory: Any, write: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda a: lambda x: (write(memory, x), a * x)[1]


def overwriting(b: Any, x: Any) -> Any:
    b[0] = x


def adding(b: Any, x: Any) -> Any:
    b += x


put, grow = operator.setitem, operator.iadd
CHANGING: dict[str, Callable[[Any], Any]] = {
    "nonlocal": counting,
    "global": counting_globally,
    "attribute": on_itself,
    "active global": active_global,
    "method": of_counting_class,
    "append": into([], lambda kept, x: kept.append(x)),
    "key": into({}, overwriting),
    "setdefault": into({}, lambda kept, x: kept.setdefault(0, x)),
    "item": into(TABLE.copy(), overwriting),
    "in place": into(TABLE.copy(), adding),
    "setitem": into({}, lambda kept, x: operator.setitem(kept, 0, x)),
    "setitem, renamed": into({}, lambda kept, x: put(kept, 0, x)),
    "iadd, renamed": into([], lambda kept, x: grow(kept, [x])),
    "special method": into(TABLE.copy(), lambda b, x: b.__iadd__(x)),
    "fill": into(TABLE.copy(), lambda b, x: b.fill(x)),
    "copyto": into(TABLE.copy(), lambda b, x: np.copyto(b, x)),
    "out": into(TABLE.copy(), lambda b, x: np.add(b, 1.0, out=b)),
    "options": into(TABLE.copy(), lambda b, x: np.add(b, 1.0, **dict(NAMED, out=b))),
    "next": lambda a: (lambda it: lambda x: next(it) * a * x)(count()),
    "generator": lambda a: (lambda draw: lambda x: draw.random() * a * x)(np.random.default_rng(1)),
    "random": lambda a: lambda x: random.random() * a * x,
    "globals": lambda a: lambda x: globals()["COUNT"] + a * x,
    "import": lambda a: lambda x: __import__("sys").maxsize + a * x,
    "module": lambda a: lambda x: len(sys.path) + a * x,
    "object": lambda a: (lambda o: lambda x: o.random() * a * x)(random.Random(1)),
    "recursive": lambda a: recursive if a > 0 else None,
    "cached property": lambda a: Cached(a).of,
    "list of the class": lambda a: Logging(a).of,
    "slots": lambda a: Slotted(a).of,
    "attribute access": lambda a: Noting(a).of,
    "active in the class": active_in_class,
    "method that writes": resetting,
    "bytes": lambda a: (lambda b: lambda x: len(b) * a * x)(bytearray(2)),
    "memory of others": into(np.frombuffer(bytearray(16)), lambda b, x: np.add(b, 1.0, b)),
}


def activity_of(make: Callable[[Any], Any], a: float) -> bool | None:
    def f(a: Any) -> Any:
        return a * 1.0, found(make(a))

    return grad(f, has_aux=True)(a)[1]


@pytest.mark.parametrize("name", READING)
def test_callbacks_that_only_read(name: str) -> None:
    assert activity_of(READING[name], 1.3) is True
    assert activity_of(lambda a: READING[name](1.3), 1.3) is False


@pytest.mark.parametrize("name", CHANGING)
def test_callbacks_that_may_change_something(name: str) -> None:
    assert activity_of(CHANGING[name], 1.3) is None


@pytest.mark.parametrize("name", READING)
def test_derivatives(name: str) -> None:
    def f(a: Any) -> Any:
        r = READING[name](a)
        return integrate.quad(lambda x: r(x) ** 2, 0.0, 1.0)[0]

    h = 1e-6
    slope = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    near = pytest.approx(slope, rel=1e-3 if name == "table" else 1e-6)  # which has a kink
    assert grad(f)(1.3) == near
    assert jvp(f, (1.3,), (1.0,))[1] == near
    assert grad(f, debug=True)(1.3) == near


def test_a_root_is_of_the_type_that_the_solver_returns() -> None:
    def f(a: Any) -> Any:
        x = optimize.brentq(lambda x: x**3 - np.sum(a), 0.0, 2.0)
        return x, type(x)

    value, found = f(np.ones(2))
    g, inside = grad(f, has_aux=True)(np.ones(2))
    assert inside is found is float
    assert g == pytest.approx(1 / (3 * value**2))


def test_a_write_that_only_the_array_tells() -> None:
    """The third argument of a function of NumPy is where it writes."""
    buffer = np.zeros(1)

    def f(a: Any) -> Any:
        def r(x: Any) -> Any:
            np.multiply(a, a, buffer)
            return x * x - buffer[0]

        return optimize.brentq(r, 0.5, 10.0, xtol=1e-13) + buffer[0]

    assert grad(f)(2.0) == pytest.approx(1.0 + 4.0)
    assert buffer[0] == 0.0
    assert f(2.0) == pytest.approx(6.0)


def test_the_callback_itself_is_not_changed() -> None:

    def f(a: Any) -> Any:
        def r(x: Any, b: Any = 2.0 * a) -> Any:
            return x * b - a * a

        return optimize.brentq(r, 0.0, 10.0) + r(1.0)

    assert grad(f)(3.0) == pytest.approx(0.5 + 2.0 - 6.0)


# What a solve costs: calls of functions, which do not depend on the machine.  The bounds leave
# room; a solve that looks for state takes three times as many.

COSTS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "brentq": (1600, lambda a: optimize.brentq(lambda x: x * x - a, 0.0, 10.0)),
    "newton": (1700, lambda a: optimize.newton(lambda x: x**3 - a, 1.5)),
    "quad": (1600, lambda a: integrate.quad(lambda x: math.exp(-a * x * x), 0.0, 2.0)[0]),
    "fsolve": (4500, lambda a: optimize.fsolve(lambda z: [z[0] ** 2 - a, z[0] - z[1]], [1, 1])[0]),
    "minimize_scalar": (7500, lambda a: minimum_of(a)),
    "odeint": (10000, lambda a: integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0])[-1, 0]),
}


def minimum_of(a: Any) -> Any:
    found: Any = optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4)
    return found.x


def calls(f: Callable[[], Any]) -> int:
    counted = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        f()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.skipif(sys.gettrace() is not None, reason="counts its own calls")
@pytest.mark.parametrize("name", COSTS)
def test_cost(name: str) -> None:
    most, f = COSTS[name]
    derivative = grad(f)
    for _ in range(3):
        derivative(1.2)
    plain = calls(lambda: f(1.2))
    assert min(calls(lambda: derivative(1.2)) for _ in range(3)) - plain < most


# Differential equations.


def two(a: Any) -> Any:
    return lambda y, t: [-a[0] * y[0], a[0] * y[0] - a[1] * y[1]]


CLOSE: Any = {"rtol": 1e-9, "atol": 1e-9}
EQUATIONS: dict[str, Callable[[Any], Any]] = {
    "list": lambda a: integrate.odeint(two(a), [a[1], 0.2], [0.0, 0.5, 2.0, 4.0]),
    "array": lambda a: integrate.odeint(lambda y, t: -a[0] * y * y, a[1], np.linspace(0, 3, 40)),
    "number": lambda a: integrate.odeint(lambda y, t: float(t) * a[0], 0.5, [0.0, 1.0]),
    "start only": lambda a: integrate.odeint(lambda y, t: -y * y, [a[0], a[1]], [0.0, 1.0]),
    "backwards": lambda a: integrate.odeint(two(a), [a[1], 0.2], [2.0, 1.0, 0.0]),
    "further": lambda a: integrate.odeint(
        lambda t, y, k, c: c * np.cos(k * t) - y, a[1], [0.0, 2.0], args=(a[0], 2.0), tfirst=True
    ),
    "jump": lambda a: integrate.odeint(
        lambda y, t: -a[0] * y + (a[1] if t > 0.3 else 0.0), 0.1, [0.0, 0.2, 1.0],
        **CLOSE,
    ),
    "table": lambda a: integrate.odeint(
        lambda y, t: -a[0] * y + a[1] * np.interp(t, [0.0, 0.5, 2.0], [0.0, 1.0, 0.3]), 0.1,
        [0.0, 2.0], **CLOSE,
    ),
    "lsoda": lambda a: integrate.solve_ivp(
        lambda t, y: [y[1], -a[0] * y[0]], (0, 2), [a[1], 0], "LSODA", [0, 1, 2], **CLOSE
    ).y,
    "repeated": lambda a: integrate.odeint(two(a), [a[1], 0.2], [0.0, 1.0, 1.0, 2.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUATIONS)
def test_solutions_of_few_unknowns(name: str) -> None:
    def f(a: Any) -> Any:
        return np.sum(np.sin(EQUATIONS[name](a)))

    a, h = np.array([0.7, 1.1]), 1e-5
    slopes = [(f(a + h * e) - f(a - h * e)) / (2 * h) for e in np.eye(2)]
    tolerance = 2e-3 if name == "jump" else 3e-4  # of the differences
    assert grad(f)(a) == pytest.approx(slopes, rel=tolerance, abs=tolerance)
    for e, slope in zip(np.eye(2), grad(f)(a), strict=True):
        assert jvp(f, (a,), (e,))[1] == pytest.approx(slope, rel=1e-9)


def test_second_derivatives_are_those_of_another_method() -> None:
    def f(a: Any) -> Any:
        return integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 2.0], rtol=1e-9, atol=1e-9)[-1, 0]

    assert hvp(f, (0.5,), 1.0) == pytest.approx(4 * math.exp(-1.0), rel=1e-5)


def test_a_right_hand_side_that_is_another_within_a_derivative_is_noticed() -> None:
    def f(a: Any) -> Any:
        def slope(y: Any, t: Any) -> Any:
            return 2 * a * y if is_deriving() else a * y

        return integrate.odeint(slope, 1.0, [0.0, 1.0])[-1, 0]

    with pytest.raises(Exception, match="agree"):
        grad(f)(0.5)
