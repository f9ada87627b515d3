"""``locals()``, ``vars()`` and ``dir()`` tell the variables of the user's function."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import checkpointed, grad
from mooncake_py.errors import UnsupportedSyntaxError
from tests.support.gradients import Program, Programs

X = np.array([0.5, -1.2, 2.0])
programs = Programs()


@programs(X)
def one_of_them(x):
    y = x[0] * 2
    return locals()["y"] * x[1] + vars()["y"]


@programs(X)
def after_a_loop_over_numbers(x):
    s = 0.0
    for i in range(3):
        t = x[i] * 2
        s += t
    found = locals()
    return found["t"] * found["s"] * found["i"] + len(found)


@programs(X)
def after_a_loop_over_arrays(x):
    u = x.copy()
    for n in range(4):  # noqa: B007
        w = u[1:-1] * 0.5
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return locals()["w"][0] * locals()["n"] + u.sum()


@programs(X)
def brought_up_to_date_as_python_does(x):
    y = x * 2
    first = locals()
    count = len(first)
    y = y * 3
    before = first["y"][0]
    second = locals()
    return second["y"][1] * len(second) + before + count + first["y"][0] + ("second" in first)


@programs(X)
def names_that_are_not_bound(x):
    if x[0] > 100:
        q = 1.0
    for r in range(0):  # noqa: B007
        pass
    y = x[0]
    del y
    try:
        x = x / (1 // 0)
    except ZeroDivisionError as error:
        x = x * len(str(error))
    return x.sum() * len(locals()) + ("q" in dir()) + sum(name in dir() for name in ("x", "y", "r"))


@programs(X)
def captured_ones(x):
    k = x[2]

    def inner(a):
        b = a * k
        return sum(value for name, value in sorted(locals().items()))

    return inner(x[0]) + len(dir())


@programs(X)
def writes_into_the_dict(x):
    found = locals()
    found["x"], found["n"] = 0.0, x[0] * 5
    return x.sum() + found["n"]


class Scaled:
    def __init__(self, values, scale=2.0, shift=1.0):
        scope = locals()
        for name in ("values", "scale", "shift"):
            setattr(self, name, scope[name])


@programs(X)
def attributes_of_the_parameters(x):
    made = Scaled(x, scale=x[0])
    return np.sum(made.values * made.scale + made.shift)


@programs(X)
def beside_a_checkpointed_loop(x):
    for i in checkpointed(range(3)):  # noqa: B007
        x = x * 1.1
    return locals()["x"].sum() * locals()["i"]


@programs(X)
def in_a_comprehension(x):
    found = [locals() for v in x]
    return found[0]["v"] * x[1]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def in_a_class(x):
    class Counted:
        number = len(locals())

    return Counted.number * x[0]


def in_a_loop_that_runs_again(x):
    for _ in checkpointed(range(3)):
        x = x * len(locals())
    return x.sum()


@pytest.mark.parametrize("f", [in_a_class, in_a_loop_that_runs_again])
def test_where_they_are_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="locals"):
        grad(f)(X)


def test_a_function_of_that_name_is_an_ordinary_one():
    def f(x):
        locals = vars = dir = lambda: x[0] * 3
        return locals() + vars() + dir()

    np.testing.assert_array_equal(grad(f)(X), [9.0, 0.0, 0.0])
