"""Between a `vjp` and its pullback: what the function changed outside does not show."""

from __future__ import annotations

import dataclasses
import queue
from collections import deque
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, NoRData, checkpoint, checkpointed, grad, jvp, rrule, vjp
from mooncake_py.errors import InvalidTangentError

X = np.array([1.0, 2.0, 3.0])
WORKSPACE = np.zeros(3)
counter = 0.0


class Holder:
    __slots__ = ("total",)


def into_workspace(x):
    np.multiply(x, x, out=WORKSPACE)
    WORKSPACE[0] += x[0]
    return WORKSPACE * WORKSPACE


def expected(x):
    y = x * x
    slope = 2 * x
    y[0] += x[0]
    slope[0] += 1
    return y * y, 2 * y * slope


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_pullbacks_of_one_workspace_in_any_order(order):
    calls = [vjp(into_workspace, X * k) for k in (1.0, 10.0, 0.5)]
    np.testing.assert_array_equal(WORKSPACE, 0.0)
    for k in order:
        y, pullback = calls[k]
        value, slope = expected(X * (1.0, 10.0, 0.5)[k])
        np.testing.assert_allclose(y, value, rtol=1e-14)
        for _ in range(2):
            np.testing.assert_allclose(pullback(np.ones(3))[0], slope, rtol=1e-14)
            np.testing.assert_array_equal(WORKSPACE, 0.0)


def test_every_kind_of_state_is_as_it_was():
    global counter
    history: list[Any] = ["mine"]
    by_name = {"a": 1.0}
    recent: deque[Any] = deque([0.0], maxlen=2)
    seen = {0}
    holder, plain = Holder(), Exception()
    count = 0.0

    def f(x):
        global counter
        nonlocal count
        history.append(x[0])
        history[0] = x[1]
        by_name["b"] = x * 2
        by_name.pop("a")
        recent.extend([x[0], x[1]])
        seen.add(5)
        holder.total = np.sum(x)
        plain.total = x[2]
        counter = counter + x[0]
        count = count + x[1]
        return history[1] * by_name["b"] * holder.total + plain.total * counter * count * recent[0]

    def state():
        return (
            list(history), dict(by_name), list(recent), set(seen), hasattr(holder, "total"),
            dict(vars(plain)), counter, count,
        )  # fmt: skip

    before = state()
    _, pullback = vjp(f, X)
    assert state() == before
    history.append("added meanwhile")
    by_name["a"] = 7.0
    counter = 0.5
    before = state()
    # d/dx of x0 * 2 x * sum(x) + x2 * x0 * x1 * x0, summed
    expected = np.full(3, 2 * X[0] * (2 * np.sum(X)))
    expected[0] += 2 * np.sum(X) ** 2 + 3 * (2 * X[0] * X[1] * X[2])
    expected[1] += 3 * X[0] ** 2 * X[2]
    expected[2] += 3 * X[0] ** 2 * X[1]
    np.testing.assert_allclose(pullback(np.ones(3))[0], expected, rtol=1e-14)
    assert state() == before
    counter = 0.0


def test_noise_of_the_output_and_of_the_pullback_agree():
    random = np.random.default_rng(0)

    def noisy(x):
        noise = []
        noise.append(random.normal(size=3))
        return x * noise[0]

    y, pullback = vjp(noisy, np.ones(3))
    np.testing.assert_array_equal(pullback(np.ones(3))[0], y)


def test_wrong_cotangent_leaves_the_state_alone():
    _, pullback = vjp(into_workspace, X)
    with pytest.raises(InvalidTangentError):
        pullback(np.ones(2))
    np.testing.assert_array_equal(WORKSPACE, 0.0)
    np.testing.assert_allclose(pullback(np.ones(3))[0], expected(X)[1], rtol=1e-14)


def double(a):
    a *= 2


@rrule.register(double, mutates=0)
def _(_, a):
    a.primal[...] *= 2

    def pullback(_):
        a.primal[...] /= 2
        a.fdata[...] *= 2
        return NoRData(), NoRData()

    return CoDual(None, NoFData()), pullback


def test_rule_by_hand_that_writes_a_workspace():
    def f(x):
        WORKSPACE[:] = x
        double(WORKSPACE)
        return WORKSPACE * x

    _, pullback = vjp(f, X)
    np.testing.assert_array_equal(WORKSPACE, 0.0)
    for _ in range(2):
        np.testing.assert_allclose(pullback(np.ones(3))[0], 4 * X)
        np.testing.assert_array_equal(WORKSPACE, 0.0)


def test_pullback_with_numbers_of_an_object_runs_again() -> None:
    class Clock:
        def __init__(self) -> None:
            self.time, self.pair, self.ticks = 0.25, (0.5, 1), [2.0]

    def f(clock, dt):
        clock.time = clock.time + dt * clock.time
        clock.pair = clock.pair[0] * dt, 2
        clock.ticks[0] *= clock.time
        return clock.time * clock.pair[0] * clock.ticks[0]

    _, pullback = vjp(f, Clock(), 0.5)
    first, second = (pullback(1.0) for _ in range(2))
    assert repr(first) == repr(second)
    assert first[0].ticks == [0.375 * 0.25 * 0.375]


@dataclasses.dataclass(frozen=True)
class Rate:
    growth: float


def test_pullback_of_a_list_of_frozen_dataclasses_twice() -> None:
    def f(rates):
        rates[0] = Rate(rates[1].growth * rates[0].growth)
        return rates[0].growth ** 2

    rates = [Rate(2.0), Rate(3.0)]
    y, pullback = vjp(f, rates)
    assert y == 36.0
    for _ in range(2):
        assert pullback(1.0) == ([Rate(36.0), Rate(24.0)],)
        assert rates == [Rate(2.0), Rate(3.0)]


def test_pullback_of_a_dict_whose_keys_are_compared_by_code() -> None:
    class Key:
        def __init__(self, k):
            self.k = k

        def __hash__(self):
            return hash(self.k)

        def __eq__(self, other):
            return self.k == other.k

    kept = {}

    def f(x):
        table = {Key(i): v for i, v in enumerate(x)}
        table[Key(1)] *= 3.0
        kept[Key(0)] = seen.add(Key(2))
        return table[Key(0)] * table[Key(1)] * len(seen)

    seen = set()
    _, pullback = vjp(f, np.array([2.0, 5.0]))
    assert not kept
    assert not seen
    for _ in range(2):
        np.testing.assert_array_equal(pullback(1.0)[0], [15.0, 6.0])
        assert not kept
        assert not seen


def test_parts_that_are_no_attributes_are_brought_forth_for_the_first_pullback() -> None:
    class Holder:
        def __init__(self, s):
            self.s = s

    def f(x):
        holder = Holder(x * 2.0)
        along = grad(lambda o: o.s**2)(holder)  # a MutableTangent, active in `f`
        return jvp(lambda o: o.s**2, (holder,), (along,))[1]

    _, pullback = vjp(f, 0.7)
    assert [pullback(1.0)[0] for _ in range(2)] == [pytest.approx(64 * 0.7 / 2)] * 2


@pytest.mark.parametrize("loop", [range, checkpointed])
def test_attributes_in_a_dict_that_is_replaced_later(loop):
    class Held:
        pass

    held: Any = Held()
    held.x, held.n = 1.0, 0

    def f(v):
        for _ in loop(range(3)) if loop is checkpointed else loop(3):
            held.__dict__ = dict(held.__dict__, x=held.x * v)
            held.n += 1
            held.x *= held.n
        return held.x * held.n

    y, pullback = vjp(f, 1.5)
    assert (y, vars(held)) == (60.75, {"x": 1.0, "n": 0})
    for _ in range(2):
        assert pullback(1.0) == (121.5,)
        assert vars(held) == {"x": 1.0, "n": 0}


QUEUES = [queue.Queue, queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue]


@pytest.mark.parametrize("kind", QUEUES)
def test_a_part_of_a_pullback_that_runs_again_finds_queues_as_in_its_first_run(kind: Any) -> None:
    def fill() -> None:
        for item in (3, 1):
            waiting.put(item)

    waiting = kind()
    fill()

    def part(x: Any) -> Any:
        total = waiting.get(timeout=9) + 10 * waiting.get(timeout=9)
        waiting.put(7)
        return x * total

    def f(x: Any) -> Any:
        waiting.put(2)
        y = checkpoint(part, x)
        return y * waiting.get(timeout=9)

    expected = f(1.0)
    waiting.get(timeout=9)
    fill()
    count = getattr(waiting, "unfinished_tasks", None)
    y, pull = vjp(f, 1.0)
    assert y == expected
    for _ in range(2):
        assert pull(1.0) == (expected,)
    assert [waiting.get(timeout=9), waiting.get(timeout=9)] in ([3, 1], [1, 3])
    assert waiting.empty()
    assert getattr(waiting, "unfinished_tasks", None) == count
