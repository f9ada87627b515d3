"""What `showgrad` prints, and where."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, showgrad, vjp
from tests.utilities.support import WAYS

HERE = "test_showing.py:"


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_expression_and_line(way, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: np.ndarray) -> float:
        return np.sum(showgrad(x[1:] * 2.0) ** 2)

    line = f.__code__.co_firstlineno + 1
    np.testing.assert_array_equal(way(f, np.array([1.0, 2.0, 3.0])), [0.0, 16.0, 24.0])
    expected = f"{HERE}{line}: gradient of x[1:] * 2.0: array([ 8., 12.])"
    assert set(printed(capsys)) == {expected}


def test_label(capsys: pytest.CaptureFixture[str]) -> None:
    assert grad(lambda x: showgrad(x, "weight") * x)(2.0) == 4.0
    assert printed(capsys)[0].endswith(": gradient of weight: 2.0")
    assert grad(lambda x: showgrad(x, label="weight") * x)(2.0) == 4.0
    assert printed(capsys)[0].endswith(": gradient of weight: 2.0")


def test_called_back(capsys: pytest.CaptureFixture[str]) -> None:
    grad(lambda x: sum(map(showgrad, [x, x])))(2.0)
    assert [line.partition(": ")[2] for line in printed(capsys)] == ["gradient: 1.0"] * 2


def test_call_over_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float) -> float:
        return showgrad(
            x
        )  # fmt: skip

    grad(f)(2.0)
    assert printed(capsys) == [f"{HERE}{f.__code__.co_firstlineno + 1}: gradient: 1.0"]


def test_unused_and_constant_values(capsys: pytest.CaptureFixture[str]) -> None:
    def f(a: float, b: float) -> float:
        showgrad(a)
        showgrad(b)
        return a * b

    assert grad(f)(2.0, 3.0) == 3.0
    lines = [line.partition(": ")[2] for line in printed(capsys)]
    assert lines == ["gradient of b: none, it is constant", "gradient of a: 0.0"]


def test_array_of_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    grad(lambda x: np.sum(showgrad(x)))(np.ones((2, 2)))
    lines = printed(capsys)
    assert lines[0].endswith("gradient of x:")
    assert lines[1:] == ["array([[1., 1.],", "       [1., 1.]])"]


def test_plain_call_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.ones(2)
    y = showgrad(x)
    assert y is not x
    assert printed(capsys) == []


def test_order_is_that_of_the_reverse_pass(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float) -> float:
        for i in range(2):
            x = showgrad(x, f"step {i}") * 3.0
        return x

    _, pullback = vjp(f, 1.0)
    assert printed(capsys) == []
    with debug_mode():
        pullback(2.0)
    texts = [line.partition(" of ")[2] for line in printed(capsys)]
    assert texts == ["step 1: 6.0", "step 0: 18.0"]
