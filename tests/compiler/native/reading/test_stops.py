"""Reading is not begun where it has stopped before, and ends where it would take too long."""

from __future__ import annotations

import ast
import inspect
import textwrap
import time

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.building import findings
from mooncake_py.compiler.native.building.findings import Findings, TooMuch, reread
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading import prepared
from mooncake_py.compiler.native.reading.reader import FunctionReader, read_function
from mooncake_py.compiler.native.reading.stops import MOST, note_read, note_stop, require_hope
from mooncake_py.compiler.native.site import report, site_of
from mooncake_py.runtime.compilation import is_installed
from mooncake_py.syntax.nodes import place_of

pytestmark = [
    pytest.mark.plain,
    pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite"),
]

X = np.linspace(0.5, 1.5, 5)


def refusal(f, *args):
    """Return why and where a function cannot be read."""
    with pytest.raises(Unfit) as caught:
        read_function(f, [type_of(a) for a in args])
    return caught.value


def innermost():
    """Return a function that nobody can read, of its own code, and functions that call it."""

    def inner(x):
        y = x * 2.0
        time.sleep(0.0)
        return y.sum()

    inner.__code__ = inner.__code__.replace()

    def loops(x):
        s = 0.0
        for k in range(3):
            s = s + inner(x) * k
        return s

    return inner, loops, lambda x: inner(x) + 1.0, lambda x: x[0] * inner(x)


def test_a_function_in_which_readings_stopped_is_not_begun():
    inner, *others = innermost()
    for k, f in enumerate(others):
        error = refusal(f, X)
        assert error.within is inner.__code__
        require_hope(inner.__code__)
        note_stop(error.within, error)
        assert k + 1 <= MOST
    with pytest.raises(Unfit, match="sleep") as caught:
        require_hope(inner.__code__)
    assert caught.value.place == error.place
    note_read([inner.__code__])  # in some other way
    require_hope(inner.__code__)


def test_sites_share_where_readings_stopped(monkeypatch):
    inner, *others = innermost()
    for f in others:
        value, g = value_and_grad(f, compile=True)(X)
        expected, h = value_and_grad(f)(X)
        assert value == expected
        np.testing.assert_array_equal(g, h)
    monkeypatch.setattr(Findings, "count_statement", None)  # nothing is read any more
    with pytest.raises(Unfit, match="sleep"):
        read_function(inner, [type_of(X)])
    assert all("sleep" in report(f)[0].why for f in others)


def test_a_function_that_stops_for_one_reason_is_given_up(monkeypatch):
    read = []

    def f(x, k):
        time.sleep(0.0)
        return (x * k).sum()

    original = FunctionReader.whole
    monkeypatch.setattr(
        FunctionReader, "whole", lambda self, *a: read.append(a) or original(self, *a)
    )
    for k in (1, 2.0, np.float32(2.0), X, True):
        value_and_grad(f, compile=True)(X, k)
    assert len(read) == 2
    assert site_of(f).is_hopeless()


def test_other_types_are_tried_where_the_reasons_differ(tried):
    def f(x, k):
        return (x * k["a"]).sum() if type(k) is dict else (x * k).sum()

    for k in ({"b": 1.0}, "text"):
        with pytest.raises((KeyError, TypeError, np.exceptions.DTypePromotionError)):
            value_and_grad(f, compile=True)(X, k)
    value_and_grad(f, compile=True)(X, {"a": 2.0})
    assert tried == [True]


def test_reading_ends_after_so_many_statements(monkeypatch):
    def f(x):
        s = 0.0
        for a in (1.0, 2.0, 3.0, 4.0, 5.0):
            s = s + a * x[0]
            s = s * 2.0
        return s

    read_function(f, [type_of(X)])
    monkeypatch.setattr(findings, "MOST", 10)
    error = refusal(f, X)
    assert isinstance(error, TooMuch)
    assert "takes too long to read" in error.why
    note_stop(f.__code__, error)  # which holds for no other function
    require_hope(f.__code__)


def test_a_long_loop_over_known_items_is_refused_after_its_first_passes():
    lines = "\n".join(f"        s = s * x[{k % 5}] + len(a)" for k in range(40))
    items = "".join(f"{'x' * (k % 7)!r}, " for k in range(300))  # no column of an array
    text = f"def f(x):\n    s = 0.0\n    for a in ({items}):\n{lines}\n    return s\n"
    from linecache import cache

    cache["<items>"] = len(text), None, text.splitlines(True), "<items>"
    scope = {"__name__": "items"}
    exec(compile(text, "<items>", "exec"), scope)
    last = []

    def read(found):
        last[:] = [found]
        found.statements = 0
        return FunctionReader(found).whole(scope["f"], [type_of(X)])

    with pytest.raises(TooMuch, match="passes over known items"):
        reread(read)
    assert last[0].statements < 200  # of 10000


def test_the_source_of_a_function_is_found_once(monkeypatch):
    located = []
    original = prepared.locate
    monkeypatch.setattr(prepared, "locate", lambda *a: located.append(a[0]) or original(*a))

    def g(t):
        return t * t

    def f(x):
        return g(x[0]) + g(x[1]) + g(x[2])

    for _ in range(2):
        read_function(f, [type_of(X)])
    assert located == [f.__code__, g.__code__]


def test_stops_of_loops_read_by_themselves_hold_for_such_loops():
    def f(x):
        s = 0.0
        for v in x:
            s = s + v
        return s

    node = ast.parse(textwrap.dedent(inspect.getsource(f)))
    loop = next(n for n in ast.walk(node) if isinstance(n, ast.For))
    error = Unfit("an append to a list outside", place_of(loop.body[0]))
    error.is_of_loop = True
    for _ in range(MOST):
        note_stop(f.__code__, error)
    require_hope(f.__code__)
    with pytest.raises(Unfit, match="an append"):
        require_hope(f.__code__, loop)
