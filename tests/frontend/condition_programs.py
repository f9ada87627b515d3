"""Comparisons, truth tests, boolean expressions, text and patterns: see `programs`.

What is unusual about their style is the point of them.
"""
# fmt: off
# ruff: noqa: C420, E501, E712, PT018, RUF021, SIM201, SIM300, UP031, UP032
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUnusedExpression=false, reportUnusedVariable=false
# pyright: reportIncompatibleMethodOverride=false, reportUnnecessaryComparison=false

from __future__ import annotations

from collections import OrderedDict, deque, namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.frontend.cases import case, tell

Pair = namedtuple("Pair", "left right")


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: Any
    y: Any = 0


class Told:
    """Tells of everything that is asked of it."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return tell(("bool", self.value))[1] > 0

    def __lt__(self, other):
        tell(("lt", self.value, getattr(other, "value", other)))
        return Told(self.value < getattr(other, "value", other))

    def __eq__(self, other):
        tell(("eq", self.value))
        return NotImplemented if isinstance(other, str) else self.value == getattr(other, "value", other)

    def __hash__(self):
        return hash(tell(self.value))

    def __contains__(self, item):
        return tell(Told(item - self.value))

    def __len__(self):
        return tell(3)

    def __format__(self, spec):
        return tell(f"<{spec}>")

    def __repr__(self):
        return tell("Told()")


class Shelf(Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return tell(len(self.items))

    def __getitem__(self, i):
        return tell(self.items[i])


class Table(Mapping):
    def __init__(self, **items):
        self.items_ = items

    def __len__(self):
        return tell(len(self.items_))

    def __iter__(self):
        return iter(tell(list(self.items_)))

    def __getitem__(self, key):
        tell(key)
        return self.items_[key]


@case(1, 2, 3)
@case(3, 2, 1)
@case(2, 2, 2)
def chains(a, b, c):
    found = [a < b < c, a <= b <= c, a == b == c, a < tell(b) < tell(c), a != tell(b) != c]
    found += [1 < tell(a + b) <= tell(c * 2) < 9, not a < b, not (a < b > c), a is tell(b) is not c]
    found += [a >= tell(b) >= 0, a < b is not tell(b) < 9]
    found += [tell(a) is tell(b) < 4, a in (tell(1), 2) == True, a not in [tell(b)] != [c]]
    return found, [i < j < 3 for i in range(3) for j in range(3) if i != j > 0]


@case(0, 5)
@case(2, 0)
@case("", ())
@case([1], {})
def chooses(a, b):
    c = tell(a) or tell(b)
    d = tell(a) and tell(b)
    e = tell(a) and tell(b) or tell(7)
    f = not (tell(a) and tell(b)) and (tell(b) or 1)
    g = (a or b) if (a and b) else tell(a or "z")
    return c, d, e, f, g, [v or "-" for v in (a, b) if v or b], (lambda: a or b or 3)()


@case(3)
def loops(n):
    total = 0
    while n and (m := n - 1) is not None:
        if n > 1 and not m == 1:
            total += 10
        elif n or m:
            total += 1
        else:
            total += 100
        n = m
    else:
        total += tell(5)
    assert total and not n, "never"
    return total


@case(2)
def fails_assertion(n):
    assert n < 1 or tell(n) > 5, f"{n!r:>4}"


@case(3)
def tested_objects(n):
    a, b = Told(n), Told(-1)
    found = ["yes" if a else "no", "yes" if b else "no", not a, not b, (a and b).value, (b or a).value]
    while b:
        pass
    if a and not b:
        found.append(1)
    return found, [v.value for v in (a, b) if v], bool(a), len(b), (b or tell(4)), all([a, b]), any([b])


@case(3, 4)
def compared_objects(n, m):
    a, b = Told(n), Told(m)
    found = [(a < b).value, (a < 9).value, (9 > a).value, a == b, a != b, a == 3, 3 == a, a == "x", a != "x"]
    found += [a in [b, a], b not in [a], a in (3,), n in a, m not in a, a in {n: 1}, {a: 1}[Told(n)]]
    found += [len({a, Told(n)}), {k: 1 for k in (a, b)}[a], hash(a), a is b, (a < b < 9).value]
    return found


@case(3)
def fails_comparing(n):
    return Told(n) <= n


@case(None)
def fails_containing(n):
    return 1 in n


@case(2.5, 7)
def texts(x, n):
    a = Told(n)
    found = [f"{x}", f"{x!r}", f"{x:.3f}", f"{x:>{n}.{n - 5}f}|", f"{a}", f"{a!r:>9}", f"{a:{n}}", f"{a!s}", f"{n=}"]
    return found, str(a), repr([a]), "%s %5.1f" % (a, x), "{:>4}|{!r}".format(n, a), f"{'ä'!a} {{}}", format(a, "q")


@case(1)
@case(Color.BLUE)
@case(None)
@case(True)
@case(-2.5)
@case("ab")
@case([])
@case([1])
@case((1, 2))
@case([1, 2, 3, 4])
@case(deque([1, [2, 3]]))
@case({})
@case({"a": 1})
@case(OrderedDict(a=1, b=2, c=3))
@case(Point(0, 4))
@case(Point(5))
@case(Point([1, 2], {"k": Point(1)}))
@case(Pair(1, 2))
@case(range(2))
@case(b"xy")
def matches(s):
    match tell(s):
        case None | True:
            return "constant"
        case Color.RED | Color.BLUE as color:
            return color
        case -2.5 | 1 | 2:
            return "number"
        case str() as text if len(text) > 5:
            return text
        case "ab" | "cd" as text:
            return text
        case []:
            return "empty"
        case [x]:
            return "one", x
        case Pair(left=l):
            return "pair", l
        case (0, y) | (1, y):
            return "two", y
        case [1, [2, *_] as inner]:
            return inner
        case [first, *middle, last]:
            return first, middle, last
        case {"a": 1, "b": b, **rest} if rest:
            return b, rest
        case {"a": a}:
            return "a", a
        case Point(0, y) | Point(y, 0):
            return "axis", y
        case Point([p, q], {"k": Point(x=z)}):
            return p, q, z
        case {}:
            return "mapping"
        case bytes(raw):
            return raw
        case _:
            return "other"


@case(4)
def matches_own_classes(n):
    found = []
    for s in (Shelf(1, n), Shelf(), Shelf(1, 2, 3), Shelf(2, 2, 3), Table(a=n), Table(a=1, b=2), Told(n), Shelf(Point(n, 1))):
        match s:
            case [1, x]:
                found.append(("two", x))
            case [_, _, *_] if len(s) > 9:
                pass
            case [1, *_, 3]:
                found.append("ends")
            case [*_] if not s:
                found.append("none")
            case [_, *rest]:
                match rest:
                    case [] | [_]:
                        found.append("nested")
                    case [x, y]:
                        found.append((x, y))
            case {"a": x, **rest}:
                found.append((x, rest))
            case Told(value=v) if v > 3:
                found.append(v)
    match n:
        case int(k) if k > 9:
            found.append(k)
        case int() | float():
            k = 0
            found.append("int")
    class Inner:
        match n:
            case 4:
                four = True
            case _:
                four = False
    return found, k, Inner.four, sorted(name for name in vars(Inner) if not name.startswith("__"))


@case(4)
def fails_matching(n):
    match n:
        case Point.x(3):
            return 1


@case(4)
def fails_matching_too_many(n):
    match Point(n):
        case Point(1, 2, 3):
            return 1


@case(4)
def binds_only_after_the_whole_pattern(n):
    x = "before"
    match [n, n + 1]:
        case [x, 3]:
            return "no"
        case [y, x] if x == 3:
            return "no"
    return x, y
