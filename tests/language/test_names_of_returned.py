"""What a special method must not return: the error is Python's, with its name of the class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.pairs import rotating


class Odd:
    """An instance whose methods return what it is given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> Any:
        return self.value

    def __index__(self) -> Any:
        return self.value

    def __str__(self) -> Any:
        return self.value

    def __iter__(self) -> Any:
        return self.value


class Made:
    """A class whose constructor returns something."""

    def __init__(self, value: Any) -> None:
        self.value = value
        return value


def truth(x: Any, value: Any) -> Any:
    return x if Odd(value) else -x


def index(x: Any, value: Any) -> Any:
    return [x, x][Odd(value)]


def text(x: Any, value: Any) -> Any:
    return x * len(str(Odd(value)))


def iterated(x: Any, value: Any) -> Any:
    return x * len([*Odd(value)])


def made(x: Any, value: Any) -> Any:
    return Made(x * value).value


VALUES = [np.bool_(True), np.float64(1.5), np.array([1.0]), 2.5, 1j, range(2)]


@pytest.mark.parametrize(
    ("value", "f"), rotating(VALUES, [truth, index, text, iterated, made], times=2)
)
def test_error_is_that_of_python(f: Any, value: Any) -> None:
    if f is made and isinstance(value, range):
        return
    with pytest.raises(TypeError) as expected:
        f(np.float64(2.0), value)
    x = np.float64(2.0)
    calls = [
        lambda: grad(f)(x, value), lambda: grad(f, compile=True)(x, value),
        lambda: jvp(f, (x, value), (x, None)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == str(expected.value)
