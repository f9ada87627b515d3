"""What functions in C set of functions and exceptions that were there before is put back."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from mooncake_py import checkpoint, grad, jvp


def exception_initialized(x: Any, error: Any) -> Any:
    error.__init__(x, 2)
    return error.args[0] * x


def exception_with_a_value(x: Any, error: Any) -> Any:
    StopIteration.__init__(error, x)
    return error.value * x


def exception_set(x: Any, error: Any) -> Any:
    error.__setstate__({"v": x})
    return error.v * x


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (exception_initialized, ValueError),
        (exception_initialized, StopIteration),
        (exception_with_a_value, StopIteration),
        (exception_set, OSError),
    ],
)
def test_exceptions(f: Any, kind: Any) -> None:
    for derive in (
        lambda f: grad(f)(3.0),
        lambda f: grad(f, debug=True)(3.0),
        lambda f: jvp(f, (3.0,), (1.0,))[1],
        lambda f: grad(lambda x: checkpoint(f, x))(3.0),
    ):
        error = kind(5, "before")
        state = error.args, vars(error), getattr(error, "value", None)
        assert derive(lambda x, error=error: f(x, error)) == 6.0
        assert (error.args, vars(error), getattr(error, "value", None)) == state


def test_partial_functions_and_wrappers() -> None:
    def wrapped():
        """Say so."""

    wrapped.n = 1

    def wrapper():
        pass

    def f(x):
        part.__setstate__((max, (x, 0.5), {}, {"v": 1}))
        functools.update_wrapper(wrapper, wrapped)
        return part() * x * len(wrapper.__name__) / 7

    for derive in (lambda f: grad(f)(3.0), lambda f: grad(f, debug=True)(3.0)):
        part: Any = functools.partial(min, 1)
        assert derive(f) == 6.0
        assert (part.func, part.args, vars(part)) == (min, (1,), {})
        assert (wrapper.__name__, wrapper.__doc__, vars(wrapper)) == ("wrapper", None, {})


def test_a_class_is_wrapped() -> None:
    class C:
        pass

    def wrapped():
        pass

    def f(x):
        functools.update_wrapper(C, wrapped, updated=())
        return x * len(C.__name__)

    assert grad(f)(3.0) == 7.0
    assert C.__name__ == "C"
    assert not hasattr(C, "__wrapped__")
