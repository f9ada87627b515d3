"""Callbacks that take items of iterators made before the solver: the derivative takes the same."""

from __future__ import annotations

import collections
import csv
import functools
import io
import itertools
import math
import operator
import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, checkpoint, value_and_grad
from tests.support.pairs import rotating
from tests.support.values_and_slopes import check_values_and_slopes

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


def generated(values: Any) -> Any:
    for v in values:
        yield v * 1.0


def times(p: Any, v: Any) -> Any:
    return v * p[0]


VALUES = [1.0, 2.0, 3.0]
MAKERS: dict[str, Any] = {
    "list": lambda p: iter(VALUES),
    "map": lambda p: map(float, VALUES),
    "map of active": lambda p: map(functools.partial(operator.mul, p[0]), VALUES),
    "map over zip": lambda p: map(math.prod, zip(VALUES, [*p.tolist(), 1.0], strict=True)),
    "map of the user's": lambda p: map(functools.partial(times, p), VALUES),
    "filter": lambda p: filter(lambda v: v > 1.0, VALUES),
    "chain": lambda p: itertools.chain(p, [4.0]),
    "accumulate": lambda p: itertools.accumulate(VALUES),
    "cycle": lambda p: itertools.cycle(VALUES),
    "count": lambda p: itertools.count(1.0),
    "generator expression": lambda p: (sum(t) for t in itertools.permutations(VALUES, 2)),
    "generator": lambda p: generated(VALUES),
    "generator of active": lambda p: generated(p),
    "calls that draw": lambda p: iter(np.random.default_rng(4).random, 2.0),
    "calls of Random": lambda p: iter(random.Random(4).random, 2.0),
    "calls that take": lambda p: iter(collections.deque(VALUES).popleft, None),
}
SOLVERS: dict[str, Any] = {
    "minimize_scalar": lambda p, c: (
        optimize.minimize_scalar(lambda x: (x - p[1]) ** 2 + c() * p[0], bracket=(0, 1)).fun
    ),
    "quad": lambda p, c: integrate.quad(lambda x: x * p[1] * c(), 0, 2)[0],
    "brentq": lambda p, c: optimize.brentq(lambda x: x**3 + p[1] * x - c(), 0, 4, xtol=1e-13),
    "least_squares": lambda p, c: (
        optimize.least_squares(
            lambda x: np.append(x - p, 0.1 * x[0] * c()), [0, 0], xtol=1e-14, ftol=1e-14, gtol=1e-14
        ).cost
    ),
}
P = np.array([1.0, 0.5])


def differences(f: Any) -> np.ndarray:
    return np.array([(f(P + 1e-5 * e) - f(P - 1e-5 * e)) / 2e-5 for e in np.eye(2)])


@pytest.mark.parametrize(("maker", "solver"), rotating(MAKERS, SOLVERS, times=2))
def test_an_item_that_the_first_call_takes(maker: str, solver: str) -> None:
    def f(p):
        items = MAKERS[maker](p)
        kept = {}

        def constant():
            if not kept:
                kept["c"] = next(items)
            return kept["c"]

        return SOLVERS[solver](p, constant) * p[1] + next(items) * p[0]

    check_values_and_slopes(f, P, differences(f), atol=1e-5)


@pytest.mark.parametrize("maker", ["list", "map", "map of the user's", "chain", "generator"])
def test_an_item_in_each_call_is_refused(maker: str) -> None:
    """Also where nothing is left."""

    def f(p, last):
        items = itertools.chain(MAKERS[maker](p), itertools.repeat(last))
        return optimize.minimize(
            lambda x: np.sum((x - p) ** 2) + p[0] * next(items),
            np.zeros(2),
            jac=lambda x: 2 * (x - p),
        ).fun

    with pytest.raises(SolverError, match="depends on where it was called before"):
        value_and_grad(f)(P, 4.0)


def test_an_item_in_each_call_that_changes_nothing() -> None:
    progress = iter(range(1000))
    shown = []

    def f(p):
        return optimize.brentq(lambda x: (shown.append(next(progress)), x - p)[1], 0, 4)

    assert value_and_grad(f)(1.5) == (pytest.approx(1.5), pytest.approx(1.0))
    taken = next(progress)
    f(1.5)
    assert next(progress) - taken == taken + 1


READERS: dict[str, Any] = {
    "readline": lambda file: lambda: float(file.readline()),
    "next": lambda file: lambda: float(next(file)),
    "read": lambda file: lambda: float(file.read(4)),
    "loop": lambda file: lambda: [float(line) for line in itertools.islice(file, 1)][0],  # noqa: RUF015
    "from its begin": lambda file: lambda: (file.seek(0), sum(map(float, file.read().split())))[1],
    "csv": lambda file: (lambda rows: lambda: float(next(rows)[0]))(csv.reader(file)),
}


@pytest.mark.parametrize(("reader", "solver"), rotating(READERS, SOLVERS))
def test_a_file_of_which_the_first_call_reads(reader: str, solver: str) -> None:
    def f(p, read):
        kept = {}

        def constant():
            if not kept:
                kept["c"] = read()
            return kept["c"]

        return SOLVERS[solver](p, constant) * p[1] + read() * p[0]

    def run(derive: Any) -> Any:
        return derive(READERS[reader](io.StringIO("1.0\n2.0\n3.0\n4.0\n")))

    e = np.eye(2) * 1e-5
    expected = [run(lambda r, s=s: f(P + s, r)) - run(lambda r, s=s: f(P - s, r)) for s in e]
    value, g = run(lambda read: value_and_grad(f)(P, read))
    assert value == run(lambda read: f(P, read))
    np.testing.assert_allclose(g, np.array(expected) / 2e-5, rtol=1e-4, atol=1e-5)


def test_rows_of_csv_in_a_part_that_runs_again() -> None:
    rows = csv.reader(["1.0", "2.0", "3.0"])
    f = value_and_grad(lambda x: checkpoint(lambda: x * float(next(rows)[0])))
    assert [f(1.5), f(1.5)] == [(1.5, 1.0), (3.0, 2.0)]


@pytest.mark.parametrize("make", [range, lambda n: map(float, range(n))])
def test_too_few_items_for_the_derivative(make: Any) -> None:
    def f(p, items):
        def slope(y, t):
            next(items)
            return -p * y

        return integrate.odeint(slope, 1.0, [0.0, 2.0], rtol=1e-4, atol=1e-4)[-1, 0]

    endless = itertools.count()
    f(1.5, endless)
    taken = next(endless)
    assert f(1.5, iter(make(taken))) == pytest.approx(np.exp(-3.0), abs=1e-3)
    with pytest.raises(SolverError, match="takes more items of an iterator"):
        value_and_grad(f)(1.5, iter(make(taken)))
    assert value_and_grad(f)(1.5, itertools.count())[1] == pytest.approx(
        -2 * np.exp(-3.0), abs=1e-3
    )
