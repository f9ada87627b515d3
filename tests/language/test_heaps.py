"""Heaps: the same lists as those of `heapq`, and entries for what has moved only."""

from __future__ import annotations

import heapq
import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad, vjp
from mooncake_py.language import heaps
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.sites import DECLINED
from tests.support.pairs import rotating

MAKERS = {
    "numbers": lambda x, k: x * ((k * 7919) % 101) - k,
    "ties": lambda x, k: x * (k % 3),
    "kinds": lambda x, k: [x * (k % 7), k % 5, 2.5, np.float64(k % 4), True][k % 5],
    "tuples": lambda x, k: (x * ((k * 31) % 17), k, "a"),
    "ties in tuples": lambda x, k: (k % 2, x * (k % 3), k),
    "constants": lambda x, k: ((k * 31) % 17, k),
}


def number_of(item: Any) -> Any:
    return sum(v for v in item if not isinstance(v, str)) if isinstance(item, tuple) else item


def runs(x: Any, make: Any, seed: int, heap: Any) -> Any:
    draw, total = random.Random(seed), 0.0
    for k in range(60):
        if draw.random() < 0.6 or not heap:
            heapq.heappush(heap, make(x, k))
        else:
            total = total + number_of(heapq.heappop(heap)) * (k + 1.0)
    for k, item in enumerate(heap):
        total = total + number_of(item) * (k + 0.5)
    return total


MODES = {
    "gradient": lambda f: value_and_grad(f)(1.3),
    "debug": lambda f: value_and_grad(f, debug=True)(1.3),
    "pullback": lambda f: (f(1.3), vjp(f, 1.3)[1](1.0)[0]),
    "forward": lambda f: jvp(f, (1.3,), (1.0,)),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(1.3),
    "inside": lambda f: (f(1.3), grad(lambda x: grad(f)(x) * x)(1.3)),
}


@pytest.mark.parametrize(("kind", "mode"), rotating(MAKERS, MODES, times=2))
def test_lists_and_derivatives_are_those_of_heapq(kind: str, mode: str) -> None:
    kept: list[Any] = []
    given = [MAKERS[kind](0.7, k) for k in range(5)]
    heapq.heapify(given)
    before = list(given)

    def f(x: Any) -> Any:
        return runs(x, MAKERS[kind], 3, kept) + runs(x, MAKERS[kind], 4, given)

    value = f(1.3)
    kept.clear()
    given[:] = before
    step = 1e-6
    outcomes = []
    for x in (1.3 - step, 1.3 + step):
        outcomes.append(f(x))
        kept.clear()
        given[:] = before
    found, slope = MODES[mode](f)
    if mode not in ("pullback", "inside"):
        assert found == pytest.approx(value, rel=1e-12)
        assert kept == []
        assert len(given) == 5
        assert all(a is b for a, b in zip(given, before, strict=True))
    kept.clear()
    given[:] = before
    if "ties" not in kind and mode not in ("pullback", "inside"):
        assert slope == pytest.approx((outcomes[1] - outcomes[0]) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", MAKERS)
def test_each_call_moves_what_heapq_moves(kind: str) -> None:
    class Recording:
        def record(self, entry: Any) -> None:
            entries.append(entry)

    ctx: Any = Recording()
    for seed in range(5):
        draw = random.Random(seed)
        heap: list[Any] = []
        for k in range(80):
            entries: list[Any] = []
            before, expected = list(heap), list(heap)
            if draw.random() < 0.6 or len(heap) < 2:
                item = MAKERS[kind](draw.random(), k)
                heapq.heappush(expected, item)
                assert heaps.push(ctx, heap, item) is None
            else:
                assert heaps.pop(ctx, heap) is heapq.heappop(expected)
            assert all(a is b for a, b in zip(heap, expected, strict=True))
            assert len(entries) <= 9
            after = list(heap)
            for entry in reversed(entries):
                entry[0](entry)
            assert all(a is b for a, b in zip(heap, before, strict=True))
            heap[:] = after


@pytest.mark.parametrize("items", [[1.0, "a"], [object(), 2.0], [(1.0, [2.0]), (0.5, [1.0])]])
def test_what_it_cannot_compare_by_itself_is_left(items: Any) -> None:
    heap = [items[0]]
    assert heaps.push(None, heap, items[1]) is DECLINED  # type: ignore[arg-type]
    assert heap == [items[0]]


def test_errors_are_those_of_python() -> None:
    def f(x: Any) -> Any:
        heap = [x, 2.0]
        try:
            heapq.heappush(heap, "a")
        except TypeError as error:
            return x * len(heap) + len(str(error))
        return x

    assert value_and_grad(f)(1.5) == (f(1.5), 3.0)
    with pytest.raises(IndexError):
        grad(lambda x: heapq.heappop([]) * x)(1.0)
    with pytest.raises(TypeError):
        grad(lambda x: heapq.heappop([x, x], 1))(1.0)  # type: ignore[call-arg]


@pytest.mark.plain
def test_the_tape_grows_as_the_heap_is_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run_backwards = ReverseContext.run_backwards

    def counted(self: Any) -> None:
        held = {id(part) for entry in self.tape for part in entry if type(part) is list}
        sizes.append(len(held))
        run_backwards(self)

    def f(x: Any) -> Any:
        heap: list[Any] = []
        for k in range(300):
            heapq.heappush(heap, x * k)
        return heapq.heappop(heap) + heapq.heappop(heap)

    monkeypatch.setattr(ReverseContext, "run_backwards", counted)
    assert grad(f)(2.0) == 1.0
    assert sizes == [1]  # the heap, of which there is no copy
