"""Forward mode and second order of the kernels that `benchmarks.modes` times."""

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks import report
from benchmarks.differences import directional_derivative, inner, moved, random_like
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.modes import (
    CASES,
    RATES,
    ModeTimes,
    measure_jacobian,
    measure_modes,
    tangent_by_hand,
    trajectory,
)
from benchmarks.tangents import BY_HAND
from mooncake_py import grad, hvp, jacobian, jvp

NAMES = {name for cases in CASES.values() for name in cases}
CHOSEN = [kernel for kernel in KERNELS if kernel.name in NAMES]


def small_arguments(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.make_arguments(8)


def test_every_case_names_a_kernel() -> None:
    assert len(CHOSEN) == sum(map(len, CASES.values()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", CHOSEN, ids=lambda kernel: kernel.name)
def test_jvp_agrees_with_finite_differences(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    random = np.random.default_rng(7)
    for n in kernel.argnums:
        direction = random_like(arguments[n], random)
        tangents = tuple(direction if k == n else None for k in range(len(arguments)))
        _, slope = jvp(kernel.function, copy.deepcopy(arguments), tangents)
        expected = directional_derivative(kernel.function, arguments, n, direction)
        assert slope == pytest.approx(expected, rel=1e-7, abs=2e-11)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", CHOSEN, ids=lambda kernel: kernel.name)
def test_hvp_agrees_with_differences_of_gradients(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    random = np.random.default_rng(7)
    gradient = grad(kernel.function, kernel.argnums)
    direction = tuple(random_like(arguments[n], random) for n in kernel.argnums)
    other = tuple(random_like(arguments[n], random) for n in kernel.argnums)

    def slope(step: float) -> float:
        fresh = list(copy.deepcopy(arguments))
        for n, part in zip(kernel.argnums, direction, strict=True):
            fresh[n] = moved(fresh[n], part, step)
        return inner(gradient(*fresh), other)

    h = 1e-4
    expected = (8.0 * (slope(h) - slope(-h)) - (slope(2.0 * h) - slope(-2.0 * h))) / (12.0 * h)
    product = hvp(kernel.function, arguments, direction, argnums=kernel.argnums)
    assert inner(product, other) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_jacobian_of_the_integrator_agrees_with_finite_differences() -> None:
    got = jacobian(trajectory)(RATES, 5)
    h = 1e-3
    for k, unit in enumerate(np.eye(4)):
        near = trajectory(RATES + h * unit, 5) - trajectory(RATES - h * unit, 5)
        far = trajectory(RATES + 2.0 * h * unit, 5) - trajectory(RATES - 2.0 * h * unit, 5)
        np.testing.assert_allclose(got[..., k], (8.0 * near - far) / (12.0 * h), 1e-8, 1e-9)


@pytest.mark.slow
def test_modes_are_timed() -> None:
    (measured,) = measure_modes("dense_layers", 0.0)
    assert min(measured.primal, measured.jvp, measured.gradient, measured.hvp) > 0.0
    assert min(measure_jacobian(2, 0.0)) > 0.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BY_HAND)
def test_tangents_by_hand_are_those_of_forward_mode(name: str) -> None:
    (kernel,) = [kernel for kernel in KERNELS if kernel.name == name]
    (run,) = tangent_by_hand(kernel, kernel.sizes[0]).values()
    assert np.isfinite(run(*kernel.make_arguments(kernel.sizes[0]))).all()


def test_rows_mark_what_is_above_its_limit() -> None:
    slow = ModeTimes("k", "numbers", 10, 1e-3, 4.5, 2.0, 3.6)
    fast = ModeTimes("l", "vector", 10, 1e-3, 2.5, 2.0, 3.4)
    assert report.mode_row(slow).split()[-4:] == ["4.5!", "-", "2.0", "3.6!"]
    assert "!" not in report.mode_row(fast)
    lines = report.mode_means([slow, fast])
    assert [line.split()[2] for line in lines] == ["numbers", "vector"]
    assert report.jacobian_row(200, 1e-4, 9.0).endswith("9.0!")
