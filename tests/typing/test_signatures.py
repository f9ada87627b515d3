"""Type checkers see what derivatives take and return, and runs return what they see.

Pyright checks this file with the package, mypy in the test next to it: `assert_type` fails where a
type is another one, and a comment that nothing needs is an error.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

from mooncake_py import (
    forwarddiff,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    prepare,
    test_rule,
    value_and_grad,
    value_and_hvp,
    value_and_jacobian,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.derivatives import Derivative
from mooncake_py.prepared import Prepared

Vector = NDArray[np.float64]
U: Vector = np.array([1.0, 2.0])


def energy(u: Vector, steps: int) -> float:
    for _ in range(steps):
        u *= 2.0
    return float(np.sum(u * u))


def cube(x: float) -> float:
    return x**3


def scaled(x: float, y: Vector) -> np.float64:
    return x * y[0] ** 2


def field(x: Vector, k: float = 2.0) -> Vector:
    return k * x * x


def with_text(x: float) -> tuple[float, str]:
    return x * x, "aux"


def named(*, x: float) -> float:
    return x * x


def plain(u, steps):
    return energy(u, steps)


@dataclasses.dataclass
class Model:
    rate: float
    start: Vector


def misfit(model: Model) -> float:
    return model.rate * float(model.start[0])


def test_gradients_are_of_the_type_of_the_first_argument() -> None:
    du = grad(energy)(U, 1)
    assert_type(du, Vector)
    assert isinstance(du, np.ndarray)
    assert_type(grad(energy)(U, steps=1), Vector)
    assert_type(grad(energy)(u=U, steps=1), Vector)
    slope = grad(cube)(2.0)
    assert_type(slope, float)
    assert isinstance(slope, float)
    change = grad(misfit)(Model(1.0, U))
    assert_type(change, Model)
    assert isinstance(change, Model)
    assert_type(grad(grad(cube))(2.0), float)
    assert_type(grad(cube, mode="forward", compile=None)(2.0), float)


def test_parameters_are_those_of_the_function() -> None:
    slope: Derivative[[float], float] = grad(cube)
    both: Derivative[[float], tuple[float, float]] = value_and_grad(cube)
    function: Callable[[float], float] = grad(cube)
    assert slope(2.0) == both(2.0)[1] == function(2.0)


def test_values_and_gradients() -> None:
    value, du = value_and_grad(energy)(U, 1)
    assert_type(value, float)
    assert_type(du, Vector)
    assert isinstance(value, float)


def test_gradients_with_respect_to_several_arguments_are_tuples() -> None:
    both = grad(scaled, (0, 1))(1.0, U)
    assert_type(both, tuple[float, Vector])
    assert [type(part) for part in both] == [float, np.ndarray]
    assert_type(value_and_grad(scaled, (0, 1))(1.0, U), tuple[np.float64, tuple[float, Vector]])
    assert_type(grad(scaled, ("x", "y"))(1.0, U), tuple[Any, ...])
    assert isinstance(grad(scaled, ("y",))(1.0, U), tuple)


def test_gradients_with_respect_to_another_argument_are_of_any_type() -> None:
    assert_type(grad(scaled, 1)(1.0, U), Any)
    assert_type(grad(scaled, "y")(1.0, y=U), Any)
    assert_type(grad(named, "x")(x=1.0), Any)
    assert_type(value_and_grad(scaled, 1)(1.0, U), tuple[np.float64, Any])


def test_auxiliary_output() -> None:
    found = grad(with_text, has_aux=True)(3.0)
    assert_type(found, tuple[float, str])
    assert found == (6.0, "aux")
    both = value_and_grad(with_text, has_aux=True)(3.0)
    assert_type(both, tuple[tuple[float, str], float])
    assert both == ((9.0, "aux"), 6.0)
    assert_type(grad(with_text, 0, True)(3.0), tuple[Any, str])
    assert_type(grad(with_text, (0,), has_aux=True)(3.0), tuple[Any, str])


def test_functions_without_annotations() -> None:
    value, du = value_and_grad(plain)(U, 1)
    assert value == 20.0
    assert du.shape == (2,)
    assert grad(lambda x: x[0] * x[1])(U).tolist() == [2.0, 1.0]


def test_prepared_derivatives() -> None:
    step = value_and_grad(energy).prepare(U, 1)
    assert_type(step(U, 1), tuple[float, Vector])
    assert_type(prepare(hvp, energy, (U, 1), U), Prepared[..., Any])


def test_pullbacks_and_derivatives_along_a_direction() -> None:
    y, pullback = vjp(field, U)
    assert_type(y, Vector)
    assert_type(pullback(y), tuple[Any, ...])
    assert_type(jvp(cube, (2.0,), (1.0,)), tuple[float, float])
    y, tangents = jvp(field, (U,), [(U,), (U,)])
    assert_type(tangents, list[Vector])
    assert [type(dy) for dy in tangents] == [np.ndarray] * 2
    assert_type(forwarddiff(cube, 2.0), float)


def test_jacobians() -> None:
    assert_type(value_and_jacobian(field)(U, k=3.0), tuple[Vector, Any])
    assert_type(jacobian(with_text, has_aux=True)(2.0), tuple[Any, str])
    assert jacobian(field)(U).shape == (2, 2)


def test_second_derivatives() -> None:
    product = hvp(energy, (U, 1), U)
    assert_type(product, Vector)
    assert isinstance(product, np.ndarray)
    assert_type(value_and_hvp(energy, (U, 1), U), tuple[float, Vector, Vector])
    assert_type(value_grad_and_hessian(cube)(2.0), tuple[float, Any, Any])
    assert hessian(energy)(U, steps=1).shape == (2, 2)


if TYPE_CHECKING:

    def wrong_calls() -> None:
        """Do what type checkers are to find."""
        grad(with_text)  # type: ignore[type-var]
        grad(cube)("2.0")  # type: ignore[call-overload]
        grad(energy)(U)  # type: ignore[call-overload]
        grad(energy)(U, stop=1)  # type: ignore[call-overload]
        grad(cube, mode="backward")  # type: ignore[call-overload]
        value_and_grad(cube).prepare("2.0")  # type: ignore[arg-type]
        jacobian(field)(U, c=2.0)  # type: ignore[call-arg]
        hessian(with_text)  # type: ignore[arg-type]
        test_rule(cube, 1.0, order="second")  # type: ignore[arg-type]
