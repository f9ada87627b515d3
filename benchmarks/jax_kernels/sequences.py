"""Recurrences: what is carried is the element before, and results are collected by `lax.scan`."""

# pyright: reportMissingImports=false

import jax.numpy as jnp
from jax import Array, lax

Pair = tuple[Array, Array]
Three = tuple[Array, Array, Array]


def recurrence(x: Array, decay: Array) -> Array:
    def step(before: Array, now: Pair) -> Pair:
        added, factor = now
        after = added + factor * before
        return after, after

    _, rest = lax.scan(step, x[0], (x[1:], decay[1:]))
    return jnp.sum(x[0] * x[0]) + jnp.sum(rest * rest)


def prefix_doubling(x: Array) -> Array:
    for _ in range(5):
        shift = 1
        while shift < len(x):
            # A fifth of the time of x.at[shift:].add(x[:-shift]).
            x = jnp.concatenate([x[:shift], x[shift:] + x[:-shift]])
            shift *= 2
        x *= 1.0 / len(x)
        x += 1.0
    return jnp.sum(x * x)


def thomas(lower: Array, diagonal: Array, upper: Array, right: Array) -> Array:
    def eliminate(before: Pair, row: tuple[Array, ...]) -> tuple[Pair, Pair]:
        pivot, value = before
        below, here, above, right = row
        factor = below / pivot
        now = here - factor * above, right - factor * value
        return now, now

    def substitute(after: Array, row: Three) -> Pair:
        pivot, above, value = row
        now = (value - above * after) / pivot
        return now, now

    first = diagonal[0], right[0]
    last, rows = lax.scan(eliminate, first, (lower[1:], diagonal[1:], upper[:-1], right[1:]))
    pivots = jnp.concatenate([first[0][None], rows[0][:-1]])
    values = jnp.concatenate([first[1][None], rows[1][:-1]])
    end = last[1] / last[0]
    _, x = lax.scan(substitute, end, (pivots, upper[:-1], values), reverse=True)
    return jnp.sum(x * x) + jnp.sum(end * end)


def prediction(r: Array) -> Array:
    n = len(r)
    place = jnp.arange(n - 1)

    def step(k: int, carried: Three) -> Three:
        a, error, total = carried
        flipped_r = jnp.where(place < k, r[k - place], 0.0)
        reflection = -(r[k + 1] + jnp.dot(flipped_r, a)) / error
        flipped = jnp.where(place < k, a[k - 1 - place], 0.0)
        a = (a + reflection * flipped).at[k].set(reflection)
        error *= 1.0 - reflection * reflection
        return a, error, total + jnp.log(error)

    start = jnp.zeros(n - 1), r[0], jnp.log(r[0])
    return lax.fori_loop(0, n - 1, step, start)[2]


KERNELS = {
    "recurrence": recurrence,
    "recurrence_rows": recurrence,
    "prefix_doubling": prefix_doubling,
    "thomas": thomas,
    "thomas_many": thomas,
    "prediction": prediction,
}
