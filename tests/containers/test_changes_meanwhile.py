"""Containers that code in Python looks at or changes while they change, or that hide their size.

Sets come in the order that they have in the plain call.
"""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import contextlib
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py import checkpoint, jvp, value_and_grad, vjp

X = 0.7


class Long(list[Any]):
    def __len__(self) -> int:
        return 100

    def index(self, *args: Any) -> int:  # type: ignore[override]
        return 99


class Empty(deque[Any]):
    def __len__(self) -> int:
        return 50

    def __bool__(self) -> bool:
        return False


class Many(set[Any]):
    def __len__(self) -> int:
        return 77

    def __contains__(self, key: object) -> bool:
        return False


class Doubling(OrderedDict[Any, Any]):
    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value * 2.0)


class Tripled(OrderedDict[Any, Any]):
    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) * 3.0

    def __contains__(self, key: Any) -> bool:
        return key != "missing"

    def __missing__(self, key: Any) -> float:
        return 7.0


def weighted(values: Any) -> Any:
    return sum([(k + 1) * v for k, v in enumerate(values)])


def extended(x, v):
    def items():
        yield x * x
        v.pop(0)
        yield x * 2
        v.insert(1, x * len(v))
        yield 1.0

    v.extend(items())
    return weighted(v)


def extended_in_part(x, v):
    def items():
        yield x * x
        del v[:2]
        yield x
        raise KeyError

    with contextlib.suppress(KeyError):
        v += items()
    return weighted(v)


def slice_assigned(x, v):
    def items():
        v.append(5.0)
        yield x
        v.append(x)

    v[-1:] = items()
    return weighted(v)


def slice_assigned_to_less(x, v):
    def items():
        v.clear()
        yield x

    v[1:2] = items()
    return weighted(v)


def of_hidden_size(x, v):
    v.append(x * x)
    v.insert(0, x)
    v.pop(1)
    v[1] = 3.0 * x
    v.extend([x, x])
    v.remove(3.0)
    del v[0]
    v[1:2] = [x, x, x]
    v *= 2
    return weighted(list.__iter__(v))


def queue_of_hidden_size(x, d):
    d.append(x)
    t = d.pop()
    d.popleft()
    d.appendleft(t * x)
    d.insert(1, x)
    d.rotate(1)
    d.remove(x)
    del d[0]
    d.extend([x, t])
    return weighted(deque.__iter__(d))


def updated(x, d):
    d.update((key, x * len(d)) for key in "pq")
    d.update([("r", x), ("r", x * x)], s=x)
    d |= {"t": x}
    return weighted(d.values())


def with_defaults(x, d):
    found = d.setdefault("missing", x), d.setdefault("a", x), d.setdefault("new", x * x)
    return weighted(found) + weighted(d.values())


def order_of_copies(x, s):
    more = set(range(0, 300, 9)).difference(range(0, 250, 9))
    return x * weighted([*set(more), *frozenset(more), *more.copy(), *s])


def order_after_updates(x, s):
    s.update(range(3, 10))
    s.update({64, 7, 96, 1000, 30}, {5: 1, 17: 2}, s)
    s |= set(range(0, 400, 29))
    s |= set()
    s.discard(1)
    return x * weighted(set.__iter__(s))


CASES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    *((f, lambda: [1.0, 2.0, 3.0]) for f in (extended, extended_in_part, slice_assigned)),
    (slice_assigned_to_less, lambda: [1.0, 2.0, 3.0]),
    (of_hidden_size, lambda: Long([1.0, 2.0, 3.0])),
    (queue_of_hidden_size, lambda: Empty([1.0, 2.0, 3.0])),
    *((f, lambda: {1, 2, 5}) for f in (order_of_copies, order_after_updates)),
    (order_after_updates, lambda: Many([1, 2, 5])),
    (order_after_updates, set),
    *(
        (f, lambda kind=kind: kind(a=1.0, b=2.0))
        for f in (updated, with_defaults)
        for kind in (dict, OrderedDict, Doubling, Tripled)
    ),
]
BIT_FOR_BIT = pytest.mark.without_modes("values are compared bit for bit", "compiled")
MODES: dict[str, Callable[..., Any]] = {
    "reverse": lambda f: value_and_grad(f)(X),
    "debug": lambda f: value_and_grad(f, debug=True)(X),
    "forward": lambda f: jvp(f, (X,), (1.0,)),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x))(X),
    "second pullback": lambda f: after_a_pullback(*vjp(f, X)),
}


def after_a_pullback(y: Any, pullback: Any) -> Any:
    pullback(1.0)
    return y, *pullback(1.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "make"),
    [
        pytest.param(
            f,
            make,
            id=f"{f.__name__} {type(make()).__name__}",
            marks=[BIT_FOR_BIT] if f is extended else [],
        )
        for f, make in CASES
    ],
)
def test_value_derivative_and_state(
    f: Callable[..., Any], make: Callable[[], Any], mode: str
) -> None:
    container = make()
    kind, before = type(container), contents(container)
    value, derivative = MODES[mode](lambda x: f(x, container))
    assert value == f(X, make())
    h = 1e-5
    assert derivative == pytest.approx((f(X + h, make()) - f(X - h, make())) / (2 * h), rel=1e-8)
    assert type(container) is kind
    assert contents(container) == before
    assert f(X, container) == value  # sets have the table again that they had


def contents(container: Any) -> Any:
    """Return the contents of a container, past its methods in Python."""
    if isinstance(container, dict):
        return list(dict.items(container))
    if isinstance(container, list):
        return list(list.__iter__(container))
    if isinstance(container, deque):
        return list(deque.__iter__(container))
    return list(set.__iter__(container))


class Noting(list[Any]):
    last = 0.0


class Queue(deque[Any]):
    last = 0.0


class Table(dict[Any, Any]):
    last = 0.0


def attribute_set_after_all_contents(x, v):
    v.clear()
    v.last = x
    v.other = v.last * x
    return v.other + len(v)


def longest_size_changed_after_all_contents(x, d):
    d.clear()
    d.__init__([x, x * x, 3.0], 2)
    return weighted(d)


def longest_size_changed_among_many(x, d):
    for _ in range(20):
        d.append(x)
    d.__init__([x, x * x, 3.0], 2)
    for _ in range(40):
        d.append(x)
        d.popleft()
    return weighted(d)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "make"),
    [
        (attribute_set_after_all_contents, lambda: Noting([1.0, 2.0])),
        (attribute_set_after_all_contents, lambda: Queue([1.0, 2.0])),
        (attribute_set_after_all_contents, lambda: Table(a=1.0)),
        (longest_size_changed_after_all_contents, lambda: deque([1.0, 2.0, 5.0], 4)),
        (longest_size_changed_among_many, lambda: deque([1.0, 2.0, 5.0], 4)),
    ],
)
def test_what_is_no_content_is_restored(
    f: Callable[..., Any], make: Callable[[], Any], mode: str
) -> None:
    container = make()
    value, _ = MODES[mode](lambda x: f(x, container))
    assert value == f(X, make())
    assert container == make()
    assert getattr(container, "maxlen", None) == getattr(make(), "maxlen", None)
    assert getattr(container, "__dict__", {}) == {}


@pytest.mark.parametrize("mode", MODES)
def test_sets_are_popped_from_where_they_were_before(mode: str) -> None:
    def f(x):
        return x * (kept.pop() + 10 * kept.pop())

    kept, other = {3, 5, 20, 40, 7}, {3, 5, 20, 40, 7}
    slope = other.pop() + 10 * other.pop()
    for _ in range(3):
        assert MODES[mode](f)[1] == slope
    assert kept.pop() + 10 * kept.pop() == slope
