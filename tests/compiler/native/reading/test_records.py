"""Dataclasses, named tuples, enumerations and classes with slots, in compiled functions."""

from __future__ import annotations

import abc
from collections import namedtuple
from dataclasses import InitVar, dataclass, field, replace
from enum import Enum, auto
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.native.reading.reader import FunctionReader
from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Kind(Enum):
    FIXED = auto()
    SCALED = 2.5

    @property
    def factor(self):
        return 1.0 if self is Kind.FIXED else self.value

    def of(self, t):
        return t * self.factor


@dataclass(frozen=True)
class Economy:
    rate: float
    growth: float = 0.02

    def after(self, years):
        return (1.0 + self.growth) ** years * self.rate


def make_kind():
    return Kind.SCALED


@dataclass
class Lease:
    area: float
    rent: float = 2.0
    kind: Kind = Kind.FIXED
    start: InitVar[float] = 1.0
    steps: int = 0
    limit: ClassVar[float] = 3.0
    other: Kind = field(default_factory=make_kind)
    total: float = field(init=False)

    def __post_init__(self, start):
        self.total = self.area * self.rent + start
        self.steps += 1

    def step(self, economy):
        self.rent *= 1.0 + economy.growth
        self.total += self.kind.of(self.rent) + self.other.of(self.area) * self.limit
        self.steps += 1


@dataclass(slots=True)
class Point:
    x: float
    y: float = field(default=1.0, kw_only=True)


@dataclass
class Point3(Point):
    z: float

    def norm(self):
        return self.x * self.x + self.y * self.y + self.z * self.z


class Slotted(abc.ABC):
    __slots__ = ("t", "u")

    def __init__(self, t):
        self.t = t

    @abc.abstractmethod
    def force(self): ...


class Spring(Slotted):
    __slots__ = ()

    def force(self):
        self.u = -2.0 * self.t
        return self.u * self.t


class State(NamedTuple):
    position: float
    velocity: float
    mass: float = 2.0

    @property
    def energy(self):
        return 0.5 * self.mass * self.velocity**2

    def step(self, force, dt):
        v = self.velocity + dt * force / self.mass
        return self._replace(position=self.position + dt * v, velocity=v)

    def __add__(self, other):
        return State(self.position + other.position, self.velocity + other[1])


Bond = namedtuple("Bond", "coupon maturity price", defaults=[100.0])


def dataclasses(x, a):
    economy = Economy(a)
    boom = replace(economy, growth=x[0])
    leases = [Lease(x[1]), Lease(x[2], a, Kind.SCALED, start=x[3])]
    total = 0.0
    for lease in leases:
        for _ in range(3):
            lease.step(boom)
        total += lease.total * economy.after(lease.steps)
    p, q = Point(x[0], y=a), Point3(x[1], x[2])
    p.x += q.norm()
    total += p.x * p.y + (a if p == Point(p.x, y=a) else 1.0) + (5.0 if q == q else a)
    return total + (a if Point3(x[0], a) == q else 2.0)


def slots(x, a):
    spring = Spring(x[0] * a)
    y = spring.force()
    spring.t = spring.t * 2.0
    return y * spring.force() + spring.u


def named_tuples(x, a):
    state = State(x[0], velocity=a)
    for k in range(4):
        state = state.step(-state.position * x[k], 0.1)
    position, velocity, _ = state
    bond = Bond(x[1], maturity=2.0)
    y = state.energy + position * velocity + state[0] + len(state) * bond.price * bond.coupon
    both = state + State(x[2], x[3], a)
    fields = both._asdict()
    y += fields["mass"] * sum(both) + both.mass
    return y * (a if isinstance(state, State) and not isinstance(bond, State) else 1.0)


def enumerations(x, a):
    total = 0.0
    for kind, t in ((Kind.FIXED, x[0]), (Kind.SCALED, x[1])):
        total += kind.of(t) * a
        if kind is Kind.SCALED or kind == Kind.FIXED:
            total += x[2]
        if kind.name == "FIXED" and kind.value == 1:
            total += x[3]
    return total


def kept_by_branches(x, a):
    lease = Lease(x[0], a)
    state = State(x[1], x[2])
    for v in x:
        if v > 0.4:
            lease.rent += v
            state = State(state.velocity, v * a)
        elif v < 0.0:
            lease.steps += 2
            continue
        lease.total = lease.total * 1.5 + v
    return lease.rent * lease.steps + lease.total * state.energy


FUNCTIONS = [dataclasses, slots, named_tuples, enumerations, kept_by_branches]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


@pytest.mark.usefixtures("tried")
def test_classes_that_meet_after_a_branch() -> None:
    class Left(NamedTuple):
        t: float

        @property
        def value(self):
            return self.t

    class Right(NamedTuple):
        t: float

        @property
        def value(self):
            return self.t * self.t * 3.0

    def f(x, a):
        found = Left(x[0]) if a > 10.0 else Right(x[1])
        if x[2] > 0.0:
            other = Left(a)
        else:
            other = Right(a)
        return found.value * other.value

    def g(x, a):
        made = Left(a)
        for v in x:
            if v > 0.0:
                made = Right(v)
        return made.value

    require_agreement(f)
    require_agreement(g)


def test_errors_are_those_of_the_program() -> None:
    def frozen(x):
        economy = Economy(x)
        economy.rate = 2.0
        return economy.rate * x

    def absent(x):
        return Spring(x).u * x

    def unknown(x):
        spring = Spring(x)
        spring.w = x
        return x * 1.0

    def few(x):
        return Point(y=x).y

    def abstract(x):
        return Slotted(x).t

    for f in (frozen, absent, unknown, few, abstract):
        with pytest.raises((AttributeError, TypeError)):
            grad(f, compile=True)(2.0)


def test_defaults_that_change_between_calls(tried: list[bool]) -> None:
    class Rate(NamedTuple):
        t: float
        k: float = 2.0

        def value(self):
            return self.t * self.k

    def f(x):
        return Rate(x).value()

    g = value_and_grad(f, compile=True)
    assert g(3.0) == (6.0, 2.0)
    Rate.value = lambda self: self.t * self.t
    assert g(3.0) == (9.0, 6.0)
    assert tried == [True] * 2


def test_passed_ones(tried: list[bool]) -> None:
    def f(states, lease, x):
        total = 0.0
        for state in states:
            total += state.step(x, 0.1).energy
        lease.rent *= x
        lease.step(Economy(0.1, x))
        return total + lease.total

    def arguments():
        return (State(1.0, 2.0), State(0.5, np.float64(0.1))), Lease(2.0), 0.7

    value, g = value_and_grad(f, 2, compile=True)(*arguments())
    expected, h = value_and_grad(f, 2)(*arguments())
    assert value == pytest.approx(expected, rel=1e-12)
    assert g == pytest.approx(h, rel=1e-12)
    assert tried
    assert all(tried)


@dataclass
class Tank:
    level: float
    months: int
    tax: float = 0.0
    paid: float = 0.0

    def pay(self, rate):
        self.paid = rate * self.level
        self.tax += 0.1 * self.paid
        self.level -= self.paid
        self.months -= 1


def many_made(x, a):
    total = 0.0
    for k in (1, 2, 3, 4, 5, 6, 7, 8):
        tank = Tank(a * k + 1.0, 12 * k)
        for _ in range(3):
            tank.pay(a / 10.0)
        if tank.level > 3.0:
            tank.tax *= 2.0
        total += tank.tax * tank.months + tank.paid
    return total + x[0]


def test_facts_about_objects_are_found_for_all_at_once(
    tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects made by one statement differ in nothing that has to be found out for each."""
    read, whole = [], FunctionReader.whole

    def counted(reader, f, *args):
        read.append(f)
        return whole(reader, f, *args)

    monkeypatch.setattr(FunctionReader, "whole", counted)
    require_whole(many_made, tried)
    assert read.count(many_made) <= 4
