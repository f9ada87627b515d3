"""Exceptions that leave a call carry what they did when they were raised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, build_rrule, grad, value_and_grad, vjp
from mooncake_py.errors import MissingRuleError

X = np.array([0.3, -1.2, 0.7])


class Diverged(Exception):
    limit = 1.0

    def __init__(self, text: str, norm: Any) -> None:
        super().__init__(text)
        self.norm = norm
        self.history = [norm]
        self.history.append(norm * 2)


def diverges(x):
    x *= 2
    raise Diverged("no luck", x[0])


def test_arguments_are_numbers():
    def f(x):
        x *= 2
        raise ValueError("at", x[0], x, {"parts": [x[1]]})

    x = X.copy()
    with pytest.raises(ValueError, match="at") as caught:
        grad(f)(x)
    text, number, array, parts = caught.value.args
    assert text == "at"
    assert type(number) is np.float64
    assert number == 0.6
    np.testing.assert_array_equal(array, 2 * X)
    assert type(parts["parts"][0]) is np.float64
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    "run",
    [
        lambda x: grad(diverges)(x),
        lambda x: value_and_grad(diverges)(x),
        lambda x: vjp(diverges, x),
        lambda x: build_rrule(diverges, x)(CoDual(diverges, NoFData()), CoDual(x, 0 * x)),
    ],
)
def test_attributes_survive_the_roll_back(run):
    x = X.copy()
    with pytest.raises(Diverged, match="no luck") as caught:
        run(x)
    error = caught.value
    assert type(error.norm) is np.float64
    assert error.norm == 0.6
    assert error.history == [0.6, 1.2]
    assert len(error.__notes__) == 1
    np.testing.assert_array_equal(x, X)


def test_causes_contexts_and_members():
    def chained(x):
        try:
            diverges(x)
        except Diverged as error:
            raise KeyError(x[1]) from error

    with pytest.raises(KeyError) as caught:
        grad(chained)(X.copy())
    assert type(caught.value.args[0]) is np.float64
    assert caught.value.__cause__.norm == 0.6

    def grouped(x):
        raise ExceptionGroup("both", [Diverged("one", x[0]), ValueError(x[1])])

    with pytest.raises(ExceptionGroup) as caught:
        grad(grouped)(X.copy())
    one, two = caught.value.exceptions
    assert one.history == [0.3, 0.6]
    assert type(two.args[0]) is np.float64


def test_exception_of_slots():
    class Slotted(Exception):
        __slots__ = ("__code",)

        def __init__(self, code: Any) -> None:
            self.__code = code

        def code(self) -> Any:
            return self.__code

    def f(x):
        raise Slotted(x[0])

    with pytest.raises(Slotted) as caught:
        grad(f)(X.copy())
    assert type(caught.value.code()) is np.float64


def test_exception_is_the_same_object():
    error = ValueError("same")

    def f(x):
        raise error

    with pytest.raises(ValueError, match="same") as caught:
        grad(f)(X.copy())
    assert caught.value is error


def resizes(x):
    y = x * 2
    y.resize(5)
    return np.sum(y)


def swaps_bytes(x):
    y = x * 2
    y.byteswap(inplace=True)
    return np.sum(y)


def hides(x):
    y = x * 2
    try:
        y.resize(5)
    except Exception:
        return np.sum(y)
    return np.sum(y[:3])


@pytest.mark.parametrize(
    ("f", "line", "text"),
    [
        (resizes, 2, "y.resize(5)"),
        (swaps_bytes, 2, "y.byteswap(inplace=True)"),
        (hides, 3, "y.resize(5)"),
    ],
)
def test_errors_of_replacements_keep_their_parts_and_name_the_line(f, line, text):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(X.copy())
    error = caught.value
    assert "cannot be differentiated" in error.what
    assert error.why
    assert error.fix
    assert error.where.file == __file__
    assert error.where.line == f.__code__.co_firstlineno + line
    assert error.where.function == f.__name__
    assert text in str(error)
    assert str(error.where) in str(error)
