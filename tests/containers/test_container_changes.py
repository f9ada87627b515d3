"""Changes of containers: what is undone, in which order, at what cost."""

from __future__ import annotations

import collections
import contextlib
import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from mooncake_py.modes.reverse import context
from tests.support.gradients import Program, Programs
from tests.support.pairs import rotating

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Prepending:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __radd__(self, items: Any) -> Any:
        return [v * self.v for v in items]

    def __rmul__(self, items: Any) -> Any:
        return [v + self.v for v in items]


@programs(0.7)
def sequences_ask_the_other_operand_first(x):
    v, w = [x, 2.0], [x]
    v += Prepending(x)
    w *= Prepending(x * x)
    return sum(v) + sum(w) + sum([x, 2.0] + Prepending(x)) + sum((x, 3.0) * Prepending(x))


class Recording(list[Any]):
    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.log: list[Any] = []

    def append(self, v: Any) -> None:
        self.log.append(v)
        super().append(v * 2)

    def __setitem__(self, i: Any, v: Any) -> None:
        super().__setitem__(i, v * 2)


class Doubling(dict[Any, Any]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hits = 0

    def __setitem__(self, key: Any, v: Any) -> None:
        super().__setitem__(key, v * 2)

    def __getitem__(self, key: Any) -> Any:
        self.hits += 1
        return super().__getitem__(key) * 3


class Ring(collections.deque[Any]):
    def append(self, v: Any) -> None:
        super().append(v * 2)


@programs(X)
def initializers_of_containers_take_active_elements(x):
    v, d, r = Recording(x), Doubling({"a": x[0]}, b=x[1]), Ring(x, maxlen=3)
    v.append(x[0])
    v[1] = x[2]
    d["c"] = x[2]
    r.append(x[1])
    r.appendleft(x[0] * 3)
    return v[0] * v[1] * v[3] + d["a"] * d["c"] * d.hits + r[0] * r[1] + r[2] + sum(v.log)


class Mapping:
    def __init__(self, x: Any) -> None:
        self.x = x

    def keys(self) -> Any:
        return ["a", "b"]

    def __getitem__(self, key: str) -> Any:
        return self.x * 2 if key == "a" else self.x * 3


@programs(X)
def mappings_in_python_are_read_derived(x):
    def product(a, b):
        return np.sum(a * b)

    d: dict[str, Any] = {}
    d.update(Mapping(x), c=x)
    e = {"a": 1.0, **Mapping(x), "c": x * 5}
    o = collections.OrderedDict(Mapping(x))
    y = np.sum(d["b"] * d["c"]) + np.sum(e["a"] * e["c"])
    return y + product(**Mapping(x)) + np.sum(dict(Mapping(x))["a"] * o["b"])


@programs(X)
def keys_carry_derivatives(x):
    d = dict.fromkeys(x, 1.0)
    d[x[0] * 2] = 3.0
    d.update({x[1] * 3: 4.0})
    d.setdefault(x[2] * 5, 6.0)
    return sum(key * v for key, v in d.items())


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


# Random changes are undone: elements, their identity, their order.


class Item:
    """Equal to others of the same number, so that identity matters."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.number == other.number

    def __hash__(self) -> int:
        return self.number


def change_list(v: Any, r: random.Random) -> None:
    i, j, item = r.randint(-8, 8), r.randint(-8, 8), Item(r.randint(0, 5))
    changes: list[Callable[[], Any]] = [
        lambda: v.append(item), lambda: v.insert(i, item), lambda: v.pop(), lambda: v.remove(item),
        lambda: v.reverse(), lambda: v.extend([item, item]),
        lambda: v.__setitem__(i, item), lambda: v.__delitem__(i),
    ]  # fmt: skip
    if isinstance(v, collections.deque):
        changes += [lambda: v.appendleft(item), lambda: v.popleft(), lambda: v.extendleft([item]),
                    lambda: v.rotate(i)]  # fmt: skip
    else:
        changes += [
            lambda: v.pop(i), lambda: v.sort(key=lambda e: e.number),
            lambda: v.__setitem__(slice(i, j), [item] * 2), lambda: v.__delitem__(slice(i, j)),
            lambda: v.__delitem__(slice(None, None, 2)), lambda: v.__imul__(r.randint(0, 2)),
        ]  # fmt: skip
    r.choice(changes)()


def change_dict(d: Any, r: random.Random) -> None:
    key, item = Item(r.randint(0, 8)), Item(r.randint(0, 5))
    changes: list[Callable[[], Any]] = [
        lambda: d.__setitem__(key, item), lambda: d.__delitem__(key), lambda: d.pop(key, None),
        lambda: d.popitem(), lambda: d.setdefault(key, item), lambda: d.update({key: item}),
        lambda: d.__ior__([(key, item)]),
    ]  # fmt: skip
    if isinstance(d, collections.OrderedDict):
        changes += [lambda: d.move_to_end(key), lambda: d.popitem(last=False)]
    r.choice(changes)()


def change_set(s: Any, r: random.Random) -> None:
    item = Item(r.randint(0, 8))
    changes: list[Callable[[], Any]] = [
        lambda: s.add(item), lambda: s.discard(item), lambda: s.remove(item),
        lambda: s.update([item]), lambda: s.symmetric_difference_update([item]),
        lambda: s.__ior__({item}),
    ]  # fmt: skip
    r.choice(changes)()


def items(n: int) -> list[Item]:
    return [Item(k) for k in range(n)]


CASES = {
    "list": (change_list, lambda: items(6)),
    "deque": (change_list, lambda: collections.deque(items(6))),
    "bounded deque": (change_list, lambda: collections.deque(items(6), maxlen=7)),
    "dict": (change_dict, lambda: {k: Item(9) for k in items(6)}),
    "OrderedDict": (change_dict, lambda: collections.OrderedDict((k, Item(9)) for k in items(6))),
    "set": (change_set, lambda: set(items(6))),
}


def contents(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [(id(key), id(v)) for key, v in container.items()]
    ids = [id(v) for v in container]
    return sorted(ids) if isinstance(container, set) else ids


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "seed"), rotating(CASES, range(5), times=2))
def test_random_changes_are_undone(kind: str, seed: int) -> None:
    change, make = CASES[kind]
    container = make()
    before = contents(container)
    kept = list(container)  # ids must not be reused

    def f(x, r):
        outcomes = []
        for _ in range(60):
            try:
                change(container, r)
            except (IndexError, KeyError, ValueError) as error:
                outcomes.append(type(error).__name__)
        numbers = [e.number for e in container]
        return x * 1.0, (sorted(numbers) if isinstance(container, set) else numbers) + outcomes

    (_, seen), _ = value_and_grad(f, has_aux=True)(1.0, random.Random(seed))
    assert contents(container) == before
    assert f(1.0, random.Random(seed))[1] == seen
    assert kept


def test_what_was_added_before_an_exception_is_undone_too() -> None:
    v: list[Any] = [1.0]
    d: dict[Any, Any] = {"a": 1.0}

    def failing(x):
        yield x
        raise ValueError

    def pairs(x):
        yield "b", x
        raise ValueError

    def f(x):
        for change in (lambda: v.extend(failing(x)), lambda: d.update(pairs(x))):
            with contextlib.suppress(ValueError):
                change()
        return v[1] * d["b"]

    assert grad(f)(3.0) == 6.0
    assert (v, d) == ([1.0], {"a": 1.0})


def drain_list(v: Any) -> None:
    while len(v) > 1:
        v.pop(0)


def delete_from_list(v: Any) -> None:
    while len(v) > 1:
        del v[0]


def insert_into_list(v: Any) -> None:
    for _ in range(len(v)):
        v.insert(1, 0.0)


def drain_dict(d: Any) -> None:
    for key in list(d)[1:]:
        del d[key]


def fill_set(s: Any) -> None:
    for k in range(len(s)):
        s.add(-k)


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda n: [0.0] * n, drain_list),
        (lambda n: [0.0] * n, delete_from_list),
        (lambda n: [0.0] * n, insert_into_list),
        (lambda n: dict.fromkeys(range(n)), drain_dict),
        (lambda n: set(range(n)), fill_set),
        (lambda n: collections.deque([0.0] * n, maxlen=n), lambda d: [d.append(1.0) for _ in d]),
    ],
    ids=["pop", "del", "insert", "del of dict", "add to set", "append to full deque"],
)
def test_the_record_grows_with_the_changes_not_with_their_square(make: Any, change: Any) -> None:
    if isinstance(make(1), collections.deque):
        change = append_to_full_deque
    sizes = []
    for n in (50, 100):
        ctx = context.ReverseContext()
        ctx.call(functools.partial(change, make(n)))
        sizes.append(sum(map(size_of, ctx.tape)))
    assert sizes[1] < 2.5 * sizes[0]


def append_to_full_deque(d: Any) -> None:
    for _ in range(len(d)):
        d.append(1.0)


def size_of(entry: tuple[Any, ...]) -> int:
    """Return the number of elements that an entry of the tape keeps of its own."""
    _, _, container, *kept = entry
    return 1 + sum(len(k) for k in kept if type(k) is type(container) or type(k) is list)
