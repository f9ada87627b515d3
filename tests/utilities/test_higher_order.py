"""Utilities in forward mode, and in derivatives of derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    NestedDerivativeError,
    Params,
    UntrackedWriteError,
    clip_gradient,
    grad,
    gradient,
    hessian,
    hessian_diagonal,
    holomorphic_derivative,
    hook,
    hvp,
    ignore_derivatives,
    is_deriving,
    jvp,
    nest_level,
    prepare,
    pullback,
    real_jacobian,
    showgrad,
    stop_gradient,
    value_and_hvp,
    value_grad_and_hessian,
    wirtinger_derivatives,
)
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes(
    "hooks, values left out, and the level change the derivative, not the function"
)

X = np.array([1.0, 2.0])


def along(f: Any) -> Any:
    return lambda x: jvp(f, (x,), (np.ones_like(x) if isinstance(x, np.ndarray) else 1.0,))[1]


@pytest.mark.parametrize("x", [3.0, X], ids=["float", "array"])
def test_hooks_do_nothing_in_forward_mode(x: Any) -> None:
    def refuse(g: Any) -> Any:
        raise AssertionError(g)

    np.testing.assert_allclose(along(lambda x: hook(refuse, x) ** 2)(x), 2 * x)
    np.testing.assert_allclose(along(lambda x: hook(refuse, [x, {"a": x}])[1]["a"] * x)(x), 2 * x)
    np.testing.assert_allclose(along(lambda x: clip_gradient(x, norm=1e-9) ** 2)(x), 2 * x)
    np.testing.assert_allclose(along(lambda x: showgrad(x) ** 2)(x), 2 * x)


def test_hooked_copies_in_forward_mode_are_copies() -> None:
    def f(u: np.ndarray) -> np.ndarray:
        v = hook(lambda g: g, u)
        v *= 3.0
        u[...] = hook(lambda g: g, u) * v
        return u

    np.testing.assert_allclose(along(f)(X), 6 * X)


@pytest.mark.parametrize("x", [3.0, X], ids=["float", "array"])
def test_constants_in_forward_mode(x: Any) -> None:
    np.testing.assert_allclose(along(lambda x: stop_gradient(x) * x)(x), x)
    np.testing.assert_allclose(along(lambda x: ignore_derivatives(lambda: x + 1.0) * x)(x), x + 1)
    log: list[Any] = []
    along(lambda x: x if ignore_derivatives(log.append, np.sum(x)) is None else 0.0)(x)
    assert log == [np.sum(x)]


def test_ignored_writes_in_forward_mode() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        y = x * 1.0
        ignore_derivatives(y.fill, 0.0)
        return y

    x = X.copy()
    for g in (f, lambda x: f(x) if ignore_derivatives(x.fill, 1.0) is None else x):
        with pytest.raises(UntrackedWriteError):
            along(g)(x)
    np.testing.assert_array_equal(x, X)


# Levels.

LEVELS: list[Any] = []


def cube(x: float) -> float:
    ignore_derivatives(LEVELS.append, (nest_level(), is_deriving()))
    return x * x * x


@pytest.mark.parametrize(
    ("run", "level"),
    [
        (cube, 0),
        (grad(cube), 1),
        (along(cube), 1),
        (grad(grad(cube)), 2),
        (along(grad(cube)), 2),
        (grad(along(cube)), 2),
        (along(along(cube)), 2),
        (hessian(cube), 2),
        (hessian_diagonal(cube), 2),
        (value_grad_and_hessian(cube), 2),
        (lambda x: hvp(cube, (x,), 1.0), 2),
        (lambda x: value_and_hvp(cube, (x,), 1.0), 2),
        (lambda x: grad(lambda y: hvp(cube, (y,), 1.0))(x), 3),
        (grad(grad(grad(cube))), 3),
        (along(grad(grad(cube))), 3),
        (grad(lambda x: pullback(cube, x)[1](1.0)[0]), 2),
    ],
    ids=[
        "none",
        "r",
        "f",
        "rr",
        "fr",
        "rf",
        "ff",
        "hessian",
        "diagonal",
        "all",
        "hvp",
        "value_and_hvp",
        "r-hvp",
        "rrr",
        "frr",
        "pullback",
    ],
)
def test_level_counts_what_the_user_nests_not_second_runs(run: Any, level: int) -> None:
    LEVELS.clear()
    run(2.0)
    assert set(LEVELS) == {(level, level > 0)}


def test_level_as_a_factor() -> None:
    assert grad(lambda x: x * grad(lambda y: y * x * nest_level())(x) * nest_level())(3.0) == 12.0


def test_manual_example(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float) -> float:
        ignore_derivatives(lambda: print("called"))
        return x * nest_level()

    assert grad(lambda x: x * grad(f)(x))(1.0) == 2.0
    assert set(capsys.readouterr().out.split()) == {"called"}


# Hooks change gradients, which are then gradients of nothing.


@pytest.mark.parametrize(
    ("treated", "g"),
    rotating(
        [lambda x: hook(lambda g: g * g, x), lambda x: clip_gradient(x, value=1.0)],
        [
            lambda f: hessian(f),
            lambda f: grad(lambda x: np.sum(grad(f)(x))),
            lambda f: grad(lambda x: jvp(f, (x,), (np.ones(2),))[1]),
            lambda f: lambda x: jvp(grad(f), (x,), (np.ones(2),))[1],
            lambda f: grad(lambda x: np.sum(pullback(f, x)[1](1.0)[0])),
            lambda f: lambda x: hvp(f, (x,), np.ones(2)),
            lambda f: lambda x: np.stack(value_and_hvp(f, (x,), np.ones(2))[1:]),
            lambda f: hessian_diagonal(f),
            lambda f: lambda x: np.vstack(value_grad_and_hessian(f)(x)[1:]),
            lambda f: lambda x: prepare(hvp, f, (x,), np.ones(2))((x,), np.ones(2)),
        ],
    ),
)
def test_hook_in_a_derivative_of_higher_order_is_an_error(g: Any, treated: Any) -> None:
    with pytest.raises(NestedDerivativeError, match="a hook ran"):
        g(lambda x: np.sum(treated(x) ** 3))(X)
    other = g(lambda x: np.sum((treated(x) if nest_level() == 1 else x) ** 3))(X)
    np.testing.assert_allclose(other, g(lambda x: np.sum(x**3))(X))


def test_hook_round_an_inner_derivative() -> None:
    def f(x: np.ndarray) -> Any:
        g = grad(lambda y: np.sum(y**3))(x)
        return np.sum(hook(lambda c: 10.0 * c, g) * x)

    np.testing.assert_allclose(grad(f)(X), 10.0 * 6 * X**2 + 3 * X**2)


def test_hook_on_constants_of_the_outer_derivative() -> None:
    inner = grad(lambda y: hook(lambda g: -g, y) ** 2)
    assert grad(lambda x: x * inner(3.0))(2.0) == -6.0


def test_showgrad_passes() -> None:
    np.testing.assert_allclose(hessian(lambda x: np.sum(showgrad(x) ** 3))(X), np.diag(6 * X))


# Constants.


def test_stopped_values() -> None:
    np.testing.assert_allclose(
        hessian(lambda x: np.sum(stop_gradient(x) * x**2))(X), np.diag(2 * X)
    )
    assert grad(lambda x: grad(lambda y: y * stop_gradient(x) * x)(2.0))(3.0) == 3.0
    assert grad(lambda x: stop_gradient(grad(lambda y: y**3)(x)) * x)(2.0) == 12.0
    assert grad(grad(lambda x: stop_gradient(x) ** 2 * x**2))(3.0) == 18.0
    assert along(grad(lambda x: stop_gradient(x) ** 2 * x**2))(3.0) == 18.0


def test_ignored_values() -> None:
    assert grad(grad(lambda x: ignore_derivatives(lambda: x * x) * x**2))(3.0) == 18.0
    assert along(grad(lambda x: ignore_derivatives(lambda: x * x) * x**2))(3.0) == 18.0


# Gradients.


def test_gradient_and_pullback() -> None:
    assert gradient(lambda x: x * gradient(lambda y: y**3, x)[0], 2.0) == (36.0,)
    assert gradient(lambda x: pullback(lambda y: y**3, x)[1](1.0)[0], 2.0) == (12.0,)
    assert along(lambda x: gradient(lambda y: y**3, x)[0])(2.0) == 12.0


def test_parameters() -> None:
    w = X.copy()

    def inner() -> Any:
        return gradient(lambda: np.sum(w**3), params=Params([w]))[w]

    g = gradient(lambda: np.sum(inner()), params=Params([w]))[w]
    np.testing.assert_allclose(g, 6 * X)
    g = gradient(lambda: np.sum(gradient(lambda v: np.sum(v**3), w)[0]), params=[w])[w]
    np.testing.assert_allclose(g, 6 * X)
    (g,) = gradient(lambda x: x * np.sum(gradient(lambda: x * np.sum(w**2), params=[w])[w]), 2.0)
    np.testing.assert_allclose(g, 2 * 2.0 * 2 * X.sum())


def test_complex_derivatives() -> None:
    assert grad(lambda x: wirtinger_derivatives(lambda z: z**2 * x)(1 + 1j)[0].real)(2.0) == 2.0
    np.testing.assert_allclose(
        grad(lambda x: holomorphic_derivative(lambda z: z**3)(x + 0j).real)(2.0), 12.0
    )
    np.testing.assert_allclose(
        grad(lambda x: real_jacobian(lambda z: z * z * x)(1 + 1j)[0, 0])(2.0), 2.0
    )
