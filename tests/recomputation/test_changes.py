"""The log of a first run: random changes of containers are undone, and it stays short."""
# ruff: noqa: B023

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest

from mooncake_py import checkpoint
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
