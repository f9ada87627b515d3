"""Small dense matrices on a graph: products in five nested loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import slice_adjoints
from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def self_energies(sigma: Array, blocks: Array, gradients: Array, neighbours: Any) -> float:
    """Add the products of coupling matrices with the blocks of the neighbours, into sigma.

    `blocks` and `sigma` are of shape (energies, sites, m, m), `gradients` (sites, links, 3, m, m).
    """
    energies, sites = blocks.shape[:2]
    for energy in range(energies):
        for shift in range(1, 3):
            if energy >= shift:
                for site in range(sites):
                    for link in range(neighbours.shape[1]):
                        there = blocks[energy - shift, neighbours[site, link]]
                        for axis in range(3):
                            left = gradients[site, link, axis] @ there
                            right = gradients[site, link, 2 - axis] / shift
                            sigma[energy, site] += left @ right
    return np.sum(sigma * sigma)


def _ring(size: int) -> tuple[Any, ...]:
    random = generator()
    sites = np.arange(6)
    neighbours = np.stack([(sites + 1) % 6, (sites - 1) % 6], axis=1)
    sigma, blocks = random.standard_normal((2, 4, 6, size, size))
    gradients = random.standard_normal((6, 2, 3, size, size)) / size
    return sigma, blocks, gradients, neighbours


KERNELS = (
    Kernel(
        "self_energies",
        "slices",
        self_energies,
        _ring,
        (4, 16),
        (0, 1, 2),
        adjoint=slice_adjoints.self_energies,
    ),
)
