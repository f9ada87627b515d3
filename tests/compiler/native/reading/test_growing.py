"""Lists of numbers that are made, and grow or are written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad, vjp
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.5, -0.7, 0.9, 1.3])


def of_elements(x, a):
    out = []
    for i in range(len(x)):
        out.append(x[i] * a)
    return sum(out)


def of_itself(x, a):
    out = [a]
    for _ in range(40):
        out.append(out[-1] * 0.9 + a * out[0])
    s = 0.0
    for v in out:
        s += v * v
    return s + len(out) * x[0]


def as_long_as(x, a):
    t, ts, ys = 0.0, [], []
    while t < 3.0:
        t += 0.1 * (1 + a * a)
        if t > 1.0:
            ts.append(t)
        ys.append(x[0] * t)
    y = np.array(ys)
    return np.sum(y * y) + ts[-1] * len(ts)


def squared(out, v):
    out.append(v * v)
    return out[-1]


def within_loops(x, a):
    s = 0.0
    for i in range(3):
        own = [float(x[i]), 1.0 * a]
        for k in range(20):
            s += squared(own, a * k * 0.1) * own[k] + own[-1]
        own[0] = s * 0.01
        s += max(own) * own[0]
    return s


def of_comprehensions(x, a):
    ys = [v * v for v in x]
    zs = [0.5 * a] * len(x)
    ys.append(a)  # a float of Python after those of NumPy
    zs.append(zs[1] * ys[0])
    places = []
    for k in range(len(ys)):
        if ys[k] > 0.5:
            places.append(k)
    s = 0.0
    for k in places:
        s += ys[k] * zs[k] * k
    return s + len(places)


def of_two_names(x, a):
    first = second = [1.0]
    second.append(a)
    first.append(first[1] * 2.0)
    pair = (first, x)
    pair[0].append(3.0)
    return len(second) * second[2] + pair[0][-1] * second[-1]


def made_in_calls(x, a):
    def powers(y, n):
        found = [1.0]
        for _ in range(n):
            found.append(found[-1] * y)
        return found

    xs = powers(a, 5)
    ys = powers(xs[1], len(xs) + 12)
    return sum(xs) + ys[-1] + len(powers(a, 3)) + powers(a, 2)[-1] * x[0]


def in_one_expression(x, a):
    out = [a, a * a]
    s = out[-1] * squared(out, a) + out[-1]
    n = len(out) + squared(out, 0.5) * len(out)
    return s * n + (np.array(out) * squared(out, x[0])).sum()


def in_branches(x, a):
    early, late = [], []
    for i, v in enumerate(x):
        if v < 0.0:
            early.append(a * i)
            continue
        late.append(math.sin(a) * i)
        if i == 2:
            break
    if early:
        early.append(late[0])
    return sum(early) * sum(late) * x[0]


def with_tests(x, a):
    found = []
    for p in (0.5, 1.5):
        found.append(p * a)
    for i in range(len(found) - 1, -1, -1):
        found[i] *= found[0]
    return found[0] * found[1] + np.dot(np.array(found), x[:2])


def written(x, a):
    state = [1.0, a, 0.5]
    for i in range(30):
        state[i % 3] += 0.1 * state[(i + 1) % 3] * a
        if i > 20:
            state[-1] = x[i % 4]  # a float of NumPy
    first = state[0]
    state[0] = 2.0
    return first * state[1] * state[2] + state[0]


def read_where_it_is_known_late(x, a):
    table, steps = [0.5, a, 2.0, a * a], [3, 1, 2]
    s, k = 0.0, 0
    for i in range(100):
        k = (k + steps[i % 3]) % 4
        s += table[k] * table[-1 - k] * x[k]
    return s


def by_several(x, a):
    out = other = []
    for i in range(3):
        out += [a * i, a + i]
        other.extend([out[-1] * out[0]])
        other.extend((x[i] * 0.0 + 1.0, 2.0))
        out += []
    s = 0.0
    for k, v in enumerate(out):
        s += v * k
    return s * len(other)


CASES = [
    of_elements, of_itself, as_long_as, within_loops, of_comprehensions, of_two_names,
    made_in_calls, in_one_expression, in_branches, with_tests, written,
    read_where_it_is_known_late, by_several,
]  # fmt: skip


def derivatives(f: Any, **how: Any) -> list[Any]:
    args, along = (X.copy(), 0.7), (np.cos(X), 0.3)
    value, gradient = value_and_grad(f, (0, 1), **how)(*args)
    second = hvp(f, args, along, argnums=(0, 1), **how)
    y, pullback = vjp(f, *args, **how)
    return [value, *gradient, *jvp(f, args, along, **how), *second, y, *pullback(1.0)]


@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-11, atol=1e-12)
    require_compiled(f, tried)


def solved(a, n):
    ts, ys = [0.0], [a]
    for _ in range(n):
        ts.append(ts[-1] + 0.1)
        ys.append(ys[-1] * (1.0 - 0.1 * a))
    return ts, (ys, len(ts))


def halves(x):
    out = [v * 0.5 for v in x]
    out.append(out[0] * out[1])
    return out


def test_lists_as_results(tried: list[bool]) -> None:
    for n in (0, 3, 40):
        found, expected = (jvp(solved, (0.7, n), (1.0, None), compile=c) for c in (True, False))
        assert found[0] == expected[0]
        assert_allclose(found[1][1][0], expected[1][1][0])
    found, expected = (vjp(halves, X, compile=c) for c in (True, False))
    assert found[0] == expected[0]
    assert [*map(type, found[0])] == [np.float64] * 5
    given = [1.0, 2.0, 0.5, 1.0, 3.0]
    assert_allclose(found[1](given)[0], expected[1](given)[0])
    assert False not in tried


def outer(a):
    known = {"ts": []}
    ts, (ys, n) = solved(a, 3)
    ys.append(ts[1] * a)
    known["ts"] = ts
    return sum(ys) * n + sum(known["ts"]), ys


def test_lists_that_functions_give_to_others(tried: list[bool]) -> None:
    found, expected = (value_and_grad(outer, has_aux=True, compile=c)(0.7) for c in (True, False))
    assert_allclose(found[0][0], expected[0][0])
    assert_allclose(found[0][1], expected[0][1])
    assert_allclose(found[1], expected[1])
    assert tried == [True]


def while_it_grows(x, a):
    out = [a]
    for v in out:
        if len(out) < 20:
            out.append(v * a)
    return sum(out)


def of_arrays(x, a):
    out = []
    for _ in range(3):
        x = x * a
        out.append(x)
    return sum([v[0] for v in out])


def of_truths(x, a):
    out = []
    for v in x:
        out.append(v > 0)
    return sum(out) * a


def of_ints_and_floats(x, a):
    out = [0]
    for _ in range(3):
        out.append(a)
    return sum(out)


def given_back_twice(x, a):
    out = []
    out.append(a)
    both = out, out
    both[0].append(2.0)
    return both[1][1] * a


def empty(x, a):
    out = []
    for v in x:
        if v > a * 10:
            out.append(v)
    return out[-1]


def in_an_expression(x, a):
    out = []
    return (out.append(a) or 1.0) * out[0]


def of_another(x, a):
    out = [a]
    out += [v * a for v in x]
    return sum(out) * out[0]


def with_too_many(x, a):
    out = [1.0]
    out.append(a, a)
    return out[0]


@pytest.mark.parametrize(
    "f",
    [
        while_it_grows, of_arrays, of_truths, of_ints_and_floats, given_back_twice, empty,
        in_an_expression, with_too_many, of_another,
    ],
)  # fmt: skip
def test_what_is_unusual_is_as_without(f: Any, tried: list[bool]) -> None:
    def run(way: bool) -> Any:
        try:
            return derivatives(f, compile=way)
        except (LookupError, TypeError) as error:
            return [type(error), str(error)]

    for a, b in zip(run(True), run(False), strict=True):
        if isinstance(a, type | str):
            assert a == b
        else:
            assert type(a) is type(b)
            assert_allclose(a, b, rtol=1e-12)


def grown(xs, a):
    n = len(xs)
    for i in range(n):
        xs.append(a * xs[i])
    xs[0] *= a
    return xs[0] * xs[-1]


def grows_two(xs, a):
    known = {"ys": []}
    ys = known["ys"]
    for i in range(60):
        ys.append(xs[-1] * a)
        if i % 2:
            xs.append(0.5 * ys[-1] + 0.1)
    first = grown(xs, a)
    ys.append(first)
    again = sum(xs) * sum(ys)
    return first * again, (xs, ys)


def grows_by_elements(xs, a):
    log = {"u": np.array(xs) * a}
    u, out = log["u"], []
    for i in range(100):
        out.append(u[i % 2] * i)
    return sum(out) * out[3], out


@pytest.mark.parametrize("f", [grows_two, grows_by_elements])
def test_lists_that_are_passed_and_grow(f: Any, tried: list[bool]) -> None:
    def alone(xs, a):
        return f(xs, a)[0]

    xs, along = [0.5, 1.5], ([1.0, -1.0], 0.3)
    plain = f(xs[:], 0.7)
    results: list[Any] = []
    for how in ({"compile": True}, {}):
        both, gradient = value_and_grad(f, (0, 1), has_aux=True, **how)(xs, 0.7)
        assert_allclose(leaves(both), leaves(plain), rtol=1e-12)
        assert [*map(type, leaves(both))] == [*map(type, leaves(plain))]
        tangent = jvp(f, (xs, 0.7), along, **how)
        second = hvp(alone, (xs, 0.7), along, argnums=(0, 1), **how)
        results.append(leaves([gradient, tangent, second]))
        assert xs == [0.5, 1.5]
    assert_allclose(*results, rtol=1e-10)
    assert True in tried
    assert False not in tried


def leaves(tree: Any) -> list[Any]:
    return [v for t in tree for v in leaves(t)] if isinstance(tree, list | tuple) else [tree]


def gives_back(xs, a):
    xs.append(a)
    return xs[0] * xs[-1], xs


def mixes(xs, a):
    xs.append(np.float64(a))
    return xs[0] * xs[-1], xs


@pytest.mark.parametrize("f", [gives_back, mixes])
def test_lists_that_are_passed_and_not_compiled(f: Any, tried: list[bool]) -> None:
    for xs in ([2.0, 3.0], [2], [2.0]):
        found, expected = (
            value_and_grad(f, 1, has_aux=True, compile=c)(xs, 0.5) for c in (True, False)
        )
        assert repr(found) == repr(expected)
    assert tried == []
