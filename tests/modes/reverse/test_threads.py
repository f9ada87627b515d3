"""Derivatives in many threads at once agree with those of one thread, or say why they cannot."""

from __future__ import annotations

import contextvars
import functools
import gc
import linecache
import math
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    build_rrule,
    elementwise,
    grad,
    rrule,
    value_and_grad,
    vjp,
)
from mooncake_py.errors import DerivativeDropError, MissingRuleError, PullbackReuseError

THREADS = 8
X = np.linspace(0.1, 1.0, 5)
TABLE = np.arange(5.0)


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def at_once(run: Callable[[int], Any]) -> list[Any]:
    """Return the results of `run`, or its exceptions, in threads that start together."""
    barrier = threading.Barrier(THREADS)
    results: list[Any] = [None] * THREADS

    def work(i: int) -> None:
        barrier.wait()
        try:
            results[i] = run(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def agrees(run: Callable[[int], Any], rounds: int = 3) -> None:
    for _ in range(rounds):
        results = at_once(run)
        assert repr(results) == repr([run(i) for i in range(THREADS)])


def closure():
    weights = np.full(5, 2.0)
    factors = [2.0, 3.0]

    def f(x, i):
        total = 0.0
        for _ in range(5):
            y = x * weights + TABLE * i
            total = total + np.sum(np.sin(y) * y) + math.sin(x[0]) * x[1] * factors[0]
        return total

    return f


class Model:
    def __init__(self) -> None:
        self.weights = np.arange(5.0) + 1
        self.scale = 2.5

    def __call__(self, x, i):
        return np.sum(self.weights * x * x) * self.scale + i * np.sum(x)

    def method(self, x, i):
        return self(x, i) + 1


def compiled_just_now():
    text = (
        "def f(x, i):\n    def g(z):\n        return [np.sum(z * t) for _ in range(2)]\n"
        "    t = x * 2.0\n    for _ in range(3):\n        t = t + g(x)[0] * x\n"
        "    return np.sum(t) * i\n"
    )
    name = f"<race {next(serial)}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


serial = iter(range(1000))


@pytest.mark.sampled(3)
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize(
    "make",
    [
        closure,
        Model,
        lambda: Model().method,
        lambda: functools.partial(closure()),
        compiled_just_now,
    ],
    ids=["closure", "object", "method", "partial", "first derivation"],
)
def test_functions_of_every_kind(make):
    for _ in range(5):
        f = make()
        agrees(lambda i, f=f: value_and_grad(f)(X.copy(), i), rounds=1)


@pytest.mark.thorough
def test_rules_registered_meanwhile():
    def run(i: int) -> Any:
        if i == 0:

            def doubled(x):
                return x * 2

            elementwise(doubled, lambda x, y: 2.0)
            return grad(lambda x: np.sum(doubled(x)))(X.copy())
        return grad(closure())(X.copy(), i)

    agrees(run, rounds=10)


def halved(x):
    return x / 2


@rrule.register(halved)
def _(_, x):
    out = CoDual(x.primal / 2, np.zeros(5))

    def pullback(_):
        x.fdata[...] += out.fdata / 2
        return NoRData(), NoRData()

    return out, pullback


def test_rule_by_hand():
    agrees(lambda i: grad(lambda x: np.sum(halved(x) ** 2) * i)(X.copy()))


def test_pullbacks_called_in_another_thread():
    def run(i: int) -> Any:
        _, pullback = vjp(closure(), X * (i + 1), i)
        found: list[Any] = []
        other = threading.Thread(target=lambda: found.append(pullback(1.0)))
        other.start()
        other.join()
        return found

    agrees(run)


def test_one_pullback_called_in_all_threads():
    def f(x):
        x *= x
        return x * 2

    _, pullback = vjp(f, X)
    for _ in range(5):
        for result in at_once(lambda i: pullback(np.ones(5))[0]):
            np.testing.assert_array_equal(result, 4 * X)


def test_pullback_of_a_rule_serves_once():
    f = closure()
    _, pullback = build_rrule(f)(
        CoDual(f, NoFData()), CoDual(X.copy(), np.zeros(5)), CoDual(1, NoFData())
    )
    errors = [type(r) for r in at_once(lambda i: pullback(1.0))]
    assert errors.count(PullbackReuseError) == THREADS - 1


def test_exceptions_and_refusals():
    def f(x, i):
        y = x * 2
        x *= 3
        if i % 3 == 1:
            raise LookupError(i)
        if i % 3 == 2:
            return np.frombuffer(y)[0]
        return np.sum(y)

    def run(i: int) -> Any:
        x = X.copy()
        try:
            return grad(f)(x, i)
        except LookupError as error:
            return error.args, len(error.__notes__), x
        except MissingRuleError as error:
            return error.what, x

    agrees(run)


# State of the interpreter.


def test_limits_return():
    before = gc.get_threshold(), sys.getrecursionlimit()
    at_once(lambda i: grad(closure())(X.copy(), i))
    assert (gc.get_threshold(), sys.getrecursionlimit()) == before


@pytest.mark.without_modes("it reads a context variable of the test")
def test_settings_of_numpy_and_context_variables_are_those_of_the_thread():
    offset = contextvars.ContextVar("offset", default=0.0)

    def f(x):
        return np.sum(np.sqrt(x)) * offset.get() + float(np.geterr()["divide"] == "raise")

    def run(i: int) -> Any:
        offset.set(float(i))
        with np.errstate(divide="raise" if i % 2 else "ignore"):
            settings = np.geterr()
            found = value_and_grad(f)(X.copy())
            assert np.geterr() == settings
        return found

    filters = list(warnings.filters)
    with np.errstate():
        agrees(lambda i: contextvars.copy_context().run(run, i))
    assert warnings.filters == filters


# Containers of numbers.


def loss(p, x):
    return p["w"][0] * p["w"][1] * x[0] + p["b"]


def with_constants(x, p):
    return np.sum(x) * p["w"][0] + p["b"]


@pytest.mark.without_modes("other threads replace what is recorded")
def test_argument_shared_by_all():
    parameters = {"w": [1.5, 2.5], "b": 0.5}
    agrees(lambda i: value_and_grad(loss)(parameters, X), rounds=10)
    assert parameters == {"w": [1.5, 2.5], "b": 0.5}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.without_modes("other threads replace what is recorded")
def test_constant_that_others_differentiate_is_right_or_refused(native):
    parameters = {"w": [1.5, 2.5], "b": 0.5}

    def run(i: int) -> Any:
        if i % 2:
            return repr(value_and_grad(loss)(parameters, X))
        if native:
            return repr(float(with_constants(X, parameters)))
        return repr(value_and_grad(with_constants)(X.copy(), parameters))

    expected = [run(i) for i in range(2)]
    for _ in range(20):
        for i, result in enumerate(at_once(run)):
            if i % 2 or not isinstance(result, DerivativeDropError):
                assert result == expected[i % 2]
            else:
                assert "another thread" in result.what
    assert parameters == {"w": [1.5, 2.5], "b": 0.5}
