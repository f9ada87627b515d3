"""Loops over numbers as programs have them: own functions, objects and lists within."""

import math
from typing import Any

from benchmarks.kernel import Kernel, generator


def reaction(u: float, v: float, rate: float) -> float:
    """Return the speed of a reaction that saturates."""
    if u < 0.0:
        return 0.0
    return rate * u * v / (1.0 + u)


def reactor(u: float, v: float, rate: float, steps: int) -> float:
    """Euler steps of two substances; the speed comes from a function of its own."""
    for _ in range(steps):
        speed = reaction(u, v, rate)
        u += 0.01 * (1.0 - u - speed)
        v += 0.01 * (speed - 0.3 * v)
    return u * u + v * v


class Spring:
    """A mass on a damped spring that stiffens."""

    def __init__(self, place: float, stiffness: float, damping: float) -> None:
        self.place = place
        self.speed = 0.0
        self.stiffness = stiffness
        self.damping = damping


def spring(place: float, stiffness: float, damping: float, steps: int) -> float:
    """Step the attributes of an object; return its energy."""
    mass = Spring(place, stiffness, damping)
    for _ in range(steps):
        force = -mass.stiffness * math.sinh(mass.place) - mass.damping * mass.speed
        mass.speed += 0.01 * force
        mass.place += 0.01 * mass.speed
    return mass.stiffness * mass.place**2 + mass.speed**2


def string(places: list[float], speeds: list[float], steps: int) -> float:
    """Step a string of masses that stand in lists, with fixed ends; return its energy."""
    for _ in range(steps):
        for i in range(1, len(places) - 1):
            speeds[i] += 0.1 * (places[i - 1] - 2.0 * places[i] + places[i + 1])
        for i in range(1, len(places) - 1):
            places[i] += 0.1 * speeds[i]
    total = 0.0
    for place, speed in zip(places, speeds, strict=True):
        total += place * place + speed * speed
    return total


def _substances(size: int) -> tuple[float, float, float, int]:
    return 0.2, 0.7, 1.5, size


def _mass(size: int) -> tuple[float, float, float, int]:
    return 1.2, 2.0, 0.1, size


def _string(size: int) -> tuple[Any, ...]:
    places, speeds = generator().standard_normal((2, size))
    return places.tolist(), speeds.tolist(), 10


KERNELS = (
    Kernel("reactor", "calls", reactor, _substances, (1000,), (0, 1, 2)),
    Kernel("spring", "attributes", spring, _mass, (1000,), (0, 1, 2)),
    Kernel("string", "items", string, _string, (100,), (0, 1)),
)
