"""Linear algebra in plain NumPy: factorisations, solvers and eigenvalues, in place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
draw = np.random.default_rng(1).uniform
A = draw(-1, 1, (5, 5)) + 3 * np.eye(5)
S = A @ A.T / 5
B = draw(-1, 1, 5)


@programs(A, B, rests=True)
def lu_with_pivoting(a, b):
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
            b[i] -= a[i, k] * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return np.sum(b * b) + a[2, 3]


@programs(np.array([[1e-3, 1.0, 2.0], [3.0, 0.1, 0.4], [1.0, 5.0, 0.2]]))
def determinant_by_elimination_with_row_swaps(a):
    sign, n = 1.0, len(a)
    for k in range(n):
        p = k + int(np.argmax(abs(a[k:, k])))
        if p != k:
            a[k], a[p] = a[p].copy(), a[k].copy()
            sign = -sign
        a[k + 1 :] -= np.outer(a[k + 1 :, k] / a[k, k], a[k])
    return sign * np.prod(np.diag(a))


@programs(S)
def cholesky_in_place(a):
    n = a.shape[0]
    for j in range(n):
        a[j, j] = math.sqrt(a[j, j] - np.dot(a[j, :j], a[j, :j]))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[j, j + 1 :] = 0.0
    return np.sum(np.log(np.diag(a))) + np.sum(a)


@programs(S)
def ldl(a):
    n = len(a)
    low, d = np.eye(n), np.zeros(n)
    for j in range(n):
        d[j] = a[j, j] - np.sum(low[j, :j] ** 2 * d[:j])
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - (low[i, :j] * low[j, :j]) @ d[:j]) / d[j]
    return np.sum(d**2) + np.sum(low**3)


@programs(A, B)
def householder_qr_solve(a, b):
    n = len(b)
    for k in range(n):
        v = a[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        a[k:, k:] -= 2.0 * np.outer(v, v @ a[k:, k:])
        b[k:] -= 2.0 * v * (v @ b[k:])
    x = np.empty(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - np.sum(a[i, i + 1 :] * x[i + 1 :])) / a[i, i]
    return np.sum(x**2)


@programs(A)
def givens_qr(a):
    m, n = a.shape
    q = np.eye(m)
    for j in range(n):
        for i in range(m - 1, j, -1):
            r = np.hypot(a[i - 1, j], a[i, j])
            c, s = a[i - 1, j] / r, a[i, j] / r
            g = np.array([[c, s], [-s, c]])
            a[i - 1 : i + 1, j:] = g @ a[i - 1 : i + 1, j:]
            q[:, i - 1 : i + 1] = q[:, i - 1 : i + 1] @ g.T
    return np.sum(np.triu(a) ** 3) + q[0, 1]


@programs(A)
def modified_gram_schmidt(a):
    n = a.shape[1]
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.sum(a[:, k] ** 2))
        a[:, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = a[:, k] @ a[:, j]
            a[:, j] -= a[:, k] * r[k, j]
    return np.sum(r * r * r) + a[0, 0]


@programs(S, B)
def conjugate_gradients(a, b):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    for _ in range(3):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        old, rs = rs, r @ r
        p *= rs / old
        p += r
    return np.sum(x**2)


@programs(A, B, rtol=1e-5)
def gmres_with_arnoldi(a, b):
    n, m = len(b), 4
    q, h = np.zeros((n, m + 1)), np.zeros((m + 1, m))
    beta = np.linalg.norm(b)
    q[:, 0] = b / beta
    cs, sn = np.zeros(m), np.zeros(m)
    g = np.zeros(m + 1)
    g[0] = beta
    for k in range(m):
        v = a @ q[:, k]
        for i in range(k + 1):
            h[i, k] = q[:, i] @ v
            v -= h[i, k] * q[:, i]
        h[k + 1, k] = np.linalg.norm(v)
        q[:, k + 1] = v / h[k + 1, k]
        for i in range(k):
            t = cs[i] * h[i, k] + sn[i] * h[i + 1, k]
            h[i + 1, k] = -sn[i] * h[i, k] + cs[i] * h[i + 1, k]
            h[i, k] = t
        d = math.hypot(h[k, k], h[k + 1, k])
        cs[k], sn[k] = h[k, k] / d, h[k + 1, k] / d
        h[k, k], h[k + 1, k] = d, 0.0
        g[k], g[k + 1] = cs[k] * g[k], -sn[k] * g[k]
    y = np.linalg.solve(h[:m, :m], g[:m])
    return np.sum((q[:, :m] @ y) ** 2) + abs(g[m])


@programs(S, B)
def lanczos(a, b):
    m = 3
    alpha, beta = [], []
    v, before = b / np.linalg.norm(b), np.zeros_like(b)
    for k in range(m):
        w = a @ v
        alpha.append(w @ v)
        w -= alpha[-1] * v
        if k:
            w -= beta[-1] * before
        beta.append(np.linalg.norm(w))
        before, v = v, w / beta[-1]
    t = np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1)
    return np.linalg.det(t) + np.sum(t * t)


@programs(S, rtol=1e-5)
def jacobi_eigenvalues(a):
    n = len(a)
    for _ in range(4):
        for p in range(n - 1):
            for q in range(p + 1, n):
                theta = 0.5 * np.arctan2(2 * a[p, q], a[q, q] - a[p, p])
                c, s = np.cos(theta), np.sin(theta)
                rot = np.eye(n)
                rot[p, p] = rot[q, q] = c
                rot[p, q], rot[q, p] = s, -s
                a[...] = rot.T @ a @ rot
    return np.max(np.diag(a)) ** 2 + np.min(np.diag(a))


@programs(S, np.ones(5))
def power_iteration(a, v):
    value = 0.0
    for _ in range(25):
        np.matmul(a, v.copy(), out=v)
        value = np.sqrt(v @ v)
        v /= value
    return value + v[0]


@programs(draw(0.5, 1, 6), draw(3, 4, 6), draw(0.5, 1, 6), draw(-1, 1, 6))
def thomas(lower, main, upper, rhs):
    n = len(main)
    for i in range(1, n):
        w = lower[i] / main[i - 1]
        main[i] -= w * upper[i - 1]
        rhs[i] -= w * rhs[i - 1]
    rhs[-1] /= main[-1]
    for i in range(n - 2, -1, -1):
        rhs[i] = (rhs[i] - upper[i] * rhs[i + 1]) / main[i]
    return np.sum(rhs**2)


@programs(A, B)
def triangular_solve_by_blocks(a, b):
    def forward(low, rhs):
        n = len(rhs)
        if n == 1:
            rhs /= low[0, 0]
            return
        h = n // 2
        forward(low[:h, :h], rhs[:h])
        rhs[h:] -= low[h:, :h] @ rhs[:h]
        forward(low[h:, h:], rhs[h:])

    forward(np.tril(a), b)
    return np.sum(b * b * b)


@programs(draw(0.1, 1, 9), draw(-1, 1, 4))
def compressed_sparse_rows(data, x):
    indptr = np.array([0, 2, 5, 6, 9])
    indices = np.array([0, 2, 1, 2, 3, 0, 1, 2, 3])
    for _ in range(3):
        y = np.zeros(4)
        for i in range(4):
            for k in range(indptr[i], indptr[i + 1]):
                y[i] += data[k] * x[indices[k]]
        x[:] = np.tanh(y)
        np.add.at(x, indices[:4], 0.1 * data[:4])
    return np.sum(x * x)


@programs(draw(-1, 1, 8), draw(-1, 1, 8))
def fft_by_recursion_in_place(re, im):
    def fft(re, im):
        n = len(re)
        if n == 1:
            return
        even_re, even_im, odd_re, odd_im = (
            v.copy() for v in (re[::2], im[::2], re[1::2], im[1::2])
        )
        fft(even_re, even_im)
        fft(odd_re, odd_im)
        angle = -2 * np.pi * np.arange(n // 2) / n
        c, s = np.cos(angle), np.sin(angle)
        t_re, t_im = c * odd_re - s * odd_im, c * odd_im + s * odd_re
        re[: n // 2], re[n // 2 :] = even_re + t_re, even_re - t_re
        im[: n // 2], im[n // 2 :] = even_im + t_im, even_im - t_im

    fft(re, im)
    return np.sum((re**2 + im**2)[1:4] ** 2)


@programs(draw(-1, 1, 8))
def fft_by_bit_reversal(x):
    z = x.astype(complex)
    n, j = len(z), 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            z[i], z[j] = z[j], z[i]
    size = 2
    while size <= n:
        w = np.exp(-2j * np.pi * np.arange(size // 2) / size)
        for start in range(0, n, size):
            top = z[start : start + size // 2]
            bottom = z[start + size // 2 : start + size]
            bottom *= w
            top += bottom
            bottom *= -2
            bottom += top
        size *= 2
    return np.sum(np.abs(z[1:5]) ** 4)


@programs(draw(-0.3, 0.3, 6))
def durbin(r):
    y = np.zeros(len(r))
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, len(r)):
        beta *= 1 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y**2)


@programs(draw(-1, 1, (6, 4)))
def correlation(data):
    mean, std = data.mean(axis=0), data.std(axis=0)
    data -= mean
    data /= np.sqrt(len(data)) * std
    corr = np.eye(data.shape[1])
    for i in range(data.shape[1] - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return np.sum(corr**3)


@programs(A, B, draw(-1, 1, 5))
def gemver(a, u, v):
    a += np.multiply.outer(u, v) + np.multiply.outer(v, u)
    x = 0.3 * (v @ a) + u
    u[:] = 1.2 * a @ x
    return np.sum(u * x) + np.trace(a)


@programs(A[:3, :3].copy())
def matrix_exponential_by_squaring(a):
    a /= 8.0
    result, term = np.eye(3), np.eye(3)
    for k in range(1, 8):
        term = term @ a / k
        result += term
    for _ in range(3):
        np.matmul(result, result.copy(), out=result)
    return np.log(np.trace(result))


@programs(S, B)
def sor_until_converged(a, b):
    x = np.zeros(len(b))
    change = 1.0
    while change > 1e-12:
        change = 0.0
        for i in range(len(b)):
            old = x[i]
            s = a[i, :i] @ x[:i] + a[i, i + 1 :] @ x[i + 1 :]
            x[i] = (1 - 1.1) * x[i] + 1.1 / a[i, i] * (b[i] - s)
            change = max(change, abs(x[i] - old))
    return np.sum(x**2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
