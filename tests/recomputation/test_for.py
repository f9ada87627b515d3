"""``for t in checkpointed(...)``: the body runs again, whatever it binds and however it is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py import checkpointed, checkpointed_loop, grad, jvp, rewritten, value_and_grad, vjp
from mooncake_py.errors import UnsupportedSyntaxError
from tests.recomputation.test_loop import run, runs_of, scheduled
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.5, -0.25, 1.5])
counter = 0.0


@programs(X, 0.3)
def variables_and_memory(u, c):
    t, last = 0.0, None
    for k in checkpointed(range(13), slots=3):
        u[1:] += c * np.sin(u[:-1])
        t = t + c * u[0]
        last = np.cos(u) * t
        u[0] = t * 0.1 * k
    return np.sum(last * u) * t + k


@programs(X)
def exits(x):
    def inner(limit):
        y = x[0]
        for k in checkpointed(range(20), slots=2):
            if k % 3 == 0:
                continue
            y = y * 1.1 + x[1]
            for j in range(5):
                if j == 2:
                    break
                y = y + j * x[2]
            if k > limit:
                return y * k
            if y > 40.0:
                break
        else:
            y = y * x[0]
        return y * x[2]

    return inner(4) + inner(50) + inner(18)


@programs(X)
def targets_and_items(x):
    total = 0.0
    for k, (a, *rest) in mooncake_py.checkpointed(enumerate([(x[0], 1.0, 2.0), x, x * x]), 2):
        total = total * 0.5 + a * rest[-1] * k
    for v in checkpointed(x, slots=1):
        total = total + v * v * total
    d = {}
    for d["item"] in checkpointed([x[1], x[2]], slots=1):
        total = total * d["item"]
    return total


# ruff: noqa: B023 - the functions in loops are called there


@programs(0.7)
def names_bound_in_every_way(x):
    global counter
    y = x
    counter = x
    for k in checkpointed(range(7), slots=2):

        def helper(v):
            return v * y

        class Box:
            value = x * k

        try:
            if k == 3:
                raise ValueError(y)
            z = helper(x)
        except ValueError as error:
            z = error.args[0] * 2
        if (w := z * 0.5) > 10:
            pass
        counter = counter * 0.9 + w + Box.value
        match (k, w):
            case (1, first):
                y = y + first
            case (_, other):
                y = y * 0.9 + other
        del z
    return y * counter + w + helper(first)


@programs(0.7)
def nonlocal_variable(x):
    total = x

    def run(n):
        nonlocal total
        for k in checkpointed(range(n), slots=2):
            total = total * x + k

    run(5)
    run(3)
    return total


@programs(0.7)
def loop_in_loop_and_comprehension(x):
    y = x
    for k in checkpointed(range(4), slots=2):
        for j in checkpointed(range(k + 1), slots=1):
            y = np.sin(y) * x + j
        y = y + sum([y * v for v in range(k)])
    return y


@programs(X)
def variable_that_changes_after_the_loop(x):
    scale = 2.0
    y = x[0]
    for _ in checkpointed(range(5), slots=2):
        y = y * scale * x[1] + x[2]
    scale = 3.0
    return y * scale


class Solver:
    def __init__(self, u):
        self.u, self.t = u, 0.0

    def run(self, steps):
        for self.t in checkpointed([0.1 * k for k in range(steps)], slots=2):
            self.u = self.u + 0.1 * np.sin(self.u) * self.t
        return np.sum(self.u**2) * self.t


@programs(X)
def attributes_as_targets(x):
    return Solver(x).run(6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_steps_run_as_often_as_scheduled(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        for k in checkpointed(range(40), slots=4):
            print(k)
            x = run(x) * 1.01
        return x

    assert runs_of(lambda: grad(f)(1.0)) == scheduled(40, 4) + 40
    assert grad(f)(1.0) == pytest.approx(1.01**40)
    assert capsys.readouterr().out.split() == [str(k) for k in range(40)] * 2


def test_outside_of_derivatives_it_returns_the_items() -> None:
    assert checkpointed(range(3), slots=2) == range(3)
    assert checkpointed(iter([1, 2])) == (1, 2)


def test_call_elsewhere_is_recorded() -> None:
    def f(x):
        items = checkpointed([x, x * x])
        return sum([v * w for v, w in zip(items, checkpointed(range(2)), strict=True)])

    assert grad(f)(3.0) == 6.0


def test_yield_in_the_body_is_refused() -> None:
    def parts(x):
        for k in checkpointed(range(3)):
            yield x * k

    with pytest.raises(UnsupportedSyntaxError, match="runs again"):
        grad(lambda x: sum(parts(x)))(1.0)


def test_code_is_shown_and_exceptions_name_the_line() -> None:
    def f(x):
        for k in checkpointed(range(3)):
            x = x / (k - 1)
        return x

    assert "C.run_again(body0, (('k', 'x'), ()), range(3))" in rewritten(f)
    with pytest.raises(ZeroDivisionError) as info:
        grad(f)(1.0)
    notes: list[Any] = getattr(info.value, "__notes__", [])
    assert any(f"test_for.py:{f.__code__.co_firstlineno + 2}" in note for note in notes)


class Doubled:
    """Iterates by code."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for v in self.x:
            yield v * 2.0


ITEMS = {
    "array": lambda x: x, "flat": lambda x: x.flat, "map": lambda x: map(np.sin, x),
    "object": Doubled, "reversed": reversed, "generator": lambda x: (v * v for v in x),
    "values": lambda x: {"a": x[0], "b": x[2]}.values(),
}  # fmt: skip


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_items_that_are_active_in_every_mode(items):
    def loop(x):
        total = x[1]
        for v in checkpointed(items(x), slots=1):
            total = total + v * v * total
        return total

    def function(x):
        return checkpointed_loop(lambda total, v: total + v * v * total, x[1], items(x), 1)

    for f in (loop, function):
        expected = value_and_grad(plain(items))(X)
        for value, gradient in (value_and_grad(f)(X), (vjp(f, X)[0], vjp(f, X)[1](1.0)[0])):
            assert value == expected[0]
            np.testing.assert_allclose(gradient, expected[1], rtol=1e-14)
        slopes = [jvp(f, (X,), (e,))[1] for e in np.eye(3)]
        np.testing.assert_allclose(slopes, expected[1], rtol=1e-14)


def plain(items):
    def f(x):
        total = x[1]
        for v in items(x):
            total = total + v * v * total
        return total

    return f


def in_the_first_pass(x):
    for _ in checkpointed(range(3), slots=1):
        try:
            x = x * y  # noqa: F821
            del w  # noqa: F821
        except UnboundLocalError as error:
            x = x * len(str(error))
        finally:
            x = x * 1.5
        y = w = 0.5  # noqa: F841
    return x * y


def of_an_inner_function(x):
    def read():
        return y

    for _ in checkpointed(range(3), slots=1):
        try:
            x = x * read()
        except UnboundLocalError:
            x = x * 100
        except NameError:
            x = x * 5
        y = 0.5
    return x * y


def never_bound(x):
    for k in checkpointed(range(3), slots=1):
        if k == 1:
            x = x + y  # noqa: F821
        if k == 2:
            y = x  # noqa: F841
    return x


@pytest.mark.parametrize("f", [in_the_first_pass, of_an_inner_function])
def test_names_that_are_not_bound_yet_raise_as_in_the_plain_loop(f):
    for value, slope in (value_and_grad(f)(1.25), jvp(f, (1.25,), (1.0,))):
        assert value == f(1.25)
        np.testing.assert_allclose(slope, f(1.25) / 1.25)


def test_names_that_are_never_bound_raise_as_in_the_plain_loop():
    with pytest.raises(UnboundLocalError) as plain:
        never_bound(1.0)
    for derivative in (lambda: grad(never_bound)(1.0), lambda: jvp(never_bound, (1.0,), (1.0,))):
        with pytest.raises(UnboundLocalError) as found:
            derivative()
        assert str(found.value) == str(plain.value)
        assert found.value.__context__ is None
