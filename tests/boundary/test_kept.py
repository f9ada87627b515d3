"""What code without a derivative has kept is not emptied when the derivative ends."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from mooncake_py import (
    CheckpointError,
    checkpoint,
    grad,
    hvp,
    ignore_derivatives,
    jvp,
    value_and_grad,
    vjp,
)
from tests.support.pairs import rotating

LOG: list = []
TABLE: dict = {}
MODES = {
    "grad": lambda f: grad(f)(1.5),
    "debug": lambda f: grad(f, debug=True)(1.5),
    "forward": lambda f: value_and_grad(f, mode="forward")(1.5),
    "vjp": lambda f: vjp(f, 1.5),
    "jvp": lambda f: jvp(f, (1.5,), (1.0,)),
    "hvp": lambda f: hvp(f, (1.5,), 1.0),
    "nested": lambda f: grad(grad(f))(1.5),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x) * x)(1.5),
}


class State:
    pass


class Slots:
    __slots__ = ("rows", "v")


class Recorder:
    def __call__(self, o):
        self.last = o


RECORDER = Recorder()


def attributes(x):
    s = State()
    s.v = 2 * x
    ignore_derivatives(LOG.append, s)
    s.v = s.v * x
    return s.v**2, lambda: LOG[-1].v


def items(x):
    found = {}
    found["a"] = x
    ignore_derivatives(LOG.append, found)
    found["b"] = 2 * x
    return found["a"] * found["b"], lambda: LOG[-1]


def slots(x):
    s = Slots()
    s.v, s.rows = x, deque()
    ignore_derivatives(LOG.append, (s, 1))
    s.rows.append(3 * x)
    return s.v * s.rows[0], lambda: (LOG[-1][0].v, list(LOG[-1][0].rows))


def array(x):
    a = np.zeros(3)
    ignore_derivatives(LOG.append, a)
    y = np.sum(a) + x
    a[:] = x
    y += np.sum(a * a)
    a[0] = 7.0
    return y * x, lambda: list(LOG[-1])


def function(x):
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    up()
    ignore_derivatives(LOG.append, up)
    up()
    return x * n, lambda: LOG[-1]()


def class_of_the_call(x):
    class Model:
        rows = []

    Model.rows.append(x)
    ignore_derivatives(LOG.append, Model)
    Model.k = 5 * x
    return Model.k, lambda: (LOG[-1].rows, LOG[-1].k)


def within_what_native_code_made(x):
    def store(o):
        TABLE["new"] = {"o": [o]}

    s = State()
    s.v = x
    ignore_derivatives(store, s)
    s.v = x * x
    return s.v, lambda: TABLE["new"]["o"][0].v


def attribute_of_the_log(x):
    s = State()
    s.v = x
    ignore_derivatives(RECORDER, s)
    return s.v * x, lambda: RECORDER.last.v


PROGRAMS = [
    attributes, items, slots, array, function, class_of_the_call, within_what_native_code_made,
    attribute_of_the_log,
]  # fmt: skip


@pytest.mark.parametrize(("mode", "program"), rotating(MODES, PROGRAMS, times=2))
def test_objects_in_a_log_are_as_after_the_plain_call(program, mode):
    _, read = program(1.5)
    expected = read()
    try:
        MODES[mode](lambda x: program(x)[0])
    except CheckpointError:  # what the first run has left in the log counts as a change
        assert mode == "checkpoint"
        return
    assert read() == expected
    assert "Active" not in repr(read())


def test_an_object_of_the_caller_is_restored_and_its_copy_kept():
    s = State()
    s.v = 1.0

    def f(x):
        s.v = x
        ignore_derivatives(LOG.append, s)
        return s.v * x

    grad(f)(1.5)
    assert s.v == 1.0
    assert LOG[-1].v == 1.5


def test_the_log_is_kept_when_the_call_raises():
    def f(x):
        s = State()
        s.v = x
        ignore_derivatives(LOG.append, s)
        raise ValueError("stop")

    for mode in MODES.values():
        with pytest.raises(ValueError, match="stop"):
            mode(f)
        assert LOG[-1].v == 1.5


def test_what_has_not_changed_stays_the_same_object():
    o = State()

    def f(x):
        ignore_derivatives(LOG.append, o)
        return x * x

    grad(f)(1.5)
    assert LOG[-1] is o


def inner_grad(log_to, x):
    def inner(y):
        log_to()
        return y * x

    return grad(inner)(x)


def inner_pullback(log_to, x):
    def inner(y):
        log_to()
        return y * x

    return vjp(inner, x)[1](1.0)[0]


def innermost(log_to, x):
    return grad(lambda y: inner_grad(log_to, y * x))(x)


@pytest.mark.parametrize(
    ("mode", "inside"), rotating(MODES, [inner_grad, inner_pullback, innermost])
)
def test_an_object_of_the_outer_call_is_kept_by_what_runs_inside(mode, inside):
    LOG.clear()

    def f(x):
        s = State()
        s.v = x * 2.0
        s.rows = []
        s.rows.append(3.0)
        return inside(lambda: ignore_derivatives(LOG.append, s), x) * s.v

    MODES[mode](f)
    assert LOG
    assert all(vars(s) == {"v": 3.0, "rows": [3.0]} for s in LOG)
