"""Factorizations: slices that shrink or grow become masks of full rows and columns."""

# pyright: reportMissingImports=false

import jax.numpy as jnp
from jax import Array, lax

from benchmarks.jax_kernels.triangles import solve_lower


def cholesky(a: Array) -> Array:
    n = len(a)
    place = jnp.arange(n)

    def step(k: int, a: Array) -> Array:
        pivot = jnp.sqrt(a[k, k])
        below = jnp.where(place > k, a[:, k] / pivot, 0.0)
        a -= jnp.outer(below, below)
        a = a.at[:, k].set(jnp.where(place > k, below, a[:, k]))
        return a.at[k, k].set(pivot)

    a = lax.fori_loop(0, n, step, a)
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(a)))


def lu(a: Array) -> Array:
    n = len(a)
    place = jnp.arange(n)

    def step(k: int, a: Array) -> Array:
        below = jnp.where(place > k, a[:, k] / a[k, k], 0.0)
        beside = jnp.where(place > k, a[k], 0.0)
        a -= below[:, None] * beside
        return a.at[:, k].set(jnp.where(place > k, below, a[:, k]))

    a = lax.fori_loop(0, n - 1, step, a)
    return jnp.sum(jnp.log(jnp.diagonal(a)))


def gram_schmidt(a: Array) -> Array:
    columns = a.shape[1]
    place = jnp.arange(columns)

    def step(a: Array, k: Array) -> tuple[Array, Array]:
        norm = jnp.sqrt(jnp.sum(a[:, k] ** 2))
        unit = a[:, k] / norm
        a = a.at[:, k].set(unit)
        return a - jnp.outer(unit, jnp.where(place > k, unit @ a, 0.0)), norm

    _, norms = lax.scan(step, a, place)
    return jnp.sum(jnp.log(norms))


def lu_by_dots(a: Array) -> Array:
    n = len(a)
    place = jnp.arange(n)

    def row(a: Array, i: Array) -> tuple[Array, None]:
        def element(j: int, row: Array) -> Array:
            before = jnp.where((place < j) & (place < i), row, 0.0)
            value = row[j] - before @ a[:, j]
            return row.at[j].set(jnp.where(j < i, value / a[j, j], value))

        return a.at[i].set(lax.fori_loop(0, n, element, a[i])), None

    a, _ = lax.scan(row, a, place)
    return jnp.sum(jnp.log(jnp.diagonal(a)))


def gaussian_likelihood(covariance: Array, x: Array) -> Array:
    factor = factor_of_lower(covariance)
    x = solve_lower(factor, x)
    return -0.5 * jnp.dot(x, x) - jnp.sum(jnp.log(jnp.diagonal(factor)))


def in_place_factor(a: Array) -> Array:
    a = factor_of_lower(a) + jnp.triu(a, k=1)
    return jnp.sum(a * a)


def factor_of_lower(a: Array) -> Array:
    """Read the lower triangle only, as NumPy does: JAX reads both, and averages."""
    return jnp.linalg.cholesky(jnp.tril(a) + jnp.tril(a, -1).T)


KERNELS = {
    "cholesky": cholesky,
    "lu": lu,
    "gram_schmidt": gram_schmidt,
    "lu_by_dots": lu_by_dots,
    "gaussian_likelihood": gaussian_likelihood,
    "in_place_factor": in_place_factor,
}
