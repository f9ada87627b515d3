"""Triangular and symmetric matrices: dots of growing slices become dots of masked rows."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from jax import Array, lax


def triangular_product(a: Array, b: Array) -> Array:
    def row(i: Array, below: Array, here: Array) -> Array:
        return 1.5 * (here + jnp.where(place > i, below, 0.0) @ b)

    # The rows that a row reads are those that have not been written: rows may go at once.
    place = jnp.arange(len(b))
    b = jax.vmap(row)(place, a.T, b)
    return jnp.sum(b * b)


def solve_lower(a: Array, x: Array) -> Array:
    """Solve with the lower triangle of a, row by row; unknowns not solved for yet are zero."""

    @jax.checkpoint  # half the time: less is kept of each step
    def step(solved: Array, row: tuple[Array, ...]) -> tuple[Array, None]:
        i, factors, right = row
        return solved.at[i].set((right - factors @ solved) / factors[i]), None

    return lax.scan(step, jnp.zeros_like(x), (jnp.arange(len(x)), a, x))[0]


def triangular_solve(a: Array, x: Array) -> Array:
    x = solve_lower(a, x)
    return jnp.sum(x * x)


def symmetric_product(a: Array, b: Array, c: Array) -> Array:
    rows = len(b)
    place = jnp.arange(rows)

    def step(i: int, c: Array) -> Array:
        before = jnp.where(place < i, a[i], 0.0)
        c += 1.5 * jnp.outer(before, b[i])
        return c.at[i].add(1.5 * b[i] * a[i, i] + 1.5 * (before @ b))

    c = lax.fori_loop(0, rows, step, 1.2 * c)
    return jnp.sum(c * c)


def symmetric_rank_k(c: Array, a: Array) -> Array:
    def row(i: Array, c: Array, here: Array) -> Array:
        new = 0.5 * c
        for k in range(a.shape[1]):
            new += 1.5 * here[k] * a[:, k]
        return jnp.where(place <= i, new, c)

    place = jnp.arange(len(a))
    c = jax.vmap(row)(place, c, a)
    return jnp.sum(c * c)


def symmetric_rank_2k(c: Array, a: Array, b: Array) -> Array:
    def row(i: Array, c: Array, a_here: Array, b_here: Array) -> Array:
        new = 0.5 * c
        for k in range(a.shape[1]):
            new += a[:, k] * (1.5 * b_here[k]) + b[:, k] * (1.5 * a_here[k])
        return jnp.where(place <= i, new, c)

    place = jnp.arange(len(a))
    c = jax.vmap(row)(place, c, a, b)
    return jnp.sum(c * c)


KERNELS = {
    "triangular_product": triangular_product,
    "triangular_solve": triangular_solve,
    "symmetric_product": symmetric_product,
    "symmetric_rank_k": symmetric_rank_k,
    "symmetric_rank_2k": symmetric_rank_2k,
}
