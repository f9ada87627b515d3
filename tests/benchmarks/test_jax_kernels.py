"""The kernels rewritten for JAX compute what the kernels do."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from benchmarks.jax_peer import as_given, jax_gradient, rewritten_lines
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.measure import require_agreement
from mooncake_py import value_and_grad

jax = pytest.importorskip("jax")

BY_NAME = {kernel.name: kernel for kernel in KERNELS}
# One with writes, one with a scan and a mask, one with lists.
FAST = ["jacobi_2d", "triangular_solve", "string"]


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def require_same_gradient(kernel: Kernel) -> None:
    # Pooling halves thrice; a cavity has walls.
    arguments = kernel.make_arguments(16)
    expected = value_and_grad(kernel.function, kernel.argnums)(*copy.deepcopy(arguments))
    result = as_given(jax_gradient(kernel, arguments)(), kernel, arguments)
    require_agreement(kernel.name, {"gradient": expected, "jax": result})


def test_every_kernel_has_a_version() -> None:
    from benchmarks.jax_kernels import JAX_KERNELS

    assert set(JAX_KERNELS) == set(BY_NAME)


@pytest.mark.parametrize("name", FAST)
def test_gradients_agree(name: str) -> None:
    require_same_gradient(BY_NAME[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in FAST])
def test_other_gradients_agree(name: str) -> None:
    require_same_gradient(BY_NAME[name])


def test_arguments_are_not_overwritten() -> None:
    kernel = BY_NAME["jacobi_2d"]
    arguments = kernel.make_arguments(6)
    before = copy.deepcopy(arguments)
    run = jax_gradient(kernel, arguments)
    first, second = run(*arguments), run(*arguments)
    require_agreement("arguments", {"before": before, "after": arguments})
    require_agreement("runs", {"first": first, "second": second})


def test_lines_that_are_rewritten() -> None:
    assert rewritten_lines(BY_NAME["dense_layers"]) == (0, 4)
    assert rewritten_lines(BY_NAME["jacobi_2d"]) == (2, 4)
