"""Chains of many small operations, where the cost of recording shows most."""

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def sine_chain(x: Array) -> float:
    """Apply x -> sin(x) x a hundred times, two hundred elementwise operations in all."""
    for _ in range(100):
        x = np.sin(x) * x
    return np.sum(x)


def sine_chain_adjoint(x: Array) -> tuple[float, tuple[Array]]:
    """Keep the values and their sines; the derivative is sin(x) + x cos(x)."""
    values = []
    sines = []
    for _ in range(100):
        s = np.sin(x)
        values.append(x)
        sines.append(s)
        x = s * x
    dx = np.ones_like(x)
    for value, s in zip(reversed(values), reversed(sines), strict=True):
        slope = np.cos(value)
        slope *= value
        slope += s
        dx *= slope
    return np.sum(x), (dx,)


def pendulum(angle: float, speed: float, steps: int) -> float:
    """Swing a pendulum in plain Python floats; return its energy-like final state."""
    for _ in range(steps):
        speed -= 0.01 * math.sin(angle)
        angle += 0.01 * speed
    return angle * angle + speed * speed


def pendulum_adjoint(angle: float, speed: float, steps: int) -> tuple[float, tuple[float, float]]:
    """Keep the angle before each step."""
    angles = []
    for _ in range(steps):
        angles.append(angle)
        speed -= 0.01 * math.sin(angle)
        angle += 0.01 * speed
    dangle, dspeed = 2.0 * angle, 2.0 * speed
    for before in reversed(angles):
        dspeed += 0.01 * dangle
        dangle -= 0.01 * math.cos(before) * dspeed
    return angle * angle + speed * speed, (dangle, dspeed)


def _above_half_pi(size: int) -> tuple[Array]:
    """Return starts that stay near the fixed point pi/2; smaller ones would fall to zero."""
    return (generator().uniform(1.6, 2.3, size),)


def _swing(size: int) -> tuple[float, float, int]:
    return 1.2, 0.3, size


KERNELS = (
    Kernel(
        "sine_chain",
        "chain",
        sine_chain,
        _above_half_pi,
        (1, 100, 10_000),
        adjoint=sine_chain_adjoint,
    ),
    Kernel("pendulum", "floats", pendulum, _swing, (1000,), (0, 1), pendulum_adjoint),
)
