"""What cannot be differentiated is refused where it is reached, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import (
    MooncakeError,
    UnsupportedSyntaxError,
    checkpointed,
    grad,
    hvp,
    jacobian,
    jvp,
    vjp,
)
from mooncake_py.coverage import refusals
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are tried here")


def with_exec(x, reach):
    if reach:
        exec("y = 1")
    return x * x


def with_eval(x, reach):
    return x * x if not reach else eval("x") * x


def in_a_loop(x, reach):
    for k in range(2):
        if reach and k == 1:
            eval("k")
    return x * x


def with_target(x, reach):
    a = [0.0]
    if reach:
        return sum([x for a[0] in range(1)])
    return x * x


def with_locals_in_a_class(x, reach):
    if reach:

        class Found:
            names = locals()

    return x * x


def with_a_loop_that_runs_again(x, reach):
    if reach:
        for k in checkpointed(range(2)):  # noqa: B007 - read by name
            x = x * locals()["k"]
    return x * x


def caught(x, reach):
    try:
        return x * (eval("2.0") if reach else x)
    except SyntaxError:
        return x


FUNCTIONS = [
    with_exec, with_eval, in_a_loop, with_target, with_locals_in_a_class,
    with_a_loop_that_runs_again, caught,
]  # fmt: skip
MODES = {
    "grad": lambda f: grad(f)(3.0),
    "debug": lambda f: grad(f, debug=True)(3.0),
    "compiled": lambda f: grad(f, compile=True)(3.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,))[1],
    "vjp": lambda f: vjp(f, 3.0)[1](1.0)[0],
    "hvp": lambda f: 3.0 * hvp(f, (3.0,), 1.0),
    "jacobian": lambda f: jacobian(f)(np.array([3.0]))[0, 0],
    "nested": lambda f: 3.0 * grad(grad(f))(3.0),
}


@pytest.mark.filterwarnings("ignore::mooncake_py.MooncakeWarning")
@pytest.mark.parametrize(("f", "mode"), rotating(FUNCTIONS, MODES, times=2))
def test_only_what_is_reached_is_refused(f, mode):
    assert MODES[mode](lambda x: f(x, False)) == 6.0
    with pytest.raises(UnsupportedSyntaxError, match="cannot be differentiated") as caught:
        MODES[mode](lambda x: f(x, True))
    assert caught.value.where.function == f.__name__


def two_places(x, first, second):
    if first:
        x = eval("x")
    if second:
        exec("x")
    return x


def test_the_error_is_at_what_is_reached_and_names_all():
    start = two_places.__code__.co_firstlineno
    for reached, line in ((True, False), start + 2), ((False, True), start + 4):
        with pytest.raises(UnsupportedSyntaxError, match=r"\(2 places\)") as caught:
            grad(two_places)(3.0, *reached)
        assert caught.value.where.line == line


def test_a_survey_goes_on_behind_them():
    def f(x):
        y = eval("x[0] * 2.0")
        a = [0.0]
        z = [a[0] for a[0] in range(3)]
        return np.sum(np.frompyfunc(abs, 1, 1)(x)) * (y + z[2])

    found = refusals(f, np.ones(2))
    assert [type(error).__name__ for error in found[:2]] == ["UnsupportedSyntaxError"] * 2
    assert "abs" in str(found[2])
    assert all(isinstance(error, MooncakeError) for error in found)


class Number(float):
    """Is also called, which no conversion does."""

    def __call__(self, index):
        return self


class Word(str):
    def __call__(self):
        return 3


class Counted:
    """Is converted by code that writes."""

    def __init__(self):
        self.count = 0

    def __float__(self):
        self.count += 1
        return 2.0


def of_callable_constants(x):
    return x * x * float.__mul__(Number(Number(2.0)), 0.5) * len(Word(Word("a")))


def of_what_is_converted(x):
    counted = Counted()
    return x * x * (float.__mul__(Number(counted), 0.5) * counted.count)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [of_callable_constants, of_what_is_converted])
def test_numbers_of_classes_of_ones_own_are_made_of_constants(f, mode):
    assert MODES[mode](f) == 6.0


def test_numbers_of_classes_of_ones_own_have_no_derivative():
    with pytest.raises(MooncakeError, match="Number"):
        grad(lambda x: float.__mul__(Number(x), 2.0))(3.0)
