"""Functions whose derivatives are taken often run as text of NumPy, with the same results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mooncake_py
from mooncake_py import compile_mode, debug_mode, grad, hvp, jvp, value_and_grad, value_and_hvp, vjp
from mooncake_py.compiler.native import printed_loop
from mooncake_py.compiler.native.numpy_text import printer
from mooncake_py.compiler.sites import turns
from mooncake_py.modes.reverse import whole
from mooncake_py.modes.reverse.agreement import agree
from tests.support.sweeps_of_text import noted_sweeps

pytestmark = [pytest.mark.plain, pytest.mark.without_modes("text takes over within a test")]

X = np.linspace(0.1, 1.0, 7)
AT_FIRST = 2 + 1 + turns.SAMPLES  # calls, in the last of which it is found out what is faster


@pytest.fixture(autouse=True)
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Whether each sweep forward came to its end; text is faster by this clock."""
    found = noted_sweeps(monkeypatch)
    ticks = iter(range(10**9))
    monkeypatch.setattr(turns, "OFTEN", 2)
    monkeypatch.setattr(printed_loop, "ENOUGH", 10**9)  # loops by themselves are no text
    monkeypatch.setattr(turns, "clock", lambda: next(ticks) // 3 * 3.0)  # the second way takes none
    yield found
    turns._turns.clear()


def waves() -> Any:
    """Return a new function: what is known of one belongs to its code."""
    scope: dict[str, Any] = {"np": np}
    text = """
def f(u, c):
    v = np.zeros_like(u)
    for _ in range(3):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += v
        for i in range(len(u)):
            u[i] = np.sin(u[i]) * c
    return np.sum(u * u)
"""
    exec(compile(text, "<waves>", "exec"), scope)
    import linecache

    linecache.cache["<waves>"] = (len(text), None, text.splitlines(keepends=True), "<waves>")
    return scope["f"]


DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "gradient": lambda f: value_and_grad(f, (0, 1))(X.copy(), 0.5),
    "prepared": lambda f: value_and_grad(f, (0, 1)).prepare(X, 0.5)(X.copy(), 0.5),
    "pullback": lambda f: pulled(f),
    "pushforward": lambda f: jvp(f, (X.copy(), 0.5), (np.cos(X), 1.0)),
    "product": lambda f: hvp(f, (X.copy(), 0.5), (np.cos(X), 1.0), argnums=(0, 1)),
    "gradient and product": lambda f: value_and_hvp(
        f, (X.copy(), 0.5), (np.cos(X), 1.0), argnums=(0, 1)
    ),
}


def pulled(f: Any) -> Any:
    y, pullback = vjp(f, X.copy(), 0.5)
    return y, pullback(1.0), pullback(2.0)


def flat(found: Any) -> list[Any]:
    return [p for part in found for p in flat(part)] if type(found) in (tuple, list) else [found]


@pytest.mark.parametrize("name", DERIVATIVES)
def test_results_are_those_of_the_first_calls(name: str, ran: list[bool]) -> None:
    f, take = waves(), DERIVATIVES[name]
    first = flat(take(f))
    assert not ran
    for _ in range(AT_FIRST):
        take(f)
    ran.clear()
    later = flat(take(f))
    assert ran
    assert all(ran)
    for a, b in zip(first, later, strict=True):
        assert type(a) is type(b)
        assert_allclose(b, a, rtol=1e-12)
    if name != "product":
        assert first[0] == later[0]


def often(f: Any, *args: Any) -> Any:
    """Return the gradient of a function that was called often."""
    g = value_and_grad(f)
    for _ in range(AT_FIRST):
        g(*args)
    return g


def test_arguments_are_as_before(ran: list[bool]) -> None:
    g = often(waves(), X, 0.5)
    u = X.copy()
    ran.clear()
    g(u, 0.5)
    assert ran == [True]
    np.testing.assert_array_equal(u, X)


def test_other_modes_run_as_before(ran: list[bool]) -> None:
    f = waves()
    g = often(f, X, 0.5)
    ran.clear()
    with debug_mode():
        g(X, 0.5)
    value_and_grad(f, debug=True)(X, 0.5)
    ran.clear()  # of its loops, which are compared with their statements
    value_and_grad(f, mode="forward")(X, 0.5)
    grad(lambda c: np.sum(grad(f)(X, c)))(0.5)
    grad(lambda c: vjp(f, X, c)[0])(0.5)
    mooncake_py.jacobian(lambda c: grad(f)(X, c))(0.5)
    assert not ran


def test_nothing_is_printed_where_the_user_wants_nothing_compiled(ran: list[bool]) -> None:
    f = waves()
    g = often(f, X, 0.5)
    ran.clear()
    value_and_grad(f, compile=False)(X, 0.5)
    with compile_mode(False):
        g(X, 0.5)
        hvp(f, (X, 0.5), X)
    assert not ran


def test_large_arrays_run_as_before(ran: list[bool]) -> None:
    def f(x):
        return np.sum(np.sin(x) * x)

    g = often(f, np.ones(whole.LARGE_ARRAY + 1))
    assert not ran
    for _ in range(40):
        g(X)
    assert ran


SCALE = 2.0


def test_globals_and_captured_variables_are_those_of_the_call(
    monkeypatch: pytest.MonkeyPatch, ran: list[bool]
) -> None:
    power = 2

    def f(x):
        return SCALE * np.sum(x**power)

    g = often(f, X)
    ran.clear()
    assert g(X)[0] == f(X)
    assert ran == [True]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert g(X)[0] == f(X)
    power = 3
    assert g(X)[0] == f(X)
    assert_allclose(g(X)[1], 9.0 * X**2)


def test_other_arguments_than_at_first(ran: list[bool]) -> None:
    def f(x):
        return np.sum(np.sin(x) * x)

    g = often(f, X)
    for x in (np.ones((3, 2)), np.ones((2, 3)).T, np.ones(3, np.float32), np.ones(0), 0.5, X):
        y, slope = g(x)
        expected = value_and_grad(lambda x: np.sum(np.sin(x) * x))(x)
        assert type(y) is type(expected[0])
        assert np.asarray(y).tobytes() == np.asarray(expected[0]).tobytes()
        assert type(slope) is type(expected[1])
        assert_allclose(slope, expected[1], rtol=1e-6)


def test_warnings_are_those_of_the_function_at_its_line(ran: list[bool]) -> None:
    def f(x):
        return np.sum(np.where(x > 0.0, np.log(x), 0.0))

    x = np.array([0.0, 1.0, 2.0])
    g = often(f, X)
    ran.clear()
    for _ in range(3):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            g(x)
        assert [w.lineno for w in found] == [f.__code__.co_firstlineno + 1]
    assert not any(ran)
    with np.errstate(all="ignore"):
        assert_allclose(g(x)[1], [0.0, 1.0, 0.5])


def test_errors_are_those_of_the_function() -> None:
    def f(x, k):
        return x[k] * 2.0

    g = often(f, X, 3)
    with pytest.raises(IndexError):
        g(X, 7)
    assert g(X, 6)[0] == f(X, 6)


def test_results_that_differ_are_found(monkeypatch: pytest.MonkeyPatch, ran: list[bool]) -> None:
    original = printer.as_quick

    def wrong(*given: Any) -> Any:
        quick = original(*given)

        def doubled(*values: Any) -> Any:
            result = quick(*values)
            values[-2][...] *= 2.0
            return result

        return doubled

    def f(x):
        return np.sum(x * x)

    monkeypatch.setattr(printer, "as_quick", wrong)
    g = often(f, X)
    assert len(ran) == 1
    assert_allclose(g(X)[1], 2.0 * X)
    assert len(ran) == 1


def test_objects_with_state(ran: list[bool]) -> None:
    class Spring:
        def __init__(self) -> None:
            self.k = 2.0
            self.calls = 0

        def energy(self, x):
            self.calls += 1
            return self.k * np.sum(x * x)

    spring = Spring()
    g = often(spring.energy, X)
    spring.k = 3.0
    assert_allclose(g(X)[1], 6.0 * X)
    assert g(X)[0] == 3.0 * np.sum(X * X)
    assert spring.calls == 0


class Body:
    def __init__(self, mass: float, at: Any, name: str = "a") -> None:
        self.mass, self.at, self.name = mass, at, name

    def move(self, h: float) -> None:
        self.at = self.at + h * self.mass * np.sin(self.at)


def test_gradients_of_objects_and_dicts(ran: list[bool]) -> None:
    def f(body: Any, given: Any) -> Any:
        for _ in range(3):
            body.move(given["h"])
            given["u"] *= body.mass
        return np.sum(body.at * given["u"])

    def arguments(k: float) -> Any:
        return Body(0.5 + k, X.copy()), {"h": 0.1, "u": X + k, "n": 3}

    g = value_and_grad(f, argnums=(0, 1))
    first = [g(*arguments(k)) for k in (0.0, 0.1)]
    assert not ran
    for _ in range(AT_FIRST):
        g(*arguments(0.0))
    ran.clear()
    for k, expected in zip((0.0, 0.1), first, strict=True):
        args = arguments(k)
        found = g(*args)
        assert found[0] == expected[0]
        body, given = found[1]
        assert agree((0.0, body), (0.0, expected[1][0]))
        assert agree((0.0, given), (0.0, expected[1][1]))
        assert args[0].mass == 0.5 + k
        np.testing.assert_array_equal(args[0].at, X)
        np.testing.assert_array_equal(args[1]["u"], X + k)
    assert ran == [True, True]


def test_pullbacks_keep_what_they_were_called_with(ran: list[bool]) -> None:
    f = waves()
    x = X.copy()
    _, expected = vjp(f, x, 0.5)
    for _ in range(AT_FIRST):
        vjp(f, x, 0.5)
    ran.clear()
    _, pullback = vjp(f, x, 0.5)
    assert ran == [True]
    x[:] = 0.0
    for c in (1.0, 2.0):
        for a, b in zip(expected(c), pullback(c), strict=True):
            assert_allclose(b, a, rtol=1e-12)


def test_nothing_is_read_of_functions_that_are_called_a_few_times(ran: list[bool]) -> None:
    f = waves()
    for _ in range(2):
        for take in DERIVATIVES.values():
            if take is not DERIVATIVES["prepared"]:
                take(f)
    assert not ran
