"""Dataclasses: mutable, frozen, with slots, and what `dataclasses` makes of them."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@dataclasses.dataclass
class Cell:
    """Mutable, with defaults and a derived field."""

    mass: Any
    state: Any
    log: list[Any] = dataclasses.field(default_factory=list)
    label: str = "cell"
    momentum: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.momentum = self.mass * self.state

    def move(self, dt: Any) -> None:
        self.state += dt * self.momentum
        self.log.append(self.state)


@dataclasses.dataclass(frozen=True)
class Rates:
    growth: Any
    decay: Any = 0.5

    @property
    def balance(self) -> Any:
        return self.growth - self.decay


@dataclasses.dataclass(slots=True)
class Compact:
    a: Any
    b: Any = 1.0


@dataclasses.dataclass(frozen=True)
class Checked:
    value: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", self.value * 2)


@programs(2.0, 0.5)
def dataclasses_made_inside(x, y):
    c = Cell(x, y)
    c.move(y)
    r = Rates(x)
    s = dataclasses.replace(r, decay=x * y)
    k = Compact(x)
    k.b *= k.a + y
    return (c.log[0] * c.momentum + s.balance * r.balance + k.b + Checked(x).value
            + dataclasses.asdict(s)["decay"] + dataclasses.astuple(r)[0])  # fmt: skip


@programs(Cell(2.0, 0.5))
def mutable_dataclass_argument(c):
    c.move(c.mass)
    c.mass = c.state * c.momentum
    return c.mass * c.log[0]


@programs(Cell(2.0, X))
def dataclass_with_array_argument(c):
    c.move(0.1)
    return np.sum(c.log[0] * c.momentum)


@programs(Rates(2.0, X))
def frozen_dataclass_argument(r):
    a = r.decay
    a *= r.growth
    return np.sum(r.balance * r.decay)


@programs([Rates(2.0), Rates(1.0, 3.0)])
def frozen_dataclasses_in_a_list(rates):
    rates[0] = Rates(rates[1].decay * rates[0].growth)
    return sum(r.balance**2 for r in rates)


@programs(Compact(2.0, 3.0))
def slotted_dataclass_argument(k):
    k.a *= k.b
    return k.a * k.b


@dataclasses.dataclass
class DC:
    a: float
    b: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class FD:
    a: float
    b: float = 2.0


@programs(X)
def drep(x):
    d = dataclasses.replace(FD(x[0]), b=x[1])
    return d.a * d.b


@programs(X)
def drep2(x):
    d = dataclasses.replace(DC(x[0]), b=[x[1]])
    return d.a * d.b[0]


@programs(X)
def dasd(x):
    d = dataclasses.asdict(DC(x[0], [x[1]]))
    return d["a"] * d["b"][0] + dataclasses.astuple(DC(x[0], [x[2]]))[1][0]


@programs(X)
def active_defaults(x):
    @dataclasses.dataclass
    class A:
        a: float = x[0] * 2
        b: float = 3.0

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class B:
        c: Any = x[1] * x[2]
        d: Any = dataclasses.field(default=x[1])

    return A().a * A(x[1]).a * B().c * B(c=x[0]).d * A(b=x[2]).b


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
