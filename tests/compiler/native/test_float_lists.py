"""Lists of floats that are passed: read and written by compiled code, in every mode."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpointed, grad, hvp, jvp, value_and_grad, value_and_hvp, vjp
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

rng = np.random.default_rng(5)
XS = rng.standard_normal(6).tolist()
YS = rng.uniform(0.5, 2.0, 6).tolist()
COEFFICIENTS = [0.5, -1.5, 2.0, 0.25, 1.0, -0.75]


def string(xs, ys, a):
    for _ in range(3):
        for i in range(1, len(xs) - 1):
            ys[i] += a * (xs[i - 1] - 2.0 * xs[i] + xs[i + 1])
        for i in range(len(xs)):
            xs[i] += a * ys[i]
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        total += x * x + y * y
    return total


def read_only(xs, ys, a):
    s = xs[-1] * a
    for k, x in enumerate(xs):
        s += math.sin(x) * ys[k] ** 2
    return s + max(ys) * min(xs) + sum(ys)


def in_names(xs, ys, a):
    zs = xs
    zs[0] = ys[1] * a
    n = len(zs)
    while n > 1:
        n -= 1
        xs[n] = zs[n - 1] * xs[n] + a
    ys[-1] /= zs[2]
    return zs[0] * xs[-1] + ys[-1]


def swapped(xs, ys, a):
    for i in range(len(xs) // 2):
        xs[i], xs[-1 - i] = xs[-1 - i], xs[i] * a
    ys[0] = xs[0]
    xs[0] = 3.0
    return sum([x * y for x, y in zip(xs, ys, strict=True)]) + ys[0]


def bumped(values, at, by):
    values[at] *= by
    return values[at]


def by_calls(xs, ys, a):
    s = 0.0
    for i in range(len(xs)):
        s += bumped(xs, i, ys[i]) * a
    return s * xs[2]


def captured(xs, ys, a):
    s = 0.0
    for c, x in zip(COEFFICIENTS, xs, strict=True):
        s = s * a + c * x * ys[0]
    return s


def in_arrays(xs, ys, a):
    x, y = np.array(xs), np.asarray(ys)
    xs[1] = a
    return np.sum(x * y) * np.dot(x, y)


def branched(xs, ys, a):
    for i, x in enumerate(xs):
        if x < 0.0:
            ys[i] = a * x * x
        elif i % 2:
            continue
        if i == 4:
            break
    return sum(ys) * a


CASES = [
    string, read_only, in_names, swapped, by_calls, captured, in_arrays, branched,
]  # fmt: skip


def leaves(tree: Any) -> list[Any]:
    return [v for t in tree for v in leaves(t)] if isinstance(tree, list | tuple) else [tree]


def same(found: Any, expected: Any) -> None:
    """Check that two results have the same structure and types, and numbers up to rounding."""
    assert type(found) is type(expected)
    if isinstance(found, list | tuple):
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def derivatives(f: Any, **how: Any) -> Any:
    args = XS[:], YS[:], 0.7
    along = YS[:], XS[:], -0.4
    every = (0, 1, 2)
    found = [
        value_and_grad(f, every, **how)(*args),
        value_and_grad(f, (1,), **how)(*args),
        jvp(f, args, along, **how),
        hvp(f, args, along, argnums=every, **how),
        hvp(f, args, along[0], **how),
        value_and_hvp(f, args, along, argnums=every, **how),
        vjp(f, *args, **how)[1](1.0),
    ]
    assert args == (XS, YS, 0.7)  # restored, to the bit
    return found


@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    same(derivatives(f, compile=True), derivatives(f))
    require_compiled(f, tried)


def within(f: Any) -> Any:
    """Return a function that is not compiled, and calls one that is."""

    def outer(xs, ys, a):
        known = {"before": xs[0] * a}
        xs[0] = known["before"]
        first = f(xs, ys, a)
        xs[1] *= first
        again = f(ys, xs, a)
        return first * again + sum(xs) * sum(ys), (xs, ys)

    return outer


@pytest.mark.parametrize("f", CASES)
def test_state_and_derivatives_within_other_functions(f: Any, tried: list[bool]) -> None:
    outer = within(f)

    def alone(xs, ys, a):
        return outer(xs, ys, a)[0]

    args = XS[:], YS[:], 0.7
    plain = outer(*copy.deepcopy(args))
    for how in ({"compile": True}, {}):
        (value, aux), _ = value_and_grad(outer, (0, 1, 2), has_aux=True, **how)(*args)
        same((value, aux), plain)
        assert args == (XS, YS, 0.7)
    same(derivatives(alone, compile=True), derivatives(alone))
    assert tried
    assert all(tried)


def test_any_length_is_read_once(tried: list[bool]) -> None:
    for n in (1, 5, 300):
        xs = rng.standard_normal(n).tolist()
        g = grad(read_only, compile=True)(xs, [2.0] * n, 1.5)
        same(g, grad(read_only)(xs, [2.0] * n, 1.5))
    assert tried == [True, True, True]
    assert len(report(read_only)) == 1


def mixed(xs, a):
    s = 0.0
    for i in range(len(xs)):
        xs[i] = xs[i] * a
        s += xs[i] ** 2
    return s, [type(x) for x in xs]


@pytest.mark.parametrize(
    "xs", [[1.0, 2, 3.0], [1.0, np.float64(2.0)], [1.0, True], [np.float64(1.0)]]
)
def test_items_of_other_types_run_as_without(xs: Any, tried: list[bool]) -> None:
    found, expected = (
        value_and_grad(mixed, 1, has_aux=True, compile=c)(xs, 0.5) for c in (True, False)
    )
    assert found == expected


def reaching(xs, a, k):
    s = 1.0
    for i in range(k):
        xs[i] *= a
        s += xs[i] / xs[i + 1]
    return s


@pytest.mark.parametrize(
    ("k", "xs"), [(3, [1.0, 2.0, 3.0]), (2, [1.0, 2.0, 0.0]), (1, [1e308, 1e-308]), (1, [1.0])]
)
def test_what_is_unusual_runs_as_without(k: int, xs: Any, tried: list[bool]) -> None:
    def run(derivative: Any, **how: Any) -> Any:
        given = xs[:]
        try:
            return derivative(given, **how), given
        except (ArithmeticError, LookupError) as error:
            return type(error), str(error), given

    def gradient(xs, **how):
        return value_and_grad(reaching, (0, 1), **how)(xs, 3.0, k)

    def tangent(xs, **how):
        return jvp(reaching, (xs, 3.0, k), (xs[:], 1.0, None), **how)

    for derivative in gradient, tangent:
        assert repr(run(derivative, compile=True)) == repr(run(derivative, compile=False))
    assert True not in tried


def both(xs, ys):
    s = 0.0
    for i in range(len(xs)):
        xs[i] *= 2.0
        s += xs[i] * ys[i]
    return s


def test_a_list_that_is_passed_twice(tried: list[bool]) -> None:
    def whole(xs):
        return both(xs, xs)

    def outer(xs):
        s = 0.0
        for _ in {"what loops over sets is not compiled"}:
            s = both(xs, xs)
        return s

    for f in whole, outer:
        tried.clear()
        for derivative in (
            lambda **how: value_and_grad(f, **how)(XS[:]),  # noqa: B023
            lambda **how: jvp(f, (XS[:],), (YS[:],), **how),  # noqa: B023
            lambda **how: hvp(f, (XS[:],), YS[:], **how),  # noqa: B023
        ):
            same(derivative(compile=True), derivative())
        if f is outer:  # what is called takes its arguments for two lists
            assert True not in tried
        else:
            require_compiled(f, tried)


def unpacked(xs, a):
    x, y, z = xs
    return x * y * z * a


def sliced(xs, a):
    return sum(xs[1:]) * a


def of_captured(a):
    x, y = COEFFICIENTS[:2]
    return x * a + y


@pytest.mark.parametrize(("f", "args"), [(unpacked, ([1.0, 2.0, 3.0], 2.0)), (of_captured, (2.0,))])
def test_items_one_by_one(f: Any, args: Any, tried: list[bool]) -> None:
    same(value_and_grad(f, compile=True)(*args), value_and_grad(f)(*args))
    require_compiled(f, tried)
    assert len(report(f)) == 1


def loop_only(xs, a):
    log = {"first": xs[0]}
    for _ in range(20):
        for i in range(1, len(xs)):
            xs[i] += a * xs[i - 1]
    xs.append(log["first"])
    return sum(xs), xs


def test_loops_of_functions_that_are_not_compiled(tried: list[bool]) -> None:
    found, expected = (
        value_and_grad(loop_only, (0, 1), has_aux=True, compile=c)(XS[:], 0.2)
        for c in (True, False)
    )
    same(found, expected)
    assert tried == [True]
    assert "loop at line" in str(report(loop_only)[1])
    assert report(loop_only)[1].found == "compiled"


def changed(xs, a):
    for i in range(len(xs)):
        xs[i] *= a
    return xs[0] * xs[-1]


def test_numbers_that_have_no_derivative(tried: list[bool]) -> None:
    def outer(a):
        xs = list(range(3))
        xs = [float(x) + 1.0 for x in xs]
        first = 0.0
        for _ in {"what loops over sets is not compiled"}:
            first = changed(xs, 2.0)  # nothing has a derivative here
        return changed(xs, a) * first, xs

    for c in (True, False):
        (value, xs), g = value_and_grad(outer, has_aux=True, compile=c)(3.0)
        assert (value, xs, g) == (12.0 * 108.0, [6.0, 12.0, 18.0], 12.0 * 72.0)
    assert tried == [True, True]


SETTINGS = [1.0]


def true_if_settings(u):
    return u[0] * SETTINGS[-1] if SETTINGS else u[1]


def equal_to_settings(u):
    return u[0] if SETTINGS == [1.0] else u[1]


@pytest.mark.parametrize("f", [true_if_settings, equal_to_settings])
def test_captured_lists_that_change(f: Any, tried: list[bool]) -> None:
    u = np.array([2.0, 3.0])
    for settings in ([1.0], [], [2.0, 3.0], [1], [2.0], ["a"], [1.0]):
        SETTINGS[:] = settings
        if f is equal_to_settings or settings != ["a"]:
            assert_allclose(grad(f, compile=True)(u), grad(f, compile=False)(u))


def clears(a):
    for i in range(len(SETTINGS)):
        SETTINGS[i] *= a
    return SETTINGS[0] * SETTINGS[1]


def test_captured_lists_that_are_written(tried: list[bool]) -> None:
    def outer(a):
        _ = {}
        return clears(a) * clears(a)

    for f in clears, outer:
        SETTINGS[:] = [2.0, 3.0]
        same(value_and_grad(f, compile=True)(1.5), value_and_grad(f)(1.5))
        same(jvp(f, (1.5,), (1.0,), compile=True), jvp(f, (1.5,), (1.0,)))
        same(hvp(f, (1.5,), 1.0, compile=True), hvp(f, (1.5,), 1.0))
        assert SETTINGS == [2.0, 3.0]
        require_compiled(clears, tried)


def grows(a):
    total = 0.0
    for k in range(3):
        if k != 1:
            SETTINGS.append(a * k)
        total += sum(SETTINGS) * SETTINGS[-1]
    return total


def grows_in_a_branch(a):
    if a > 0:
        k = 0
        while k < 2:
            SETTINGS.append(a)
            SETTINGS[0] *= a
            k += 1
    return sum(SETTINGS)


@pytest.mark.parametrize("f", [grows, grows_in_a_branch])
def test_captured_lists_that_grow_where_they_are_met_first(f: Any, tried: list[bool]) -> None:
    SETTINGS[:] = [2.0, 3.0]
    plain = f(1.5)
    SETTINGS[:] = [2.0, 3.0]
    value, _ = value_and_grad(f, compile=True)(1.5)
    assert value == plain
    same(value_and_grad(f, compile=True)(1.5), value_and_grad(f)(1.5))
    same(jvp(f, (1.5,), (1.0,), compile=True), jvp(f, (1.5,), (1.0,)))
    same(hvp(f, (1.5,), 1.0, compile=True), hvp(f, (1.5,), 1.0))
    assert SETTINGS == [2.0, 3.0]
    require_compiled(f, tried)


def stepped(us, a):
    for i in range(1, len(us)):
        us[i] += a * us[i - 1]
    us.append(us[-1] * a)


def in_steps_that_run_again(a):
    us = [a, 0.5, -0.3]
    for _ in checkpointed(range(4), 1):
        _ = {}
        stepped(us, a)
    return sum(us)


def around_another_derivative(a):
    us = [a, 2.0, a * a]

    def inner(b):
        _ = {}
        scaled = [b * u for u in us]
        stepped(scaled, b)
        return sum(scaled)

    stepped(us, grad(inner)(a))
    return sum(us)


def where_it_raises(a):
    us = [a, 0.5]
    try:
        for i in range(80):
            us.append(us[i] * a)
            if i == 60:
                us[100] = a
    except IndexError:
        us.append(a)
    return sum(us)


@pytest.mark.parametrize("f", [in_steps_that_run_again, around_another_derivative, where_it_raises])
def test_lists_are_undone(f: Any, tried: list[bool]) -> None:
    for derivative in (
        lambda **how: value_and_grad(f, **how)(0.7),
        lambda **how: jvp(f, (0.7,), (1.0,), **how),
        lambda **how: hvp(f, (0.7,), 1.0, **how),
    ):
        same(derivative(compile=True), derivative())
    assert tried
