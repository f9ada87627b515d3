"""Cycles that a checkpointed part has made and left, with sets and generators of active objects."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, checkpointed, grad, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError
from mooncake_py.recomputation.unreachable import unreachable
from tests.programs.ways import WAYS

X = np.array([3.0, 2.0])


class Node:
    def __init__(self, data: Any, before: Any = ()) -> None:
        self.data, self.grad, self.before = data, 0.0, set(before)
        self.push: Any = lambda: None


class Value(Node):
    """A number of an engine of reverse mode."""

    def __mul__(self, other: Any) -> Any:
        out = Value(self.data * other.data, (self, other))

        def push() -> None:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.push = push
        return out

    def backward(self) -> None:
        order: list[Any] = []
        seen: set[Any] = set()

        def visit(v: Any) -> None:
            if v not in seen:
                seen.add(v)
                for part in v.before:
                    visit(part)
                order.append(v)

        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v.push()


def by_hand(x: Any) -> Any:
    a, b = Value(x[0]), Value(x[1])
    (a * b * a).backward()
    return a.grad * b.grad


class World:
    def __init__(self) -> None:
        self.now, self.count, self.queue = 0.0, 0, []

    def start(self, process: Any, delay: Any = 0.0) -> None:
        self.count += 1
        heapq.heappush(self.queue, (self.now + delay, self.count, process))

    def run(self, until: float) -> None:
        while self.queue[0][0] < until:
            self.now, _, process = heapq.heappop(self.queue)
            self.start(process, next(process))


def simulation(x: Any) -> Any:
    world, total = World(), [0.0]

    def arrivals(rate: Any) -> Any:
        while True:
            total[0] += rate * world.now
            yield rate

    world.start(arrivals(x[0]))
    world.start(arrivals(x[1]))
    world.run(7.5)
    return total[0]


def graph(x: Any) -> Any:
    a, b, c = Node(x[0]), Node(x[1]), Node(x[0] * x[1])
    for p, q in ((a, b), (b, c), (a, c)):
        p.before.add(q)
        q.before.add(p)
    return sum(p.data * q.data for p in (a, b, c) for q in sorted(p.before, key=lambda v: v.data))


@pytest.mark.parametrize("f", [by_hand, simulation, graph])
@pytest.mark.parametrize("debug", [False, True])
def test_what_nothing_leads_to_does_not_leave(f: Any, debug: bool) -> None:
    value, expected = value_and_grad(f)(X)

    def again(x: Any) -> Any:
        return checkpoint(f, x) + checkpoint(lambda x: 2.0 * f(x), x)

    y, g = value_and_grad(again, debug=debug)(X)
    assert y == 3.0 * value
    assert_allclose(g, 3.0 * expected, rtol=1e-13)
    assert_allclose(vjp(again, X)[1](1.0)[0], 3.0 * expected, rtol=1e-13)


KEPT: list[Any] = []


def kept_outside(x: Any) -> Any:
    node = Node(x[0])
    node.before.update((node, Node(x[1])))
    KEPT.append(node)
    return node.data


def returned(x: Any) -> Any:
    node = Node(x[0])
    node.before.add(node)
    return node


@pytest.mark.parametrize("f", [kept_outside, returned])
def test_what_something_leads_to_leaves(f: Any) -> None:
    with pytest.raises(DerivativeDropError, match="leaves a part that is checkpointed"):
        grad(lambda x: checkpoint(f, x) is not None)(X)
    assert KEPT == []


def test_only_what_nothing_else_leads_to_is_unreachable() -> None:
    held, left = [Node(1.0), Node(2.0)], Node(3.0)
    for node in (*held, left):
        node.before.update((node, held[0]))
    record = [(None, node) for node in (*held, left)]
    key = id(left)
    del node, left
    found = unreachable(record)
    assert key in found
    assert found.isdisjoint(map(id, held))
    assert id(held[0].before) not in found


def sums_of_larger_ones(y: Any, a: Any) -> Any:
    t = a * 0.5
    q = [a] * 3  # a number from outside, in a list that generators hold until they are collected
    for i in range(3):
        q[0] += math.atan(t * y[i])
        t %= 2.0 + sum(u * 0.1 for u, w in zip(y, q) if u > w) * q[0]  # noqa: B905
    return np.sin(t)


def test_a_number_from_outside_in_a_list_of_the_first_run() -> None:
    def steps(*args: Any) -> Any:
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = sums_of_larger_ones(*args)
        return s

    y = np.array([0.3, 0.2, 0.1])
    expected, expected_of_a = grad(sums_of_larger_ones, (0, 1))(y, 0.7)
    _, (found, found_of_a) = WAYS["unfused"](steps, (0, 1), [y, 0.7])
    assert_allclose(found, expected, rtol=1e-13)
    assert_allclose(found_of_a, expected_of_a, rtol=1e-13)
