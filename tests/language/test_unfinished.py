"""An unfinished generator is closed when the last reference of the program goes."""

from __future__ import annotations

import collections
import contextlib
import functools
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, checkpoint, grad, jacobian, jvp, value_and_grad, vjp
from mooncake_py.language import held, unfinished
from tests.support.pairs import rotating

log: list[float] = []


def readings(v: Any) -> Any:
    try:
        yield v
        yield v
    finally:
        log.append(1.0)


class Lock:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: object) -> None:
        log.append(1.0)


def locked(v: Any) -> Any:
    with Lock():
        yield v
        yield v


class Device:
    def __init__(self, v: Any) -> None:
        self.it = readings(v)

    def read(self) -> Any:
        return next(self.it)


class Counting(Device):
    def __init__(self, v: Any) -> None:
        self.it = enumerate(locked(v))  # type: ignore[assignment]

    def read(self) -> Any:
        return next(self.it)[1]


class Record:
    d: Any
    it: Any


def raises_in_loop(x: Any) -> Any:
    n = 0
    try:
        for v in readings(x):
            raise KeyError(v)
    except KeyError:
        n = len(log)
    return x * n


def raises_in_call(x: Any) -> Any:
    def fails(v: Any) -> Any:
        raise KeyError

    with contextlib.suppress(KeyError):
        max(readings(x), key=fails)
    return x * len(log)


def leaves_match(x: Any) -> Any:
    r = x
    for k in range(2):
        match [readings(x * k)]:
            case [it]:
                r = next(it)
                it = None
                continue
    return r * len(log)


def zipped(it: Any) -> Any:
    return zip(it, [1.0], strict=False)


def under_iterators(x: Any) -> Any:
    r = 0.0
    for wrap in (enumerate, zipped, itertools.chain, itertools.pairwise):
        for _ in wrap(readings(x)):
            break
        r += x * len(log)
    return r


def in_attribute(x: Any) -> Any:
    def first() -> Any:
        c = Record()
        c.it = locked(x)
        return next(c.it)

    return first() * len(log)


def in_list(x: Any) -> Any:
    def first() -> Any:
        it = readings(x)
        items = [it]
        items.append(next(it))
        return items[1]

    return first() * len(log)


def in_closure(x: Any) -> Any:
    def first() -> Any:
        it = readings(x)
        f = lambda: next(it)  # noqa: E731 - it captures the generator
        return f()

    return first() * len(log)


def bound_anew(x: Any) -> Any:
    r = 0.0
    for _ in range(3):
        d = Device(x)
        r += d.read() * (len(log) + 1.0)
    d = Counting(x)
    r += d.read() * (len(log) + 1.0)
    del d
    return r * len(log)


def temporary(x: Any) -> Any:
    return Device(x).read() * len(log) + Counting(x).read() * len(log)


def replaced(x: Any) -> Any:
    o, d, items = Record(), {}, [Device(x), Counting(x)]
    o.d = Device(x)
    d["a"] = Counting(x)
    r = o.d.read() + d["a"].read() + items[0].read() + items[1].read()
    o.d = Device(x)
    r *= 1.0 + len(log)
    d["a"] = 0.0
    r *= 1.0 + len(log)
    items[0] = Device(x)
    r *= 1.0 + len(log)
    items.pop()
    return r * len(log)


def taken_out(x: Any) -> Any:
    queue, some = collections.deque([Device(x)]), {Device(x)}
    r = queue[0].read() + next(iter(some)).read()
    queue.popleft()
    r *= 1.0 + len(log)
    some.pop()
    return r * len(log)


def kept_longer(x: Any) -> Any:
    items = [Device(x)]
    r = items[0].read()
    d = items.pop()
    n = len(log)
    return r * (n + 1.0) + d.read() * (len(log) + 1.0)


def stored_once_it_runs(x: Any) -> Any:
    def first(c: Any) -> Any:
        it = readings(x)
        v = next(it)
        for _ in range(3):
            c.it = it
        return v

    r = first(Record()) * len(log)
    d = {"a": locked(x)}
    r += next(d["a"]) * len(log)
    d["b"], d["a"] = d["a"], None
    r *= 1.0 + len(log)
    d["b"] = None
    return r * len(log)


def after_others(x: Any) -> Any:
    kept, r = Record(), x * 0.0
    kept.d = 0.0
    for _ in range(3):
        for v in readings(x):
            kept.d = kept.d + v
        c = Record()
        c.it = readings(x)
        c.d = next(c.it)
        r += c.d * len(log)
        del c
        r *= len(log)
    return r + kept.d * len(log)


def round_a_part(x: Any) -> Any:
    def first() -> Any:
        it = readings(x)
        c, v = Record(), next(it)
        c.d = checkpoint(lambda w: w * 2.0, v)
        c.it = it
        c.it = c.d
        return v + c.d

    return first() * len(log)


PROGRAMS = [
    raises_in_loop, raises_in_call, leaves_match, under_iterators, in_attribute, in_list,
    in_closure, bound_anew, temporary, replaced, taken_out, kept_longer, stored_once_it_runs,
    after_others, round_a_part,
]  # fmt: skip


def of_pullback(f: Any) -> Any:
    y, pullback = vjp(f, 1.3)
    return y, pullback(1.0)[0]


MODES: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda f: value_and_grad(f)(1.3),
    "debug": lambda f: value_and_grad(f, debug=True)(1.3),
    "pullback": of_pullback,
    "jvp": lambda f: jvp(f, (1.3,), (1.0,)),
    "two directions": lambda f: (
        f(1.3),
        (log.clear(), jacobian(lambda x: f(x[0]) + x[1])(np.array([1.3, 0.7]))[0])[1],
    ),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(1.3),
    "inside": lambda f: (f(1.3), (log.clear(), grad(lambda x: grad(f)(x) * x)(1.3))[1]),
}


@pytest.fixture(autouse=True)
def only_references_count() -> Iterator[None]:
    log.clear()
    gc.disable()
    yield
    gc.enable()
    log.clear()


@pytest.mark.without_modes("values depend on the log of the test")
@pytest.mark.parametrize(
    ("f", "mode"),
    rotating(PROGRAMS, MODES, times=2),
    ids=lambda part: getattr(part, "__name__", part),
)
def test_it_is_closed_at_once(f: Any, mode: str) -> None:
    y = f(1.3)
    log.clear()
    value, slope = MODES[mode](f)
    np.testing.assert_allclose([value, slope], [y, y / 1.3], rtol=1e-12)  # each is linear
    del value, slope
    gc.collect()
    assert log == []


def quiet(v: Any) -> Any:
    try:
        yield v
        yield v
    finally:
        pass


def used_up(x: Any) -> Any:
    r = 0.0
    for _ in range(20):
        for v in quiet(x):
            r += v * v
    return r


def used_up_with_writes(x: Any) -> Any:
    c = Record()
    c.d = 0.0
    for _ in range(20):
        for v in quiet(x):
            c.d = c.d + v * v
    return c.d


@pytest.mark.plain
@pytest.mark.parametrize(("f", "events"), [(used_up, 0), (used_up_with_writes, 10 * 40)])
def test_what_is_used_up_costs_no_look_after_each_operation(
    f: Any, events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, scanned = [], []
    on_event, scan = unfinished.Watch.on_event, held.Held.scan

    def noting_scan(self: Any, entries: Any) -> None:
        scanned.append(len(entries) - self.seen)
        scan(self, entries)

    monkeypatch.setattr(unfinished.Watch, "on_event", lambda *a: (seen.append(1), on_event(*a))[1])
    monkeypatch.setattr(held.Held, "scan", noting_scan)
    assert grad(f)(1.3) == pytest.approx(40 * 2 * 1.3)
    assert len(seen) <= events
    assert sum(scanned) <= 200  # each entry once
    assert sys.getprofile() is None


class Stream:
    """Holds a generator that refers to it: only the collector closes that."""

    opened = 0

    def __init__(self, x: Any) -> None:
        self.items = self._items(x)

    def _items(self, x: Any) -> Any:
        Stream.opened += 1
        try:
            yield x
            yield x
        finally:
            Stream.opened -= 1


@pytest.mark.parametrize(
    "derive",
    [
        grad,
        functools.partial(grad, mode="forward"),
        lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
        lambda f: lambda x: vjp(f, x)[1](1.0)[0],
        lambda f: lambda x: jvp(grad(f), (x,), (1.0,))[0],
        lambda f: lambda x: jvp(lambda x: jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[0],
    ],
)
def test_what_a_call_leaves_open_is_closed_before_its_end(derive: Any) -> None:
    def f(x: Any) -> Any:
        return next(Stream(x).items) * 2.0

    gc.collect()  # those of plain calls before
    assert derive(f)(1.3) == 2.0
    gc.collect()
    assert Stream.opened == 0


def test_where_it_cannot_be_closed_in_time_there_is_an_error() -> None:
    def profile(*event: object) -> None:
        pass

    sys.setprofile(profile)  # takes the place of what looks for such generators
    try:
        with pytest.raises(MooncakeError, match="closed later than in the plain call"):
            grad(in_attribute)(1.3)
    finally:
        sys.setprofile(None)
    assert log == []
    grad(in_attribute)(1.3)  # there is nothing left of that
