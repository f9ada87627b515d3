"""Functions in a module of their own, which other processes can import."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mooncake_py import grad


def energy(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@dataclasses.dataclass
class Weighted:
    """A function with parameters."""

    weight: float

    def __call__(self, x: Any) -> Any:
        return self.weight * np.sum(x * x)

    def cubed(self, x: Any) -> Any:
        return self.weight * np.sum(x**3)


energy_gradient = grad(energy)


def squares(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def spread(x: Any, k: float = 2.0) -> Any:
    return k * np.cumsum(x * x)


def straight(x: Any) -> Any:
    return np.sum(np.floor(x) + x)


def uses_straight(x: Any) -> Any:
    return 2.0 * straight(x)


def straight_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += straight(x[i])
    return total


def spread_and_sum(x: Any, k: float = 2.0) -> Any:
    return np.sum(spread(x, k))


def with_aux(x: Any) -> Any:
    return np.sum(x * x), {"x": x}
