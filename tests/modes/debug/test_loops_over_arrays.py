"""Debug mode runs loops over arrays both ways: as text of NumPy, and statement by statement."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, debug_mode, grad, hvp, jvp, vjp
from mooncake_py.compiler.native import printed_loop, region_site
from mooncake_py.errors import DifferentResultError
from mooncake_py.modes.debug.regions import RegionBeside
from tests.support.gradients import Program, Programs

pytestmark = pytest.mark.plain
programs = Programs()
X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
OFF, ROUNDED = 1.0 + 1e-9, 1.0 + 1e-14


@programs(X, 0.5)
def a_name_that_is_bound_anew(x, a):
    u = x * a
    for i in range(5):
        u = u + 0.1 * np.sin(u) * x[i]
    return np.sum(u * u)


@programs(X)
def rows_of_an_array(x):
    m = np.outer(x, x)
    for i in range(1, 5):
        m[i] = 0.3 * m[i - 1] * x + m[i]
        x[1:] += 0.1 * m[i, :-1]
    return np.sum(m * m) + x[2]


@programs(X)
def a_number_beside(x):
    s = x[0]
    u = x * 1.0
    for i in range(5):
        u = np.tanh(u) * s
        s = s + np.sum(u * x) * x[i]
    return s * np.sum(u)


@programs(X)
def views_of_one_array(x):
    u, v = x[2:], x[:2]
    for _ in range(4):
        u[1:] += 0.1 * v * v
        v *= 0.9
    return np.sum(x * x)


@programs(X)
def a_list_of_numbers(x):
    sums = []
    u = x * 1.0
    for i in range(4):
        u = np.sin(u) * x[i]
        sums.append(np.sum(u))
    return sums[0] * sums[2] + sums[3]


class Body:
    def __init__(self, v: Any) -> None:
        self.v = v

    def run(self, x: Any) -> None:
        for i in range(5):
            self.v = self.v * 0.5 + x * x[i]


@programs(X)
def attributes(x):
    body = Body(x * 2.0)
    body.run(x)
    return np.sum(body.v * x)


@programs(X)
def in_a_checkpoint(x):
    return checkpoint(rows_of_an_array, x) * checkpoint(a_name_that_is_bound_anew, x, x[0])


@pytest.fixture(autouse=True)
def short_loops_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_loop, "FEWEST", 0)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compared, in order."""
    found: list[str] = []

    def note(name: str) -> None:
        method = getattr(RegionBeside, name)

        def noted(self: RegionBeside, *args: Any) -> None:
            if type(self.site).__module__ == region_site.__name__:
                found.append(name)
            method(self, *args)

        monkeypatch.setattr(RegionBeside, name, noted)

    note("compare")
    note("check")
    return found


@pytest.mark.parametrize("program", programs, ids=str)
def test_both_ways_agree(program: Program, compared: list[str]) -> None:
    with debug_mode():
        program.check()
    assert {"compare", "check"} <= set(compared)


@pytest.mark.parametrize("program", programs, ids=str)
def test_tangents_agree_to_second_order(program: Program, compared: list[str]) -> None:
    x, *others = copy.deepcopy(program.args)
    expected = jvp(program.f, (x, *others), (x, *others)), hvp(program.f, (x, *others), x)
    with debug_mode():
        found = jvp(program.f, (x, *others), (x, *others))
        assert "compare" in compared
        assert found[0] == expected[0][0]
        assert_allclose(found[1], expected[0][1], rtol=1e-12)
        assert_allclose(hvp(program.f, (x, *others), x), expected[1], rtol=1e-11, atol=1e-13)
    assert "check" in compared


def test_a_pullback_is_called_twice(compared: list[str]) -> None:
    with debug_mode():
        _, pullback = vjp(rows_of_an_array, X.copy())
        (first,), (again,) = pullback(1.0), pullback(2.0)
    assert_allclose(again, 2.0 * first, rtol=1e-13)
    assert "check" in compared


def test_inside_another_derivative(compared: list[str]) -> None:
    def f(x):
        return np.sum(grad(rows_of_an_array)(x) * x)

    expected = grad(f)(X)
    with debug_mode():
        assert_allclose(grad(f)(X), expected, rtol=1e-11)
    assert {"compare", "check"} <= set(compared)


# Faults are found.


def sabotage(monkeypatch: pytest.MonkeyPatch, **wrong: Callable[..., Any]) -> None:
    """Replace the sweeps of the forms that are made from now on."""
    form_of = region_site.form_of

    def wrong_form(*args: Any) -> Any:
        form = form_of(*args)
        changed = {
            name: change(form, getattr(form, name))
            for name, change in wrong.items()
            if getattr(form, name) is not None
        }
        return dataclasses.replace(form, quick=None, **changed)

    monkeypatch.setattr(region_site, "form_of", wrong_form)


@pytest.fixture
def program(define: Callable[[str], Any]) -> Any:
    """A program whose forms are not made yet."""
    return define("""
import numpy as np
def f(x, a):
    u = x * a
    s = a
    for i in range(1, 5):
        u = u * x + 0.5 * a
        x[1:] += u[:-1]
        s = s * a + 0.1 * np.sum(u)
    return np.sum(u * x) * s
""")


def results_times(factor: float, kind: type, only: str = "") -> Callable[..., Any]:
    """Return a context in which a forward sweep gives results of a kind times a factor."""

    def change(form: Any, forward: Any) -> Any:
        names = (*form.results, *form.made)

        def run(*args: Any) -> Any:
            ok, stack, top, *found = forward(*args)
            return (
                ok,
                stack,
                top,
                *[
                    y * factor if isinstance(y, kind) and name.startswith(only) else y
                    for name, y in zip(names, found, strict=True)
                ],
            )

        return run

    return change


def cotangents_times(factor: float) -> Callable[..., Any]:
    """Return a context in which reverse sweeps give other cotangents to the numbers they take."""

    def change(form: Any, reverse: Any) -> Any:
        return lambda *args, **more: [
            g if g is None else g * factor for g in reverse(*args, **more)
        ]

    return change


def elements_changed(form: Any, sweep: Any) -> Any:
    """Change an element of the arrays that a sweep is given."""

    def run(*args: Any, **more: Any) -> Any:
        found = sweep(*args, **more)
        for a in args[1:]:
            if isinstance(a, np.ndarray):
                a[2] *= OFF
        return found

    return run


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "an array": ({"forward": results_times(OFF, np.ndarray)}, r"gives u\[0\] another value"),
    "a number": ({"forward": results_times(OFF, float)}, "gives s another value"),
    "elements": ({"forward": elements_changed}, r"gives x\[2\] another value"),
    "cotangents": ({"reverse": cotangents_times(OFF)}, "gives (a|s) another cotangent"),
    "cotangents of elements": ({"reverse": elements_changed}, "another cotangent"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_sweep(fault: str, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, match = FAULTS[fault]
    sabotage(monkeypatch, **wrong)
    with pytest.raises(DifferentResultError, match=match) as caught:
        grad(program, (0, 1), debug=True)(X.copy(), 0.5)
    assert f"{program.__code__.co_filename}:6:" in str(caught.value)


def test_rounding_is_no_difference(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=cotangents_times(ROUNDED))
    grad(program, (0, 1), debug=True)(X.copy(), 0.5)


def test_a_wrong_tangent(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, forward=results_times(OFF, object, "t1_"))
    with debug_mode(), pytest.raises(DifferentResultError, match="another tangent"):
        jvp(program, (X.copy(), 0.5), (X, 1.0))


def test_a_wrong_cotangent_at_second_order(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, reverse=cotangents_times(OFF))
    with debug_mode(), pytest.raises(DifferentResultError, match="another cotangent"):
        hvp(program, (X.copy(), 0.5), 1.0, argnums=1)


def test_it_can_be_switched_off(
    program: Any, monkeypatch: pytest.MonkeyPatch, compared: list[str]
) -> None:
    expected = grad(program, (0, 1), debug=True)(X.copy(), 0.5)
    compared.clear()
    sabotage(monkeypatch, forward=results_times(OFF, float), reverse=cotangents_times(0.0))
    with debug_mode(compare_fused=False):
        found = grad(program, (0, 1))(X.copy(), 0.5)
    assert_allclose(found[1], expected[1])
    assert compared == []
