"""Loops over numbers: the numbers of a step are carried by `lax.fori_loop`."""

# pyright: reportMissingImports=false

import jax.numpy as jnp
from jax import Array, lax

Pair = tuple[Array, Array]


def pendulum(angle: Array, speed: Array, steps: int) -> Array:
    def step(_: int, state: Pair) -> Pair:
        angle, speed = state
        speed -= 0.01 * jnp.sin(angle)
        angle += 0.01 * speed
        return angle, speed

    angle, speed = lax.fori_loop(0, steps, step, (angle, speed))
    return angle * angle + speed * speed


def reaction(u: Array, v: Array, rate: Array) -> Array:
    return jnp.where(u < 0.0, 0.0, rate * u * v / (1.0 + u))


def reactor(u: Array, v: Array, rate: Array, steps: int) -> Array:
    def step(_: int, state: Pair) -> Pair:
        u, v = state
        speed = reaction(u, v, rate)
        u += 0.01 * (1.0 - u - speed)
        v += 0.01 * (speed - 0.3 * v)
        return u, v

    u, v = lax.fori_loop(0, steps, step, (u, v))
    return u * u + v * v


def spring(place: Array, stiffness: Array, damping: Array, steps: int) -> Array:
    def step(_: int, state: Pair) -> Pair:
        place, speed = state
        force = -stiffness * jnp.sinh(place) - damping * speed
        speed += 0.01 * force
        place += 0.01 * speed
        return place, speed

    place, speed = lax.fori_loop(0, steps, step, (place, jnp.zeros_like(place)))
    return stiffness * place**2 + speed**2


def string(places: Array, speeds: Array, steps: int) -> Array:
    """Take arrays for the lists."""

    def step(_: int, state: Pair) -> Pair:
        places, speeds = state
        speeds = speeds.at[1:-1].add(0.1 * (places[:-2] - 2.0 * places[1:-1] + places[2:]))
        places = places.at[1:-1].add(0.1 * speeds[1:-1])
        return places, speeds

    places, speeds = lax.fori_loop(0, steps, step, (places, speeds))
    return jnp.sum(places * places) + jnp.sum(speeds * speeds)


KERNELS = {"pendulum": pendulum, "reactor": reactor, "spring": spring, "string": string}
