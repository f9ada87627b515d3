"""Loops over slices and calls: names stand for these, so that the loops are one entry."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from mooncake_py import grad, tape_of
from mooncake_py.frontend.named_iterables import with_named_iterables
from mooncake_py.syntax.names import Names
from tests.compiler.comparing import agrees, agrees_along, equals_reference

X = np.array([0.5, 0.2, 0.9, 0.4, 0.7])
V = np.array([0.3, -0.7, 0.2, 0.9, -0.4])


def pairs(x):
    s = 0.0
    for a, b in zip(x[:-1], x[1:]):  # noqa: B905, RUF007
        s += (b - a) ** 2
    return s * a


def written_ahead(x):
    s = 0.0
    for k, (a, b) in enumerate(zip(x[:-1], x[1:])):  # noqa: B905, RUF007
        x[k + 1] = a * b
        s += (b - a) ** 2 * k
    return s + a


def backwards(x):
    s = 0.0
    for v in x[::-2]:
        s = s * v + 1.0
    return s


def of_a_function_and_a_list(x):
    s = 0.0
    for v in np.sin(x):
        for w in [1.0, 2.0, x[0]]:
            s = s * v + w
    return s


def rows(x):
    m, s = np.outer(x, x), 0.0
    for row in m[1:]:
        row *= 2.0
        s += row @ x
    return s + np.sum(m)


def left(x):
    s = 0.0
    for v, w in zip(x[1:], (1.0, 2.0, 3.0, 0.5), strict=True):
        if v > 0.8:
            break
        s += v * w
    else:
        s *= 2.0
    return s * v


def flat(x):
    m, s = np.outer(x, x), 0.0
    for v in m.flat:
        s = 0.5 * s + v * v
    for k, (v, w) in enumerate(zip(m.T.flat, m.flat)):  # noqa: B905
        s += v * w * k
    for v in m[1:, ::2].flat:
        s += v
    return s


def flat_and_written(x):
    s = 0.0
    for k, v in enumerate(x.flat):
        x[k - 1] = 0.5 * v
        s += v
    return s + np.sum(x * x)


PROGRAMS = [
    flat,
    flat_and_written,
    pairs,
    written_ahead,
    backwards,
    of_a_function_and_a_list,
    rows,
    left,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    agrees(f, X)


@pytest.mark.parametrize("f", PROGRAMS)
def test_forward_mode_and_second_order(f):
    agrees_along(f, (X,), (V,))


@pytest.mark.plain
def test_one_entry():
    x = np.linspace(0.1, 0.9, 100)
    assert len(tape_of(pairs, x)) < 6


def test_what_is_no_array_runs_as_it_is_written():
    def numbers(x):
        yield from (x[0], x[1], x[2] * x[3])

    def f(x):
        s, d = 0.0, {"a": x[0], "b": x[1]}
        for v, w in zip(numbers(x), x[2:]):  # noqa: B905
            s += v * w
        for key, v in d.items():
            s += v * ord(key)
        for v in sorted(x[:4]):
            s = s * v + 0.5
        return s

    equals_reference(f, X)


def test_lengths_that_differ():
    def f(x):
        s = 0.0
        for a, b in zip(x, x[1:]):  # noqa: B905, RUF007
            s += a * b
        return s

    agrees(f, X)


def test_an_exception_in_what_is_run_over_comes_before_those_of_what_follows():
    def f(x):
        for a, b in zip(x[:, 0], undefined[1:], strict=True):  # type: ignore[name-defined]  # noqa: F821
            x[0] = a * b
        return x

    with pytest.raises(IndexError, match="too many indices"):
        grad(f)(X)


@pytest.mark.plain
def test_what_is_run_over_is_evaluated_once():
    def f(x):
        calls, s = [], 0.0

        def part():
            calls.append(1)
            return x[1:]

        for v in part():
            s += v * v
        return s * len(calls)

    np.testing.assert_allclose(grad(f)(X), 2 * X * np.array([0, 1, 1, 1, 1]))


@pytest.mark.plain
def test_local_names_are_those_of_the_function():
    def f(x):
        s, seen = 0.0, []
        for v in x[1:]:
            s += v * v
            seen.append(sorted(locals()))
        assert seen[-1] == ["s", "seen", "v", "x"]
        return s

    np.testing.assert_allclose(grad(f)(X), 2 * X * np.array([0, 1, 1, 1, 1]))


@pytest.mark.parametrize(
    "head",
    [
        "v in x", "v in o.x", "i in range(n)", "i in reversed(range(n))", "v in (w := x)",
        "i, v in enumerate(x)", "u, v in zip(x, y)",
    ],
)  # fmt: skip
def test_without_names(head):
    (node,) = ast.parse(f"for {head}: pass").body
    assert isinstance(node, ast.For)
    assert with_named_iterables(Names({}, set("xyonvuiw")), node, 0) is None


def test_names_go_on():
    (node,) = ast.parse("for i, (u, v) in enumerate(zip(x[1:], 'a', y, f(x), v)): pass").body
    assert isinstance(node, ast.For)
    named = with_named_iterables(Names({}, set("xyfuvi")), node, 3)
    assert named is not None
    assert ast.unparse(named.node.iter) == "enumerate(zip(_mk_over3, 'a', _mk_over4, _mk_over5, v))"
    found = {name: ast.unparse(value) for name, value in named.values.items()}
    assert found == {"_mk_over3": "x[1:]", "_mk_over4": "y", "_mk_over5": "f(x)"}


class Grid:
    def __init__(self, x):
        self.x = x

    def doubled(self):
        self.x = self.x * 2.0
        return self.x


def of_an_attribute_that_a_call_binds(x):
    grid, s = Grid(x), 0.0
    for u, v in zip(grid.x, grid.doubled()):  # noqa: B905
        s += u * v * v
    for k, (u, v) in enumerate(zip(grid.x, grid.doubled())):  # noqa: B905
        s += u * v * k
    return s


def of_a_name_that_a_call_binds(x):
    y, s = x * 1.0, 0.0

    def doubled():
        nonlocal y
        y = y * 2.0
        return y

    for u, v, w in zip(y, doubled(), y):  # noqa: B905
        s += u * v * w
    return s


@pytest.mark.parametrize("f", [of_an_attribute_that_a_call_binds, of_a_name_that_a_call_binds])
def test_what_a_call_binds_was_read_before(f):
    agrees(f, X)
    agrees_along(f, (X,), (V,))


@pytest.mark.plain
def test_what_is_not_bound_raises_before_a_call():
    calls = []

    def called(x):
        calls.append(x)
        return x

    def f(x):
        s = 0.0
        for u, v in zip(Grid.y, called(x)):  # noqa: B905
            s += u * v
        return s

    with pytest.raises(AttributeError):
        grad(f)(X)
    assert calls == []
