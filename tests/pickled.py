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
