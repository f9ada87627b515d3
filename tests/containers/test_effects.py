"""What compiled code may compare, hash or print: instances found among numbers and tuples."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.containers.effects import reachable, without_numbers
from mooncake_py.errors import DerivativeDropError


class Event:
    def __init__(self, time):
        self.time = time


@dataclass
class Pair:
    first: object
    second: object = None


def test_instances_are_found_in_containers_of_every_kind():
    a, b, c, d, e = (Event(float(i)) for i in range(5))
    loop: list = [a]
    loop.append(loop)
    held = [loop, (1.0, (2, (b,))), {"k": c, d: 2}, deque([3.0, np.ones(2)]), Pair(e)]
    found = [value for value in reachable(held) if isinstance(value, Event)]
    assert sorted(value.time for value in found) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_numbers_are_left_out_by_their_types():
    assert without_numbers([1.0, 2, "a", np.ones(2), None]) == []
    assert without_numbers([(1.0, 2), (3.0, (4, np.float64(5)))]) == [(4, np.float64(5))]
    assert without_numbers([((1.0,),), ((2,), ())]) == []
    assert without_numbers([(1.0, [2]), (3.0, [4])]) == [[2], [4]]
    assert list(reachable([[(1.0, 2), (3.0, (4,))]])) == []


class Counted:
    compared = 0

    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        Counted.compared += 1
        return self.v < other.v


def test_a_queue_of_events_whose_comparison_writes_is_refused():
    def f(x):
        heap = [(1.0, 0, (x, Counted(x)))]
        heapq.heappush(heap, (1.0, 0, (x, Counted(2 * x))))
        return heapq.heappop(heap)[2][0]

    with pytest.raises(DerivativeDropError, match=r"Counted\.__lt__ changes"):
        grad(f)(2.0)
