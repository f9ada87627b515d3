"""Flow in a cavity: pressure and speeds are handed from function to function."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from jax import Array, lax

Flow = tuple[Array, Array, Array]


def pressure_source(u: Array, v: Array, dt: float, dx: float) -> Array:
    du_dx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    dv_dy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dx)
    du_dy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dx)
    dv_dx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    return (du_dx + dv_dy) / dt - du_dx**2 - 2.0 * du_dy * dv_dx - dv_dy**2


def relax_pressure(p: Array, source: Array, dx: float, sweeps: int) -> Array:
    @jax.checkpoint
    def sweep(_: int, p: Array) -> Array:
        sides = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
        p = p.at[1:-1, 1:-1].set(0.25 * (sides - dx**2 * source))
        p = p.at[:, -1].set(p[:, -2])
        p = p.at[0, :].set(p[1, :])
        p = p.at[:, 0].set(p[:, 1])
        return p.at[-1, :].set(0.0)

    return lax.fori_loop(0, sweeps, sweep, p)


def advance(w: Array, u: Array, v: Array, dt: float, dx: float, viscosity: float) -> Array:
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


def cavity(u: Array, v: Array, lid: float, steps: int) -> Array:
    dx = 2.0 / (len(u) - 1)
    dt = 0.05 * dx

    @jax.checkpoint  # half the time: less is kept of each step
    def step(_: int, flow: Flow) -> Flow:
        un, vn, p = flow
        p = relax_pressure(p, pressure_source(un, vn, dt, dx), dx, 15)
        inner = advance(un, un, vn, dt, dx, 0.1)
        u = un.at[1:-1, 1:-1].set(inner - dt / (2.0 * dx) * (p[1:-1, 2:] - p[1:-1, :-2]))
        inner = advance(vn, un, vn, dt, dx, 0.1)
        v = vn.at[1:-1, 1:-1].set(inner - dt / (2.0 * dx) * (p[2:, 1:-1] - p[:-2, 1:-1]))
        u = u.at[0, :].set(0.0)
        u = u.at[:, 0].set(0.0)
        u = u.at[:, -1].set(0.0)
        u = u.at[-1, :].set(lid)
        v = v.at[0, :].set(0.0)
        v = v.at[-1, :].set(0.0)
        v = v.at[:, 0].set(0.0)
        v = v.at[:, -1].set(0.0)
        return u, v, p

    u, v, _ = lax.fori_loop(0, steps, step, (u, v, jnp.zeros_like(u)))
    return 0.5 * jnp.sum(u * u + v * v)


KERNELS = {"cavity": cavity}
