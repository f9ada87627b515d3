"""Sweeps over a grid: what is carried is the row, column or point before, not the grid."""

# pyright: reportMissingImports=false

import jax.numpy as jnp
from jax import Array, lax

Pair = tuple[Array, Array]


def alternating_directions(u: Array, steps: int) -> Array:
    half = u
    for _ in range(steps):
        # Implicit along the second axis, explicit along the first.
        right = u[1:-1] + 0.4 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        inner = _implicit(right[:, 1:-1].T, u[1:-1, 0], half[1:-1, -1]).T
        half = half.at[1:-1, 1:-1].set(inner)
        # Implicit along the first axis, explicit along the second.
        right = half[:, 1:-1] + 0.4 * (half[:, 2:] - 2.0 * half[:, 1:-1] + half[:, :-2])
        u = u.at[1:-1, 1:-1].set(_implicit(right[1:-1], half[0, 1:-1], u[-1, 1:-1]))
    return jnp.sum(u * u)


def _implicit(right: Array, first: Array, last: Array) -> Array:
    """Eliminate forwards along the first axis, and substitute backwards."""
    r = 0.4

    def eliminate(before: Pair, right: Array) -> tuple[Pair, Pair]:
        p, q = before
        pivot = 1.0 + 2.0 * r - r * p
        now = r / pivot, (right + r * q) / pivot
        return now, now

    def substitute(after: Array, factors: Pair) -> Pair:
        p, q = factors
        now = p * after + q
        return now, now

    _, factors = lax.scan(eliminate, (jnp.zeros_like(first), first), right)
    return lax.scan(substitute, last, factors, reverse=True)[1]


def gauss_seidel(u: Array, sweeps: int) -> Array:
    def row(above: Array, old: Pair) -> Pair:
        here, below = old

        def point(left: Array, others: Array) -> Pair:
            new = 0.25 * (left + others)
            return new, new

        _, inner = lax.scan(point, here[0], above[1:-1] + below[1:-1] + here[2:])
        here = here.at[1:-1].set(inner)
        return here, here

    for _ in range(sweeps):
        u = u.at[1:-1].set(lax.scan(row, u[0], (u[1:-1], u[2:]))[1])
    return jnp.sum(u * u)


def seidel_rows(u: Array, sweeps: int) -> Array:
    def row(above: Array, old: Pair) -> Pair:
        here, below = old

        def point(left: Array, others: Array) -> Pair:
            new = (left + others) / 9.0
            return new, new

        here = here.at[1:-1].add(above[:-2] + above[1:-1] + above[2:])
        here = here.at[1:-1].add(here[2:] + below[:-2] + below[1:-1] + below[2:])
        here = here.at[1:-1].set(lax.scan(point, here[0], here[1:-1])[1])
        return here, here

    for _ in range(sweeps):
        u = u.at[1:-1].set(lax.scan(row, u[0], (u[1:-1], u[2:]))[1])
    return jnp.sum(u * u)


KERNELS = {
    "alternating_directions": alternating_directions,
    "gauss_seidel": gauss_seidel,
    "seidel_rows": seidel_rows,
}
