"""The kernels, one file for each family; `KERNELS` lists them all."""

from benchmarks.kernel import Kernel
from benchmarks.kernels import (
    alternating,
    bodies,
    cavity,
    chains,
    factorizations,
    histograms,
    layers,
    paths,
    products,
    recurrences,
    relaxation,
    stencils,
    tridiagonal,
    waves,
)

KERNELS: tuple[Kernel, ...] = (
    *stencils.KERNELS,
    *alternating.KERNELS,
    *waves.KERNELS,
    *cavity.KERNELS,
    *factorizations.KERNELS,
    *products.KERNELS,
    *paths.KERNELS,
    *bodies.KERNELS,
    *layers.KERNELS,
    *recurrences.KERNELS,
    *tridiagonal.KERNELS,
    *histograms.KERNELS,
    *relaxation.KERNELS,
    *chains.KERNELS,
)
