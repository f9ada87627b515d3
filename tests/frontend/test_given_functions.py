"""Loops that call a parameter, or a captured variable: one entry for the functions these are."""

from __future__ import annotations

import functools
import gc
import linecache
import operator
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import (
    MooncakeError,
    checkpointed,
    elementwise,
    grad,
    hessian,
    jvp,
    local_rules,
    tape_of,
    value_and_grad,
)
from mooncake_py.frontend.load import derive, derive_given
from tests.compiler.comparing import agrees, agrees_along, equals_reference
from tests.support.gradients import differences

X = np.array([1.3, 0.2, 0.7, -0.4])
V = np.array([0.3, -0.7, 0.2, 0.9])


def decay(y, t, p):
    return -p[0] * y * y + p[1] * np.sin(t)


def growth(y, t, p):
    return p[2] * y - t


def integrate(f, y, p, n=60, h=0.01):
    for i in range(n):
        k = f(y + 0.5 * h * f(y, i * h, p), (i + 0.5) * h, p)
        y = y + h * k
    return y


def newton(f, slope, x, n=40):
    for _ in range(n):
        x = x - 0.1 * f(x) / slope(x)
    return x


def of_a_global(p):
    return integrate(decay, p[3], p)


def of_two(p):
    return integrate(decay, 1.0, p) * integrate(growth, p[3], p) + integrate(decay, p[1], p)


def of_a_lambda(p):
    a = p[0] * 2.0
    return integrate(lambda y, t, q: -a * y * y + p[1] * np.sin(t), 1.0, p)


def of_functions_with_one_body(p):
    def made(a, b):
        return lambda x: a * x * x - b[1]

    return newton(made(p[0], p), lambda x: 2.0 * x + p[2], 1.0) + newton(
        made(2.0, 0.5 * p), made(p[1], p), 2.0
    )


def of_a_chain(p):
    return integrate(lambda y, t, q: decay(y, t, p) * p[2], 1.0, 0.0)


def of_what_a_function_captures(p):
    def outer(f):
        def run(y):
            for _ in range(30):
                y = y + 0.01 * f(y)
            return y

        return run

    return outer(lambda y: y * p[0])(p[1]) * outer(lambda y: np.sin(y) * p[2])(p[3])


def of_arrays(p):
    w = p * 2.0
    return np.sum(integrate(lambda y, t, q: w * y - q * t, p, p))


PROGRAMS = [
    of_a_global, of_two, of_a_lambda, of_functions_with_one_body, of_a_chain,
    of_what_a_function_captures, of_arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    agrees(f, X)


@pytest.mark.parametrize("f", PROGRAMS)
def test_forward_mode_and_second_order(f):
    agrees_along(f, (X,), (V,))
    second = hessian(f)(X)
    assert_allclose(second, second.T, rtol=1e-9, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS[:-1])
def test_one_entry_for_each_loop(f):
    value_and_grad(f)(X)
    assert len(tape_of(f, X)) < 40


def test_what_is_captured_and_written():
    def f(p):
        buffer = np.zeros(3)

        def step(y):
            buffer[1] += y * p[0]
            return buffer[1] * 0.5

        y = p[1]
        y = newton(step, lambda x: x * x + 2.0, y)
        return y + np.sum(buffer)

    agrees(f, X)


def test_what_is_captured_and_changed_by_the_loop():
    def run(f, x):
        for i in range(len(x)):
            x[i] += f(i)
        return np.sum(x * x)

    def g(p):
        return run(lambda i: p[i - 1] * p[0], p)

    agrees(g, X)


def test_lists_and_ints_that_are_captured():
    def run(f, x):
        for i in range(6):
            x = f(x, i)
        return x

    def g(p):
        rates, k = [p[0], p[1] * 0.5, 2.0], 2
        return run(lambda x, i: x * rates[i % 3] + p[k], p[3])

    agrees(g, X)


@pytest.mark.plain
def test_what_is_captured_may_be_another_kind_of_value_in_the_next_call():
    def run(f, x):
        for _ in range(6):
            x = x + f(x)
        return x

    def g(p, rate):
        return np.sum(run(lambda x: 0.1 * rate * x, p[0]))

    for rate in (0.5, np.array([0.5, 0.2]), 2, np.float64(0.3), [1.0], 0.7):
        if isinstance(rate, list):
            with pytest.raises(TypeError):
                g(X, rate)
            with pytest.raises(TypeError):
                grad(g)(X, rate)
        else:
            equals_reference(g, X, rate)


@pytest.mark.plain
def test_variables_that_are_not_bound_yet():
    def run(f, x):
        for _ in range(3):
            x = x + f(x)
        return x

    def g(p):
        f = lambda x: rate * x  # noqa: E731
        if p[0] < 0.0:
            rate = 1.0
        return run(f, p[0])

    with pytest.raises(NameError, match="rate"):
        grad(g)(X)
    assert_allclose(grad(g)(-X), [8.0, 0.0, 0.0, 0.0])


def test_functions_that_bind_what_they_capture():
    def g(p):
        total = 0.0

        def f(x):
            nonlocal total
            total += x
            return 0.1 * total

        return newton(f, lambda x: 2.0 + x * x, p[0]) + total

    equals_reference(g, X)


def test_what_is_called_is_bound_anew():
    def run(f, g, x):
        for i in range(8):
            x = x + 0.1 * f(x)
            if i % 3 == 0:
                f, g = g, f
        for _ in range(4):
            x = x - 0.1 * f(x)
        f = np.sin
        for _ in range(4):
            x = x * f(x)
        return x

    def h(p):
        return run(lambda x: x * p[0], lambda x: p[1] - x, p[2])

    agrees(h, X)


def test_many_functions_in_turn():
    functions = [
        eval(f"lambda y, t, p: p[0] * y * {k}.0 - t", {"__builtins__": {}}) for k in range(3)
    ]  # whose source is not there

    def made(k):
        return lambda y, t, p: p[0] * y * k - t

    functions += [made(k) for k in range(12)]
    for f in (*functions[3:], decay, growth, *functions[3:5], np.maximum):
        if f is np.maximum:
            continue
        equals_reference(lambda p, f=f: integrate(f, p[1], p, 10), X)


@pytest.mark.plain
@pytest.mark.parametrize(
    "f",
    [
        functools.partial(operator.mul, 0.5), np.sin, SimpleNamespace(call=np.cos).call,
        float.__neg__, type("Scale", (), {"__call__": lambda self, x: x * 0.25})(),
        type("Scale", (), {"method": lambda self, x: x * 0.25})().method,
    ],
)  # fmt: skip
def test_other_callables(f):
    agrees(lambda p: newton(f, lambda x: x * x + 2.0, p[0]), X)


@pytest.mark.plain
def test_a_function_that_is_no_function_raises_as_in_the_plain_call():
    with pytest.raises(TypeError, match="not callable"):
        grad(lambda p: integrate(3.0, p[0], p))(X)


@pytest.mark.plain
def test_recursion():
    def apply(f, n, x):
        for _ in range(2):
            x = x + 0.1 * f(f, n - 1, x) if n else x * 0.9
        return x

    agrees(lambda p: apply(apply, 3, p[0]), X)


@pytest.mark.plain
def test_rules_that_are_declared_afterwards():
    def f(x):
        return 0.5 * x

    def run(g, x):
        for _ in range(2):
            x = g(x)
        return x

    def h(p):
        return run(f, p[0])

    assert grad(h)(X)[0] == 0.25
    with local_rules():
        elementwise(f, lambda x, y: 7.0)
        assert grad(h)(X)[0] == 49.0
    assert grad(h)(X)[0] == 0.25


@pytest.mark.plain
def test_forms_for_functions_are_kept_and_found_again():
    code, scope = integrate.__code__, integrate.__globals__
    general = derive(code, scope)
    assert general.asked == ("f",)
    found = derive_given(general, integrate, (decay, 1.0, X), {})
    assert found is not general
    assert derive_given(general, integrate, (), {"f": decay}) is found
    assert derive_given(general, integrate, (growth, 1.0, X), {}) is not found
    assert derive_given(general, integrate, (decay, 1.0, X), {}) is found
    assert derive_given(general, integrate, (np.sin, 1.0, X), {}) is general
    for k in range(20):
        f = eval(f"lambda y, t, p: y * {k}")
        derive_given(general, integrate, (f, 1.0, X), {})
    assert len(general.specialized) == 8


@pytest.mark.plain
def test_defaults():
    def run(x, *, f=decay, n=5):
        for _ in range(n):
            x = x + f(x, 0.1, X)
        return x

    def positional(x, f=growth):
        for _ in range(5):
            x = x + f(x, 0.1, X)
        return x

    agrees(lambda p: run(p[0]) + positional(p[1]) + run(p[2], f=growth), X)


@pytest.mark.plain
def test_errors_in_functions_have_their_place():
    def f(y, t, p):
        return y / (t - 0.05)

    with pytest.raises(ZeroDivisionError) as caught:
        value_and_grad(lambda y: integrate(f, y, X, 60, 0.1))(0.5)
    assert caught.traceback[-1].name in {"f", "__truediv__", "divide"} or caught.value.args
    with pytest.raises(MooncakeError):
        jvp(lambda p: integrate(lambda y, t, q: eval("y"), p[0], p), (X,), (V,))


WEIGHTS = np.array([0.5, -0.3, 0.8])
SCALE = 0.4


def weighted(y, t, p):
    return y * WEIGHTS[1] + SCALE * p[0]


@pytest.mark.plain
def test_globals_are_those_of_the_function(monkeypatch):
    def h(p):
        return integrate(weighted, p[1], p) + integrate(lambda y, t, q: weighted(y, t, p), 1.0, p)

    agrees(h, X)
    monkeypatch.setitem(globals(), "WEIGHTS", 2.0 * WEIGHTS)
    monkeypatch.setitem(globals(), "SCALE", -1.5)
    agrees(h, X)
    WEIGHTS[1] = 0.25
    agrees(h, X)


@pytest.mark.plain
def test_one_text_in_several_namespaces():
    text = """
def inner(y):
    return SCALE * y
def rhs(y):
    return -RATES[0] * y + SCALE * inner(y)
def solve(f, y):
    for _ in range(9):
        y = y + 0.1 * f(y)
    return y
"""
    code = compile(text, "<given functions, several>", "exec")
    linecache.cache[code.co_filename] = len(text), None, text.splitlines(True), code.co_filename
    scopes = []
    for k in range(3):
        scope = {"RATES": [1.0 + k], "SCALE": 0.3 * k}
        exec(code, scope)
        scopes.append(scope)
    for _ in range(2):
        for a in scopes:
            for b in scopes:
                f = a["rhs"]
                equals_reference(lambda p, b=b, f=f: b["solve"](f, p[0]) * p[1], X)


@pytest.mark.plain
def test_within_a_derivative_a_checkpoint_and_debug_mode():
    def f(p):
        a = p[0] * 2.0
        inner = grad(lambda q: integrate(lambda y, t, r: -a * y * q[1] + p[1], 1.0, q))
        return np.sum(inner(p) * p)

    assert_allclose(grad(f)(X), differences(f, (X,), 0), rtol=1e-6, atol=1e-9)
    agrees_along(f, (X,), (V,))

    def steps(p):
        y = p[1]
        for _ in checkpointed(range(4), 1):
            y = integrate(lambda y, t, r: -p[0] * y * y + t, y, p, 5)
        return y

    agrees(steps, X)
    value, found = value_and_grad(f, debug=True)(X)
    assert value == f(X)
    assert_allclose(found, grad(f)(X), rtol=1e-12)


def made(a):
    return lambda y: -a * y


def run(f, g, y):
    for _ in range(6):
        y = y + 0.1 * f(y) - 0.3 * g(y)
    return y


def of_one_function_twice(p):
    h = made(p[0])
    first = run(h, h, p[3])
    return first + run(made(p[1]), made(p[2]), 1.0) + run(made(p[3]), h, 0.5)


def of_one_function_in_two_places(p):
    def run(f, model, y):
        for _ in range(6):
            y = y + 0.1 * f(y) - 0.3 * model.f(y)
        return y

    h = made(p[0])
    first = run(h, SimpleNamespace(f=h), p[3])
    return first + run(made(p[1]), SimpleNamespace(f=made(p[2])), 1.0)


def of_a_function_that_is_captured_too(p):
    h = made(p[0])
    g = lambda y: h(y) * y  # noqa: E731
    return run(h, g, p[3]) + run(made(p[1]), g, 1.0) + run(g, h, 0.5) + run(g, made(p[2]), 0.7)


@pytest.mark.parametrize(
    "f",
    [of_one_function_twice, of_one_function_in_two_places, of_a_function_that_is_captured_too],
)
def test_one_function_in_several_places_may_be_several_in_the_next_run(f):
    agrees(f, X)
    agrees_along(f, (X,), (V,))


@pytest.mark.without_modes("they are kept to be differentiated in other modes")
def test_classes_of_objects_are_not_kept_alive() -> None:
    def passed_on(model: Any, y: Any) -> Any:
        for _ in range(5):
            y = y + 0.1 * model.force(y)
        return y

    def slope() -> tuple[Any, weakref.ref[Any]]:
        class Spring:
            def force(self, y: Any) -> Any:
                return -2.0 * y

        spring = Spring()
        return grad(lambda y: passed_on(spring, y))(1.0), weakref.ref(Spring)

    slopes = [slope() for _ in range(3)]
    gc.collect()
    assert [cls() for _, cls in slopes] == [None] * 3
    np.testing.assert_allclose([g for g, _ in slopes], 0.8**5)
