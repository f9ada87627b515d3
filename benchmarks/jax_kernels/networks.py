"""Layers of networks, and a chain of elementwise functions."""

# pyright: reportMissingImports=false

import jax
import jax.numpy as jnp
from jax import Array, lax


def dense_layers(weights: list[Array], biases: list[Array], x: Array, target: Array) -> Array:
    for w, b in zip(weights, biases, strict=True):
        x = jnp.tanh(x @ w + b)
    return jnp.sum((x - target) ** 2) / target.size


def convolution(images: Array, weights: Array, bias: Array) -> Array:
    k = weights.shape[0]
    count, height, width, channels = images.shape

    def at(i: Array, j: Array) -> Array:
        window = lax.dynamic_slice(images, (0, i, j, 0), (count, k, k, channels))
        return jnp.sum(window[..., jnp.newaxis] * weights[jnp.newaxis], axis=(1, 2, 3))

    along = jax.vmap(at, (None, 0), 1)
    out = jax.vmap(along, (0, None), 1)(jnp.arange(height - k + 1), jnp.arange(width - k + 1))
    return jnp.sum(jnp.maximum(out + bias, 0.0))


def max_pooling(images: Array) -> Array:
    for _ in range(3):
        count, height, width, channels = images.shape
        windows = images.reshape(count, height // 2, 2, width // 2, 2, channels)
        images = jnp.max(windows, axis=(2, 4))
    return jnp.sum(images * images)


def sine_chain(x: Array) -> Array:
    x = lax.fori_loop(0, 100, lambda _, x: jnp.sin(x) * x, x)
    return jnp.sum(x)


KERNELS = {
    "dense_layers": dense_layers,
    "convolution": convolution,
    "max_pooling": max_pooling,
    "sine_chain": sine_chain,
}
