"""What is said of code that cannot be compiled: the type that was met, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Number, Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from mooncake_py.compiler.regions.ir import Name

X = np.linspace(0.5, 1.5, 4)


def reason(f: Callable[..., Any], *args: Any) -> str:
    """Return why a function cannot be compiled for such arguments."""
    with pytest.raises(Unfit) as caught:
        read_function(f, tuple(map(type_of, args)))  # type: ignore[arg-type]
    return caught.value.why


def of_a_list(x):
    return abs([x[0], x[1]])  # pyright: ignore[reportArgumentType]


def of_one(x):
    return np.triu(x) + np.median(x)


def indexed(x):
    return x[1.0]


def appended(x):
    found = []
    for e in x:
        found.append(e + 1j)
    return found[0].real


def over_a_function(x):
    s = 0.0
    for _ in np.sum:  # pyright: ignore[reportGeneralTypeIssues]
        s += x[0]
    return s


def complex_triangle(x):
    return divmod(x[0] + 1j, 2.0)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (of_a_list, "`abs` of a list: use a number or an array"),
        (of_one, "a triangle of an array of float64 with 1 axis: use a matrix of numbers"),
        (indexed, "a number of type np.float64|a float as an index: use an int"),
        (appended, "a list of a complex number that a loop makes: use numbers and arrays"),
        (
            over_a_function,
            "a loop over an object of type _ArrayFunctionDispatcher: use a range, an array",
        ),
        (complex_triangle, "`divmod` of a complex number and a float: use two numbers"),
    ],
)
def test_a_reason_names_the_type_and_what_to_write(f: Callable[..., Any], why: str) -> None:
    assert re.search(why, reason(f, X))


def test_numbers_are_named_by_their_types() -> None:
    types = ("bool", "int", "float", "float32")
    assert [said(Number(Name("x"), type_)) for type_ in types] == [
        "a bool", "an int", "a float", "a number of type np.float32",
    ]  # fmt: skip
    assert said(None) == "nothing"


def test_an_object_is_named_by_its_class() -> None:
    def f(x, o):
        return x[0] * o

    assert "an object of type SimpleNamespace" in reason(f, X, SimpleNamespace(a=1.0))
