"""Statements that are one entry on numbers only: powers, `max` and `min`; in each mode."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import hessian, jvp, value_and_grad
from mooncake_py.compiler.statements.site import StatementSite
from mooncake_py.modes.reverse.context import ReverseContext
from tests.support.pairs import rotating


class Tank:
    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b

    def head(self) -> Any:
        return 30.0 * self.a**1.5 + self.b

    def outflow(self, n: Any) -> Any:
        return 2.0 * (1.0 + self.a) ** n - self.b

    def root(self, n: Any) -> Any:
        return 3.0 * self.a ** (n / self.b) + 1.0

    def of_constant(self, n: Any) -> Any:
        return self.b - (1.0 - self.a) * (1.0 - 0.9**n)

    def clipped(self, n: Any) -> Any:
        return math.sqrt(2.0 * max(self.a, 0.01)) * self.b

    def lowest(self, n: Any) -> Any:
        return (min(self.a, self.b) + n) * self.a

    def highest(self, n: Any) -> Any:
        return max(self.a - n, self.b * self.a)

    def limited(self, n: Any) -> Any:
        return max(min(self.a, n), 0) ** 2 * self.b

    def of_ints(self, n: Any) -> Any:
        return self.a * max(n, 2) ** n


def head(o: Any, n: Any) -> Any:
    return o.head()


def plain(o: Any, n: Any) -> Any:
    h = o.a - 0.25
    return 30.0 * h**1.5 + h**-2 * n


def beside_others(o: Any, n: Any) -> Any:
    h = o.a
    return np.exp(-(h * n + 0.5)) * h**1.5


METHODS = [
    lambda o, n: o.outflow(n), lambda o, n: o.root(n), lambda o, n: o.of_constant(n),
    lambda o, n: o.clipped(n), lambda o, n: o.lowest(n), lambda o, n: o.highest(n),
    lambda o, n: o.limited(n), lambda o, n: o.of_ints(n), head, plain, beside_others,
]  # fmt: skip
NUMBERS = [0.7, -0.7, 0.0, -0.0, 0.25, 1e200, math.inf, math.nan, np.float64(0.7), 2, -3, 0]
ARRAY = np.array([0.5, 1.5, -0.2])


def outcome(derivative: Any, args: Any) -> Any:
    """Return the result of a derivative, with types and warnings, or the error; and gradient."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            value, gradient = derivative(*args)
        except Exception as error:
            return (type(error), str(error).splitlines()[:1]), ()
    said = sorted({str(w.message) for w in found})
    return (repr(value), list(map(type, gradient)), said), gradient


@pytest.mark.parametrize("f", METHODS)
def test_the_result_is_that_of_single_operations(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(a: Any, b: Any, n: Any) -> Any:
        return f(Tank(a, b), n)

    quick = value_and_grad(whole, argnums=(0, 1, 2))
    for args in itertools.product([0.7, 2.5], [0.7, 1.5], [0.5, 2.0]):
        quick(*args)  # so that there are forms
    cases = [*itertools.product(NUMBERS, [0.7, -1.5, 1], [2, 0.5, -1, 0, 0.7])]
    for args in cases:
        found, gradient = outcome(quick, args)
        with monkeypatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            expected, exact = outcome(quick, args)
        assert found == expected, args
        np.testing.assert_allclose(gradient, exact, rtol=1e-13, err_msg=repr(args))


@pytest.mark.parametrize("f", [METHODS[0], head, plain, beside_others])
def test_arrays_are_served_in_the_same_place(f: Any) -> None:
    def total(a: Any, b: Any, n: Any) -> Any:
        return np.sum(f(Tank(a, b), n))

    quick = value_and_grad(total)
    quick(0.7, 1.5, 2.0)
    value, gradient = quick(np.abs(ARRAY) + 1.0, 1.5, 2.0)
    expected, exact = value_and_grad(total, debug=True)(np.abs(ARRAY) + 1.0, 1.5, 2.0)
    assert value == expected
    np.testing.assert_array_equal(gradient, exact)


def test_a_tie_goes_to_the_first() -> None:
    def f(a: Any, b: Any) -> Any:
        o = Tank(a, b)
        return 2.0 * max(o.a, o.b) + 3.0 * min(o.b, o.a)

    assert value_and_grad(f, argnums=(0, 1))(1.5, 1.5) == (7.5, (2.0, 3.0))


def elements(o: Any, n: Any) -> Any:
    x = np.array([o.a, o.b, 0.5])
    y = np.ones(3)
    for i in range(2):  # of NumPy's function too: no loop is one entry
        y[i + 1] = x[i] * np.cos(y[i]) - n * y[i]
        x[i] += y[i] * x[i + 1]
        y[i] = np.fmod(2.5, 2.0) * 3.0
        y[0], _ = x[1] * y[1] + y[0], list(y)
    return x[1] * y[2] - y[0] * x[0]


TANGENTS = [(1.0, -0.5, 2.0), (0.0, math.inf, 1.0), (-0.0, np.float64(0.3), math.nan)]


def generally(site: StatementSite, ctx: Any, functions: Any, values: Any) -> Any:
    """Run a statement operation by operation."""
    return ctx.base.run_generally(site, functions, values, ctx)


def primed(f: Any) -> Any:
    """Return a function whose statements have their forms in forward mode."""

    def whole(a: Any, b: Any, n: Any) -> Any:
        return f(Tank(a, b), n)

    for args in itertools.product([0.7, 2.5], [0.7, 1.5], [0.5, 2.0]):
        jvp(whole, args, (1.0, 1.0, 1.0))
        jvp(whole, args, [(1.0, 1.0, 1.0), (0.5, 0.0, 1.0)])
    return whole


@pytest.mark.plain
@pytest.mark.parametrize(
    ("tangents", "f"), rotating([*TANGENTS, TANGENTS], [*METHODS, elements], times=2)
)
def test_forward_mode_agrees(f: Any, tangents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = primed(f)
    for args in itertools.product(NUMBERS, [0.7, -1.5, 1], [2, 0.5, -1, 0, 0.7]):
        found, moved = outcome(along, (whole, args, tangents))
        with monkeypatch.context() as patch:
            patch.setattr(StatementSite, "push", generally)
            patch.setattr(StatementSite, "run", StatementSite.choose)
            expected, exact = outcome(along, (whole, args, tangents))
        assert found == expected, args
        np.testing.assert_allclose(moved, exact, rtol=1e-13, atol=1e-300, err_msg=repr(args))


def along(f: Any, args: Any, tangents: Any) -> Any:
    """Return a value and its tangents, as many as there are directions."""
    args = [float(a) if type(a) is int else a for a in args]
    value, moved = jvp(f, args, tangents)
    return value, moved if isinstance(tangents, list) else (moved,)


@pytest.mark.plain
@pytest.mark.parametrize("f", METHODS[:-2])
@pytest.mark.parametrize("tangents", [(1.0, 0.5, 0.2), [(1.0, 0.5, 0.2), (0.1, 0.2, 0.3)]])
def test_forward_mode_has_forms(f: Any, tangents: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[StatementSite] = []
    push = StatementSite.push
    monkeypatch.setattr(StatementSite, "push", lambda *args: met.append(args[0]) or push(*args))

    def often(a: Any, b: Any, n: Any) -> Any:
        o = Tank(a, b)
        return (f(o, n), f(o, n), f(o, n), f(o, n), f(o, n))[0]

    for args in ((1.7, 1.5, 3.0), (1.6, 1.5, 2.0)):
        met.clear()
        jvp(often, args, tangents)
        assert (
            0 < len(met) <= 2 * len(set(met))
        )  # what reading an attribute runs is found out first


@pytest.mark.parametrize("f", [*METHODS, elements])
def test_second_derivatives_agree(f: Any) -> None:
    def whole(v: Any) -> Any:
        return f(Tank(v[0], v[1]), 2)

    v, step = np.array([0.7, 1.5]), 1e-5
    first = value_and_grad(whole)
    differences = [
        (first(v + step * e)[1] - first(v - step * e)[1]) / (2.0 * step) for e in np.eye(2)
    ]
    np.testing.assert_allclose(hessian(whole)(v), differences, rtol=1e-7, atol=1e-8)


@pytest.mark.plain
def test_there_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(a: Any, b: Any) -> Any:
        o = Tank(a, b)
        y = o.head() * o.outflow(3) * o.clipped(0.0)
        return y + o.head() * o.outflow(3) * o.clipped(0.0)

    counts: list[int] = []
    run_backwards = ReverseContext.run_backwards

    def counted(self: Any) -> None:
        counts.append(sum(entry[0].__name__ == "pull" for entry in self.tape))
        run_backwards(self)

    monkeypatch.setattr(ReverseContext, "run_backwards", counted)
    value_and_grad(f, argnums=(0, 1))(0.7, 1.5)
    assert counts[0] >= 2 + 3  # what reading an attribute runs is not known from the start


def test_what_replaces_max_is_called() -> None:
    def f(a: Any) -> Any:
        o = Tank(a, 1.5)
        return 2.0 * max(o.a, 3.0) + 1.0

    g = value_and_grad(f)
    assert g(1.5) == (7.0, 0.0)
    f.__globals__["max"] = lambda a, b: a * b
    try:
        assert g(1.5) == (10.0, 6.0)
    finally:
        del f.__globals__["max"]
    assert g(4.0) == (9.0, 2.0)
