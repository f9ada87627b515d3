"""Whether code is told that it is being differentiated."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hook, ignore_derivatives, is_deriving, nest_level, vjp
from tests.utilities.support import WAYS


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_everywhere_in_derived_code(way: Any) -> None:
    seen: list[Any] = []

    class Watcher:
        def __init__(self) -> None:
            self.told = is_deriving()

        @property
        def level(self) -> int:
            return nest_level()

    def f(x: float) -> float:
        # fmt: off
        told = [is_deriving(), Watcher().told, *(is_deriving() for _ in range(2)),
                functools.partial(is_deriving)(), next(is_deriving() for _ in range(1))]
        # fmt: on
        ignore_derivatives(seen.append, (told, nest_level(), Watcher().level))
        return x * x

    assert way(f, 3.0) == 6.0
    for told, *levels in seen:
        assert all(told)
        assert levels == [1, 1]
    assert not is_deriving()
    assert nest_level() == 0


def test_it_may_decide() -> None:
    def f(x: float) -> float:
        return x * x if is_deriving() else 100.0

    assert f(3.0) == 100.0
    assert grad(f)(3.0) == 6.0


def test_after_an_exception() -> None:
    def f(x: float) -> float:
        raise ValueError(is_deriving())

    with pytest.raises(ValueError, match="True"):
        grad(f)(1.0)
    assert not is_deriving()


def test_outside_of_the_derivative() -> None:
    told: list[Any] = []
    f = lambda x: hook(lambda g: told.append(is_deriving()), x)  # noqa: E731
    _, pullback = vjp(f, 1.0)
    assert not is_deriving()
    pullback(1.0)
    assert told == [False]
    assert grad(lambda x: x * ignore_derivatives(nest_level))(2.0) == 0.0


@pytest.mark.without_modes("the value is the level of the derivative")
def test_derivative_of_a_constant_inside() -> None:
    def inner(x: float) -> float:
        return x * nest_level()

    assert grad(lambda x: x * grad(inner)(1.0) + nest_level())(3.0) == 2.0


def test_other_threads_know_nothing_of_it() -> None:
    inside, done = threading.Event(), threading.Event()
    told: list[bool] = []

    def look() -> None:
        inside.wait(10)
        told.append(is_deriving())
        done.set()

    def wait() -> None:
        inside.set()
        done.wait(10)

    thread = threading.Thread(target=look)
    thread.start()
    assert grad(lambda x: np.sum(x * x) if ignore_derivatives(wait) is None else x)(1.0) == 2.0
    thread.join()
    assert told == [False]
