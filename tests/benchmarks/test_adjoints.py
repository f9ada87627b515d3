"""The hand-written adjoints and functional variants of the benchmark kernels."""

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.differences import directional_derivative, inner, leaves, random_like
from benchmarks.functional import FUNCTIONAL
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS

WITH_ADJOINT = [kernel for kernel in KERNELS if kernel.adjoint is not None]
STEPS = {"mandelbrot": 1e-6}  # points escape under a long step
WITH_VARIANT = [kernel for kernel in KERNELS if kernel.name in FUNCTIONAL]


def small_arguments(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.make_arguments(min(kernel.sizes[0], 20))


@pytest.mark.parametrize("kernel", WITH_ADJOINT, ids=lambda kernel: kernel.name)
def test_adjoint_agrees_with_finite_differences(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    assert kernel.adjoint is not None
    value, gradients = kernel.adjoint(*copy.deepcopy(arguments))
    assert value == pytest.approx(kernel.function(*copy.deepcopy(arguments)), rel=1e-13)
    random = np.random.default_rng(7)
    h = STEPS.get(kernel.name, 1e-4)
    # One argument at a time, so that a wrong gradient cannot hide behind a larger right one.
    for argnum, gradient in zip(kernel.argnums, gradients, strict=True):
        direction = random_like(arguments[argnum], random)
        expected = directional_derivative(kernel.function, arguments, argnum, direction, h)
        assert inner(gradient, direction) == pytest.approx(expected, rel=1e-7, abs=2e-11)


@pytest.mark.parametrize("kernel", WITH_ADJOINT, ids=lambda kernel: kernel.name)
def test_adjoint_is_shaped_like_the_arguments(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    assert kernel.adjoint is not None
    _, gradients = kernel.adjoint(*copy.deepcopy(arguments))
    selected = [arguments[argnum] for argnum in kernel.argnums]
    assert [np.shape(g) for g in leaves(gradients)] == [np.shape(a) for a in leaves(selected)]


@pytest.mark.parametrize("kernel", WITH_VARIANT, ids=lambda kernel: kernel.name)
def test_functional_variant_computes_the_same_value(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    expected = kernel.function(*copy.deepcopy(arguments))
    assert FUNCTIONAL[kernel.name](*arguments) == pytest.approx(expected, rel=1e-12)
