"""Forward mode and second order: jvp over the primal, hvp over the gradient, and a Jacobian.

The kernels are a choice of those whose gradients are timed, each at a small size: a derivative
that runs operation by operation takes a hundred times as long as the loop it belongs to.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.differences import inner, random_like
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.tangents import BY_HAND
from benchmarks.timing import interleaved_medians
from mooncake_py import hvp, jacobian, jvp, value_and_grad

Array = NDArray[np.float64]

# Kernels and their sizes, by the kind of work: arrays, loops over slices of arrays, and loops over
# elements and numbers.
CASES: dict[str, dict[str, int]] = {
    "vector": {
        "jacobi_2d": 50,
        "leapfrog_waves": 50,
        "cavity": 41,
        "dense_layers": 48,
        "n_body": 120,
    },
    "slices": {
        "covariance": 60,
        "triangular_solve": 300,
        "convolution": 16,
        "prediction": 100,
        "masked_bodies": 60,
    },
    "numbers": {
        "gauss_seidel": 20,
        "recurrence": 2000,
        "thomas": 100,
        "deposit_loop": 1000,
        "pendulum": 1000,
        "reactor": 1000,
        "spring": 1000,
        "string": 100,
    },
}
# Most that jvp / primal and hvp / gradient may be.
JVP_LIMITS = {"vector": 3.0, "slices": 3.0, "numbers": 4.0}
HVP_LIMIT = 3.5
# Most that the Jacobian of the integrator may take over as many plain runs as a difference needs.
JACOBIAN_LIMIT = 8.0


@dataclass(frozen=True)
class ModeTimes:
    """Times of the derivatives of one kernel.

    Parameters
    ----------
    kernel, kind : str
        The kind is that of its limits: "vector", "slices" or "numbers".
    size : int
    primal : float, in seconds
    jvp : float
        Over the primal's time.
    by_hand : float or None
        Time of the handwritten tangent over the primal's; None if there is none.
    gradient : float
        Over the primal's time.
    hvp : float
        Over the gradient's time.
    """

    kernel: str
    kind: str
    size: int
    primal: float
    jvp: float
    gradient: float
    hvp: float
    by_hand: float | None = None


def measure_modes(name_has: str, budget: float) -> Iterator[ModeTimes]:
    """Yield the times of each chosen kernel, measured for about `budget` seconds."""
    by_name = {kernel.name: kernel for kernel in KERNELS}
    for kind, cases in CASES.items():
        for name, size in cases.items():
            if name_has in name:
                yield mode_times(by_name[name], kind, size, budget)


def mode_times(kernel: Kernel, kind: str, size: int, budget: float) -> ModeTimes:
    """Time primal, jvp, gradient and hvp of a kernel in turns."""
    arguments = kernel.make_arguments(size)
    runs = runs_of(kernel, size) | tangent_by_hand(kernel, size)
    medians = interleaved_medians(runs, arguments, budget)
    return ModeTimes(
        kernel=kernel.name,
        kind=kind,
        size=size,
        primal=medians["primal"],
        jvp=medians["jvp"] / medians["primal"],
        gradient=medians["gradient"] / medians["primal"],
        hvp=medians["hvp"] / medians["gradient"],
        by_hand=medians["handwritten"] / medians["primal"] if "handwritten" in medians else None,
    )


def runs_of(
    kernel: Kernel, size: int, compile: bool | None = None
) -> dict[str, Callable[..., Any]]:
    """Return functions that run a kernel and its derivatives, each of which has run once.

    Raises
    ------
    ArithmeticError
        If jvp and gradient differ, or hvp is not finite: its values are checked in tests only.
    """
    arguments = kernel.make_arguments(size)
    direction, along = direction_of(kernel, arguments)
    gradient = value_and_grad(kernel.function, argnums=kernel.argnums, compile=compile)

    def forward(*fresh: Any) -> Any:
        return jvp(kernel.function, fresh, along, compile=compile)

    def second(*fresh: Any) -> Any:
        return hvp(kernel.function, fresh, direction, argnums=kernel.argnums, compile=compile)

    _, slope = forward(*copy.deepcopy(arguments))
    _, gradients = gradient(*copy.deepcopy(arguments))
    norms = math.sqrt(inner(gradients, gradients) * inner(direction, direction))
    if abs(slope - inner(gradients, direction)) > 1e-8 * (1.0 + norms):
        raise ArithmeticError(f"{kernel.name} at size {size}: jvp and gradient differ")
    if not math.isfinite(inner(second(*copy.deepcopy(arguments)), direction)):
        raise ArithmeticError(f"{kernel.name} at size {size}: hvp is not finite")
    return {"primal": kernel.function, "jvp": forward, "gradient": gradient, "hvp": second}


def direction_of(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return a direction: for the arguments that move, and for all, with None for the others."""
    random = np.random.default_rng(3)
    direction = tuple(random_like(arguments[n], random) for n in kernel.argnums)
    along: list[Any] = [None] * len(arguments)
    for n, part in zip(kernel.argnums, direction, strict=True):
        along[n] = part
    return direction, tuple(along)


def tangent_by_hand(kernel: Kernel, size: int) -> dict[str, Callable[..., Any]]:
    """Return a function that runs the handwritten tangent of a kernel, if there is one.

    Raises
    ------
    ArithmeticError
        If it differs from jvp.
    """
    tangent = BY_HAND.get(kernel.name)
    if tangent is None:
        return {}
    arguments = kernel.make_arguments(size)
    direction, along = direction_of(kernel, arguments)

    def by_hand(*fresh: Any) -> Any:
        return tangent(*fresh, *copy.deepcopy(direction))

    _, slope = jvp(kernel.function, copy.deepcopy(arguments), along)
    _, t = by_hand(*copy.deepcopy(arguments))
    if abs(slope - t) > 1e-8 * (1.0 + abs(slope)):
        raise ArithmeticError(f"{kernel.name} at size {size}: jvp and handwritten tangent differ")
    return {"handwritten": by_hand}


def change(state: Array, rates: Array) -> Array:
    """Return how fast prey and predators grow (Lotka and Volterra)."""
    prey, hunters = state
    a, b, c, d = rates
    return np.array([a * prey - b * prey * hunters, d * prey * hunters - c * hunters])


def trajectory(rates: Array, steps: int) -> Array:
    """Return the states after each of the steps, by the classical method of Runge and Kutta."""
    h = 0.02
    states = np.empty((steps, 2))
    state = np.array([10.0, 5.0])
    for k in range(steps):
        k1 = change(state, rates)
        k2 = change(state + 0.5 * h * k1, rates)
        k3 = change(state + 0.5 * h * k2, rates)
        k4 = change(state + h * k3, rates)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states[k] = state
    return states


RATES = np.array([1.1, 0.4, 0.4, 0.1])
# Steps of the integrator, and how many in a short look.
STEPS = (200, 40)


def measure_jacobian(steps: int, budget: float) -> tuple[float, float]:
    """Return the time of a run, and that of the Jacobian over what a difference would take.

    A forward difference with respect to four parameters needs five plain runs.
    """
    of_rates = jacobian(trajectory)
    of_rates(RATES, 1)  # derives
    medians = interleaved_medians({"run": trajectory, "jacobian": of_rates}, (RATES, steps), budget)
    return medians["run"], medians["jacobian"] / ((len(RATES) + 1) * medians["run"])
