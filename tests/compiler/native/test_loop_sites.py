"""Loops that are compiled by themselves, where their function cannot be."""

from __future__ import annotations

import copy
import gc
import linecache
import math
import warnings
import weakref
from types import FunctionType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpointed, debug_mode, grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native import effort, loop_site, site
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.site import report
from tests.compiler.native.test_site import active

pytestmark = pytest.mark.plain

X = np.array([0.5, -1.0, 2.0, 0.25])
M = np.outer(X, X + 1.0)


@pytest.fixture(autouse=True)
def loops_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile loops by themselves, short ones too: no function is compiled as a whole."""

    def refused(*_: object) -> None:
        raise Unfit("only its loops are compiled here")

    monkeypatch.setattr(site, "read_function", refused)
    monkeypatch.setattr(effort, "LEAST", 1)


def kept(value):
    """Return a list with a value."""
    return [value]


def agree(f, *args):
    """Compare all modes with and without compilation."""
    argnums = active(args)
    value, g = value_and_grad(f, argnums, compile=True)(*copy.deepcopy(args))
    expected, h = value_and_grad(f, argnums)(*copy.deepcopy(args))
    assert type(value) is type(expected)
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert type(a) is type(b)
        assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    along = tuple(np.cos(args[k]) if np.ndim(args[k]) else 0.7 for k in argnums)

    def of_active(*given):
        full = list(copy.deepcopy(args))
        for k, a in zip(argnums, given, strict=True):
            full[k] = a
        return f(*full)

    def gradient(*given):
        return grad(of_active, tuple(range(len(argnums))))(*given)

    point = tuple(copy.deepcopy(args[k]) for k in argnums)
    assert_allclose(
        jvp(of_active, point, along, compile=True), jvp(of_active, point, along), rtol=1e-10
    )
    second = jvp(gradient, point, along, compile=True)[1]
    products = hvp(of_active, point, along, argnums=tuple(range(len(point))), compile=True)
    for a, b, c in zip(second, products, jvp(gradient, point, along)[1], strict=True):
        assert_allclose(a, c, rtol=1e-9, atol=1e-10)
        assert_allclose(b, c, rtol=1e-9, atol=1e-10)


def lines(f):
    """Return the report on the loops of a function, without places."""
    found = [line.split(f"{f.__qualname__}, loop at line ")[1:] for line in map(str, report(f))]
    return [text[0].partition(" ")[2].partition("): ")[2] for text in found if text]


class Diffusion:
    """A simulation with objects and lists round its loops."""

    def __init__(self):
        self.seen = []

    def run(self, u, rate, steps):
        for t in range(steps):
            old = u.copy()
            for i in range(1, len(u) - 1):
                u[i] = old[i] + rate * (old[i - 1] - 2 * old[i] + old[i + 1])
            if t % 2 == 0:
                self.seen.append(t)
        total = 0
        for i in range(len(u)):
            total += u[i] * u[i]
        return total + 0.1 * i


def test_loops_of_a_method_that_changes_its_object(tried):
    agree(Diffusion().run, X, 0.1, 3)
    assert tried
    assert all(tried)
    outer, inner, last = lines(Diffusion.run)
    assert outer.startswith("not compiled: ")
    assert (inner, last) == ("compiled", "compiled")


def with_names_after(x, k):
    """Names that loops bind, and that are read afterwards."""
    names = {"k": kept(k)[0]}
    best, at = -math.inf, None
    total = 0
    for i in range(len(x)):
        e = x[i] * names_scale
        if e > best:
            best = e
        total += e
    at = i
    for row in M:
        total = total + row @ x
    while total > k:
        total *= 0.5
        at += 1
    return best + total + at * 0.25 + row[1] * names["k"]


names_scale = 1.5


def test_names_after_loops(tried):
    agree(with_names_after, X, 0.5)
    assert all(tried)
    assert "compiled" in lines(with_names_after)


def test_a_loop_that_does_not_run_leaves_names_as_they_are(tried):
    def f(x, n):
        log = {0: n}
        a, i = x[0], 7
        for i in range(n):
            a = x[i] * a
        return a * i * log[0]

    agree(f, X, 3)
    agree(f, X, 1)
    for n in (0, 0, 0, 0, 2):
        before = len(tried)
        assert_allclose(grad(f, compile=True)(X, n), grad(f)(X, n))
        assert len(tried) - before == (n > 0)


def test_names_that_are_not_bound_raise_as_without(tried):
    def f(x, n):
        log = {0: n}
        for i in range(n):
            y = x[i] * 2.0
        return y * i * log[0]

    agree(f, X, 3)
    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(f, compile=True)(X, 0)

    def g(x, n):
        log = {0: n}
        for i in range(n):
            if x[i] > 100.0:
                y = x[i]
        return y * log[0]

    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(g, compile=True)(X, 3)


def test_a_loop_reads_what_its_last_run_has_left(tried):
    def f(x, n):
        log = []
        for t in range(n):
            log.append(t)
            for i in range(len(x)):
                if t + i == 0:
                    kept = x[0]
                kept = kept * 0.5 + x[i]
                x[i] = kept
        return np.sum(x)

    agree(f, X, 3)
    assert all(tried)


def test_breaks_and_continues(tried):
    def f(x, limit):
        log = {0: limit}
        total = 0.0
        for e in x:
            if e < -0.5:
                continue
            total += e * e
            if total > log_limit:
                break
        return total * e * log[0]

    log_limit = 3.0
    agree(f, X, 0.5)
    log_limit = 100.0
    agree(f, X, 0.5)
    assert all(tried)


def test_an_else_that_leaves_the_loop_around(tried):
    def f(x):
        held = kept(1.0)
        s = 0.0
        for i in range(4):
            held.append(s)
            for j in range(i):
                if x[i] > x[j]:
                    break
                s += x[i] * x[j]
            else:
                s += 0.5
                continue
            s += x[i]
        return s

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agree(f, X)
    assert any("an else of a loop that leaves the one around it" in one.why for one in report(f))


def test_numbers_whose_type_changes(tried):
    def f(x, n):
        log = {0: n}
        total = 0
        for i in range(n):
            total += x[i]
        if type(total) is int:
            return np.sum(x) * 2.0
        for _ in range(2):
            total = total / 2 if n > 2 else 1
        return float(total) * type(total).__name__.count("6") + total + log[0] * x[0]

    agree(f, X, 4)
    agree(f, X, 1)
    agree(f, X, 0)


def test_arrays_that_are_bound_anew_and_arrays_that_are_the_same(tried):
    def f(x, n):
        log = {0: x}
        y = x
        for _ in range(n):
            x = x * 0.5 + y[0]
        y[1] = 3.0
        for i in range(len(x)):
            x[i] += y[i] * 2.0
        return np.sum(x) + np.sum(y * log[0])

    agree(f, X, 3)
    agree(f, X, 0)

    def g(x):
        log = {0: x}
        y = x[1:]
        for i in range(3):
            x[i] = x[i] * y[i]
        return np.sum(x) + np.sum(log[0])

    tried.clear()
    agree(g, X)
    assert not tried  # they share memory, of which the loop writes some


def test_variables_of_nested_functions(tried):
    def f(x, n):
        rate = kept(0.5)[0]

        def scaled(e):
            return rate * e

        def changes():
            nonlocal rate
            rate += 1.0

        total = 0.0
        for i in range(n):
            total += scaled(x[i])
        changes()
        for i in range(n):
            total += scaled(x[i]) * rate
        for i in range(n):
            rate = rate * x[i]
            total += scaled(x[i])
        for i in range(n):
            changes()
            total += rate * x[i]
        return total

    agree(f, X, 4)
    assert True in tried
    why = "rate, which stands for something outside"
    assert [why in line for line in lines(f)] == [False, False, True, False]


def test_globals_and_captured_variables_are_read_as_they_are_now(tried):
    weights = np.array([1.0, 2.0])
    power = 2

    def f(x):
        log = {0: 1.0}
        total = 0.0
        for i in range(2):
            total += weights[i] * x[i] ** power * names_scale
        return total * log[0]

    x = np.array([1.0, 3.0])
    assert_allclose(grad(f, compile=True)(x), [3.0, 18.0])
    weights = np.array([2.0, 2.0])
    power = 1
    assert_allclose(grad(f, compile=True)(x), [3.0, 3.0])
    global names_scale
    names_scale = 2.0
    try:
        assert_allclose(grad(f, compile=True)(x), [4.0, 4.0])
    finally:
        names_scale = 1.5
    assert tried == [True, True, True]


def test_flags(tried):
    def f(x, limit):
        log = []
        done = False
        while not done:
            log.append(len(log))
            for i in range(len(x)):
                x[i] *= 0.5
                if abs(x[i]) < limit:
                    done = True
        return np.sum(x) * len(log)

    agree(f, X, 0.01)
    assert all(tried)


def test_exceptions_are_those_of_the_plain_call(tried):
    def f(x, n):
        log = {0: n}
        for i in range(n):
            x[i] = x[i] * 2.0
        return np.sum(x) * log[0]

    x = X.copy()
    with pytest.raises(IndexError, match="index 4 is out of bounds") as found:
        grad(f, compile=True)(x, 5)
    line = f.__code__.co_firstlineno + 3
    assert any(entry.lineno == line - 1 for entry in found.traceback)
    np.testing.assert_array_equal(x, X)
    assert tried == [False]


def test_checkpointed_loops(tried):
    def f(x, n):
        log = {0: n}
        total = 0.0
        for t in checkpointed(range(n), slots=2):
            for i in range(len(x)):
                x[i] = np.sin(x[i]) + total * 0.1
                total = total + x[i] * t
        return total * log[0]

    found = grad(f, compile=True)(X.copy(), 6)
    assert_allclose(found, grad(f)(X.copy(), 6), rtol=1e-12)
    assert len(tried) > 6
    assert all(tried)


def test_loops_with_return_run_as_before(tried):
    def f(x):
        log = {0: 1.0}
        for i in range(len(x)):
            if x[i] > 1.0:
                return x[i] * log[0]
            for k in range(len(x)):
                x[k] *= 1.5
        return x[0]

    agree(f, X)
    assert all(tried)


def test_debug_mode_compiles_no_loop(tried):
    def f(x):
        log = {0: 1.0}
        for i in range(len(x)):
            x[i] *= x[i]
        return np.sum(x) * log[0]

    with debug_mode():
        assert_allclose(grad(f, compile=True)(X.copy()), 2 * X)
    assert not tried


def test_short_loops_run_as_before(tried, monkeypatch):
    monkeypatch.setattr(effort, "LEAST", 50)

    def f(x, n):
        log = {0: 1.0}
        for i in range(n):
            x[i % 4] *= 1.01
        return np.sum(x) * log[0]

    grad(f, compile=True)(X.copy(), 49)
    assert not tried
    assert "few passes" in lines(f)[0]
    grad(f, compile=True)(X.copy(), 50)
    assert tried == [True]
    assert lines(f) == ["compiled"]
    grad(f, compile=True)(np.zeros(1 << 20), 50)
    assert tried == [True]


def test_loops_that_cannot_be_read_are_given_up(tried, monkeypatch):
    asked = []
    original = loop_site.LoopSite.type_of

    def type_of(self, name, value, met, path):
        asked.append(name)
        return original(self, name, value, met, path)

    monkeypatch.setattr(loop_site.LoopSite, "type_of", type_of)

    def f(x, n):
        for _ in range(n):
            for _i in range(4):
                x = [e * 1.5 for e in x if id(e)]
        return x[0]

    x = list(X)
    assert_allclose(grad(f, compile=True)(x, 40), grad(f)(x, 40))
    assert len(asked) < 60
    assert all("the function id" in line for line in lines(f))
    assert len(lines(f)) == 2


def test_functions_within_other_derivatives_have_numbers_of_several_levels(tried):
    def inner(x, a):
        for e in x:
            a = a * 0.5 + e * e * a
        return a

    def f(x):
        found = {"a": inner(x, 0.5)}
        return inner(x, found["a"])

    agree(f, X)
    assert all(tried)
    tried.clear()
    hvp(f, (X,), X, compile=True)
    assert tried == [True, True]


def test_a_site_holds_neither_the_function_nor_its_module(tried):
    scope: dict = {"__name__": "some_module", "np": np}
    text = """
def f(x):
    log = {0: x}
    for i in range(4):
        x[i] *= x[i]
    return np.sum(log[0])
"""
    file = "<mooncake test of loops>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), scope)
    f = scope.pop("f")
    assert isinstance(f, FunctionType)
    assert_allclose(grad(f, compile=True)(X.copy()), 2 * X)
    assert tried == [True]
    code = weakref.ref(f.__code__)
    del f, scope
    gc.collect()
    assert code() is None


__hidden = 7.0


class Private:
    """Names that begin with two underscores are others within a class."""

    def bound(self, x):
        log = kept(x)
        __hidden = 1.0
        for i in range(4):
            __hidden = __hidden + x[i]
        return __hidden * len(log)

    def read(self, x):
        __hidden = kept(x)[0][0]
        total = 0.0
        for i in range(4):
            total += __hidden * x[i]
        return total


def test_private_names_within_a_class(tried):
    agree(Private().bound, X)
    agree(Private().read, X)
    assert not tried
    assert "__hidden" in lines(Private.bound)[0]


def test_comprehensions_and_functions_within_loops(tried):
    def f(x, n):
        w = kept(x)[0][1]
        for _ in range(n):
            w = w * 0.9 + sum([e * w for e in x])
            w += sum([e * w for e in x[1:]])
        return w + sum([e * w for e in x])

    agree(f, X, 3)
    assert lines(f) == ["compiled"]

    def g(x, n):
        log = kept(n)
        for i in range(n):

            def scaled(e):
                return e * 2.0

            x[i] = scaled(x[i])
        return scaled(x[0]) * log[0]

    agree(g, X, 3)
    assert "the variable scaled, which may not be bound here" in lines(g)[0]

    def h(x, n):
        log = kept(n)
        for i in range(n):
            x[i] = (lambda e: e * i + x[i])(x[i])
        return x.sum() * log[0]

    agree(h, X, 3)
    assert lines(h) == ["compiled"]


def test_names_of_one_array_after_a_loop_are_one_array():
    def f(x, n):
        log = {0: n}
        u, v = x * 1.0, x * 2.0
        for i in range(n):
            u = u * 0.5 + v
            u[1] = v[0] * 0.1 * i
            v = u
        u[0] = 0.3
        return np.sum(u * v) * log[0] + (1.0 if u is v else 0.0)

    agree(f, X, 30)


def smaller_ones(d):
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[k], out=d)
    return np.sum(d)


def test_loops_that_choose_between_arrays_run_statement_by_statement(printed):
    """Text would compare again on the way back, which takes twice the time of its entries."""
    d = np.random.default_rng(3).uniform(0.5, 2.0, (30, 30))
    g = grad(smaller_ones)(d)
    assert printed == [False]
    along, h = np.cos(d), 1e-7  # small: no other elements are chosen
    slope = (smaller_ones(d + h * along) - smaller_ones(d - h * along)) / (2 * h)
    assert_allclose(np.sum(g * along), slope, rtol=1e-6)
