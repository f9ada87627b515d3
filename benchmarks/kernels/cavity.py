"""Flow in a square cavity under a moving lid: pressure by relaxation, then momentum."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def pressure_source(u: Array, v: Array, dt: float, dx: float) -> Array:
    """Return the inner right side of the Poisson equation that makes the flow divergence-free."""
    du_dx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    dv_dy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dx)
    du_dy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dx)
    dv_dx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    return (du_dx + dv_dy) / dt - du_dx**2 - 2.0 * du_dy * dv_dx - dv_dy**2


def relax_pressure(p: Array, source: Array, dx: float, sweeps: int) -> None:
    """Relax the pressure in place; walls have no normal gradient, the lid has pressure zero."""
    for _ in range(sweeps):
        p[1:-1, 1:-1] = 0.25 * (
            p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - dx**2 * source
        )
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def advance(w: Array, u: Array, v: Array, dt: float, dx: float, viscosity: float) -> Array:
    """Return the inner part of `w` after upwind advection by (u, v) and diffusion."""
    centre = w[1:-1, 1:-1]
    return (
        centre
        - dt / dx * u[1:-1, 1:-1] * (centre - w[1:-1, :-2])
        - dt / dx * v[1:-1, 1:-1] * (centre - w[:-2, 1:-1])
        + viscosity
        * dt
        / dx**2
        * (w[1:-1, 2:] + w[1:-1, :-2] + w[2:, 1:-1] + w[:-2, 1:-1] - 4.0 * centre)
    )


def cavity(u: Array, v: Array, lid: float, steps: int) -> float:
    """Return the kinetic energy after `steps` time steps."""
    dx = 2.0 / (len(u) - 1)
    dt = 0.05 * dx
    p = np.zeros_like(u)
    for _ in range(steps):
        relax_pressure(p, pressure_source(u, v, dt, dx), dx, 15)
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = advance(un, un, vn, dt, dx, 0.1)
        u[1:-1, 1:-1] -= dt / (2.0 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] = advance(vn, un, vn, dt, dx, 0.1)
        v[1:-1, 1:-1] -= dt / (2.0 * dx) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = lid
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0
    return 0.5 * np.sum(u * u + v * v)


def _flow(size: int) -> tuple[Array, Array, float, int]:
    u, v = 0.1 * generator().standard_normal((2, size, size))
    return u, v, 1.0, 5


KERNELS = (Kernel("cavity", "vector", cavity, _flow, (41, 201), (0, 1, 2)),)
