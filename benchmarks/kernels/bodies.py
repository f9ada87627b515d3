"""Bodies that attract each other, moved by leapfrog steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def n_body(positions: Array, velocities: Array, masses: Array, steps: int) -> float:
    """Return the kinetic energy after `steps` steps; positions and velocities move in place."""
    for _ in range(steps):
        apart = positions[None, :, :] - positions[:, None, :]
        squared = np.sum(apart * apart, axis=2) + 0.1
        pull = masses / (squared * np.sqrt(squared))
        velocities += 0.01 * np.sum(pull[:, :, None] * apart, axis=1)
        positions += 0.01 * velocities
    return 0.5 * np.sum(masses * np.sum(velocities * velocities, axis=1))


def _cluster(size: int) -> tuple[Any, ...]:
    random = generator()
    positions, velocities = random.standard_normal((2, size, 3))
    return positions, velocities, 0.5 + random.random(size), 10


KERNELS = (Kernel("n_body", "vector", n_body, _cluster, (120,), (0, 1, 2), tiny=(20,)),)
