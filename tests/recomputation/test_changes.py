"""The log of a first run: random changes of containers are undone, and it stays short."""
# ruff: noqa: B023

from __future__ import annotations

import random
from collections import deque
from copy import deepcopy
from functools import cached_property
from typing import Any

import pytest

from mooncake_py import checkpoint, checkpointed, jvp, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


def change_list(v: list[Any], r: random.Random) -> None:
    k = r.randrange(7)
    if k == 0:
        v.append(r.random())
    elif k == 1 and v:
        v[r.randrange(len(v))] = r.random()
    elif k == 2 and v:
        v.pop(r.randrange(len(v)))
    elif k == 3:
        v.insert(r.randrange(len(v) + 1), r.random())
    elif k == 4:
        v += [1, 2]
    elif k == 5 and v:
        del v[r.randrange(len(v)) :]
    else:
        v.reverse()


def change_dict(d: dict[Any, Any], r: random.Random) -> None:
    k, key = r.randrange(5), r.randrange(5)
    if k == 0:
        d.pop(key, None)
    elif k == 1 and d:
        d.popitem()
    elif k == 2:
        d.update({key: 1, key + 1: 2})
    else:
        d[key] = r.random()


def change_object(o: Any, r: random.Random) -> None:
    name = r.choice("abc")
    if r.randrange(3) == 0 and hasattr(o, name):
        delattr(o, name)
    elif r.randrange(3) == 0:
        o.__dict__[name] = r.random()
    else:
        setattr(o, name, r.random())


def change_deque(d: deque[Any], r: random.Random) -> None:
    k = r.randrange(5)
    if k == 0 and d:
        d.popleft()
    elif k == 1 and d:
        d[r.randrange(len(d))] = r.random()
    elif k == 2:
        d.rotate(1)
    else:
        d.append(r.random())


def change_set(s: set[Any], r: random.Random) -> None:
    (s.add if r.randrange(2) else s.discard)(r.randrange(6))


KINDS: dict[str, Any] = {
    "list": (change_list, lambda: [1.0, 2.0, 3.0], list),
    "dict": (change_dict, lambda: {1: 1.0, 2: 2.0}, lambda d: list(d.items())),
    "object": (change_object, lambda: Point(1.0), lambda o: list(vars(o).items())),
    "deque": (change_deque, lambda: deque([1.0, 2.0], maxlen=4), list),
    "set": (change_set, lambda: {1, 2}, sorted),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("steps", [3, 12, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_random_changes_are_undone_and_logged_in_bounds(kind: str, steps: int) -> None:
    change, make, contents = KINDS[kind]
    for seed in range(3 if steps > 100 else 10):
        ctx = ReverseContext()
        first, second = make(), make()

        def run(r):
            for _ in range(steps):
                change(first, r)
                change(second, r)
                change(make(), r)

        ctx.call(checkpoint, run, random.Random(seed))
        assert len(ctx.tape) < 60
        ctx.roll_back()
        assert contents(first) == contents(make())
        assert contents(second) == contents(make())


# Attributes that are written by themselves and through the dict that holds them.


class Counter:
    def __init__(self, v: Any = 1.0) -> None:
        self.v = v
        self.n = 0

    @cached_property
    def square(self) -> Any:
        self.n += 1
        return self.v * self.v

    def __enter__(self) -> None:
        self.old = self.n
        self.n = 5

    def __exit__(self, *error: object) -> None:
        self.n = self.old + 1
        del self.old


def written_through_the_dict(o: Any, x: Any) -> Any:
    for i in range(3):
        o.n += 1
        if i == 1:
            o.__dict__["m"] = x
    return x * o.m


def new_and_old(o: Any, x: Any) -> Any:
    for each in (new := Counter(x), new, o):
        each.n = each.n + 2
        each.__dict__["e"] = x * each.n
    return vars(new)["e"] * vars(o)["e"]


def cached(o: Any, x: Any) -> Any:
    y = 1.0
    for _ in range(3):
        y = y * Counter(x).square
        o.v = x * y
        y = y + o.square
        del o.square
    return y


def entered(o: Any, x: Any) -> Any:
    for _ in range(3):
        o.v = o.v * x
        with o:
            pass
    return o.v * o.n


def copied(o: Any, x: Any) -> Any:
    y = x
    for _ in range(3):
        other = deepcopy(o)
        o.n += 1
        o.v = other.v = o.v * x
        y = y + other.v * o.n
    return y


def replaced(o: Any, x: Any) -> Any:
    for _ in range(2):
        o.__dict__ = dict(o.__dict__, v=o.v * x)
        o.n += 1
    return o.v * o.n


WRITING = [written_through_the_dict, new_and_old, cached, entered, copied, replaced]


@pytest.mark.parametrize("f", WRITING)
@pytest.mark.parametrize("held", [False, True])
def test_attributes_written_through_their_dict(f: Any, held: bool) -> None:
    o = Counter()
    fields = vars(o) if held else None
    before = dict(vars(o))

    def steps(x: Any) -> Any:
        for _ in checkpointed(range(3), slots=1):
            x = f(o, x) * 0.1
        return x

    def nested(x: Any) -> Any:
        return checkpoint(lambda x: checkpoint(lambda x: f(o, x), x), x) + f(o, x)

    for g in (lambda x: checkpoint(lambda x: f(o, x), x) * 1.0, nested, steps):
        value, slope = value_and_grad(g)(1.5)
        assert vars(o) == before
        assert not held or vars(o) is fields
        y, along = jvp(g, (1.5,), (1.0,))
        assert (y, along) == pytest.approx((value, slope))
        assert vars(o) == before
