"""Comprehensions and sums as one entry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.functions import builtin_functions
from tests.compiler.comparing import agrees, equals_reference

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4, 0.3])


# What runs.


def squares(x):
    values = [v * v + 1.0 for v in x]
    return values[0] * values[-1]


def sum_of_a_list(x):
    return sum([v * v for v in x])


def sum_of_a_generator(x):
    return 2.0 * sum(x[i] * x[i - 1] for i in range(1, len(x))) + x[0]


def with_tests(x):
    kept = [v * w for v, w in zip(x, x[::-1], strict=True) if v > w]
    return kept[0] * len(kept) + sum(v for v in x if v > 0.0)


def nested(x):
    rows = [[x[i] * x[j] for j in range(i + 1)] for i in range(len(x))]
    return rows[3][1] * rows[5][4] + sum(sum(row) for row in rows)


def forward_substitution(x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        y[i] = (x[i] - sum(x[i - j] * y[j] for j in range(i))) / (2.0 + x[i] ** 2)
    return y @ y


def in_a_function(x):
    def energy(i):
        return sum((x[i] - v) ** 2 for v in x) * 0.1

    total = 0.0
    for i in range(len(x)):
        total = total + energy(i) * x[i]
    return total


def two_loops(x):
    pairs = [x[i] * x[j] for i in range(len(x)) for j in range(i) if i != j + 1]
    return sum(pairs) + max(v * v for v in x) - min([v * w for v, w in zip(x, pairs, strict=False)])


def consumers(x):
    ordered = sorted(v * v for v in x)
    a, *_ = tuple(v * 2.0 for v in x)
    return ordered[-1] * a + list(v + 1.0 for v in x)[2]  # noqa: C400


def own_names(x):
    v = 3.0
    s = sum(v * v for v in x)
    values = [v + s for v in x]
    return v * s + values[1]


def empty(x):
    return sum(v for v in x[:0]) + len([v for v in x if v > 100.0]) + x[0] + sum([])


PROGRAMS = [
    squares, sum_of_a_list, sum_of_a_generator, with_tests, nested, forward_substitution,
    in_a_function, two_loops, consumers, own_names,
]  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_arrays(f, taken):
    agrees(f, X.copy())
    assert any(taken) or f is forward_substitution  # a sum, of a few numbers


@pytest.mark.plain
def test_empty():
    agrees(empty, X.copy())


@pytest.mark.plain
@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in (forward_substitution,)])
def test_lists(f):
    agrees(f, X.tolist())


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS)
def test_in_forward_mode_and_to_second_order(f, taken):
    v = np.linspace(-1.0, 1.0, len(X))
    assert_allclose(jvp(f, (X.copy(),), (v,))[1], grad(f)(X.copy()) @ v, rtol=1e-11)
    ends = [grad(f)(X + h * v) for h in (1e-6, -1e-6)]
    found = hvp(f, (X.copy(),), v)
    assert_allclose(found, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)
    assert any(taken) or f is forward_substitution


@pytest.mark.parametrize("f", PROGRAMS)
def test_both_ways_in_debug_mode(f):
    assert_allclose(grad(f, debug=True)(X.copy()), grad(f)(X.copy()), rtol=1e-13)


@pytest.mark.plain
def test_types_of_sums(taken):
    def f(x, n):
        s = sum(x[i] for i in range(n))
        t = sum(i for i in range(n))
        return s * x[0] + (2.0 if type(s) is np.float64 else 3.0 if type(s) is int else 5.0) + t

    for n in (0, 1, 4):
        equals_reference(f, X.copy(), n)
        equals_reference(f, X.tolist(), n)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(v for v in x),
        lambda x: sum([v * w for v, w in zip(x, x, strict=True)]),
        lambda x: sum(i * v for i, v in enumerate(x)),
        lambda x: sum(x[i] for i in reversed(range(len(x)))),
    ],
)
def test_sums_of_nothing_are_ints(f):
    for x in (X, X[:0]):  # by the same form
        assert type(vjp(f, x)[0]) is type(f(x))
        assert type(jvp(f, (x,), (x,))[0]) is type(f(x))


def test_sums_of_floats_are_those_of_the_builtin():
    values = [1e100, 1.0, -1e100, 0.1] * 3
    assert value_and_grad(lambda x: sum(v * 1.0 for v in x))(values)[0] == sum(values)
    assert value_and_grad(lambda x: sum([v * 1.0 for v in x]))(values)[0] == sum(values)


@pytest.mark.plain
def test_where_sum_compensates(monkeypatch, taken):
    monkeypatch.setattr(builtin_functions, "COMPENSATES", True)

    def f(x):
        return sum(v * v for v in x)

    equals_reference(f, X.copy())
    assert any(taken)


@pytest.mark.plain
def test_names_that_may_be_unbound():
    def f(x, flag):
        if flag:
            scale = 2.0
        return sum(v * scale for v in x)  # pyright: ignore[reportPossiblyUnboundVariable]

    assert_allclose(grad(f)(X, True), np.full(6, 2.0))
    with pytest.raises(NameError, match="scale"):
        grad(f)(X, False)
    assert grad(f)(X[:0], False).shape == (0,)


def test_global_names_that_are_not_bound():
    def f(x):
        return sum(v * unknown for v in x) + x.sum()  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    assert_allclose(value_and_grad(f)(X[:0])[0], 0.0)
    with pytest.raises(NameError, match="unknown"):
        grad(f)(X)


def test_a_captured_variable_without_a_value_is_an_error_where_something_is_iterated():
    def f(x):
        def among(n):
            try:
                made = [late * x[i] for i in range(n)]
                total = sum(late * x[i] for i in range(n))
            except NameError:
                return x[0] * 10.0
            return x[1] * (1.0 + len(made) + total)

        value = among(0) + among(2)
        late = 2.0
        return value + among(2) * late

    assert_allclose(grad(f)(X), grad(f, debug=True)(X))
    value, _ = jvp(f, (X,), (X,))
    assert value_and_grad(f)(X)[0] == value == f(X)
    equals_reference(f, X)


@pytest.mark.plain
def test_properties_in_a_range_are_read_once():
    class Counted:
        def __init__(self, x):
            self.x = x
            self.reads = 0
            self.size_of_x = len(x)

        @property
        def n(self):
            self.reads += 1
            return len(self.x)

    def f(x):
        o = Counted(x)
        values = [x[i] * o.reads for i in range(o.n)]
        return sum(x[i] * o.reads for i in range(o.n)) + values[1] * o.reads

    def g(x):
        o = Counted(x)
        return sum(o.x[i] * x[i] for i in range(o.size_of_x))

    agrees(f, X.copy())
    agrees(f, X.tolist())
    agrees(g, X.copy())


@pytest.mark.plain
def test_attributes_in_a_range(taken):
    class Model:
        def __init__(self, n):
            self.n = n

        def energy(self, x):
            return sum(x[i] * x[i] for i in range(self.n)) + [x[i] for i in range(x.shape[0])][2]

    grad(lambda x: Model(6).energy(x))(X)
    assert taken == [True, True]
    agrees(lambda x: Model(6).energy(x), X.copy())


@pytest.mark.plain
def test_iterables_with_effects_run_once():
    def f(x):
        calls = []

        def counted():
            calls.append(1)
            return len(x)

        s = sum(x[i] for i in range(counted())) + [x[i] * 2.0 for i in range(counted())][1]
        return s * len(calls)

    agrees(f, X.copy())


@pytest.mark.plain
def test_exceptions_are_those_of_the_function():
    def f(x):
        return sum(1.0 / (v - 0.5) for v in x)

    with pytest.raises(ZeroDivisionError) as raised:
        value_and_grad(f)([1.0, 2.0, 0.5, 3.0])
    assert any(entry.name == "f" for entry in raised.traceback)

    def g(x):
        try:
            logs = [math.log(v) for v in x]
            return logs[0]
        except ValueError:
            return x[0] * 3.0

    assert_allclose(grad(g)([1.0, 2.0, -0.5, 3.0]), [3.0, 0.0, 0.0, 0.0])
