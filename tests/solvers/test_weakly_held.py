"""Callbacks of solvers that find objects by weak references: the solver keeps none alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

from mooncake_py import checkpoint, hvp, jvp, value_and_grad  # noqa: E402
from tests.support.pairs import rotating  # noqa: E402

A = 0.8
Solve = Callable[[Any], Any]


class Held:
    def __init__(self, v: Any) -> None:
        self.v = v
        self.calls = 0


def brentq(r: Any) -> Any:
    return optimize.brentq(r, 0.0, 3.0, xtol=1e-13)


def fsolve(r: Any) -> Any:
    return optimize.fsolve(lambda x: np.array([r(x[0])]), [1.0], xtol=1e-13)[0]


def least_squares(r: Any) -> Any:
    return optimize.least_squares(lambda x: r(x[0]), [1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14).x[0]


def minimize(r: Any) -> Any:
    return optimize.minimize(lambda x: r(x[0]) ** 2, [0.8], tol=1e-10).x[0]


def quad(r: Any) -> Any:
    return integrate.quad(r, 0.0, 1.0)[0]


def odeint(r: Any) -> Any:
    return integrate.odeint(lambda y, t: r(float(t)), 0.0, [0.0, 1.0])[-1, 0]


SOLVERS = [brentq, fsolve, least_squares, minimize, quad, odeint]


def factor(w: Any) -> float:
    return 2.0 if w() is None else 3.0


def deleted(solve: Solve, a: Any) -> Any:
    held = Held(a * a)
    w: Any = weakref.ref(held)
    z = solve(lambda x: x**3 - w().v)
    del held
    return z * factor(w)


def left_behind(solve: Solve, a: Any) -> Any:
    def inner() -> Any:
        held = Held(a * a)
        w: Any = weakref.ref(held)
        return solve(lambda x: x**3 - w().v), w

    z, w = inner()
    return z * factor(w)


def alive(solve: Solve, a: Any) -> Any:
    held = Held(a * a)
    w: Any = weakref.ref(held)
    z = solve(lambda x: x**3 - w().v)
    return z * factor(w) + held.v


def changed(solve: Solve, a: Any) -> Any:
    held = Held(a * a)
    w: Any = weakref.ref(held)

    def r(x: Any) -> Any:
        w().calls += 1
        return x**3 - w().v

    z = solve(r)
    del held
    return z * factor(w)


def array(solve: Solve, a: Any) -> Any:
    held = a * np.ones(2)
    w: Any = weakref.ref(held)
    z = solve(lambda x: x**3 - w()[0])
    del held
    return z * factor(w)


def in_weak_dict(solve: Solve, a: Any) -> Any:
    held = Held(a * a)
    found: Any = weakref.WeakValueDictionary(n=held)
    z = solve(lambda x: x**3 - found["n"].v)
    del held
    return z * factor(lambda: found.get("n"))


def made_by_callback(solve: Solve, a: Any) -> Any:
    made: list[Any] = []

    def r(x: Any) -> Any:
        held = Held(a * a)
        made.append(weakref.ref(held))
        return x**3 - held.v

    z = solve(r)
    return z * (1.0 + sum(w() is not None for w in made))


PROGRAMS = [deleted, left_behind, alive, changed, array, in_weak_dict, made_by_callback]


def slope_of(f: Any) -> float:
    return (f(A + 1e-5) - f(A - 1e-5)) / 2e-5


@pytest.mark.parametrize(("program", "solve"), rotating(PROGRAMS, SOLVERS, times=2))
def test_what_no_solver_keeps(solve: Solve, program: Any) -> None:
    def f(a: Any) -> Any:
        return program(solve, a)

    right = pytest.approx(f(A)), pytest.approx(slope_of(f), rel=1e-3)
    assert value_and_grad(f)(A) == right
    assert jvp(f, (A,), (1.0,)) == right


@pytest.mark.parametrize("solve", [brentq, fsolve])
@pytest.mark.parametrize("program", [deleted, alive])
def test_modes(program: Any, solve: Solve) -> None:
    def f(a: Any) -> Any:
        return program(solve, a)

    right = pytest.approx(f(A)), pytest.approx(slope_of(f), rel=1e-3)
    assert value_and_grad(f, debug=True)(A) == right
    assert value_and_grad(lambda a: checkpoint(f, a))(A) == right
    bend = (f(A + 1e-3) - 2 * f(A) + f(A - 1e-3)) / 1e-6
    assert hvp(f, (A,), 1.0) == pytest.approx(bend, rel=1e-3)
