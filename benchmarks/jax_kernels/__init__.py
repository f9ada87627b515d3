"""The kernels, rewritten manually for JAX, one file for each kind of rewriting.

Each computes the same value as the kernel of the same name, in the way that the documentation of
JAX shows: writes become `.at[].set` and `.at[].add`, loops `lax.fori_loop` or `lax.scan` that
carry what they change and no more, slices that grow become masks, and loops whose passes do not
depend on each other `vmap`, a reshape or one scatter.  Loops of a few passes are left to be
unrolled.  Where several ways were tried, the fastest is here; the algorithm stays that of the
kernel: a factorization is not replaced by a call.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.jax_kernels import (
    cavity,
    factorizations,
    networks,
    numbers,
    particles,
    sequences,
    stencils,
    sweeps,
    tables,
    triangles,
)

JAX_KERNELS: dict[str, Callable[..., Any]] = {
    **stencils.KERNELS,
    **cavity.KERNELS,
    **sweeps.KERNELS,
    **factorizations.KERNELS,
    **triangles.KERNELS,
    **tables.KERNELS,
    **sequences.KERNELS,
    **particles.KERNELS,
    **networks.KERNELS,
    **numbers.KERNELS,
}
