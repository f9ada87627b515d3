"""Tables, graphs and sparse matrices: rows that do not depend on each other go at once."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from jax import Array, lax


def covariance(table: Array) -> Array:
    rows, columns = table.shape
    table -= jnp.mean(table, axis=0)
    place = jnp.arange(columns)

    def row(i: Array, column: Array) -> Array:
        return jnp.where(place >= i, column @ table, 0.0) / (rows - 1.0)

    upper = jax.vmap(row)(place, table.T)
    c = upper + jnp.triu(upper, 1).T
    return jnp.sum(c * c)


def correlation(table: Array) -> Array:
    rows, columns = table.shape
    spread = jnp.std(table, axis=0)
    spread = jnp.where(spread < 1e-6, 1.0, spread)
    table -= jnp.mean(table, axis=0)
    table /= jnp.sqrt(rows) * spread
    place = jnp.arange(columns)

    def row(i: Array, column: Array) -> Array:
        return jnp.where(place > i, column @ table, 0.0)

    upper = jax.vmap(row)(place, table.T)
    c = jnp.eye(columns) + upper + upper.T
    return jnp.sum(c * c)


def shortest_paths(d: Array) -> Array:
    def through(k: int, d: Array) -> Array:
        # Not jnp.minimum, whose gradient halves at ties and takes up to eight times as long.
        way = d[:, k, None] + d[k]
        return jnp.where(way < d, way, d)

    return jnp.sum(lax.fori_loop(0, len(d), through, d))


def sparse_rows(data: Array, columns: Array, starts: Array, x: Array) -> Array:
    rows = jnp.searchsorted(starts, jnp.arange(len(data)), side="right") - 1
    for _ in range(2):
        products = data * x[columns]
        x = jax.ops.segment_sum(products, rows, len(x), indices_are_sorted=True)
    return jnp.sum(x * x)


def self_energies(sigma: Array, blocks: Array, gradients: Array, neighbours: Array) -> Array:
    for energy in range(len(blocks)):
        for shift in range(1, 3):
            if energy >= shift:
                there = blocks[energy - shift, neighbours]
                for axis in range(3):
                    left = gradients[:, :, axis] @ there
                    right = gradients[:, :, 2 - axis] / shift
                    sigma = sigma.at[energy].add(jnp.sum(left @ right, axis=1))
    return jnp.sum(sigma * sigma)


KERNELS = {
    "covariance": covariance,
    "correlation": correlation,
    "shortest_paths": shortest_paths,
    "sparse_rows": sparse_rows,
    "self_energies": self_energies,
}
