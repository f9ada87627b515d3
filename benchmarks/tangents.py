"""Handwritten tangents of kernels: what forward mode could take in NumPy.

Each takes the arguments of its kernel and tangents of those that move, works in place, statement by
statement, and returns the value and its tangent.  Values that both need are computed once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def jacobi_2d(u: Array, steps: int, t_u: Array) -> tuple[float, float]:
    """Do the same with the tangent: the step is linear."""
    for _ in range(steps):
        for a in (t_u, u):
            a[1:-1, 1:-1] = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
    return np.sum(u * u), 2.0 * np.sum(u * t_u)


def leapfrog_waves(
    ez: Array, speed: Array, source: Array, t_ez: Array, t_speed: Array, t_source: Array
) -> tuple[float, float]:
    """Use the curl for both terms of the product with the speed."""
    size = len(ez)
    hx, t_hx = np.zeros((2, size, size - 1))
    hy, t_hy = np.zeros((2, size - 1, size))
    for sample, t_sample in zip(source, t_source, strict=True):
        for e, x, y in ((t_ez, t_hx, t_hy), (ez, hx, hy)):
            x -= 0.5 * (e[:, 1:] - e[:, :-1])
            y += 0.5 * (e[1:, :] - e[:-1, :])
        curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]
        t_curl = t_hy[1:, 1:-1] - t_hy[:-1, 1:-1] - t_hx[1:-1, 1:] + t_hx[1:-1, :-1]
        t_ez[1:-1, 1:-1] += t_speed * curl + speed * t_curl
        ez[1:-1, 1:-1] += speed * curl
        t_ez[size // 2, size // 3] += t_sample
        ez[size // 2, size // 3] += sample
    return np.sum(ez * ez), 2.0 * np.sum(ez * t_ez)


def dense_layers(
    weights: list[Array],
    biases: list[Array],
    x: Array,
    target: Array,
    t_weights: list[Array],
    t_biases: list[Array],
) -> tuple[float, float]:
    """Use the units for the slope of tanh."""
    t_x = np.zeros_like(x)
    for w, b, t_w, t_b in zip(weights, biases, t_weights, t_biases, strict=True):
        y = np.tanh(x @ w + b)
        t_x = (t_x @ w + x @ t_w + t_b) * (1.0 - y * y)
        x = y
    apart = x - target
    return np.sum(apart**2) / target.size, 2.0 * np.sum(apart * t_x) / target.size


def n_body(
    positions: Array,
    velocities: Array,
    masses: Array,
    steps: int,
    t_positions: Array,
    t_velocities: Array,
    t_masses: Array,
) -> tuple[float, float]:
    """Use the pull for its own tangent."""
    for _ in range(steps):
        apart = positions[None, :, :] - positions[:, None, :]
        t_apart = t_positions[None, :, :] - t_positions[:, None, :]
        squared = np.sum(apart * apart, axis=2) + 0.1
        t_squared = 2.0 * np.sum(apart * t_apart, axis=2)
        strength = 1.0 / (squared * np.sqrt(squared))
        pull = masses * strength
        t_pull = t_masses * strength - 1.5 * pull / squared * t_squared
        t_velocities += 0.01 * np.sum(
            t_pull[:, :, None] * apart + pull[:, :, None] * t_apart, axis=1
        )
        velocities += 0.01 * np.sum(pull[:, :, None] * apart, axis=1)
        t_positions += 0.01 * t_velocities
        positions += 0.01 * velocities
    squares = np.sum(velocities * velocities, axis=1)
    t_squares = 2.0 * np.sum(velocities * t_velocities, axis=1)
    return 0.5 * np.sum(masses * squares), 0.5 * np.sum(t_masses * squares + masses * t_squares)


def covariance(table: Array, t_table: Array) -> tuple[float, float]:
    """Compute the two terms of each product."""
    rows, columns = table.shape
    t_table -= np.mean(t_table, axis=0)
    table -= np.mean(table, axis=0)
    c, t_c = np.zeros((2, columns, columns))
    for i in range(columns):
        t_c[i, i:] = t_table[:, i] @ table[:, i:] + table[:, i] @ t_table[:, i:]
        c[i, i:] = table[:, i] @ table[:, i:]
        for m in (t_c, c):
            m[i, i:] /= rows - 1.0
            m[i:, i] = m[i, i:]
    return np.sum(c * c), 2.0 * np.sum(c * t_c)


def triangular_solve(a: Array, x: Array, t_a: Array, t_x: Array) -> tuple[float, float]:
    """Use the quotient for its own tangent."""
    for i in range(len(x)):
        t = t_x[i] - t_a[i, :i] @ x[:i] - a[i, :i] @ t_x[:i]
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
        t_x[i] = (t - x[i] * t_a[i, i]) / a[i, i]
    return np.sum(x * x), 2.0 * np.sum(x * t_x)


def convolution(
    images: Array, weights: Array, bias: Array, t_images: Array, t_weights: Array, t_bias: Array
) -> tuple[float, float]:
    """Sum both terms of the product at once."""
    k = weights.shape[0]
    count, height, width, _ = images.shape
    out, t_out = np.empty((2, count, height - k + 1, width - k + 1, weights.shape[3]))
    for i in range(height - k + 1):
        for j in range(width - k + 1):
            window = images[:, i : i + k, j : j + k, :, np.newaxis]
            t_window = t_images[:, i : i + k, j : j + k, :, np.newaxis]
            terms = t_window * weights[np.newaxis] + window * t_weights[np.newaxis]
            t_out[:, i, j, :] = np.sum(terms, axis=(1, 2, 3))
            out[:, i, j, :] = np.sum(window * weights[np.newaxis], axis=(1, 2, 3))
    t_out += t_bias
    out += bias
    return np.sum(np.maximum(out, 0.0)), np.sum(t_out[out > 0.0])


def prediction(r: Array, t_r: Array) -> tuple[float, float]:
    """Use the reflection for its own tangent."""
    n = len(r)
    a, t_a = np.zeros((2, n - 1))
    error, t_error = r[0], t_r[0]
    total, t_total = np.log(error), t_error / error
    for k in range(n - 1):
        back, t_back = np.flip(r[1 : k + 1]), np.flip(t_r[1 : k + 1])
        reflection = -(r[k + 1] + np.dot(back, a[:k])) / error
        t_reflection = -(
            t_r[k + 1] + np.dot(t_back, a[:k]) + np.dot(back, t_a[:k]) + reflection * t_error
        )
        t_reflection /= error
        flipped = np.flip(a[:k])
        t_a[:k] += t_reflection * flipped + reflection * np.flip(t_a[:k])
        a[:k] += reflection * flipped
        t_a[k], a[k] = t_reflection, reflection
        rest = 1.0 - reflection * reflection
        t_error = t_error * rest - 2.0 * error * reflection * t_reflection
        error *= rest
        t_total += t_error / error
        total += np.log(error)
    return total, t_total


BY_HAND: dict[str, Callable[..., tuple[Any, Any]]] = {
    f.__name__: f
    for f in (
        jacobi_2d, leapfrog_waves, dense_layers, n_body, covariance, triangular_solve, convolution,
        prediction,
    )
}  # fmt: skip
