"""Lists of objects that loops make and append."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

MANY = 100  # so many passes are not read one by one


class Step:
    """A step with what follows from it."""

    rate = 0.5

    def __init__(self, x, k):
        self.x, self.k = x, k
        self.v = 0.0

    @property
    def double(self):
        return 2.0 * self.x

    def energy(self):
        return self.rate * self.x * self.x * (1 + self.k)


@dataclass(frozen=True)
class State:
    u: np.ndarray
    t: float
    names: tuple = field(default=("a", "b"))


def rows(a, n):
    """Changed before they are appended; indices, slices, pairs, comprehensions, `[-1]`, `len`."""
    steps = []
    for i in range(n):
        p = Step(math.sin(a * i), i)
        p.v = p.x * a if p.x > 0.0 else p.x
        steps.append(p)
    total = 0.0
    for j in range(len(steps)):
        total += steps[j].double * steps[j].v
    for k, (p, q) in enumerate(zip(steps[:-1], steps[1:], strict=True)):  # noqa: RUF007
        total += p.x * q.energy() / (k + 1)
    late = [s for s in steps if s.x > 0.1]
    best = max(s.v for s in late)
    return total + best * steps[-1].energy() + [s.x for s in steps][n // 2] + len(late)


def made_by_comprehension(a, n):
    steps = [Step(a * k, k % 3) for k in range(n)]
    return sum(s.energy() for s in steps) * steps[-1].x


def what_the_loop_carries(a, n):
    """The last one is appended before the next one is made of it."""
    path, state = [], State(np.array([1.0, a]), 0.0)
    for _ in range(n):
        path.append(state)
        u = state.u
        state = State(u + 0.1 * np.sin(u[::-1] * a), state.t + 0.1)
    return sum(s.u @ s.u * s.t for s in path) + state.u[1] + len(path[0].names)


def each_of_the_one_before(a, n):
    steps = [Step(a, 1)]
    for _ in range(n):
        last = steps[-1]
        if last.x > 1.0:
            steps.append(Step(last.x * 0.5, last.k))
            continue
        steps.append(Step(last.x * 1.3 + a, last.k + 1))
        if len(steps) > 2 * n // 3:
            break
    return sum(s.x * s.k for s in reversed(steps))


def objects_of_objects(a, n):
    steps = []
    for k in range(n):
        steps.append((Step(State(np.array([a, 1.0]) * k, a * k), k), k * a))
    return sum(s.x.u[0] * s.x.t + w * s.k for s, w in steps)


FUNCTIONS = [
    rows, made_by_comprehension, what_the_loop_carries, each_of_the_one_before, objects_of_objects,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    for a, n in ((0.31, MANY), (0.57, MANY + 30)):
        value, g = value_and_grad(f, 0)(a, n)
        found, h = value_and_grad(f, 0, compile=True)(a, n)
        assert_allclose([found, value], f(a, n), rtol=1e-12)
        assert_allclose(h, g, rtol=1e-10)
        require_compiled(f, tried)
    of_a = lambda a: f(a, MANY)  # noqa: E731
    eps = 1e-6
    slope = (of_a(0.31 + eps) - of_a(0.31 - eps)) / (2 * eps)
    assert_allclose(jvp(of_a, (0.31,), (1.0,), compile=True)[1], slope, rtol=1e-5)
    second = [hvp(of_a, (0.31,), 1.0, compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-9)


def changed_afterwards(a, n):
    steps = []
    for i in range(n):
        p = Step(a * i, i)
        steps.append(p)
        p.x += 1.0
    return steps[-1].x


def changed_in_the_next_pass(a, n):
    steps, last = [], Step(a, 0)
    for i in range(n):
        p = Step(a * i, i)
        if i > 2:
            last.x += 1.0
        steps.append(p)
        last = p
    return sum(s.x * s.k for s in steps)


def changed_by_an_attribute(a, n):
    holder, steps = Step(0.0, 1), []
    holder.last = Step(a, 0)
    for i in range(n):
        holder.last.x += 1.0
        p = Step(a * i, i)
        steps.append(p)
        holder.last = p
    return sum(s.x for s in steps)


def changed_after_a_branch(a, n):
    steps = []
    for i in range(n):
        if math.sin(i * a) > 0.0:
            p = Step(a * i, i)
            steps.append(p)
        else:
            p = Step(a, i)
        p.x += 1.0
    return sum(s.x for s in steps)


def changed_under_the_name_of_a_loop(a, n):
    steps, p = [], Step(a, 3)
    steps.append(p)
    last = p
    for i in range(n):
        last.x += 1.0
        last = Step(a * i, i)
        steps.append(Step(a * i, i))
    return sum(s.x for s in steps)


def one_again_and_again(a, n):
    steps, p = [], Step(a, 0)
    for _ in range(n):
        steps.append(p)
        p.x = p.x * 0.9 + a
    return sum(s.energy() for s in steps)


def twice(a, n):
    steps = []
    for i in range(n):
        p = Step(a * i, i)
        steps.append(p)
        steps.append(p)
    for s in steps:
        s.x += 1.0
    return sum(s.x for s in steps)


def an_array_that_is_written(a, n):
    u, steps = np.array([1.0, 2.0]) * a, []
    for i in range(n):
        u *= 0.99
        steps.append(Step(u, i))
    return sum(s.x[0] * s.k for s in steps)


def told_apart(a, n):
    steps = []
    for i in range(n):
        steps.append(Step(a * i, i))
    return a if steps[-1] is steps[n - 1] else 2.0 * a


def of_two_types(a, n):
    steps = []
    for i in range(n):
        p = Step(a * i, i)
        p.v = None if i % 2 else 1.0
        steps.append(p)
    return sum(s.x for s in steps if s.v is None)


REFUSED = [
    changed_afterwards, changed_in_the_next_pass, changed_by_an_attribute, changed_after_a_branch,
    changed_under_the_name_of_a_loop, one_again_and_again, twice, an_array_that_is_written,
    told_apart, of_two_types,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_is_changed_or_told_apart_runs_the_plain_way(f) -> None:
    with pytest.raises(Unfit):
        read_function(f, [type_of(0.3), type_of(MANY)], given=(0.3, MANY))
    value, g = value_and_grad(f, 0)(0.3, MANY)
    found, h = value_and_grad(f, 0, compile=True)(0.3, MANY)
    assert_allclose([found, value], f(0.3, MANY), rtol=1e-12)
    assert_allclose(h, g, rtol=1e-12)


def test_few_may_be_changed() -> None:
    for f in (changed_afterwards, changed_in_the_next_pass, twice):
        read_function(f, [type_of(0.3), type_of(5)], given=(0.3, 5))
        found, h = value_and_grad(f, 0, compile=True)(0.3, 5)
        assert_allclose((found, h), value_and_grad(f, 0)(0.3, 5), rtol=1e-12)


def test_a_class_that_changes_is_noticed(monkeypatch) -> None:
    f = value_and_grad(made_by_comprehension, 0, compile=True)
    f(0.3, MANY)
    monkeypatch.setattr(Step, "rate", 0.25)
    assert_allclose(f(0.3, MANY), value_and_grad(made_by_comprehension, 0)(0.3, MANY), rtol=1e-12)
    monkeypatch.setattr(Step, "energy", lambda self: self.x)
    assert_allclose(f(0.3, MANY), value_and_grad(made_by_comprehension, 0)(0.3, MANY), rtol=1e-12)
