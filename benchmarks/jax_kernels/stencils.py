"""Stencils: the inner part of a grid is set or added to, step by step."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from jax import Array, lax

Fields = tuple[Array, Array, Array]


def jacobi_2d(u: Array, steps: int) -> Array:
    def step(_: int, u: Array) -> Array:
        mean = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        return u.at[1:-1, 1:-1].set(mean)

    u = lax.fori_loop(0, steps, step, u)
    return jnp.sum(u * u)


def heat_3d(u: Array, steps: int) -> Array:
    def step(_: int, u: Array) -> Array:
        change = 0.1 * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )
        return u.at[1:-1, 1:-1, 1:-1].add(change)

    u = lax.fori_loop(0, steps, step, u)
    return jnp.sum(u * u)


def leapfrog_waves(ez: Array, speed: Array, source: Array) -> Array:
    size = len(ez)

    def step(fields: Fields, sample: Array) -> tuple[Fields, None]:
        ez, hx, hy = fields
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]
        ez = ez.at[1:-1, 1:-1].add(speed * curl)
        ez = ez.at[size // 2, size // 3].add(sample)
        return (ez, hx, hy), None

    fields = ez, jnp.zeros((size, size - 1)), jnp.zeros((size - 1, size))
    (ez, _, _), _ = lax.scan(step, fields, source)
    return jnp.sum(ez * ez)


def upwind(u: Array, steps: int) -> Array:
    @jax.checkpoint  # a third of the time: less is kept of each step
    def step(_: int, u: Array) -> Array:
        rightwards = jnp.maximum(u[1:-1], 0.0) * (u[1:-1] - u[:-2])
        leftwards = jnp.minimum(u[1:-1], 0.0) * (u[2:] - u[1:-1])
        return u.at[1:-1].add(-0.4 * (rightwards + leftwards))

    u = lax.fori_loop(0, steps, step, u)
    return 0.5 * jnp.sum(u * u)


KERNELS = {
    "jacobi_2d": jacobi_2d,
    "heat_3d": heat_3d,
    "leapfrog_waves": leapfrog_waves,
    "upwind": upwind,
}
