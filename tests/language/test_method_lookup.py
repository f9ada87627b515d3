"""``o.m(args)`` looks up ``o.m`` before it evaluates the arguments, as Python does."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.3, 0.7])


class Machine:
    def square(self, v):
        return v * v

    def prepare(self, v):
        self.act = lambda v: v**3
        return v


@programs(X)
def method_that_an_argument_replaces(x):
    m = Machine()
    m.act = m.square
    return m.act(m.prepare(x[0]))


@programs(X)
def in_a_keyword(x):
    m = Machine()
    m.act = lambda v, by: v * by
    return m.act(x[0], by=m.prepare(x[1]))


@programs(X)
def of_an_array(x):
    y = x.copy()

    def add():
        y[0] += 2.0
        return x

    return y.dot(add())


@programs(X)
def of_nothing(x):
    y = x.copy()

    def bump():
        y[0] *= 3.0
        return y[0]

    nothing = None
    with contextlib.suppress(AttributeError):
        nothing.act(bump())
    return y[0] ** 2


@programs(X)
def of_a_list_that_has_none(x):
    y = x.copy()

    def bump():
        y[0] *= 3.0
        return y[0]

    with contextlib.suppress(AttributeError):
        [1, 2].act(bump())
    return y[0] ** 2


@programs(X)
def method_that_an_argument_makes(x):
    class Late:
        pass

    late, y = Late(), x.copy()

    def make():
        late.act = lambda v: v * 5
        y[1] = 2.0
        return y[0]

    try:
        return late.act(make())
    except AttributeError:
        return y[1] ** 2


@programs(X)
def property_that_counts(x):
    class Counting:
        def __init__(self):
            self.n = 0

        @property
        def act(self):
            self.n += 1
            k = self.n
            return lambda v: k * v

    c = Counting()
    return c.act(c.act(c.act(x[0]))) + c.n * x[1]


@programs(X)
def method_of_the_base(x):
    class Base:
        def act(self, v):
            return v * v

    class Derived(Base):
        def act(self, v):
            return super().act(self.replace(v))

        def replace(self, v):
            Base.act = lambda self, v: v**3
            return v

    return Derived().act(x[0])


@programs(X)
def method_that_a_number_does_not_have(x):
    seen = []
    v = float(x[0])
    for name in range(3):
        with contextlib.suppress(AttributeError):
            v.sum(seen.append(name))
    return v * (1 + len(seen)) * x[1]


@programs(X)
def missing_method_before_an_argument_that_raises(x):
    total, none = x[0] * 1.0, None
    for o in (none, [1.0], float(x[1]), x):
        try:
            o.nothing(o[9])
        except AttributeError:
            total *= x[1]
        except (IndexError, TypeError):
            total += 5.0
    return total


@pytest.mark.parametrize("program", programs, ids=str)
def test_lookup(program: Program) -> None:
    program.check()
