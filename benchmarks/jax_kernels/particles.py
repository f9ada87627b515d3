"""Bodies and particles, and points of a plane: masks are choices by `jnp.where`."""

# pyright: reportMissingImports=false

import jax.numpy as jnp
from jax import Array, lax

Pair = tuple[Array, Array]
_CELLS = 64


def n_body(positions: Array, velocities: Array, masses: Array, steps: int) -> Array:
    def step(_: int, state: Pair) -> Pair:
        positions, velocities = state
        apart = positions[None, :, :] - positions[:, None, :]
        squared = jnp.sum(apart * apart, axis=2) + 0.1
        pull = masses / (squared * jnp.sqrt(squared))
        velocities += 0.01 * jnp.sum(pull[:, :, None] * apart, axis=1)
        positions += 0.01 * velocities
        return positions, velocities

    _, velocities = lax.fori_loop(0, steps, step, (positions, velocities))
    return 0.5 * jnp.sum(masses * jnp.sum(velocities * velocities, axis=1))


def masked_bodies(positions: Array, velocities: Array, masses: Array, steps: int) -> Array:
    def step(_: int, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        positions, velocities, force = state
        velocities += 0.005 * force
        positions += 0.01 * velocities
        force = attraction(positions, masses)
        velocities += 0.005 * force
        return positions, velocities, force

    state = positions, velocities, attraction(positions, masses)
    _, velocities, _ = lax.fori_loop(0, steps, step, state)
    return 0.5 * jnp.sum(masses[:, None] * velocities**2)


def attraction(positions: Array, masses: Array) -> Array:
    x, y, z = positions[:, 0:1], positions[:, 1:2], positions[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    pull = dx**2 + dy**2 + dz**2
    apart = pull > 0.01
    # Chosen twice: an infinite slope times zero would be nan.
    pull = jnp.where(apart, jnp.where(apart, pull, 1.0) ** -1.5, 0.0)
    return jnp.stack([(pull * d) @ masses for d in (dx, dy, dz)], axis=1)


def deposit(x: Array, weights: Array) -> Array:
    density = jnp.zeros(_CELLS)
    cell = jnp.floor(x).astype(jnp.int64)
    share = x - cell
    density = density.at[cell].add(weights * (1.0 - share))
    density = density.at[cell + 1].add(weights * share)
    return jnp.sum(density * density)


def mandelbrot(re: Array, im: Array, steps: int) -> Array:
    c = re + 1j * im[:, None]
    z = jnp.zeros_like(c)
    for _ in range(steps):
        z = jnp.where(jnp.abs(z) < 2.0, z**2 + c, z)
    return jnp.sum(jnp.log1p(jnp.abs(z) ** 2))


KERNELS = {
    "n_body": n_body,
    "masked_bodies": masked_bodies,
    "deposit": deposit,
    "deposit_loop": deposit,
    "mandelbrot": mandelbrot,
}
