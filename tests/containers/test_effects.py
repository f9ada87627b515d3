"""What compiled code may compare, hash or print: instances found among numbers and tuples.

What their methods change is found in the functions that they name too.
"""

from __future__ import annotations

import functools
import heapq
import types
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from mooncake_py.containers.effects import (
    READING,
    changes_something,
    reachable,
    without_numbers,
    would_write,
)
from mooncake_py.errors import DerivativeDropError, MooncakeError


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


# Where a method that compiled code calls changes something.


module = types.ModuleType("users_module")
exec("seen = []\ndef log():\n    seen.append(1)\n", vars(module))


class Log:
    def __init__(self):
        self.count = 0

    def add(self):
        self.count += 1


def captured_function(seen):
    def log():
        seen.append(1)

    return lambda: log()


def captured_method(seen):
    append = seen.append
    return lambda: append(1)


def captured_object(seen):
    log = Log()
    return lambda: log.add()


def through_a_module(seen):
    return lambda: module.log()


def through_partial(seen):
    log = functools.partial(captured_function(seen))
    return lambda: log()


def only_reads(seen):
    return lambda: len(seen)


WRITERS = [captured_function, captured_method, captured_object, through_a_module, through_partial]


@pytest.mark.parametrize("make", WRITERS)
def test_writes_of_what_a_function_names_are_found(make):
    assert changes_something(make([]))


def test_functions_that_read_what_they_name_change_nothing():
    assert not changes_something(only_reads([]))


def test_functions_of_one_code_are_told_apart_by_what_they_captured():
    def made(log):
        return lambda: log()

    assert not changes_something(made(only_reads([])))
    assert changes_something(made(captured_function([])))


def iterated(log):
    class Three:
        def __init__(self):
            self.left = 3

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            log()
            return 1.0

    class Items:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return 1.0

        def __iter__(self):
            return Three()

    return Items()


def test_an_iterator_may_move_on_but_write_nothing_else():
    assert not would_write([iterated(lambda: None)], READING)
    assert would_write([iterated(captured_function([]))], READING)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("f", [np.stack, np.max, np.sort, np.linalg.norm, np.concatenate])
def test_what_an_iterator_writes_under_numpy_is_undone_or_refused(f, mode):
    seen = []
    items = iterated(captured_function(seen))
    given = [items, items] if f in (np.stack, np.concatenate) else items

    def program(x):
        f(given)
        return x * (1 + len(seen))

    expected = program(2.0)
    seen.clear()
    for _ in range(2):
        try:
            y, g = value_and_grad(program, mode=mode)(2.0)
        except MooncakeError:
            pass
        else:
            assert (y, g) == (expected, expected / 2)
        assert seen == []
