"""What would drop a derivative is right or refused, and the same in every mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, checkpoint, grad, hessian, hvp, jvp, value_and_grad, vjp
from tests.modes.reverse.ways_out import WAYS_OUT
from tests.support.marks import each_third
from tests.support.pairs import rotating

X = np.array([1.3, -0.7])
STEP = 1e-3
WEIGHTS = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


def differences(f: Any) -> np.ndarray:
    """Return the gradient by central differences of fourth order."""
    return np.array(
        [sum(w * float(f(X + k * STEP * e)) for k, w in WEIGHTS) / STEP for e in np.eye(2)]
    )


def second_differences(f: Any) -> np.ndarray:
    """Return the matrix of second derivatives."""

    def gradient(y: Any) -> np.ndarray:
        return np.array(
            [sum(w * float(f(y + k * STEP * e)) for k, w in WEIGHTS) / STEP for e in np.eye(2)]
        )

    return np.array(
        [sum(w * gradient(X + k * STEP * e) for k, w in WEIGHTS) / STEP for e in np.eye(2)]
    )


def by_pullback(f: Any) -> np.ndarray:
    _, pullback = vjp(f, X.copy())
    first, second = pullback(1.0)[0], pullback(1.0)[0]
    np.testing.assert_array_equal(first, second)
    return first


def by_tangents(f: Any) -> np.ndarray:
    return np.array([jvp(f, (X.copy(),), (e,))[1] for e in np.eye(2)], float)


FIRST: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X.copy()),
    "debug": lambda f: value_and_grad(f, debug=True)(X.copy())[1],
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X.copy()),
    "vjp": by_pullback,
    "jvp": by_tangents,
}
SECOND: dict[str, Callable[[Any], Any]] = {
    "hessian": lambda f: hessian(f)(X.copy()),
    "hvp": lambda f: np.array([hvp(f, (X.copy(),), e) for e in np.eye(2)]).reshape(2, 2),
    "grad of grad": lambda f: np.array(
        [grad(lambda x, e=e: np.sum(grad(f)(x) * e))(X.copy()) for e in np.eye(2)]
    ),
}


QUICK = ("grad", "vjp", "jvp", "hessian")
OTHERS = tuple(mode for mode in (*FIRST, *SECOND) if mode not in QUICK)


def check_right_or_refused(f: Any, modes: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mode in modes:
            try:
                got = (FIRST.get(mode) or SECOND[mode])(f)
            except MooncakeError:
                continue
            check_against_differences(f, mode, got)


def check_against_differences(f: Any, mode: str, got: Any) -> None:
    expected, atol = (differences(f), 1e-7) if mode in FIRST else (second_differences(f), 1e-4)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=atol, err_msg=mode)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", each_third(WAYS_OUT), ids=lambda f: f.__name__)
def test_right_or_refused(f: Any) -> None:
    check_right_or_refused(f, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "mode", "other"),
    rotating(WAYS_OUT, OTHERS, OTHERS),
    ids=lambda v: getattr(v, "__name__", v),
)
def test_right_or_refused_in_other_modes(f: Any, mode: str, other: str) -> None:
    check_right_or_refused(f, (mode, other))


RIGHT = [
    "structured_field_written", "two_fields", "fields_of_a_part", "records_sliced", "complex_pair",
    "partials_of_lists", "int_of_a_float", "frexp", "scalar_flat",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "mode"), rotating(RIGHT, QUICK, times=2))
def test_right_where_the_derivative_can_be_followed(name: str, mode: str) -> None:
    f = next(f for f in WAYS_OUT if f.__name__ == name)
    check_against_differences(f, mode, (FIRST.get(mode) or SECOND[mode])(f))


def test_an_infinite_part_of_a_complex_number() -> None:
    value, _ = value_and_grad(lambda x: complex(x, np.inf).real)(1.0)
    assert value == 1.0


def test_view_of_bytes_is_refused_though_the_error_is_caught() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(2)
        bits = a.view(np.int64)
        a[:] = x
        try:
            return np.array(bits).view(float).sum()
        except MooncakeError:
            return 0.0

    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(MooncakeError, match="seen through an array of dtype int64"):
            derivative(X.copy())
