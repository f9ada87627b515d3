"""Images, filters, splines and rays, in place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
draw = np.random.default_rng(5).uniform
IMAGE = draw(0, 1, (6, 6))


@programs(IMAGE, draw(-1, 1, (3, 3)))
def convolution_by_shifts(image, kernel):
    out = np.zeros((4, 4))
    for i in range(3):
        for j in range(3):
            out += kernel[i, j] * image[i : i + 4, j : j + 4]
    np.maximum(out, 0, out=out)
    return np.sum(out**2)


@programs(IMAGE, draw(-1, 1, (3, 3)))
def convolution_by_windows(image, kernel):
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    before = np.einsum("ijkl,kl->ij", windows, kernel)
    image[2:4] *= 0.5
    after = (windows * kernel).sum(axis=(2, 3))
    return np.sum(before * after)


@programs(IMAGE)
def median_filter(image):
    out = image.copy()
    for i in range(1, 5):
        for j in range(1, 5):
            out[i, j] = np.median(image[i - 1 : i + 2, j - 1 : j + 2])
    image -= 0.3 * out
    return np.sum(image**2)


@programs(IMAGE)
def integral_image(image):
    table = np.zeros((7, 7))
    np.cumsum(image, axis=0, out=table[1:, 1:])
    np.cumsum(table[1:, 1:], axis=1, out=table[1:, 1:])
    boxes = table[3:, 3:] - table[:-3, 3:] - table[3:, :-3] + table[:-3, :-3]
    return np.sum(boxes**2)


@programs(IMAGE)
def bilateral_filter(image):
    padded = np.pad(image, 1, mode="edge")
    total, weight = np.zeros_like(image), np.zeros_like(image)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            shifted = padded[1 + dy : 7 + dy, 1 + dx : 7 + dx]
            w = np.exp(-((shifted - image) ** 2) - 0.5 * (dx * dx + dy * dy))
            total += w * shifted
            weight += w
    return np.sum((total / weight) ** 2)


@programs(IMAGE)
def sobel_and_harris(image):
    gx, gy = np.zeros_like(image), np.zeros_like(image)
    gx[1:-1, 1:-1] = image[1:-1, 2:] - image[1:-1, :-2]
    gy[1:-1, 1:-1] = image[2:, 1:-1] - image[:-2, 1:-1]
    a, b, c = gx * gx, gx * gy, gy * gy
    for m in (a, b, c):
        m[1:-1] = (m[:-2] + m[1:-1] + m[2:]) / 3
    return np.sum(a * c - b * b - 0.05 * (a + c) ** 2)


@programs(draw(-1, 1, 8))
def haar_wavelets_in_place(x):
    n = len(x)
    scratch = np.empty(n)
    while n > 1:
        half = n // 2
        scratch[:half] = (x[:n:2] + x[1:n:2]) / np.sqrt(2)
        scratch[half:n] = (x[:n:2] - x[1:n:2]) / np.sqrt(2)
        x[:n] = scratch[:n]
        n = half
    x[np.abs(x) < 0.2] *= 0.1
    return np.sum(x**3)


@programs(draw(-1, 1, 8))
def lifting_scheme(x):
    even, odd = x[::2], x[1::2]
    odd -= 0.5 * (even + np.roll(even, -1))
    even += 0.25 * (odd + np.roll(odd, 1))
    x[::2] *= 1.2
    return np.sum(even**3) + np.sum(odd * x[::-2])


@programs(draw(-1, 1, 10), np.array([0.2, 0.3, 0.1]), np.array([-0.5, 0.2]))
def recursive_filter(x, b, a):
    y = np.zeros_like(x)
    state = np.zeros(2)
    for n in range(len(x)):
        y[n] = b[0] * x[n] + state[0]
        state[0] = b[1] * x[n] - a[0] * y[n] + state[1]
        state[1] = b[2] * x[n] - a[1] * y[n]
    return np.sum(y**2)


@programs(IMAGE)
def smooth_game_of_life(cells):
    for _ in range(3):
        neighbours = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)
                         if (i, j) != (0, 0))  # fmt: skip
        birth = np.exp(-2 * (neighbours - 3) ** 2)
        stay = np.exp(-((neighbours - 2.5) ** 2))
        cells[...] = birth * (1 - cells) + stay * cells
    return np.sum(cells**2)


@programs(draw(-1, 1, 6), 0.43)
def de_boor(coefficients, t):
    degree, knots = 3, np.array([0, 0, 0, 0, 0.3, 0.6, 1, 1, 1, 1.0])
    k = np.searchsorted(knots, t, side="right") - 1
    d = [coefficients[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            low = knots[j + k - degree]
            alpha = (t - low) / (knots[j + 1 + k - r] - low)
            d[j] = (1 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree] ** 2


@programs(np.array([0.0, 0.3, 0.5, 0.9, 1.1, 1.4]), draw(-1, 1, 6))
def natural_cubic_spline(x, y):
    n = len(x)
    h = np.diff(x)
    a = np.zeros((n, n))
    a[0, 0] = a[-1, -1] = 1.0
    rhs = np.zeros(n)
    for i in range(1, n - 1):
        a[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = np.linalg.solve(a, rhs)
    b = np.diff(y) / h - h * (2 * c[:-1] + c[1:]) / 3
    s = 0.3 * h
    return np.sum((y[:-1] + s * (b + s * c[:-1])) ** 2) * 1e-2


@programs(np.array([0.1, 0.2, -2.0]), np.array([0.0, 0.1, 1.0]))
def ray_marching(origin, direction):
    direction /= np.sqrt(np.sum(direction**2))
    point = origin.copy()
    travelled = 0.0
    for _ in range(12):
        distance = np.linalg.norm(point) - 0.8
        if distance < 1e-3:
            break
        point += distance * direction
        travelled += distance
    return travelled + point @ direction


@programs(IMAGE, draw(0, 0.4, (2, 4)))
def bilinear_warp(image, offsets):
    y, x = np.mgrid[1:5:1, 1:5:1].astype(float)
    y += offsets[0][:, None]
    x += offsets[1]
    i, j = np.floor(y).astype(int), np.floor(x).astype(int)
    fy, fx = y - i, x - j
    warped = ((1 - fy) * (1 - fx) * image[i, j] + fy * (1 - fx) * image[i + 1, j]
              + (1 - fy) * fx * image[i, j + 1] + fy * fx * image[i + 1, j + 1])  # fmt: skip
    image[i, j] -= 0.1 * warped
    return np.sum(warped**2) + np.sum(image**2)


@programs(draw(0, 1, 12))
def soft_histogram(values):
    centres = np.linspace(0, 1, 4)
    counts = np.zeros(4)
    for v in values:
        w = np.exp(-20 * (v - centres) ** 2)
        counts += w / w.sum()
    p = counts / len(values)
    return -np.sum(p * np.log(p))


@programs(IMAGE)
def total_variation_descent(image):
    noisy = image.copy()
    grad = np.empty_like(image)
    for _ in range(4):
        grad.fill(0)
        for axis in (0, 1):
            d = np.diff(image, axis=axis)
            g = d / np.sqrt(d * d + 0.01)
            head, tail = [slice(None)] * 2, [slice(None)] * 2
            head[axis], tail[axis] = slice(1, None), slice(None, -1)
            grad[tuple(head)] += g
            grad[tuple(tail)] -= g
        image -= 0.05 * (image - noisy + 0.3 * grad)
    return np.sum(image**2)


@programs(IMAGE, draw(0.5, 1, 6))
def error_diffusion_made_smooth(image, levels):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            old = image[y, x]
            image[y, x] = 0.5 + 0.5 * np.tanh(3 * (old - 0.5) * levels[x])
            error = old - image[y, x]
            if x + 1 < w:
                image[y, x + 1] += error * 7 / 16
            if y + 1 < h:
                image[y + 1, max(x - 1, 0) : x + 2] += error * 3 / 16
    return np.sum(image**2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
