"""Generators, zips and other iterators, and what takes their items."""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from typing import Any

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()
OUTSIDE: list[Any] = [1.0, 2.0, 3.0]


def counted(items, seen):
    for item in items:
        seen.append(item)
        yield item


class Steps:
    """An iterator that goes on after its end."""

    def __init__(self, x):
        self.x, self.n, self.asked = x, 0, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        self.n += 1
        if self.n % 3 == 0:
            raise StopIteration
        return self.x * self.n


class Other:
    def __init__(self, x):
        self.x = x

    def __radd__(self, o):
        return Other(self.x + o) if not isinstance(o, Other) else NotImplemented

    def __add__(self, o):
        return Other(self.x + (o.x if isinstance(o, Other) else o))

    def __gt__(self, o):
        return self.x > o.x

    def __lt__(self, o):
        return self.x < o.x


@program
def sum_of_generator(x):
    return sum(v * x for v in [x, 2.0, 3]) + sum((v for v in [x, x * x]), x) + sum([x], start=2.0)


@program
def sum_of_nothing(x):
    return x * (1 + sum(v for v in []) + sum([])) + sum([], x)


@program
def sum_of_numbers_then_objects(x):
    return sum([x, 2, Other(x), x, Other(2.0)]).x + sum(Other(x * k) for k in range(3)).x


@program
def sum_of_lists(x):
    return sum([[x], [x * x]], [2.0])[1] + sum([(x,), (2.0,)], ())[0]


@program
def sum_that_changes_its_list(x):
    items: list[Any] = []

    class Growing:
        def __radd__(self, o):
            items.append(x * x)
            return o + 1.0

    items += [x, Growing(), x]
    return sum(items)


@program
def sum_of_texts(x):
    return sum([x], "a")


@program
def sum_of_a_text(x):
    return sum(["a", x])


@program
def sum_asks_as_often_as_python(x):
    steps = Steps(x)
    return sum(steps) + 10 * sum(steps) + steps.asked * x


@program
def sum_of_complex_numbers(x):
    return sum([x, 1j * x, 2.0]).real


@program
def sum_of_rows(x):
    return sum(np.array([[x, 2.0], [3.0, x]]))[1] * sum(np.array([x, x * x]))


@program
def sums_of_numpy_numbers(x):
    return sum([np.float64(2.0) * x, np.float32(0.5), np.int64(3), True, x])


@program
def sum_that_overflows(x):
    return sum([10**400, x])


@program
def sum_of_too_much(x):
    return sum([x], 1, 2)


@program
def extremes(x):
    a = max(x, 1.0) * min(x, x * x, 5) + max([x, 2.5, x * 2]) + min(v * x for v in [3.0, 1.5])
    return a + max([], default=x) + max("a", "bb", key=len).__len__() * x


@program
def extremes_by_key(x):
    pairs = [("a", x), ("b", x * x), ("c", 0.1)]
    return max(pairs, key=lambda p: p[1])[1] + min(pairs, key=lambda p: -p[1])[1]


@program
def first_of_equal_items(x):
    return max(x, x * 1.0) + max([1.0 * x, x]) + min(x + 0.0, AT_ONE * x)


AT_ONE = 1.0


@program
def extremes_of_objects(x):
    return max(Other(x), Other(x * x)).x + min([Other(2.0), Other(x)]).x


@program
def extreme_of_nothing(x):
    return max([]) * x


@program
def extreme_of_no_argument(x):
    return max() * x


@program
def extreme_with_a_default_for_two(x):
    return min(x, 2.0, default=1.0)


@program
def extreme_of_a_number_and_a_text(x):
    return max(x, "a")


@program
def extreme_with_a_key_that_raises(x):
    seen = []
    try:
        max([x, 2.0, 3.0], key=lambda v: seen.append(v) or 1 / (len(seen) - 2))
    except ZeroDivisionError:
        return x * len(seen) + seen[0]


@program
def sorted_items(x):
    items = sorted([x * x, x, 0.5]) + sorted((v * x for v in [2.0, 1.0]), reverse=True)
    return items[0] + 2 * items[1] + 3 * items[2] + 4 * items[3] + 5 * items[4]


@program
def sorted_by_key(x):
    rows = sorted([("b", x), ("a", x * x), ("b", 1.0)], key=lambda r: r[0])
    return rows[0][1] + 2 * rows[1][1] + 3 * rows[2][1] + sorted([Other(x), Other(0.1)])[1].x


@program
def sorted_by_objects_that_write(x):
    seen = []

    class Key:
        def __init__(self, v):
            self.v = v

        def __lt__(self, o):
            seen.append(self.v)
            return self.v < o.v

    return sorted([x, 2.0], key=Key)[0]


@program
def sorted_by_things_without_order(x):
    return sorted([x, "a"])[0]


@program
def consumers_of_generators(x):
    a = tuple(v * x for v in (x, 2.0))
    b = list(v + x for v in a)  # noqa: C400
    d = dict((k, v * x) for k, v in zip("ab", b))  # noqa: B905, C402
    s = {k for k in d}  # noqa: C416
    return a[0] * b[1] + d["a"] * len(s) + any(v > 1 for v in a) * x + all(v > 5 for v in b) * x


@program
def generators_are_lazy(x):
    seen: list[Any] = []
    any(v > x - 1 for v in counted([x, 2.0, 3.0], seen))
    next(v * x for v in counted([x, 2.0], seen))
    return x * len(seen) + seen[-1]


@program
def generator_closed_early(x):
    seen: list[Any] = []

    def steps():
        try:
            yield x
            yield x * x
        finally:
            seen.append(x * 3)

    for v in steps():
        break
    g = steps()
    next(g)
    g.close()
    return v + sum(seen)  # noqa: F821


@program
def generator_that_raises_in_the_middle(x):
    def steps():
        yield x
        raise ValueError("no more")

    total = 0.0
    try:
        total = sum(steps())
    except ValueError:
        total += 2 * x
    for v in itertools.islice(steps(), 1):
        total += v * x
    return total


@program
def generator_that_is_sent_values(x):
    def running():
        total = 0.0
        while True:
            v = yield total
            if v is None:
                return
            total = total + v * x

    g = running()
    next(g)
    g.send(x)
    return g.send(2.0)


@program
def generators_from_generators(x):
    def inner():
        got = yield from (v * x for v in [1.0, 2.0])
        yield got
        return x

    def outer():
        found = yield from inner()
        yield found

    return sum(v for v in outer() if v is not None)


@program
def zips(x):
    a, b = [x, 2.0, 3.0], (x * x, x)
    total = sum(p * q for p, q in zip(a, b))  # noqa: B905
    for i, (p, q) in enumerate(zip(a, b), start=2):  # noqa: B905
        total = total + i * p * q
    for k, (p, _), *rest in zip("ab", zip(a, b), a, a):  # noqa: B905
        total = total + len(k) * p * rest[0] * rest[1]
    return total


@program
def zips_of_generators_and_arrays(x):
    v = np.array([x, 2.0 * x])
    total = sum(p * q for p, q in zip(v, (w * x for w in v)))  # noqa: B905
    for p, q in zip(map(lambda w: w * x, [1.0, x]), reversed([x, 3.0])):  # noqa: B905, C417
        total = total + p * q
    return total + sum(p for (p,) in zip(v)) + sum(i * p for i, p in enumerate(v))  # noqa: B905


@program
def zip_over_a_list_that_grows(x):
    items, total = [x, 2.0], 0.0
    for p, q in zip(items, items):  # noqa: B905
        if len(items) < 5:
            items.append(p * x)
        total = total + p * q
    return total


@program
def one_iterator_twice(x):
    it = iter([x, 2.0, 3.0, x])
    pairs = list(zip(it, it))  # noqa: B905
    return sum(p * q for p, q in pairs)


@program
def iterators_of_vectors_in_a_list(x):
    v = np.array([x, 2.0])
    total = 0.0
    for it, w in zip([iter(v), iter(v * x)], [1.0, x]):  # noqa: B905
        total = total + next(it) * w
    return total + sum(next(it) for it in [iter(v)])


@program
def zips_of_unequal_lengths(x):
    return sum(p * q for p, q in zip([x], [x, 2.0], strict=True))


@program
def pairs_of_wrong_length(x):
    total = 0.0
    for p, q in [(x, 2.0), (x, 2.0, 3.0)]:
        total = total + p * q
    return total


@program
def pairs_of_all_kinds(x):
    class Pair:
        def __init__(self, *items):
            self.items = items

        def __iter__(self):
            yield from self.items

    total = 0.0
    for p, q in [(x, 2.0), [x, x], Pair(x, 3.0), "ab", {1: 2, 3: 4}, np.array([x, 2.0])]:
        total = total + (p * q if not isinstance(p, str) else x)
    return total


@program
def filters_and_maps(x):
    kept = list(filter(lambda v: v > 1, [x, 0.5, x * x])) + list(filter(None, [0.0, x]))
    return sum(map(lambda a, b: a * b, kept, [1.0, 2.0, 3.0])) + sum(map(float, [x, 1]))


@program
def map_that_changes_its_function(x):
    def f(v):
        return v * x

    total = 0.0
    for i, v in enumerate(map(f, [1.0, 2.0, 3.0])):
        total = total + v
        if i == 0:
            f.__code__ = (lambda v: v * 10.0).__code__
    return total * x


@program
def maps_made_outside_are_seen(x):
    return sum(MAPPED_ONCE.setdefault("m", map(abs, OUTSIDE))) * x


MAPPED_ONCE: dict[str, Any] = {"m": (1.0, 2.0)}


@program
def own_iterators(x):
    steps = Steps(x)
    total = 0.0
    for v in steps:
        total = total + v
    for v in steps:  # it goes on
        total = total + v * v
    return total + next(steps) * steps.asked + next(Steps(x), 0.0)


@program
def iterator_whose_step_is_replaced(x):
    class Own(Steps):
        pass

    total = 0.0
    for i, v in enumerate(Own(x)):
        total = total + v
        if i == 0:
            Own.__next__ = lambda self: Steps.__next__(self) * x  # type: ignore[method-assign]
    return total


@program
def sequences_by_index(x):
    class Row:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return x * i

        def __len__(self):
            return 3

    return sum(Row()) + sum(v for v in reversed(Row())) + max(Row())


@program
def reversed_and_views(x):
    d = {"a": x, "b": x * x}
    total = sum(reversed([x, 2.0])) + sum(d.values()) + sum(v * len(k) for k, v in d.items())
    for k in reversed(d):
        total = total * 1.5 + d[k]
    return total + sum(v for v in deque([x, 1.0])) + sum(k for k in {1, 2}) * x


@program
def view_whose_dict_grows(x):
    d = {"a": x}
    for k, v in d.items():
        d["b"] = v * len(k)
    return d["a"]


@program
def comprehensions_short_and_long(x):
    total = 0.0
    for n in (0, 1, 2, 3, 30, 200):
        items = [x * 0.1 * k for k in range(n)]
        total = total + sum(v * v for v in items) + sum([v for v in items if v > 1.0])
        total = total + len([v for v in items if v > 2.0]) * x
        total = total + max((v for v in items), default=x)
    return total


@program
def nested_generators(x):
    rows = [[x, 2.0], [3.0, x], []]
    return sum(v * x for row in rows for v in row) + sum(sum(v for v in row) * x for row in rows)


@program
def unpacking(x):
    a, b = x, 2.0
    a, b = b, a
    (c, (d, e)), *rest = (a, [b, x]), 3.0, x
    f, *g, h = range(5)
    return a * b + c * d * e + sum(rest) + f + sum(g) * h * x


@program
def unpacking_too_few(x):
    a, b = [x]
    return a * b


@program
def unpacking_nested_too_many(x):
    a, (b, c) = x, (1.0, 2.0, 3.0)
    return a * b * c


@program
def accumulations(x):
    total = sum(itertools.accumulate([x, 2.0, x])) + sum(itertools.accumulate([x, x], max))
    total = total + functools.reduce(lambda p, q: p * q, [x, 2.0, x])
    return total + math.prod([x, 2.0]) + sum(a * b for a, b in itertools.pairwise([x, 2.0, x]))


@program
def chains_and_products(x):
    total = sum(itertools.chain([x], (2.0,), (v * x for v in [1.0])))
    total = total + sum(a * b for a, b in itertools.product([x, 2.0], repeat=2))
    longest = itertools.zip_longest([x, 2.0], [x], fillvalue=x * x)
    return total + sum(a * b for a, b in longest)


@program
def longest_zip_of_own_iterators(x):
    return sum(a * b for a, b in itertools.zip_longest(Steps(x), [x], fillvalue=x))


@program
def star_arguments(x):
    def f(a, b, *rest, **named):
        return a * b + sum(rest) + named.get("c", x)

    items = (v * x for v in [1.0, 2.0, 3.0])
    return f(*items) + f(*[x, 2.0], **{"c": x * x}) + max(*[x, 2.0])
