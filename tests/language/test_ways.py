"""Calls, methods and instances run as they are decided to once, and see what has changed since."""

from __future__ import annotations

import gc
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import (
    checkpoint,
    elementwise,
    grad,
    jvp,
    local_rules,
    value_and_grad,
    vjp,
    zero_derivative,
)
from tests.language.called import (
    classes,
    contents,
    copied,
    functions,
    instances,
    iterated,
    protocols,
    rest,
    specials,
    values,
)
from tests.language.called.comparing import AT, STEP, check

GROUPS = (
    functions,
    classes,
    instances,
    values,
    specials,
    rest,
    iterated,
    contents,
    protocols,
    copied,
)


@pytest.mark.without_modes("all modes are compared here")
@pytest.mark.parametrize(
    ("group", "f"),
    [pytest.param(m, f, id=f"{m.__name__.rpartition('.')[2]}-{f.__name__}")
     for m in GROUPS for f in m.PROGRAMS],
)  # fmt: skip
def test_programs_whose_callees_change(group: Any, f: Any) -> None:
    check(group.PROGRAMS, f)


class Held:
    """Something that functions capture."""


NOTED: list[Any] = []


def note(o: Any) -> None:
    """Keep a weak reference, beyond the end of a derivative."""
    NOTED.append(ref(o))


zero_derivative(note)


def capturing(x: Any) -> Any:
    """Call functions, methods and classes that capture an object."""
    captured = Held()
    note(captured)

    class Step:
        def __init__(self, x):
            self.x = x
            self.captured = captured

        def __call__(self, x):
            return self.x * x if self.captured else x

        def method(self, x):
            return self.x + x if captured else x

        def __add__(self, other):
            return Step(self.x + other.x)

    note(Step)
    f = lambda x: x * (1.0 if captured else 2.0)  # noqa: E731
    for _ in iter(range(4)):
        x = f(x) + Step(x)(x) + Step(x).method(x) + (Step(x) + Step(x)).x
        method = Step(x).method
        x = 0.1 * partial(method)(x)
    return x


def raises(x: Any) -> Any:
    capturing(x)
    raise ValueError("at the end")


def is_interrupted(x: Any) -> Any:
    capturing(x)
    raise KeyboardInterrupt


def fails(take: Any) -> None:
    with suppress(ValueError):
        take(raises)


def ends_by_an_interrupt() -> None:
    with suppress(KeyboardInterrupt):
        grad(is_interrupted)(AT)


WAYS_TO_END = {
    "value": lambda: grad(capturing)(AT),
    "tangent": lambda: jvp(capturing, (AT,), (1.0,)),
    "pullback never called": lambda: vjp(capturing, AT),
    "pullback": lambda: vjp(capturing, AT)[1](1.0),
    "checkpoint": lambda: grad(lambda x: checkpoint(capturing, x))(AT),
    "second order": lambda: grad(grad(capturing))(AT),
    "exception": lambda: fails(lambda f: grad(f)(AT)),
    "exception along": lambda: fails(lambda f: jvp(f, (AT,), (1.0,))),
    "interrupt": ends_by_an_interrupt,
}


@pytest.mark.plain
@pytest.mark.without_modes("a record keeps alive what must go")
@pytest.mark.parametrize("end", WAYS_TO_END)
def test_what_functions_capture_is_freed_however_a_derivative_ends(end: str) -> None:
    NOTED.clear()
    for _ in range(2):
        WAYS_TO_END[end]()
    gc.collect()
    assert len(NOTED) >= 4
    assert [kept() for kept in NOTED if kept() is not None] == []


# Patches between and during derivatives.


def scale(x, k=2.0):
    return x * k


class Model:
    def __init__(self, x):
        self.x = x

    def step(self, x):
        return self.x * scale(x)


def simulation(x):
    total = 0.0
    for _ in iter(range(4)):
        total = total + Model(x).step(x) + scale(x)
    return total


def test_patches_between_derivatives_are_seen(monkeypatch: Any) -> None:
    derivative = grad(simulation)

    def expected() -> float:
        return (simulation(AT + STEP) - simulation(AT - STEP)) / (2 * STEP)

    for owner, name, value in [
        (scale, "__defaults__", (3.0,)),
        (scale, "__code__", (lambda x, k: x * x * k).__code__),
        (Model, "step", lambda self, x: self.x + x),
        (Model, "__init__", lambda self, x: setattr(self, "x", x * x)),
        (sys.modules[__name__], "scale", np.exp),
    ]:
        assert_allclose(derivative(AT), expected(), rtol=1e-8)
        monkeypatch.setattr(owner, name, value)
        assert_allclose(derivative(AT), expected(), rtol=1e-8)
        assert_allclose(jvp(simulation, (AT,), (1.0,))[1], expected(), rtol=1e-8)


@pytest.mark.plain
def test_rules_that_come_and_go_while_a_function_runs() -> None:
    def cube(x):
        return x**3

    def f(x):
        total = 0.0
        for k in iter(range(6)):
            total = total + cube(x)
            if k == 2:
                with local_rules():
                    elementwise(cube, 100.0)
                    for _ in iter(range(3)):
                        total = total + cube(x)
            if k == 3:
                elementwise(cube, 1000.0)
        return total

    for take in (lambda: grad(f)(AT), lambda: jvp(f, (AT,), (1.0,))[1]):
        assert_allclose(take(), 4 * 3 * AT**2 + 3 * 100.0 + 2 * 1000.0)
        cube = type(cube)(cube.__code__, globals())  # without its rule


def test_rules_of_a_block_hold_where_they_are_declared() -> None:
    def cube(x):
        return x**3

    def f(x):
        total = 0.0
        for _ in iter(range(8)):
            total = total + cube(x)
            with local_rules():
                elementwise(cube, 100.0)
                total = total + cube(x)
            total = total + cube(x)
        return total

    expected = 16 * 3 * AT**2 + 8 * 100.0
    assert_allclose(grad(f)(AT), expected)
    assert_allclose(jvp(f, (AT,), (1.0,))[1], expected)
    assert_allclose(grad(f, debug=True)(AT), expected)


def test_threads_take_turns_at_a_site() -> None:
    def work(x, k):
        f = (lambda v: v * k) if k > 2 else scale
        total = 0.0
        for _ in iter(range(30)):
            total = total + f(x) + Model(x).step(x)
        return total

    expected = {k: value_and_grad(work)(AT, k) for k in (1.0, 3.0, 5.0)}
    wrong = []

    def run(k: float) -> None:
        wrong.extend(k for _ in range(20) if value_and_grad(work)(AT, k) != expected[k])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run, args=(k,)) for k in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


# Objects that share their state while they are made.

SHARED: dict[str, Any] = {}


def one_state_for_all(s):
    class Sharing:
        def __init__(self, x, shares):
            if shares:
                self.__dict__ = SHARED
            self.x = x
            self.y = x * x

    t = 0.0
    for k in iter(range(6)):  # the last one shares, when all is known of the class
        t = t + Sharing(s, k == 5).y
    return t


def state_of_another_one(s):
    class Inner:
        def __init__(self, x, other):
            self.x = x
            if other is not None:
                other.__dict__ = SHARED
            self.y = x

    class Outer:
        def __init__(self, x, shares):
            self.x = x
            self.inner = Inner(x, self if shares else None).y
            self.z = x * self.inner if shares else x

    t = 0.0
    for k in iter(range(6)):
        t = t + Outer(s, k == 5).z
    return t


@pytest.mark.parametrize("f", [one_state_for_all, state_of_another_one])
def test_writes_into_what_objects_share_are_undone(f: Any) -> None:
    slope = (f(AT + STEP) - f(AT - STEP)) / (2 * STEP)
    SHARED.clear()
    takes = (lambda: grad(f)(AT), lambda: jvp(f, (AT,), (1.0,))[1], lambda: vjp(f, AT)[1](1.0)[0])
    for take in takes:
        assert_allclose(take(), slope, rtol=1e-8)
        assert SHARED == {}
