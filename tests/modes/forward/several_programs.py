"""Programs of an array and a number: which carry several tangents in one run, and which do not."""

from __future__ import annotations

import math

import numpy as np

from mooncake_py import grad
from tests.modes.forward.test_values import Point

__all__ = ["ONE_BY_ONE", "TOGETHER", "arithmetic", "loops", "views"]

# In one run.


def arithmetic(a, s):
    b = a * a - a / (2.0 + a * a) + s * a - a / s + (-a) + 1 / (3 - a)
    t = s * s + 2.0 / s - s**3 + abs(s) * math.exp(-s)
    return b * t, t, t * 2


def broadcasting(a, s):
    row, column = a[0], a[:, :1]
    return row * column + s, column - row, (row + column) / a, row * 2.0 + np.ones((4, 3))


def broadcasting_of_constants(a, s):
    return np.ones((3, 1)) * a[0], np.arange(3) * s, a[0] + np.zeros((2, 1)), s + np.ones((2, 2))


def layouts(a, s):
    b = a.T * 2.0
    c = np.asfortranarray(a) * s
    d = b[::-1, 1] + c[1, ::2][0]
    c[0] += d
    return b, c, c.T @ b.T, b.ravel(), np.array(a.T, order="F")


def views(a, s):
    b = a.copy()
    v = b[::-1, ::2]
    v *= s
    v[0] -= b[0, 1]
    w = b.reshape(3, 2).T[1:]
    w /= 2.0
    flat = b.ravel()
    flat[1:3] = b[1, :2]
    c = b[None, :, 1]
    return b, v, w, c, b.diagonal(), b.sum(axis=0)


def elements(a, s):
    b = np.zeros((2, 3))
    b[0, 0] = a[1, 2] * s
    b[1] = a[0]
    b[:, 1] = s
    b[0] += a[1]
    b[1, -1] *= a[0, 0]
    b[0, 1:] -= 1.0
    before, part = b[0, 2] * 1.0, b[0, 2]
    b[1, 0] = 2.0
    b[0, 2] = 7.0
    return b, b[0, 0], b[np.int64(1), 0], before, part


def index_arrays(a, s):
    b = a * s
    i = np.array([1, 0, 1])
    b[:, i] = a + 1.0
    c = b[i] * b[[0, 1, 1], [2, 0, 2]]
    b[b > 0.5] = s
    b[i[:2] > 0, 0] *= 2.0
    b[0, [True, False, True]] = a[0, :2]
    d = np.stack([b, b])[:, 0, i]
    d[[0, 1], [0, 2]] = s
    return b, c, d, b[b > 0.7], b[1, np.array(2)]


def repeated_index(a, s):
    b = np.zeros(4)
    b[np.array([1, 1, 2])] = a[0]
    b[[2, 2]] += s
    np.add.at(b, [0, 0, 3], a[1])
    return b


def in_place(a, s):
    a += a
    a *= s
    a -= a[0]
    a /= 1.0 + a * a
    a **= 2
    s += 1.0
    s *= a[0, 0]
    a[1] **= 2
    return a, s


def functions(a, s):
    b = np.sin(a) * np.hypot(a, s) + np.where(a > 0, a, s * a) + np.maximum(a, s * 0.1)
    c = np.concatenate([a, b], axis=1)
    d = np.mean(c, axis=0) + np.cumsum(c, axis=1)[1] + np.einsum("ij,ij->j", c, c)
    e = np.linalg.inv(a @ a.T + np.eye(2))
    return b, d, e, np.sort(a, axis=1), np.linalg.norm(a), np.prod(a), math.hypot(s, s), a.max()


def reductions(a, s):
    b = a * s
    c = b[:, :, None] * a[0]
    return (
        np.sum(b), b.sum(axis=1), np.mean(b, axis=0, keepdims=True), b.mean(keepdims=True),
        c.sum(axis=(0, -1)), np.sum(c, axis=(-2, 0)), np.sum(c, -1), np.sum(b.T, axis=0),
        np.sum(b, initial=2.0), np.sum(b, where=a > 0, axis=1), np.sum(s), np.sum(b[0, 0]),
        np.mean(a[:1], axis=-2), np.sum(a.astype(np.float32), axis=0), np.sum(c, axis=()),
        np.sum(s, axis=0), np.sum(s, axis=-1),
    )  # fmt: skip


def products(a, s):
    b, v, w = a.T * s, a[0], a[:, 1] * s
    ones = np.ones((3, 2))
    return (
        a @ b, a @ v, w @ a, v @ v, w @ w, np.dot(b, a), np.dot(v, b), a.dot(v), ones @ a,
        a @ ones, np.ones(3) @ v, ones @ w, w @ np.ones((2, 3)), np.dot(a, s), np.matmul(b.T, b),
        np.stack([a, a]) @ b, np.array([1, 2]) @ a, a @ np.array([1, 2, 3]), a.T[::-1] @ a,
    )  # fmt: skip


def sequences(a, s):
    t = a[0, 0] * s
    return (
        np.array([s, 2.0, t]), np.array([[s, 1.0], [2.0, t]]), np.array([a[0], np.ones(3), a[1]]),
        np.array([s, 1], dtype=np.float32), np.array([t * 1j, 2.0]),
        np.array([[s], [t]], order="F"), np.array([np.array(s), t]), np.array([np.array(1.0), t]),
        np.array([t, 3], ndmin=2), np.asarray([s, t]),
    )  # fmt: skip


def joined(a, s):
    return np.concatenate([a, np.ones((1, 3)), a * s]), np.stack([a[0], [1.0, s, 2.0]], axis=1)


def choices(a, s):
    return np.where(a > 0, a, s), np.maximum(a, 0.2), np.clip(a, -0.5, s), np.abs(a), np.fmin(a, s)


def output_arguments(a, s):
    b = np.empty((2, 3))
    np.multiply(a, s, out=b)
    np.add(b, a, b)
    np.exp(b, out=b)
    np.sum(a * s, axis=0, out=b[0])
    return b


def masked_output(a, s):
    b = np.ones((2, 3))
    np.divide(a, s, out=b, where=a > 0)
    return b


def repeated(a, s):
    b = a
    for _ in range(4):
        b = b * s + a
    return b


def precision(a, s):
    b = a.astype(np.float32)
    c = b * np.float32(2) + b[0]
    c *= s
    return c, c[0, 0], b.sum(), a * np.ones(3, np.float32)


def complex_numbers(a, s):
    z = a * 1j + s
    z *= 1 + 2j
    w = z[0, 0] * s
    return z * z, abs(z), w, w.real, np.conj(z), np.abs(w)


def whole_numbers(a, s):
    n = np.zeros((2, 3), int)
    n[...] = a * 10
    return n * a, np.floor(a), a > 0, round(s), a * np.array([1, 2, 3])


def without_axes(a, s):
    z = np.array(s * 2.0)
    z += a[0, 0]
    z *= s
    z[...] = z * z
    return z, z + a, np.sum(a) * z


def containers(a, s):
    held = {"a": [a[0], s], "p": Point(s * 2, "name", (a,))}
    held["a"].append(a[1] * s)
    held["a"][1] *= 3.0
    held["p"].x += a[0, 0]
    return held, [s, 2, "text"], None


def not_finite(a, s):
    zero = a * 0.0
    with np.errstate(all="ignore"):
        return np.sqrt(zero), zero / zero, a / zero, np.log(zero) * a, np.float64(s) / zero[0, 0]


def calls(a, s):
    def inner(u, *, v=2.0):
        return u * v, u + s

    total = np.zeros(3)
    for row in a:
        u, v = inner(row, v=s)
        total = total + u * v
    return total, sum(list(a[0])), max(s, a[0, 0]), [x * s for x in a[0]]


def shapes_in_place(a, s):
    b = a * s
    b.shape = (3, 2)
    return b * 2.0


def own_memory(a, s):
    w = np.lib.stride_tricks.sliding_window_view(a[0], 2)
    return w * s, np.broadcast_to(a[0], (2, 3)) * a, np.triu(a), np.diag(a[:, :2]), a.T.copy()


TOGETHER = [
    arithmetic, broadcasting, broadcasting_of_constants, layouts, views, elements, index_arrays,
    repeated_index, in_place, functions, reductions, products, sequences, joined, choices,
    output_arguments, precision, complex_numbers, whole_numbers, without_axes, containers,
    not_finite, calls, own_memory, masked_output, repeated,
]  # fmt: skip


# One run for each direction.


def loops(a, s):
    for i in range(2):
        for j in range(1, 3):
            a[i, j] = a[i, j - 1] * s + a[i, j]
    return a


def loops_over_lists(a, s):
    held = [a[0, 0], s, a[1, 1] * s]
    for _ in range(20):
        for i in range(1, 3):
            held[i] = held[i] * 0.5 + held[i - 1]
    return held, a * held[2]


def inner_gradient(a, s):
    b = a * s
    g = grad(lambda b: np.sum(b**3) * s)(b)
    return b * g


def late_loop(a, s):
    v = (a * s)[:, ::2]
    column, number = a[:, 1] * s, s * s
    loops(a, s)
    v *= number
    return a, v, column * number, number


def numbers_from_before(a, s):
    u, v, w = a[0, 0] * s, a[0, 1] * s, s * s
    loops(a, s)
    nodes = np.array([0.0, w])
    return [
        np.hypot(u, v), np.exp(u), u * a[0], np.multiply(u, a), np.subtract(a, v), -u, abs(v),
        sum([u, v, w]), np.array([u, 2.0, v]), np.clip(v, u, w), np.maximum(u, v), u**w,
        math.sin(u), np.interp(u, nodes, [v, w]), np.linalg.norm([u, v]), float(u), a,
    ]  # fmt: skip


def matrix_and_number(a, s):
    m = np.asmatrix(a[0])
    u = a[0, 0] * s
    first = [np.asarray(f(u, m)) for f in (np.multiply, np.add, np.hypot, np.maximum)]
    return [np.asarray(u * m), np.asarray(m / u), *first]


ONE_BY_ONE = [
    loops, loops_over_lists, inner_gradient, late_loop, shapes_in_place, numbers_from_before,
    matrix_and_number,
]  # fmt: skip
