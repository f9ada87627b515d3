"""Operands that are read by index arrays and masks, and indices made of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.compiler.statements import gathers
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.cores import read
from tests.compiler.statements.derivatives import check_to_second_order
from tests.programs.comparing import function_of
from tests.support.gradients import check

X = np.array([2.0, 0.75, -0.5, 1.25, 0.25])
M = np.array([[1.5, 0.25, -0.75], [0.5, 2.5, 1.0], [-1.25, 0.75, 0.5]])


def sparse_rows(x: Any, m: Any) -> Any:
    columns, starts = np.array([0, 2, 1, 1, 1, 2, 0]), [0, 2, 5, 7]
    data = np.sin(m.reshape(-1)[:7])
    y = np.zeros(3)
    for i in range(3):
        y[i] += data[starts[i]] * x[columns[i]]
        here = columns[starts[i] : starts[i + 1]]
        y[i] += data[starts[i] : starts[i + 1]] @ x[here]
    return np.sum(y * y) * x[columns[1]]


def repeated_and_masked(x: Any, m: Any) -> Any:
    j, h = np.array([3, 0, 3]), np.array([True, False, True, True, False])
    for _ in range(2):
        x[1:4] += x[j] * m[j - 1, 1] - x[h]
        m -= x[j] * m[j - 1]
        m[0] = m[1:].T[:, 0] * x[h] - 2.0 * m[2][j - 2]
        j[1], h[:2] = 1 - j[1], h[1::-1]
    return np.sum(x[j] * x[h]) + np.sum(m[j - 1] * m)


def views_of_copies(x: Any, m: Any) -> Any:
    j, h = np.array([3, 0, 3]), np.array([True, False, True, True, False])
    x[h] *= np.flip(x[h])
    x[h] = np.arctan(np.flip(x[h]))
    x[:3] += np.flip(x[j]) * m[0]
    m -= m[j - 1].T * m
    m[1:] = m[j[:2] - 1] @ m[j - 1].T
    return np.sum(x * x) + np.sum(m * m)


PROGRAMS = [sparse_rows, repeated_and_masked, views_of_copies]


@pytest.mark.parametrize("size", [0, 4096])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_to_second_order(
    program: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathers, "SMALL", size)
    check_to_second_order(program, X, M)


@pytest.mark.parametrize("index", [np.array([3, 0, 3]), np.array([True, False, True, True, False])])
def test_a_statement_with_an_index_array_is_one_entry(index: Any) -> None:
    def statement(x: Any) -> Any:
        return x[index] * x[:3] - 1.0

    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(statement, x)
    assert len(ctx.tape) == 1


@pytest.mark.parametrize(
    "index",
    [
        np.array(2),
        np.array([1, 2], np.uint8),
        np.array([], int),
        np.array([[0, 1], [1, 0]]),
        [0, 0],
        (np.array([1, 1]),),
        np.zeros(5, bool),
        slice(1, 3),
        2,
    ],
    ids=str,
)
def test_indices_of_all_kinds(index: Any) -> None:
    def program(x: Any) -> Any:
        s = 0.0
        for i in (slice(0, 2), index, index, np.array([0, 1])):
            s = s + np.sum(x[i] * x[i] - x[i])
        return s

    check(program, X)


def test_the_index_array_is_that_of_its_time() -> None:
    def program(x: Any) -> Any:
        j = np.array([0, 1])
        y = x[j] * 2.0 + x[j]
        j[:] = 3
        return np.sum(y)

    assert_array_equal(grad(program)(X), [3.0, 3.0, 0.0, 0.0, 0.0])


def test_indices_out_of_range_raise() -> None:
    def program(x: Any, n: int) -> Any:
        return np.sum(x[np.array([0, n])] * x[:2])

    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        grad(program)(X, 7)


# Elements within an index.


class Told:
    """An object that prints in which order it is asked."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def __getitem__(self, i: Any) -> Any:
        print(self.name)
        return self.value

    def __setitem__(self, i: Any, value: Any) -> None:
        print("write", self.name)

    def __mul__(self, other: Any) -> Any:
        print("multiply", self.name)
        return self.value * other


STATEMENTS = [
    "s = x[a[0]] * x[b[1]] + b[0] * x[a[0]]",
    "s = c[0] * x[a[0]] + b[1]",
    "s = c * x[a[0]] + 2.0",
    "c[0] = x[a[0]] * x[1]; s = x[0]",
    "s = 1.0; s += x[a[0]:b[0]] @ x[a[0]:b[0]]",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_is_read_within_an_index_is_read_in_its_turn(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"import numpy as np\ndef f(x, a, b, c):\n    {text}\n    return s\n"
    f: Any = function_of(source, f"<{text}>")
    given = [Told(name, k) for k, name in enumerate("abc", 1)]
    value = f(X, *given)
    expected = capsys.readouterr().out
    assert jvp(f, (X, *given), (X, None, None, None))[0] == value
    assert capsys.readouterr().out == expected
    value_and_grad(f)(X, *given)
    assert capsys.readouterr().out == expected


def test_elements_are_within_the_first_index_only() -> None:
    assert read("x[a[i]:a[i + 1]] * y") is not None
    assert read("y * x[a[i]]") is None
    assert read("x[a.b[i]] * y") is None
    assert read("x[a[i]] * y", peeks=True) is None
