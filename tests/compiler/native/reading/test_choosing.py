"""Names that stand for one of several things, which is known only when the code runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain
X = np.array([0.31, 0.72, 0.45, 1.23])


class Disc:
    def __init__(self, r):
        self.r = r
        self.pos = np.array([r, 2.0 * r])

    def area(self):
        return 3.0 * self.r**2

    def grow(self, k):
        self.r = self.r * k

    def twin(self):
        return Disc(self.r * 1.5)


class Box:
    def __init__(self, a, b):
        self.a = a
        self.b = b
        self.pos = np.array([b, a])

    def area(self):
        return self.a * self.b

    def grow(self, k):
        self.a *= k

    def twin(self):
        return Box(self.a, self.b * 0.5)


class Square(Box):
    def __init__(self, a):
        super().__init__(a, a)

    def area(self):
        return super().area() * 1.25


def shapes_of(x):
    return [Disc(x[0]), Box(x[1], x[2]), Square(x[3])]


# Made on sides of branches, or chosen by an index.


def made_on_sides(x):
    if x[0] > 0.3:
        s = Disc(x[1])
    elif x[1] > 0:
        s = Square(x[2])
    else:
        s = None
    if s is None:
        return x[0]
    s.grow(x[3])
    kind = 2.0 if isinstance(s, Box) else 3.0
    return s.area() * kind + (1.0 if type(s) is Square else 0.5) * x[0]


def by_index(x):
    shapes = shapes_of(x)
    total = 0.0
    for i in range(7):
        k = int(10.0 * abs(math.sin(i + x[0]))) % 3
        s = shapes[k - 1]
        s.grow(1.0 + 0.1 * x[i % 4])
        total += shapes[k - 1].area() * (2.0 if s is shapes[0] else 1.0)
    return total + shapes[0].r * shapes[1].a + shapes[2].a


def written_arrays(x):
    shapes = shapes_of(x)
    total = 0.0
    for i in range(6):
        s = shapes[int(4.0 * abs(math.cos(i * x[1]))) % 3]
        p = s.pos
        p += x[:2] * 0.1
        p[0] = p[1] * x[2]
        s.pos[1] *= 1.1
        total += (s.pos @ x[2:]) + float(np.sum(p**2)) + p[0]
    return total + shapes[0].pos[0] * shapes[1].pos[1] + np.sum(shapes[2].pos)


def new_ones(x):
    s = shapes_of(x)[0 if x[0] > 0.5 else 1]
    t = s.twin()
    s.grow(2.0)
    t.grow(x[3])
    return s.area() * t.area()


def seen_by_other_names(x):
    a, b = Disc(x[0]), Disc(x[1])
    kept = [a, b]
    chosen = a if x[2] > 0.4 else b
    other = b if chosen is a else a
    chosen.grow(x[3])
    other.r += kept[0].r
    return a.r * b.r + kept[1].area()


def of_text_and_functions(x):
    mode = "fast" if x[0] > 0.3 else "slow"
    f = math.sin if x[1] > 1.0 else (lambda t: t**2)
    rate = {"fast": 2.0, "slow": 3.0}
    total = f(x[2])
    if mode == "fast" and x[3] > 0:
        total += rate["fast"] * x[0]
    return total + (x[1] if mode != "slow" else 0.0)


def in_structures(x):
    table = {"best": None, "all": []}
    for s in shapes_of(x):
        if table["best"] is None or s.area() > table["best"].area():
            table["best"] = s
    pair = (table["best"], x[0])
    s, weight = pair
    s.grow(weight)
    return table["best"].area()


class Keeper:
    def __init__(self):
        self.best = None
        self.calls = 0

    def offer(self, t, s):
        if self.best is None or t < self.best[0]:
            self.best = (t, s)

    def reset(self):
        self.best = None


def rebound_by_a_method(x):
    keeper, total = Keeper(), 0.0
    shapes = shapes_of(x)
    for i in range(9):
        for s in shapes:
            keeper.offer(math.sin(s.area() * (i + 1)), s)
        if keeper.best is not None and keeper.best[0] < -0.5:
            total += keeper.best[0] * keeper.best[1].area()
            keeper.reset()
            if keeper.best is None:
                total += x[0]
    return total


@pytest.mark.parametrize(
    "f",
    [
        made_on_sides, by_index, written_arrays, new_ones, seen_by_other_names,
        of_text_and_functions, in_structures, rebound_by_a_method,
    ],
)  # fmt: skip
def test_choices(f, tried):
    agrees_compiled(f, tried, X)
    agrees(f, X[::-1].copy())
    agrees(f, 1.3 * X - 0.35)


# In loops that stay loops.


def best_so_far(x, n):
    best = None
    for i in range(n):
        t = math.sin(3.0 * x[i % 4] * (i + 1)) + 0.01 * i
        if best is None or t < best[0]:
            old = best
            best = (t, i)
            if old is not None:
                best = (best[0] + 0.01 * old[0], old[1])
    return best[0] ** 2 * x[best[1] % 4]


def on_and_off(x, n):
    state, total = None, 0.0
    for i in range(n):
        if state is None:
            state = x[i % 4]
            continue
        total += state * x[(i + 1) % 4]
        if total > 2.0:
            break
        state = None if i % 3 == 1 else state * 0.5
    return total + (0.0 if state is None else state)


def exchanged(x, n):
    a, b, c = Disc(x[0]), Box(x[1], x[2]), x[3]
    for i in range(n):
        if math.sin(i + x[0]) > 0:
            a, b = b, a
        a.grow(1.01)
        c += a.area() * 0.1
    return c * b.area()


class Up(NamedTuple):
    rate: float


class Down(NamedTuple):
    rate: float
    since: int


def follow(state, y, i, x):
    match state:
        case Up(rate) if y > 1.0:
            return Down(rate * x[1], i)
        case Down(rate, since) if y < 0.4 and i - since > 2:
            return Up(rate * x[2] + 1.0)
        case _:
            return state


def machine(x, n):
    state, y = Up(x[0]), 0.3
    for i in range(n):
        y = y + 0.1 * (state.rate if isinstance(state, Up) else -state.rate)
        state = follow(state, y, i, x)
    return y + state.rate


def first_above(shapes, limit, n):
    for i in range(n):
        s = shapes[i % 3]
        s.grow(1.1)
        if s.area() > limit:
            return s
    return None


def returned(x, n):
    found = first_above(shapes_of(x), 1.5 * x[3], n)
    if found is None:
        return x[0]
    found.grow(2.0)
    return found.area()


class Cached:
    def __init__(self, x):
        self.x = x
        self.table = None

    def get(self):
        if self.table is None:
            self.table = np.exp(self.x)
        return self.table


def cached(x, n):
    model, total = Cached(x), 0.0
    for i in range(n):
        total += model.get()[i % 4]
        if total > 6.0:
            model.table = None
            total *= 0.5
    return total


@pytest.mark.parametrize("f", [best_so_far, on_and_off, exchanged, machine, returned, cached])
def test_choices_in_loops(f, tried):
    agrees_compiled(f, tried, X, 40)
    agrees(f, X[::-1].copy(), 41)
    agrees(f, X, 3)


# Programs.


@dataclass
class Node:
    feature: int = 0
    threshold: float = 0.0
    left: Any = None
    right: Any = None
    value: float = 0.0


def predict(node, row):
    while node.left is not None:
        node = node.left if row[node.feature] < node.threshold else node.right
    return node.value


def forest(x, tree, rows):
    total = 0.0
    for row in rows:
        total += (predict(tree, row * x[:3]) - x[3]) ** 2
    return total


def tree():
    low = Node(1, 0.4, Node(value=1.0), Node(2, 0.2, Node(value=2.0), Node(value=-1.0)))
    return Node(0, 0.25, low, Node(2, 0.5, Node(value=3.0), Node(value=0.5)))


@dataclass
class Agent:
    wealth: float
    need: float

    def urgency(self):
        return self.need / (0.1 + self.wealth)


def priority(x, n):
    agents = [Agent(x[0], 1.0), Agent(x[1], 2.1), Agent(x[2], x[3])]
    for _ in range(n):
        poor = max(agents, key=lambda a: a.urgency())
        rich = min(agents, key=lambda a: (a.urgency(), a.wealth))
        if poor is rich:
            break
        gift = 0.1 * rich.wealth
        rich.wealth -= gift
        poor.wealth += gift
    return sum(a.wealth * a.urgency() for a in agents) + poor.wealth


class Wall:
    def __init__(self, at):
        self.at = at

    def time(self, y, v):
        t = (self.at - y) / v if v != 0.0 else math.inf
        return t if t > 1e-9 else None

    def bounce(self, v):
        return -0.9 * v


class Spring(Wall):
    def bounce(self, v):
        return -0.8 * v * self.at


def collisions(x, n):
    walls = [Wall(-x[0]), Spring(x[3]), Wall(2.0)]
    y, v, clock = 0.0, x[1], 0.0
    for _ in range(n):
        event = None
        for w in walls:
            t = w.time(y, v)
            if t is not None and (event is None or t < event[0]):
                event = (t, w)
        if event is None:
            break
        t, w = event
        y, clock = y + t * v, clock + t
        v = w.bounce(v)
    return y * v + 0.1 * clock


def test_programs(tried):
    rows = np.array([[0.2, 0.5, 0.3], [0.9, 0.1, 0.4], [0.5, 0.7, 0.8], [0.1, 2.0, 0.1]])
    agrees_compiled(forest, tried, X, tree(), rows)
    agrees_compiled(priority, tried, X, 4)
    agrees_compiled(collisions, tried, X, 15)


# What a later call brings, and what raises.


def of_passed(x, shapes, k):
    s = shapes[k]
    s.grow(x[0])
    return s.area() + sum(t.area() for t in shapes)


def test_another_structure_is_noticed(tried):
    g = value_and_grad(of_passed, compile=True)
    for k, shapes in (
        (0, [Disc(2.0), Box(1.0, 3.0)]), (1, [Disc(2.0), Box(1.0, 3.0)]),
        (1, [Box(1.0, 3.0), Disc(0.5)]), (2, [Disc(2.0), Box(1.0, 3.0), Square(1.5)]),
        (-1, [Square(2.0), Disc(3.0)]),
    ):  # fmt: skip
        value, slope = g(X.copy(), shapes, k)
        expected, exact = value_and_grad(of_passed)(X.copy(), shapes, k)
        assert_allclose(value, expected, rtol=1e-13)
        assert_allclose(slope, exact, rtol=1e-12)
        assert not hasattr(shapes[0], "a") or shapes[0].a in (1.0, 2.0)
    both = Disc(1.2)
    assert_allclose(g(X.copy(), [both, both], 1)[0], of_passed(X.copy(), [Disc(1.2)] * 2, 1))
    with pytest.raises(IndexError):
        g(X.copy(), [Disc(2.0), Box(1.0, 3.0)], 2)


def unguarded(x):
    s = Disc(x[1]) if x[0] > 0.3 else None
    return s.area() * x[2]


def too_many(x, n):
    discs = [Disc(x[0] * k) for k in range(20)]
    return discs[n].area()


def test_what_raises_in_python_raises():
    g = value_and_grad(unguarded, compile=True)
    assert_allclose(g(X.copy())[1], value_and_grad(unguarded)(X.copy())[1])
    assert report(unguarded)[0].found == "compiled"
    with pytest.raises(AttributeError):
        g(X[:3] * 0.1)


# Arrays of objects that one side makes, and views.


class Pair:
    def __init__(self, a):
        self.a = a
        self.b = a

    def shift(self, k):
        self.a[0] += k


def shared_within(x):
    if x[0] > 0.3:
        y = x * 2.0
        s = Pair(y)
    else:
        y = x * 3.0
        s = None
    if s is not None:
        s.shift(x[1])
        return s.b[0] * y[0] + y[1]
    return y[0]


def viewed(x):
    shapes = shapes_of(x)
    s = shapes[int(10.0 * x[1]) % 3]
    v = s.pos[1:]
    v[0] = 7.0 * x[0]
    m = s.pos.reshape(2, 1)
    m[0, 0] *= x[2]
    return np.sum(s.pos**2) + shapes[0].pos[1] + shapes[1].pos[0]


def two_branches(x):
    if x[0] > 0.3:
        y = x * 2.0
        y[1] += 0.5
        return y
    if x[1] > 0:
        return x * 3.0
    raise ValueError


def of_two_branches(x):
    return np.sum(two_branches(x) ** 2)


@pytest.mark.parametrize("f", [shared_within, viewed, of_two_branches])
def test_arrays_keep_their_names(f):
    agrees(f, X)
    agrees(f, X[::-1].copy())
    agrees(f, 1.3 * X - 0.15)
