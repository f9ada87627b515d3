"""Warnings of NumPy name the user's line, and obey filters as in the plain call."""

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, hessian, jvp, vjp
from mooncake_py.diagnostics.warned import FILTER, begin_to_redirect, end_redirecting
from tests.support.pairs import rotating

X = np.array([1.0, 2.0])


def array_expression(x):
    z = np.exp(x * 1000.0) + 1.0  # warns
    return np.sum(z)


def by_index_array(x):
    return np.sum(np.log(-x[[0, 1]]))  # warns


def numbers(x):
    a = x[0]
    return a * 1e308 * 1e10  # warns


def elements(x):
    s = 0.0
    for i in range(2):
        s += x[i] * 1e300 * 1e300  # warns
    return s


def in_place(x):
    x *= 1e200
    x *= 1e200  # warns
    return np.sum(x)


def into_slice(x):
    y = np.zeros(2)
    y[:] = x[:2] * 1e200 * x[:2] * 1e200  # warns
    return np.sum(y)


def number_of_array(x):
    return np.log(x[0] - x[0])  # warns


def of_constants(x):
    return np.sum(x) + np.log(np.zeros(1))[0]  # warns


def in_a_block(x):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        return np.sum(np.exp(x * 1000.0))  # warns


PROGRAMS = [array_expression, by_index_array, numbers, elements, in_place, into_slice,
            number_of_array, of_constants, in_a_block]  # fmt: skip


def in_debug_mode(f):
    with debug_mode(check_finite=False):
        return grad(f)(X)


WAYS = {
    "grad": lambda f: grad(f)(X),
    "debug": in_debug_mode,
    "vjp": lambda f: vjp(f, X)[1](1.0),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "hessian": lambda f: hessian(f)(X),
    "inside": lambda f: grad(lambda z: np.sum(grad(f)(z)))(X),
}


def warned(run, action="always"):
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter(action)
        run()
    return [(w.filename, w.lineno, w.category, str(w.message)) for w in log]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "way"), rotating(PROGRAMS, WAYS, times=2))
def test_the_line_is_the_users(f, way):
    plain = warned(lambda: f(X.copy()))
    assert plain
    found = warned(lambda: WAYS[way](f))
    assert set(found) >= set(plain)
    assert {(file, line) for file, line, *_ in found} == {(__file__, plain[0][1])}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
# In debug mode tangents of numbers are computed by NumPy, which warns too.
@pytest.mark.parametrize("way", ["grad", pytest.param("jvp", marks=pytest.mark.plain)])
def test_a_first_derivative_warns_as_the_plain_call(f, way):
    assert warned(lambda: WAYS[way](f)) == warned(lambda: f(X.copy()))


@pytest.mark.parametrize("action", ["default", "module", "once"])
def test_a_location_is_shown_once(action):
    def run():
        for _ in range(3):
            array_expression(X)
            grad(array_expression)(X)
            jvp(array_expression, (X,), (X,))

    assert len(warned(run, action)) == 1


def test_warnings_that_are_errors():
    def trap(x):
        try:
            return np.sum(np.exp(x * 1000.0))
        except RuntimeWarning:
            return np.sum(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(grad(trap)(X), [1.0, 1.0])
        assert jvp(trap, (X,), (X,)) == (3.0, 3.0)
        with pytest.raises(RuntimeWarning, match="overflow"):
            grad(array_expression)(X)


def test_filters_by_module_and_line_see_the_users():
    line = warned(lambda: array_expression(X))[0][1]
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."), lineno=line)
        grad(array_expression)(X)
        grad(numbers)(X)
    assert [w.lineno for w in log] == [warned(lambda: numbers(X))[0][1]]


@pytest.mark.without_modes("what it counts comes from other operations there too", "inside")
def test_code_that_catches_its_own_warnings():
    def count(x):
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            np.exp(x * 1000.0)
        return np.sum(x) * len(log)

    np.testing.assert_array_equal(grad(count)(X), [1.0, 1.0])


def old(x):
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    return np.sum(x)


def calls_old(x):
    return old(x)


@pytest.mark.parametrize("way", ["grad", "jvp", "debug"])
def test_levels_of_the_users_own_warnings(way):
    assert warned(lambda: WAYS[way](calls_old)) == warned(lambda: calls_old(X))


def test_warnings_of_functions_with_a_rule_in_python():
    def empty(x):
        return np.sum(x) + np.nanmean(x[:0])

    assert warned(lambda: grad(empty)(X)) == warned(lambda: empty(X))


def test_filters_may_be_copied():
    def f(x):
        with warnings.catch_warnings():
            for action, message, category, module, line in list(warnings.filters):
                warnings.filterwarnings(
                    action,
                    message=getattr(message, "pattern", message or ""),
                    category=category,
                    module=getattr(module, "pattern", module or ""),
                    lineno=line,
                    append=True,
                )
            return np.sum(x * x)

    np.testing.assert_array_equal(grad(f)(X), 2 * X)


def test_nothing_stays_behind():
    before = list(warnings.filters)

    def change_filters(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array_expression(x)

    def change_for_good(x):
        warnings.simplefilter("ignore")
        return array_expression(x)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        expected = list(warnings.filters)
        grad(change_for_good)(X)
        assert warnings.filters == expected
    for f in (array_expression, change_filters):
        with np.errstate(all="ignore"):
            grad(f)(X)
            jvp(f, (X,), (X,))
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1 / 0)(1.0)
    assert warnings.filters == before


@pytest.mark.parametrize("names", [{}, {"__name__": "m"}])
def test_code_whose_globals_have_no_name_warns(names):
    text = "def f(x):\n    return (1 / (1 + np.exp(-x))).sum()\n"
    lines: Any = len(text), None, text.splitlines(keepends=True), "<nameless>"
    linecache.cache["<nameless>"] = lines
    scope = {"np": np, **names}
    exec(compile(text, "<nameless>", "exec"), scope)
    x = np.array([-1000.0, 2.0])
    for run in (scope["f"], grad(scope["f"]), lambda x: jvp(scope["f"], (x,), (x,))):
        with pytest.raises(RuntimeWarning, match="overflow"):
            run(x)


def test_a_filter_that_another_thread_put_back_is_gone_after_the_last_derivative():
    before = list(warnings.filters)
    outer = begin_to_redirect()
    end_redirecting(begin_to_redirect())
    assert warnings.filters[0] is FILTER
    end_redirecting(outer)
    assert list(warnings.filters) == before
    warnings.filters.insert(0, FILTER)  # a block of `warnings.catch_warnings` has ended meanwhile
    grad(np.sum)(X)
    assert list(warnings.filters) == before
