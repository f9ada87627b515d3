"""Options of derivatives that are none of the allowed ones."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    InvalidModeError,
    compile_mode,
    debug_mode,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    value_and_hvp,
    value_grad_and_hessian,
    vjp,
)

X = np.array([1.0, 2.0])
f: Any = np.sum
YES: Any = "yes"
THREE: Any = 3

WRONG = {
    "compile": [
        lambda: value_and_grad(f, compile=YES)(X),
        lambda: jacobian(f, compile=YES),
        lambda: hessian(f, compile=YES),
        lambda: hessian_diagonal(f, compile=YES),
        lambda: value_grad_and_hessian(f, compile=YES),
        lambda: hvp(f, (X,), X, compile=YES),
        lambda: value_and_hvp(f, (X,), X, compile=YES),
        lambda: vjp(f, X, compile=YES),
        lambda: jvp(f, (X,), (X,), compile=YES),
        lambda: compile_mode(YES).__enter__(),
    ],
    "debug": [
        lambda: grad(f, debug=THREE),
        lambda: vjp(f, X, debug=THREE),
    ],
    "has_aux": [
        lambda: grad(f, has_aux=YES),
        lambda: jacobian(f, has_aux=YES),
    ],
    "check_finite": [
        lambda: debug_mode(check_finite=YES).__enter__(),
    ],
}


@pytest.mark.parametrize(
    ("name", "ask"), [(name, ask) for name, asks in WRONG.items() for ask in asks]
)
def test_what_is_neither_true_nor_false_is_refused(name: str, ask: Any) -> None:
    with pytest.raises(InvalidModeError, match=f"pass {name}=True(,| or) {name}=False"):
        ask()


@pytest.mark.parametrize("no", [False, 0, np.False_])
def test_false_is_said_in_several_ways(no: Any) -> None:
    g = grad(f, has_aux=no, debug=no, compile=no)
    np.testing.assert_array_equal(g(X), np.ones(2))


@pytest.mark.parametrize("mode", ["fwd", None, [], X])
def test_modes_are_named(mode: Any) -> None:
    with pytest.raises(InvalidModeError, match='choose mode="reverse" or mode="forward"'):
        grad(f, mode=mode)
    with pytest.raises(InvalidModeError, match='"forward", mode="reverse" or mode="auto"'):
        jacobian(f, mode=mode)


def test_outputs_of_ranks_are_named() -> None:
    with pytest.raises(InvalidModeError, match=r'"sum".* or output="same"'):
        value_and_grad(f, output=YES)
