"""Special methods that Python calls by itself: comparisons, truth, containment, text, patterns."""

from __future__ import annotations

import dataclasses
import functools
import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import Program, Programs, check

programs = Programs()
X = np.array([0.3, 1.2, 0.7])


class Noted:
    """Writes down its array whenever it is asked anything."""

    def __init__(self, seen: Any, x: Any) -> None:
        self.seen, self.x = seen, x

    def note(self) -> float:
        self.seen += self.x * self.x
        return self.x[0]

    def __lt__(self, other: Any) -> Any:
        return self.note() < 10

    def __eq__(self, other: object) -> Any:
        return self.note() < 0

    def __hash__(self) -> int:
        return 3

    def __bool__(self) -> bool:
        return bool(self.note() > 0)

    def __contains__(self, item: Any) -> bool:
        return self.note() > item

    def __len__(self) -> int:
        return int(self.note() > 0)

    def __format__(self, spec: str) -> str:
        return f"{self.note():{spec}}"

    def __repr__(self) -> str:
        return str(self.note())


def noted(x: Any) -> tuple[Any, Noted]:
    seen = np.zeros(3)
    return seen, Noted(seen, x)


@programs(X)
def compares(x):
    seen, a = noted(x)
    assert a < a
    assert a != a
    if 1 > a or 1 == a:  # noqa: SIM300
        seen *= 2
    return seen.sum()


@programs(X)
def compares_containers(x):
    seen, a = noted(x)
    b = Noted(seen, 2 * x)
    same = [a, 1.0] == [a, 1.0], {"k": (a,)} == {"k": (a,)}, (a,) == (a, 1)
    other = [1.0, a] != [1.0, b], {"k": a} == {"k": b}, {"k": a} == {"l": a}
    table = {}
    table.update([("k", a)], l=b)
    return seen.sum() * (1 + sum(same) + 2 * sum(other)) * len(table)


@programs(X)
def compares_in_chains(x):
    seen, a = noted(x)
    b = Noted(seen, 2 * x)
    _ = [1 < 2 < 3, a < b < a, a < Noted(seen, 3 * x) < b]
    return seen @ x


@programs(X)
def asks_for_truth(x):
    seen, a = noted(x)
    n = 0
    while a and n < 3:
        n += 1
    b = a or None
    c = a and 3 * x
    d = [v for v in (a, a) if v]
    return seen.sum() * n * len(d) + c @ b.x + (1.0 if not a else 2.0)


@programs(X)
def contains(x):
    seen, a = noted(x)
    found = [0 in a, 5 not in a, a in [1, 2, a], 1 in (a,), all([a, a]), any([a]), bool(a)]
    return seen.sum() * sum(found)


@programs(X)
def measures(x):
    seen, a = noted(x)
    return len(a) * seen.sum() + len(a) * seen @ x


@programs(X)
def prints(x):
    seen, a = noted(x)
    text = f"{a:.2f} {a!r} {a!s:>9}" + str(a) + repr(a) + format(a, ".1f")
    assert len(text) > 20
    return seen.sum()


@programs(X)
def compares_to_an_expression(x):
    class Expression:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __lt__(self, other: Any) -> Any:
            return Expression(np.tanh(self.v) - other.v)

        def __eq__(self, other: object) -> Any:
            return Expression(self.v * other.v)  # type: ignore[attr-defined]

        __hash__ = None  # type: ignore[assignment]

    a, b = Expression(x), Expression(x[::-1])
    return np.sum((a < b).v * (a == b).v) + (a > b).v[0]


@programs(X)
def unequal_from_equal(x):
    class Counter:
        def __init__(self) -> None:
            self.total = 0.0

        def __eq__(self, other: object) -> bool:
            self.total += other.sum()  # type: ignore[attr-defined]
            return False

        __hash__ = None  # type: ignore[assignment]

    c = Counter()
    assert c != x
    return c.total * x[0]


@programs(X)
def totally_ordered(x):
    @functools.total_ordering
    class Ordered:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __lt__(self, other: Any) -> Any:
            self.v = self.v * 2
            return self.v.sum() < 100 * other.v.sum()

        def __eq__(self, other: object) -> Any:
            return self is other

    a, b = Ordered(x), Ordered(x[::-1])
    assert a <= b
    assert not a > b
    return a.v @ b.v


@programs(X)
def asks_for_attributes(x):
    class Lazy:
        def __init__(self) -> None:
            self.made = 0

        @property
        def value(self) -> Any:
            self.made = self.made + x.sum()
            return self.made

    lazy = Lazy()
    return float(hasattr(lazy, "value")) * lazy.value * (1.0 + hasattr(lazy, "missing"))


class Row(Sequence[Any]):
    def __init__(self, data: Any) -> None:
        self.data = data
        self.reads = 0.0

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: Any) -> Any:
        self.reads = self.reads + self.data[i]
        return 2 * self.data[i]


class Disc:
    __match_args__ = ("area", "radius")

    def __init__(self, radius: Any) -> None:
        self.radius = radius

    @property
    def area(self) -> Any:
        return 3.0 * self.radius**2


@programs(X)
def matches_properties(x):
    total = 0.0
    for subject in (Disc(x[0]), Disc(x[1:]), Row(x), {"k": x[2], "m": 1.0}, (x[0], x[1])):
        match subject:
            case Disc(area, radius=float(r)):
                total = total + area * r
            case Disc(area):
                total = total + area[0] * area[1]
            case [a, *_, b] if isinstance(subject, Row):
                total = total + a * b + subject.reads
            case {"k": k, **rest}:
                total = total * k + rest["m"]
            case (p, q):
                total = total * p - q
    return total


@programs(X)
def matches_what_writes(x):
    seen, a = noted(x)
    match a:
        case 3 | 4:
            return seen[0]
        case Noted(seen=s, x=v):
            s[0] = v[1] * s[2]
    return seen.sum()


@programs(X)
def sorts_objects(x):
    class Item:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __lt__(self, other: Any) -> Any:
            return self.v < other.v

    items = [Item(v) for v in x]
    heapq.heapify(items)
    first = heapq.heappop(items)
    ordered = sorted([*items, first])
    return first.v * ordered[1].v + max(items).v * min(items).v ** 2


@programs(X)
def keys_that_only_compute(x):
    class Key:
        def __init__(self, k: int) -> None:
            self.k = k

        def __hash__(self) -> int:
            return hash(("key", self.k))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Key) and self.k == other.k

    table = {Key(i): v for i, v in enumerate(x)}
    table[Key(1)] *= 3.0
    return table[Key(0)] * table[Key(1)] * len({Key(1), Key(1)}) * (Key(2) in table)


@programs(X)
def generated_methods(x):
    @dataclasses.dataclass(order=True, unsafe_hash=True)
    class Ranked:
        rank: int
        value: Any = dataclasses.field(compare=False)

    a, b = Ranked(1, x[0]), Ranked(2, x[1])
    best = max(a, b)
    text = f"{a}{b!r}"
    return best.value * (a < b) * ({a: x[2]}[a]) * (a != b) * (len(text) > 3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


class Written:
    """A class of which every method that compiled code may call stores something."""

    count = 0.0

    def __init__(self, x: Any) -> None:
        self.x = x

    def __lt__(self, other: Any) -> bool:
        self.count += 1
        return False

    def __eq__(self, other: object) -> bool:
        return bool(self.tally())

    def __hash__(self) -> int:
        return self.tally()

    def tally(self) -> int:
        Written.count += 1
        return 1

    def __repr__(self) -> str:
        self.x[0] = 0.0
        return "w"


@dataclasses.dataclass
class Holder:
    w: Written


REFUSED = [
    lambda x: len({Written(x)}),
    lambda x: len({Written(x): 1}),
    lambda x: {}.get(Written(x), 1.0),
    lambda x: (1, Written(x)) in {1: 2},
    lambda x: hash((1, Written(x))),
    lambda x: len({k: 1 for k in [Written(x)]}),  # noqa: C420
    lambda x: len(set([Written(x)])),  # noqa: C405
    lambda x: len(f"{[Written(x)]}"),
    lambda x: len("%s" % Written(x)),  # noqa: UP031
    lambda x: len("{}".format(Written(x))),  # noqa: UP032
    lambda x: len(str({"a": (Written(x),)})),
    lambda x: sorted([Written(x), Written(x)])[0].x[0],
    lambda x: sorted([1, 2], key=lambda k: Written(x))[0],
    lambda x: [Written(x)].index(1),
    lambda x: [Written(x)].count(1),
    lambda x: heapq.heapify([Written(x), Written(x)]) or 1.0,
]


@pytest.mark.parametrize("f", REFUSED, ids=range(len(REFUSED)))
def test_a_writing_method_that_compiled_code_would_call_is_refused(f: Any) -> None:
    with pytest.raises(DerivativeDropError, match=r"Written\.__\w+__ changes something"):
        grad(lambda x: f(x) * x[0])(X)


def test_fields_of_a_dataclass_are_compared_by_their_own_methods() -> None:
    """These may change something, whether or not there are copies of arguments elsewhere."""

    def f(x: Any) -> Any:
        equal = Holder(Written(x)) == Holder(Written(x))
        return Written.count * x[0] if equal else x[1]

    before = Written.count
    np.testing.assert_array_equal(grad(f)(X), [before + 1, 0.0, 0.0])
    assert Written.count == before


class KeepsHash:
    """Computes its hash once."""

    def __init__(self, name: str, x: Any) -> None:
        self.name = name
        self.x = x
        self.hash: int | None = None

    def __hash__(self) -> int:
        if self.hash is None:
            self.hash = hash(self.name)
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeepsHash) and hash(self) == hash(other)


class CountsHashes(KeepsHash):
    def __hash__(self) -> int:
        self.x = self.x + 1.0
        return super().__hash__()


def test_a_hash_that_an_object_keeps_is_fine_and_undone() -> None:
    key = KeepsHash("a", 1.0)

    def f(x: Any) -> Any:
        table = {key: x[0], KeepsHash("b", x): x[1]}
        return table[KeepsHash("a", x)] * table[key] * len({key, KeepsHash("b", x)})

    np.testing.assert_array_equal(grad(f)(X), [4 * X[0], *np.zeros(len(X) - 1)])
    assert key.hash is None


def test_a_hash_that_writes_each_time_is_refused() -> None:
    with pytest.raises(DerivativeDropError, match=r"CountsHashes\.__hash__ changes something"):
        grad(lambda x: len({CountsHashes("a", x): 1}) * x[0])(X)


def test_a_finalizer_that_writes_is_refused() -> None:
    class Returning:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __del__(self) -> None:
            self.x[:] = 0.0

    with pytest.raises(DerivativeDropError, match="__del__ changes something"):
        grad(lambda x: Returning(x).x.sum())(X)


def test_the_refusal_names_the_store() -> None:
    with pytest.raises(DerivativeDropError) as caught:
        grad(REFUSED[0])(X)
    assert "Written.count += 1" in str(caught.value)


def makes_by_init_subclass(x, seen):
    class Base:
        def __init_subclass__(cls):
            seen[:] = x

    class Derived(Base):
        pass

    return Derived


def makes_by_set_name(x, seen):
    class Named:
        def __set_name__(self, owner, name):
            seen.fill(x[0])

    class Owner:
        named = Named()

    return Owner


def makes_by_metaclass(x, seen):
    class Meta(type):
        def __init__(cls, *args):
            seen[0] = x[0]

    class Made(metaclass=Meta):
        pass

    return Made


@pytest.mark.parametrize("make", [makes_by_init_subclass, makes_by_set_name, makes_by_metaclass])
def test_what_runs_while_a_class_is_made_is_derived(make: Any) -> None:
    def f(x: Any) -> Any:
        seen = np.zeros(3)
        make(x, seen)
        return seen.sum() + x[0]

    check(f, X)


def test_hooks_that_set_attributes_are_fine() -> None:
    def f(x: Any) -> Any:
        class Named:
            def __set_name__(self, owner: Any, name: str) -> None:
                self.name = name

        class Base:
            def __init_subclass__(cls, scale: float) -> None:
                cls.scale = scale

        class Derived(Base, scale=3.0):
            named = Named()

        return x[0] * Derived.scale * len(Derived.named.name)

    np.testing.assert_array_equal(grad(f)(X), [15.0, 0.0, 0.0])
