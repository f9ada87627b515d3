"""Exceptions of second runs that the first did not raise, and of callbacks of `progress`."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CheckpointError,
    MooncakeError,
    NestedDerivativeError,
    checkpoint,
    checkpointed,
    grad,
    hessian,
    hessian_diagonal,
    hook,
    jacobian,
    jvp,
    progress,
    value_grad_and_hessian,
    vjp,
)

pytestmark = pytest.mark.without_modes("which runs there are depends on the mode")

X = np.array([2.0, 3.0])
Program = Callable[[Any], Any]


def of_lines() -> Program:
    lines = io.StringIO("2.0\n")
    return lambda x: np.sum(x * x) * float(next(lines))


def of_a_file() -> Program:
    lines = io.StringIO("2.0\n")
    return lambda x: np.sum(x * x) * float(lines.readline())


PROGRAMS = [of_lines, of_a_file]
RUN_AGAIN: dict[str, tuple[Callable[[Program], Any], type[MooncakeError]]] = {
    "checkpoint": (lambda f: grad(lambda x: checkpoint(f, x))(X), CheckpointError),
    "debug": (lambda f: grad(lambda x: checkpoint(f, x), debug=True)(X), CheckpointError),
    "within": (
        lambda f: grad(lambda x: checkpoint(lambda x: checkpoint(f, x), x))(X), CheckpointError,
    ),
    "pullback": (lambda f: vjp(lambda x: checkpoint(f, x), X)[1](1.0), CheckpointError),
    "nested": (lambda f: grad(lambda x: np.sum(grad(f)(x)))(X), NestedDerivativeError),
    "vjp": (
        lambda f: grad(lambda x: np.sum(vjp(f, x)[1](1.0)[0]))(X), NestedDerivativeError,
    ),
    "over forward": (lambda f: grad(lambda x: jvp(f, (x,), (X,))[1])(X), NestedDerivativeError),
    "forward": (lambda f: jvp(grad(f), (X,), (X,)), NestedDerivativeError),
    "rows": (
        lambda f: jacobian(lambda x: f(x) * x, mode="reverse")(X), NestedDerivativeError,
    ),
    "hessian": (lambda f: hessian(f)(X), NestedDerivativeError),
    "diagonal": (lambda f: hessian_diagonal(f)(X), NestedDerivativeError),
    "all": (lambda f: value_grad_and_hessian(f)(X), NestedDerivativeError),
}  # fmt: skip


@pytest.mark.parametrize("way", RUN_AGAIN)
def test_second_run_that_raises_is_refused(way: str) -> None:
    run, kind = RUN_AGAIN[way]
    for make in PROGRAMS:
        with pytest.raises(kind, match=r"raised|differs from the first") as caught:
            run(make())
        assert caught.value.__cause__ is not None
        assert type(caught.value.__cause__).__name__ in str(caught.value)


# Exceptions of `progress`.


class Stop(Exception):
    pass


def steps(x: np.ndarray) -> Any:
    for _ in range(5):
        x[1:] = x[1:] * 1.01
    return np.sum(x * x)


def that_catches(x: np.ndarray) -> Any:
    for _ in range(5):
        try:
            x[1:] = x[1:] * 1.01
        except Exception:
            x[1:] = x[1:] * 1.0
    return np.sum(x * x)


def of_a_loop(x: np.ndarray) -> Any:
    for _ in checkpointed(range(6), slots=2):
        x[1:] = x[1:] * 1.01
    return np.sum(x * x)


WATCHED: dict[str, Callable[[], Any]] = {
    "grad": lambda: grad(steps)(X),
    "checkpoint": lambda: grad(lambda x: checkpoint(steps, x))(X),
    "within": lambda: grad(lambda x: checkpoint(lambda x: checkpoint(steps, x), x))(X),
    "several": lambda: grad(lambda x: checkpoint(steps, x) + checkpoint(steps, x))(X),
    "loop": lambda: grad(of_a_loop)(X),
    "catches": lambda: grad(that_catches)(X),
    "catches in a checkpoint": lambda: grad(lambda x: checkpoint(that_catches, x))(X),
    "pullback": lambda: vjp(lambda x: checkpoint(steps, x), X)[1](1.0),
    "debug": lambda: grad(lambda x: checkpoint(steps, x), debug=True)(X),
}


class Callback:
    """A callback that raises the error when it is called for a given time."""

    def __init__(self, when: int = 0) -> None:
        self.calls, self.when, self.error = 0, when, Stop("once")

    def __call__(self, p: Any) -> None:
        self.calls += 1
        if self.calls == self.when:
            raise self.error


@pytest.mark.parametrize("name", WATCHED)
def test_exception_of_a_callback_of_progress_passes(name: str) -> None:
    counting, x = Callback(), X.copy()
    with progress(counting, every=0.0):
        WATCHED[name]()
    for when in range(1, counting.calls + 1):
        callback = Callback(when)
        with progress(callback, every=0.0), pytest.raises(Stop) as caught:
            WATCHED[name]()
        assert caught.value is callback.error
        np.testing.assert_array_equal(X, x)


def test_exceptions_of_hooks_pass_in_a_checkpoint() -> None:
    def fail(g: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        grad(lambda x: checkpoint(lambda x: np.sum(hook(fail, x)), x))(X)
