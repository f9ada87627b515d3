"""Interrupts, wherever they come, leave everything as it was before the call."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import types
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py import checkpoint, checkpointed, hvp, jvp, value_and_grad, vjp
from mooncake_py.containers import dicts, state
from mooncake_py.diagnostics.warned import filters_of_the_program, pending
from mooncake_py.recomputation.rehearsal import Rehearsal
from mooncake_py.recomputation.suspended import Suspended
from mooncake_py.runtime.interrupts import at_once, through_interrupts
from mooncake_py.runtime.silence import depth
from tests.support.pairs import rotating

pytestmark = [
    pytest.mark.without_modes("calls are interrupted here"),
    pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning"),  # NumPy 2.5
]

FOLDERS = (str(Path(mooncake_py.__file__).parent), __file__, "<mooncake_py")
SEEN = {"outside": 1.0}


class Thing:
    def __init__(self) -> None:
        self.v, self.x, self.log = 1.0, np.ones(4), []
        self.queue, self.marks = deque([1.0, 2.0], 3), {1, 2, 3}

    def step(self, y: Any) -> None:
        self.v = self.v * 0.9 + y
        self.x[1:] += self.v * self.x[:-1]
        self.log.append(self.v)


def objects_and_dicts(x: Any, d: Any, o: Thing) -> Any:
    for k in range(3):
        d["a"] = d["a"] * 0.5 + x[k % 4]
        d.setdefault(k, x[0] * k)
        o.step(x[1] * 0.1)
        x[1:] *= 0.99
    x.sort()
    return d["a"] + o.v + np.sum(o.x) + np.sum(x)


def loops_and_lists(x: Any, d: Any, o: Thing) -> Any:
    y = np.zeros((4, 4))
    for i in range(1, 4):
        y[i] = y[i - 1] + x * 0.1
        y[i, 1:] -= y[i, :-1] * 0.2
        np.multiply(y[i], x, out=y[i])
    for i in range(8):
        x[i % 4] += 0.01 * x[(i + 1) % 4] * i
    d["new"] = [float(i) for i in range(3)]
    d.pop("b")
    o.log.extend([1.0, 2.0])
    o.log[0] = x[0]
    del o.log[1]
    o.log.insert(0, 3.0)
    o.log[:1] = [1.0, 2.0]
    o.log.reverse()
    SEEN["outside"] = x[0]
    return np.sum(y) + np.sum(x) + o.log[0]


def steps_again(x: Any, d: Any, o: Thing) -> Any:
    out = []
    for _ in checkpointed(range(5), 2):
        x[1:-1] += 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
        out.append(x[0])
        d["k"] = x[1]
    return sum([v * 2.0 for v in out]) + np.sum(x * x) + sum(x[i] * x[i - 1] for i in range(1, 4))


def ends_of_containers(x: Any, d: Any, o: Thing) -> Any:
    q = o.queue
    q.append(x[0])
    q.append(x[1])
    q.rotate(1)
    q.appendleft(x[2])
    v = q.pop() * q.popleft()
    q.insert(0, v)
    q[0] = v * 2
    q.reverse()
    o.marks.add(7)
    o.marks.discard(2)
    w = o.marks.pop()
    o.marks.update([8, 9])
    e = OrderedDict(a=x[0], b=x[1])
    e.move_to_end("a")
    e.popitem(last=False)
    d.update(z=x[0])
    d.popitem()
    del d["a"]
    o.x.shape = (2, 2)
    o.x[0, 0] = x[0]
    o.new = x[1]  # type: ignore[attr-defined]
    del o.log

    def scale() -> None:
        nonlocal v
        v = v * x[0]

    scale()
    x[:] = np.sort(x)[::-1]
    return v + np.sum(o.x) + sum(q) + x[0] * w


def a_part_again(x: Any, d: Any, o: Thing) -> Any:
    def part(x: Any) -> Any:
        o.log.append(x[0])
        d["p"] = x[1]
        x *= 2.0
        o.v = x[2]
        return np.sum(x**2) + o.v

    return checkpoint(part, x) + np.sum(np.cumsum(x))


PROGRAMS = [objects_and_dicts, loops_and_lists, steps_again, ends_of_containers, a_part_again]
V = np.array([0.2, -1.0, 0.4, 0.1])


def of_first(f: Any, d: Any, o: Any) -> Any:
    return lambda x: f(x, d, o)


MODES: dict[str, Callable[..., Any]] = {
    "grad": lambda f, x, d, o: value_and_grad(f)(x, d, o),
    "jvp": lambda f, x, d, o: jvp(of_first(f, d, o), (x,), (V,)),
    "hvp": lambda f, x, d, o: hvp(of_first(f, d, o), (x,), V),
    "vjp": lambda f, x, d, o: vjp(f, x, d, o)[1](1.0),
    "debug": lambda f, x, d, o: value_and_grad(f, debug=True)(x, d, o),
}


class Interrupt:
    """Raises an interrupt as Python does: where a function begins, or a call has returned.

    Given 0, it counts these places only.
    """

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(FOLDERS):
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt

    def run(self, call: Callable[[], Any]) -> None:
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            call()
        finally:
            sys.setprofile(before)


def new() -> tuple[Any, ...]:
    return np.linspace(0.5, 1.5, 4), {"a": 1.0, "b": 2.0}, Thing()


def text_of(x: Any, d: Any, o: Any) -> str:
    """Return all that a program can change; of an active number this raises."""
    fields = {k: (v.tolist(), v.shape) if k == "x" else v for k, v in vars(o).items()}
    return repr((x.tolist(), d, fields, SEEN, heard()))


def heard() -> tuple[Any, ...]:
    """Return the settings that decide which warnings and output are seen."""
    filters = filters_of_the_program()
    return np.geterr(), np.geterrcall(), filters, warnings.showwarning, pending.unheard, depth()


def check(f: Any, call: Callable[..., Any], points: int) -> None:
    for _ in range(2):  # the second run finds all forms made
        call(f, *new())
    counter = Interrupt()
    counter.run(lambda: call(f, *new()))
    chosen = random.Random(f.__name__).choices(range(1, counter.count), k=points)
    for at in chosen:
        given = new()
        before = text_of(*given)
        with contextlib.suppress(KeyboardInterrupt):
            Interrupt(at).run(lambda given=given: call(f, *given))
        assert text_of(*given) == before, at


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.sampled(len(MODES) + 1)
@pytest.mark.parametrize(("f", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_everything_is_as_before(f: Any, mode: str) -> None:
    check(f, MODES[mode], 12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("f", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_everything_is_as_before_at_many_places(f: Any, mode: str) -> None:
    check(f, MODES[mode], 400)


class Alarm(BaseException):
    """What a handler of signals may raise."""


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Alarm])
def test_an_interrupt_comes_after_what_it_interrupted(kind: type[BaseException]) -> None:
    todo = [1, 2, 3]
    done = []

    def restore() -> None:
        while todo:
            done.append(todo.pop())
            if done == [3] or done == [3, 2]:
                raise kind

    with pytest.raises(kind):
        through_interrupts(restore)
    assert done == [3, 2, 1]


def interrupted_in(code: Any, call: Callable[[], Any]) -> Iterator[None]:
    """Run a call again and again, interrupted at each return of a C function in some code."""
    for at in itertools.count(1):
        seen = 0

        def interrupt(frame: FrameType, event: str, argument: object, at: int = at) -> None:
            nonlocal seen
            if event == "c_return" and frame.f_code is code:
                seen += 1
                if seen == at:
                    sys.setprofile(None)
                    raise Alarm

        before = sys.getprofile()
        sys.setprofile(interrupt)
        try:
            call()
            return
        except Alarm:
            yield
        finally:
            sys.setprofile(before)


def test_where_a_first_run_ends() -> None:
    q, o = deque([1.0]), {"a": 1.0}

    def part(x: Any) -> Any:
        q.append(x[0])
        q.popleft()
        o["a"] = x[0]
        return q[0] * o["a"] * x[1]

    count = 0
    for _ in interrupted_in(Rehearsal.end.__code__, lambda: value_and_grad(whole(part))(V[:2])):
        assert (q, o) == (deque([1.0]), {"a": 1.0})
        count += 1
    assert count > 3


def whole(part: Any) -> Any:
    return lambda x: 2.0 * checkpoint(part, x)


def test_where_the_order_of_attributes_was_restored() -> None:
    o: Any = types.SimpleNamespace(w=2.0)
    held = [1.0]

    def f(x: Any) -> Any:
        held.append(x[0])
        o.z = x[0]
        del o.w
        return o.z * x[1]

    changed = 0
    made = [c for c in Suspended.__init__.__code__.co_consts if isinstance(c, types.CodeType)]
    restoring = [f.__code__ for f in (state.restore_attribute, dicts.restore_order)]
    for code in (*made, *restoring):
        for _ in interrupted_in(code, lambda: vjp(f, V[:2])):
            assert (vars(o), held) == ({"w": 2.0}, [1.0])
            changed += 1
    assert changed


def test_an_order_whose_later_keys_are_gone_already() -> None:
    d = {"b": 2.0, "a": 1.0}
    dicts.restore_order(d, ["a", "z", "b"], {})
    assert list(d) == ["a", "b"]


def test_errors_come_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        through_interrupts(lambda: 1 / 0)


def test_calls_in_turn() -> None:
    o = [1, 2]
    at_once(map(list.clear, (o,)), map(list.extend, (o,), ([3],)))
    assert o == [3]
