"""Figures of matplotlib that a differentiated function draws and closes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, hvp, jvp, stop_gradient

pytest.importorskip("matplotlib")

X = np.array([1.0, 2.0])


@pytest.fixture
def plt() -> Iterator[Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    yield plt
    plt.close("all")


def by_figure(plt: Any, figure: Any) -> None:
    plt.close(figure)


def by_number(plt: Any, figure: Any) -> None:
    plt.close(figure.number)


def all_of_them(plt: Any, figure: Any) -> None:
    plt.close("all")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("close", [by_figure, by_number, all_of_them])
@pytest.mark.parametrize(
    "derivative",
    [grad, lambda f: lambda x: jvp(f, (x,), (x,)), lambda f: lambda x: hvp(f, (x,), x)],
)
def test_figures_that_hold_active_numbers_stay_closed(plt: Any, close: Any, derivative: Any):
    def f(x: Any) -> Any:
        figure = plt.figure()
        figure.note = x, x[0] * 2.0
        figure.add_subplot().plot(stop_gradient(x))
        close(plt, figure)
        return np.sum(x * x * x)

    derivative(f)(X)
    assert plt.get_fignums() == []


def test_what_is_drawn_must_be_constant(plt: Any) -> None:
    def f(x: Any, drawn: Any) -> Any:
        _, axes = plt.subplots()
        axes.plot(drawn(x))
        axes.axhline(drawn(x[1]))
        return np.sum(x * x)

    with pytest.raises(MissingRuleError, match=r"draw constants: .*stop_gradient"):
        grad(f)(X, lambda v: v)
    np.testing.assert_array_equal(grad(f)(X, stop_gradient), 2.0 * X)
