"""Debug mode runs loops both ways, and finds where one way is wrong."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, debug_mode, grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native import region_site as site
from mooncake_py.errors import DifferentResultError
from mooncake_py.modes.debug.regions import RegionBeside
from tests.support.gradients import Program, Programs

pytestmark = pytest.mark.plain
programs = Programs()
X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


@programs(X, 0.5)
def elements(x, a):
    for i in range(1, 5):
        x[i] += a * x[i - 1] * x[i]
    return x[-1] * x[2]


@programs(X)
def a_number(x):
    s = 0.0
    for i in range(5):
        s += x[i] * x[i]
    return s * s


@programs(X)
def items(x):
    q = [x[0] * x[1], x[1], 2.0 * x[2], x[3], x[0]]
    for i in range(1, 5):
        q[i] = q[i - 1] * q[i] + x[i]
    return q[3] * q[4]


@programs(X)
def a_number_that_stays_what_it_is(x):
    s = x[0] * 2.0
    t = s
    for i in range(5):
        if x[i] > 10.0:
            s = x[i] * t
    return s * t * x[1]


@programs(X)
def one_number_by_two_names(x):
    s = x[0] * 2.0
    a = b = 0.0
    for i in range(5):
        a = s * x[i]
        b = a
    return a * a + b * s


@programs(X)
def a_new_array(x):
    y = np.zeros(5)
    for i in range(1, 5):
        y[i] = y[i - 1] * x[i] + x[0]
    return y[4] * y[2]


@programs(X)
def in_a_checkpoint(x):
    return checkpoint(a_number, x) * checkpoint(elements, x * 1.0, x[0])


@programs(X)
def while_it_is_large(x):
    s = 30.0 * x[0]
    while s > 1.0:
        s = s * 0.5 - x[2] * 0.01
    return s


class Body:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.__rate = 0.5

    def run(self, x: Any) -> None:
        for i in range(5):
            self.v += self.__rate * x[i] * self.v
            self.__rate = 0.9 * self.__rate


@programs(X)
def attributes(x):
    body = Body(x[0])
    body.run(x)
    return body.v * x[1]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compared, in order."""
    found: list[str] = []

    def note(name: str) -> None:
        method = getattr(RegionBeside, name)

        def noted(self: RegionBeside, *args: Any) -> None:
            found.append(name)
            method(self, *args)

        monkeypatch.setattr(RegionBeside, name, noted)

    note("compare")
    note("check")
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_both_ways_agree(program: Program, compared: list[str]) -> None:
    with debug_mode():
        program.check()
    assert {"compare", "check"} <= set(compared)


def test_inside_another_derivative(compared: list[str]) -> None:
    def f(x):
        return np.sum(grad(a_number)(x) * x)

    expected = grad(f)(X)
    with debug_mode():
        assert_allclose(grad(f)(X), expected, rtol=1e-12)
    assert {"compare", "check"} <= set(compared)


def sabotage(monkeypatch: pytest.MonkeyPatch, **wrong: Callable[..., Any]) -> None:
    """Replace the sweeps of the forms that are made from now on."""
    form_of = site.form_of

    def wrong_form(*args: Any) -> Any:
        form = form_of(*args)
        changed = {name: getattr(form, name) for name in wrong}
        return replace(form, **{n: f and wrong[n](f) for n, f in changed.items()})

    monkeypatch.setattr(site, "form_of", wrong_form)


def numbers_times(factor: float) -> Callable[..., Any]:
    """Return a context in which reverse sweeps give other cotangents to the numbers they take."""
    return lambda f: lambda *args, **given: tuple(g * factor for g in f(*args, **given))


@pytest.fixture
def powers(define: Callable[[str], Any]) -> Any:
    """A program whose forms are not made yet."""
    return define("""
def f(x, a):
    s = 1.0
    for i in range(5):
        s = s * a + x[i]
    return s
""")


def test_a_wrong_cotangent_of_a_number(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=numbers_times(1.0 + 1e-9))
    with pytest.raises(DifferentResultError, match="gives a another cotangent") as caught:
        grad(powers, (0, 1), debug=True)(X, 0.5)
    assert f"{powers.__code__.co_filename}:4:" in str(caught.value)


def test_rounding_is_no_difference(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=numbers_times(1.0 + 1e-14))
    grad(powers, (0, 1), debug=True)(X, 0.5)


def test_a_wrong_cotangent_of_an_element(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        for i in range(1, 5):
            x[i] *= x[i - 1]
        return x[4]

    def wrong(reverse: Any) -> Any:
        def run(*args: Any, **given: Any) -> Any:
            found = reverse(*args, **given)
            args[-1][2] += 1e-9
            return found

        return run

    sabotage(monkeypatch, reverse=wrong)
    with pytest.raises(DifferentResultError, match=r"gives x\[2\] another cotangent") as caught:
        grad(f, debug=True)(X)
    assert f"{f.__code__.co_firstlineno + 1}:" in str(caught.value)


def test_a_wrong_cotangent_of_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        q = [x[0], x[1], x[2]]
        for i in range(1, 3):
            for _ in range(2):
                q[i] = q[i] * q[i - 1]
        return q[2]

    def wrong(reverse: Any) -> Any:
        def run(*args: Any, **given: Any) -> Any:
            found = reverse(*args, **given)
            args[-1][1] = 7.0
            return found

        return run

    sabotage(monkeypatch, reverse=wrong)
    with pytest.raises(DifferentResultError, match="gives q another cotangent"):
        grad(f, debug=True)(X)


def test_a_derivative_that_is_missing(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=numbers_times(0.0))
    with pytest.raises(DifferentResultError, match="another cotangent"):
        grad(powers, (0, 1), debug=True)(X, 0.5)


def last_bit(forward: Any) -> Any:
    def run(*args: Any) -> Any:
        found = forward(*args)
        if not found[0]:
            return found
        z, stack, top, *results = found
        results = [math.nextafter(v, 9.0) if isinstance(v, float) else v for v in results]
        return z, stack, top, *results

    return run


def test_a_wrong_value(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, forward=last_bit)
    with pytest.raises(DifferentResultError, match="gives s another value") as caught:
        grad(powers, debug=True)(X, 0.5)
    assert f"{powers.__code__.co_filename}:4:" in str(caught.value)


def test_a_wrong_value_where_nothing_is_active(
    powers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch, forward=last_bit)
    with pytest.raises(DifferentResultError, match="gives s another value"):
        grad(lambda x, y: powers(y, 0.5) * x[0], debug=True)(X, X.copy())


def test_a_wrong_value_in_the_first_run_of_a_checkpoint(
    powers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch, forward=last_bit)
    with pytest.raises(DifferentResultError, match="gives s another value"):
        value_and_grad(lambda x: checkpoint(powers, x, 0.5), debug=True)(X)


@pytest.mark.parametrize("kind", [np.array, list])
def test_a_wrong_write(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        y = kind([1.0, 2.0, 3.0, 4.0])
        for i in range(1, 4):
            y[i] = y[i] * y[i - 1]
        return x[0] * y[3]

    def wrong(forward: Any) -> Any:
        def run(*args: Any) -> Any:
            found = forward(*args)
            written = next(a for a in args[1:] if isinstance(a, list | np.ndarray))
            written[0] = 0.5
            return found

        return run

    sabotage(monkeypatch, forward=wrong)
    with pytest.raises(DifferentResultError, match=r"gives y(\[0\])? another value"):
        grad(f, debug=True)(X)


def test_it_can_be_switched_off(
    powers: Any, monkeypatch: pytest.MonkeyPatch, compared: list[str]
) -> None:
    sabotage(monkeypatch, forward=last_bit, reverse=numbers_times(0.0))
    with debug_mode(compare_fused=False):
        g = grad(powers)(X, 0.5)
    assert_allclose(g, 0.5 ** np.arange(4.0, -1.0, -1.0))
    assert compared == []


def test_loops_with_warnings_and_exceptions_are_not_compared(compared: list[str]) -> None:
    def f(x):
        s = 1.0
        for i in range(5):
            s = s / x[i]
        return s

    with pytest.raises(ZeroDivisionError):
        grad(lambda x: f([1.0, 0.0, 2.0, 1.0, 1.0]) * x[0], debug=True)(X)
    assert compared == []


def to_its_end(forward: Any) -> Any:
    """Return a forward sweep that finds no zeros."""
    return lambda stack, *args: forward(
        stack, *(np.where(a, a, 1.0) if isinstance(a, np.ndarray) else a for a in args)
    )


@pytest.fixture
def quotients(define: Callable[[str], Any]) -> Any:
    """A program that divides by zero if it is told so."""
    return define("""
def f(x, catches=False):
    s = 1.0
    d = [1.0, 2.0, 0.0, 1.0, 2.0]
    try:
        for i in range(5):
            s = s * x[i] / d[i]
    except ZeroDivisionError:
        if not catches:
            raise
    return s
""")


def test_statements_that_raise_alone(quotients: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, forward=to_its_end)
    with pytest.raises(ZeroDivisionError) as caught:
        grad(quotients, debug=True)(X.tolist())
    assert "comes to its end, and its statements raise" in caught.value.__notes__[0]
    assert f"{quotients.__code__.co_filename}:6:" in caught.value.__notes__[0]


def test_statements_that_raise_alone_and_are_caught(
    quotients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch, forward=to_its_end)
    with pytest.raises(DifferentResultError, match="its statements raise"):
        grad(quotients, debug=True)(X.tolist(), True)
    with debug_mode(), pytest.raises(DifferentResultError, match="its statements raise"):
        jvp(lambda x: quotients(x, True), (X.tolist(),), (X.tolist(),))


def test_loops_that_raise_both_ways(quotients: Any) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        grad(quotients, debug=True)(X.tolist())
    assert not any("its statements" in note for note in getattr(caught.value, "__notes__", ()))
    expected = grad(quotients)(X.tolist(), True)
    assert_allclose(grad(quotients, debug=True)(X.tolist(), True), expected)


# Forward mode.


@pytest.mark.parametrize("program", programs, ids=str)
def test_tangents_agree(program: Program, compared: list[str]) -> None:
    args = copy.deepcopy(program.args)
    expected = jvp(program.f, args, args)
    with debug_mode():
        value, tangent = jvp(program.f, args, args)
    assert value == expected[0]
    assert_allclose(tangent, expected[1], rtol=1e-12)
    assert "compare" in compared


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_products_with_the_hessian_agree(program: Program, compared: list[str]) -> None:
    x, *others = copy.deepcopy(program.args)
    expected = hvp(program.f, (x, *others), np.ones(5))
    with debug_mode():
        found = hvp(program.f, (x, *others), np.ones(5))
    assert_allclose(found, expected, rtol=1e-11)
    assert {"compare", "check"} <= set(compared)


def tangents_times(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Let forward sweeps bind other tangents."""
    form_of = site.form_of

    def wrong_form(region: Any, *args: Any) -> Any:
        form = form_of(region, *args)

        def forward(*given: Any) -> Any:
            found = form.forward(*given)
            if not found[0]:
                return found
            numbers = zip(found[3:], (*form.results, *form.made), strict=True)
            return *found[:3], *(v * factor if n.startswith("t1_") else v for v, n in numbers)

        return replace(form, forward=forward)

    monkeypatch.setattr(site, "form_of", wrong_form)


def test_a_wrong_tangent(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tangents_times(monkeypatch, 1.0 + 1e-9)
    with debug_mode(), pytest.raises(DifferentResultError, match="gives s another tangent") as e:
        jvp(powers, (X, 0.5), (X, 1.0))
    assert f"{powers.__code__.co_filename}:4:" in str(e.value)


def test_rounding_of_a_tangent_is_no_difference(
    powers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tangents_times(monkeypatch, 1.0 + 1e-14)
    with debug_mode():
        jvp(powers, (X, 0.5), (X, 1.0))


@pytest.mark.parametrize("kind", [lambda x: x * 1.0, list])
def test_a_wrong_tangent_of_an_element(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        y = kind(x)
        for i in range(1, 5):
            y[i] *= y[i - 1]
        return y[4]

    def wrong(forward: Any) -> Any:
        def run(*args: Any) -> Any:
            found = forward(*args)
            cells = [a for a in args[1:] if isinstance(a, list | np.ndarray) and len(a) == 5]
            cells[-1][2] = 7.0
            return found

        return run

    sabotage(monkeypatch, forward=wrong)
    with debug_mode(), pytest.raises(DifferentResultError, match=r"gives y\[2\] another tangent"):
        jvp(f, (X,), (X,))


def test_a_wrong_value_under_forward_mode(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, forward=last_bit)
    with debug_mode(), pytest.raises(DifferentResultError, match="gives s another value"):
        jvp(powers, (X, 0.5), (X, 1.0))


def test_a_wrong_cotangent_at_second_order(powers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=numbers_times(1.0 + 1e-9))
    with debug_mode(), pytest.raises(DifferentResultError, match="another cotangent"):
        hvp(powers, (X, 0.5), 1.0, argnums=1)
