"""What user code learns about its callers, and the words of errors, are those of a plain call."""

from __future__ import annotations

import collections
import functools
import inspect
import logging
import sys
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad

records: list[Any] = []


class Keeping(logging.Handler):
    def emit(self, record):
        records.append((record.funcName, record.lineno, record.pathname, record.getMessage()))


logger = logging.getLogger("mooncake_py.tests.frames")
logger.propagate = False
logger.setLevel("INFO")
logger.addHandler(Keeping())


def same_as_plain(f, *args):
    """Check that the second part of what a function returns is the same under differentiation."""
    expected = f(*args)[1]
    (_, found), _ = value_and_grad(lambda *a: (f(*a)[0], f(*a)), has_aux=True)(*args)
    assert found[1] == expected
    return expected


def current(x):
    frame, other = sys._getframe(), inspect.currentframe()
    assert other is not None
    return x, (frame.f_code.co_name, frame.f_lineno, other.f_lineno, "x" in frame.f_locals)


def helper(depth):
    return sys._getframe(depth).f_code.co_name, inspect.stack()[depth].function


def callers(x):
    frame = sys._getframe()
    assert frame.f_back is not None
    names = helper(0), helper(1), [helper(1) for _ in range(1)]
    return x, (names, frame.f_back.f_code.co_name in ("same_as_plain", "<lambda>"))


def local_of_the_caller(x):
    def up():
        frame = sys._getframe(1)
        return frame.f_locals["y"]

    y = x * x
    return up() * y, None


def own_traceback(x):
    def raises(v):
        raise ValueError(v)

    try:
        raises(x)
    except ValueError as error:
        names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
        kind, _, last = sys.exc_info()
        assert last is not None
        assert last.tb_next is not None
        return x, (names, kind, last.tb_next.tb_frame.f_code.co_name, traceback.format_exc())


def own_stack(x):
    return x, [entry.name for entry in traceback.extract_stack()][-1:]


def named_tuple(x):
    pair = collections.namedtuple("pair", "a b")
    return pair(x, x * x).b, (pair.__module__, repr(pair(1, 2)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "f", [current, callers, own_traceback, own_stack, named_tuple], ids=lambda f: f.__name__
)
def test_the_stack_is_that_of_a_plain_call(f):
    same_as_plain(f, 2.0)


def test_locals_of_a_caller_carry_derivatives():
    assert grad(lambda x: local_of_the_caller(x)[0])(2.0) == 32.0


def test_a_stack_that_is_not_so_deep():
    with pytest.raises(ValueError, match="call stack is not deep enough"):
        grad(lambda x: x * bool(sys._getframe(10_000)))(2.0)


def careful(x):
    def library(level):
        warnings.warn(f"careful at level {level}", UserWarning, level)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here")  # noqa: B028
        library(1)
        library(2)
        warnings.warn("by keyword", category=RuntimeWarning, stacklevel=1)
    return x, [(w.lineno, w.filename == __file__, str(w.message), w.category) for w in caught]


def test_warnings_name_the_line_that_they_are_about():
    found = same_as_plain(careful, 2.0)
    first = careful.__code__.co_firstlineno
    assert [line - first for line, *_ in found] == [6, 2, 8, 9]


def logs(x):
    records.clear()
    logger.info("plain %.1f", x)
    logger.log(logging.WARNING, "log")

    def library():
        logger.warning("caller", stacklevel=2)

    library()
    logging.LoggerAdapter(logger, {}).error("adapter")
    return x, [(name, line, path == __file__, text) for name, line, path, text in records]


def test_logging_names_the_function_that_logs():
    found = same_as_plain(logs, 2.0)
    assert {name for name, *_ in found} == {"logs"}


# Errors: the words of Python, without the engine's own parameter and classes.


def no_parameters():
    return 1.0


def two(a, b=1.0):
    return a * b


def keyword_only(a, *, b=1.0):
    return a * b


class Thing:
    def __init__(self, a):
        self.a = a

    def method(self, a):
        return a


def add_item(x):
    x[0] = 1.0


def delete_name(x):
    del x.name


def unpack(x):
    a, b = x
    return a * b


def managed(x):
    with x:
        return 1.0


def loop(x):
    for _ in x:
        pass


def delegate(x):
    def generator():
        yield from x

    return list(generator())


WRONG_CALLS = {
    "too many": lambda x: two(x, x, x),
    "one too many": lambda x: no_parameters(x),  # type: ignore[call-arg]
    "keyword-only by position": lambda x: keyword_only(x, x),
    "several and a keyword": lambda x: keyword_only(x, x, b=x),
    "missing": lambda x: two(),  # type: ignore[call-arg]
    "unknown keyword": lambda x: two(x, c=x),
    "given twice": lambda x: two(x, a=x),
    "no initial value": lambda x: Thing(),  # type: ignore[call-arg]
    "method": lambda x: Thing(x).method(x, x),
    "not callable": lambda x: x(1),
    "not subscriptable": lambda x: x[0],
    "no item assignment": add_item,
    "no attribute": lambda x: x.nothing,
    "no attribute to delete": delete_name,
    "no length": lambda x: len(x),
    "not iterable": loop,
    "not unpacked": unpack,
    "no container": lambda x: 1.0 in x,
    "no manager": managed,
    "no iterator": lambda x: next(x),
    "no index": lambda x: [1, 2][x],
    "no delegate": delegate,
    "float of two": lambda x: float(x, x),  # type: ignore[call-arg]
    "float of an array": lambda x: float(np.array([x, x])),
    "sum with text": lambda x: sum([x, "a"]),  # type: ignore[list-item]
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_errors_read_as_without_differentiation(name):
    f = WRONG_CALLS[name]
    with pytest.raises((TypeError, AttributeError)) as plain:
        f(2.0)
    with pytest.raises((TypeError, AttributeError)) as differentiated:
        grad(f)(2.0)
    assert type(differentiated.value) is type(plain.value)
    assert str(differentiated.value) == str(plain.value)


def test_an_error_that_is_caught_reads_as_without_differentiation():
    def caught(x):
        try:
            return two(x, x, x)  # type: ignore[call-arg]
        except TypeError as error:
            return x * len(str(error))

    value, gradient = value_and_grad(caught)(2.0)
    assert (value, gradient) == (caught(2.0), caught(1.0))


def test_arguments_by_star_that_do_not_fit():
    @functools.wraps(two)
    def wrapper(*args, **kwargs):
        return two(*args, **kwargs)

    with pytest.raises(TypeError, match=r"two\(\) takes from 1 to 2 positional arguments but 3 we"):
        grad(lambda x: wrapper(x, x, x))(2.0)
    with pytest.raises(TypeError, match="got multiple values for keyword argument 'b'") as caught:
        grad(lambda x: wrapper(**dict(b=x), **dict(b=x)))(2.0)  # noqa: C408
    assert "mooncake_py" not in str(caught.value)


def names_of_caller():
    return sorted(inspect.currentframe().f_back.f_locals)  # type: ignore[union-attr]


def test_callees_see_the_variables_of_their_callers_and_no_others():
    def f(x):
        t = x * x
        for k in range(3):
            t = t + k * x
        seen = inspect.currentframe().f_back.f_locals  # type: ignore[union-attr]
        return t * len(names_of_caller()) + ("no name" in seen), names_of_caller()

    (value, names), g = value_and_grad(f, has_aux=True)(2.0)
    assert (value, names) == f(2.0)
    assert names == ["k", "seen", "t", "x"]
    assert g == 4.0 * (2.0 * 2.0 + 3.0)
