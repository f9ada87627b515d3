"""Exceptions in checkpointed parts, and second runs that are not like the first."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from mooncake_py import CheckpointError, checkpoint, grad

X = np.array([0.5, -0.25, 1.5])


def test_errors_of_the_floating_point_unit_are_handled_as_before() -> None:
    def f(x):
        with np.errstate(divide="raise"):
            try:
                return checkpoint(lambda: x * np.float64(1.0) / np.float64(0.0) + x * x)
            except FloatingPointError:
                return checkpoint(lambda: x * x * x)

    assert grad(f)(2.0) == 12.0


def test_second_run_that_does_something_else_is_an_error() -> None:
    numbers = io.StringIO("2.0\n3.0\n4.0\n")

    def f(x):
        return checkpoint(lambda: x * float(numbers.readline()))

    with pytest.raises(
        CheckpointError, match="the second run of a checkpointed part differs"
    ) as info:
        grad(f)(1.0)
    assert info.value.where is not None
    assert info.value.where.function.endswith(".<locals>.f")


def test_change_that_only_the_first_run_makes_is_an_error() -> None:
    flags = io.StringIO("yes\nno\n")

    def f(x):
        d = {"y": 1.0}

        def step():
            if flags.readline() == "yes\n":
                d["y"] = x * x

        checkpoint(step)
        return d["y"]

    with pytest.raises(CheckpointError):
        grad(f)(3.0)


def test_exception_in_the_first_run_only_is_an_error() -> None:
    flags = io.StringIO("yes\nno\n")

    def step(x):
        if flags.readline() == "yes\n":
            raise KeyError
        return x

    def f(x):
        with contextlib.suppress(KeyError):
            return checkpoint(step, x)
        return x

    with pytest.raises(CheckpointError, match="raised KeyError"):
        grad(f)(3.0)


def test_exception_that_leaves_restores_everything() -> None:
    x = X.copy()
    log = [0]

    def step(x):
        x *= 2.0
        log.append(1)
        raise ZeroDivisionError

    def f(x):
        checkpoint(np.multiply, x, 3.0, out=x)
        checkpoint(step, x)

    with pytest.raises(ZeroDivisionError):
        grad(f)(x)
    np.testing.assert_array_equal(x, X)
    assert log == [0]
    assert grad(lambda x: np.sum(x * x))(x).tolist() == (2 * X).tolist()


@pytest.mark.parametrize("derivative", [grad, lambda f: f])
def test_missing_arguments_say_that_checkpoint_calls_the_function(derivative) -> None:
    def step(x):
        return x * x

    with pytest.raises(TypeError, match="missing 1 required") as caught:
        derivative(lambda x: checkpoint(step)(x))(3.0)
    assert "mooncake_py: write checkpoint(f, x), not checkpoint(f)(x)" in caught.value.__notes__

    def broken():
        raise TypeError("of its own")

    with pytest.raises(TypeError, match="of its own") as caught:
        derivative(lambda x: checkpoint(broken))(3.0)
    assert not any("write checkpoint" in note for note in getattr(caught.value, "__notes__", ()))
