"""Grids: finite differences and volumes, multigrid, lattice Boltzmann, in place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
draw = np.random.default_rng(2).uniform
LINE = draw(0.2, 1.0, 8)
PLANE = draw(0.2, 1.0, (6, 6))


@programs(PLANE, draw(0, 1, (6, 6)))
def heat_with_a_source_in_place(u, source):
    lap = np.zeros_like(u)
    for step in range(4):
        lap[1:-1, 1:-1] = (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u += 0.1 * lap
        u += 0.01 * source * np.sin(step)
        u[0], u[-1], u[:, 0] = u[1], u[-2], u[:, 1]
    return np.sum(u**2)


@programs(PLANE)
def jacobi_with_two_buffers(a):
    b = a.copy()
    for _ in range(3):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a, b = b, a
    return np.sum(a * a) + b[2, 2]


@programs(PLANE)
def seidel(a):
    n = len(a)
    for _ in range(2):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return np.sum(a**2)


@programs(PLANE)
def red_black_successive_overrelaxation(u):
    i, j = np.indices(u.shape)
    inner = (i > 0) & (i < 5) & (j > 0) & (j < 5)
    for _ in range(3):
        for colour in (0, 1):
            mask = inner & ((i + j) % 2 == colour)
            mean = np.zeros_like(u)
            mean[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
            u[mask] += 1.3 * (mean[mask] - u[mask])
    return np.sum(u**3)


@programs(PLANE)
def alternating_directions(u):
    n = len(u)
    v, p, q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    a, b = -0.4, 1.8
    for _ in range(2):
        v[0, 1:-1] = 1.0
        p[1:-1, 0], q[1:-1, 0] = 0.0, v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (
                -a * u[j, :-2] + (1 + 2 * a) * u[j, 1:-1] - a * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[...] = v.T * 0.5 + u
    return np.sum(u * u)


@programs(LINE)
def burgers_with_rusanov_fluxes(u):
    flux = np.empty(len(u) + 1)
    for _ in range(5):
        left, right = np.append(u[-1], u), np.append(u, u[0])
        speed = np.maximum(np.abs(left), np.abs(right))
        np.multiply(left, left, out=flux)
        flux += right * right
        flux *= 0.25
        flux -= 0.5 * speed * (right - left)
        u -= 0.2 * np.diff(flux)
    return np.sum(u**2)


@programs(np.array([0.3, 0.5, 0.9, 1.4, 1.1, 0.7, 0.55, 0.45]), 0.4)
def advection_with_a_limiter(u, courant):
    for _ in range(4):
        d = np.roll(u, -1) - u
        r = np.roll(d, 1) / np.where(np.abs(d) > 1e-12, d, 1e-12)
        phi = (r + np.abs(r)) / (1 + np.abs(r))
        flux = courant * (u + 0.5 * phi * (1 - courant) * d)
        u[:] = u - (flux - np.roll(flux, 1))
    return np.sum(u**3)


@programs(np.stack([1 + 0.1 * LINE, 0.1 * LINE]))
def shallow_water_by_lax_friedrichs(q):
    for _ in range(4):
        h, m = q
        f = np.array([m, m * m / h + 4.9 * h * h])
        q[:, 1:-1] = 0.5 * (q[:, 2:] + q[:, :-2]) - 0.05 * (f[:, 2:] - f[:, :-2])
        q[:, 0], q[:, -1] = q[:, 1], q[:, -2]
        q[1, [0, -1]] *= -1
    return np.sum(q[0] ** 2) + q[1, 3]


@programs(LINE)
def wave_with_rotating_levels(u):
    levels = [u, u.copy(), np.zeros_like(u)]
    for _ in range(6):
        old, now, new = levels
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + 0.3 * (now[2:] - 2 * now[1:-1] + now[:-2])
        new[0] = new[-1] = 0.0
        levels = [now, new, old]
    return np.sum(levels[1] ** 2) + np.sum(u)


@programs(LINE, draw(0.5, 1, 7))
def fdtd(e, h):
    for t in range(6):
        e[1:-1] -= 0.5 * (h[1:] - h[:-1])
        e[0] = np.sin(0.3 * t)
        e[-1] = e[-2]
        h -= 0.7 * np.diff(e)
    return np.sum(e * e) + np.sum(h**4)


@programs(draw(0.2, 1, 9), draw(-1, 1, 9))
def multigrid_v_cycle(u, f):
    def smooth(u, f, h2):
        for _ in range(2):
            u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2] + h2 * f[1:-1:2])
            u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2] + h2 * f[2:-1:2])

    def cycle(u, f, h2):
        smooth(u, f, h2)
        if len(u) > 3:
            r = np.zeros_like(u)
            r[1:-1] = f[1:-1] + (u[:-2] - 2 * u[1:-1] + u[2:]) / h2
            coarse = np.zeros(len(u) // 2 + 1)
            coarse[1:-1] = 0.25 * (r[1:-2:2] + 2 * r[2:-1:2] + r[3::2])
            e = np.zeros_like(coarse)
            cycle(e, coarse, 4 * h2)
            u[::2] += e
            u[1::2] += 0.5 * (e[:-1] + e[1:])
        smooth(u, f, h2)

    for _ in range(2):
        cycle(u, f, 1 / 64)
    return np.sum(u * u)


@programs(draw(0.9, 1.1, (9, 4, 4)))
def lattice_boltzmann(f):
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    wall = np.zeros((4, 4), bool)
    wall[1, 2] = True
    bounce = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    feq = np.empty_like(f)
    for _ in range(3):
        for i in range(9):
            f[i] = np.roll(f[i], (cx[i], cy[i]), axis=(0, 1))
        rho = f.sum(axis=0)
        ux = np.einsum("i,ijk->jk", cx, f) / rho
        uy = np.tensordot(cy, f, 1) / rho
        usq = 1.5 * (ux**2 + uy**2)
        for i in range(9):
            cu = 3 * (cx[i] * ux + cy[i] * uy)
            feq[i] = w[i] * rho * (1 + cu + 0.5 * cu**2 - usq)
        reflected = f[bounce][:, wall]
        f += 0.6 * (feq - f)
        f[:, wall] = reflected
    return np.sum(f**2) + np.sum(ux)


@programs(PLANE, draw(0, 0.5, (6, 6)))
def gray_scott(u, v):
    def laplacian(z):
        return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z

    for _ in range(3):
        uvv = u * v * v
        u += 0.16 * laplacian(u) - uvv + 0.06 * (1 - u)
        v += 0.08 * laplacian(v) + uvv - 0.12 * v
    return np.sum(u * v)


@programs(LINE, 0.3)
def crank_nicolson_with_factors_kept(u, r):
    n = len(u)
    c, d = np.zeros(n), np.zeros(n)
    for _ in range(3):
        d[1:-1] = r * u[:-2] + (2 - 2 * r) * u[1:-1] + r * u[2:]
        d[0], d[-1] = u[0], u[-1]
        c[0] = 0.0
        for i in range(1, n - 1):
            m = (2 + 2 * r) + r * c[i - 1]
            c[i] = -r / m
            d[i] = (d[i] + r * d[i - 1]) / m
        u[-1] = d[-1]
        for i in range(n - 2, -1, -1):
            u[i] = d[i] - c[i] * u[i + 1]
    return np.sum(u**2)


@programs(PLANE)
def cavity_pressure(p):
    u, v = np.zeros_like(p), np.zeros_like(p)
    b = np.zeros_like(p)
    for _ in range(2):
        un, vn = u.copy(), v.copy()
        b[1:-1, 1:-1] = 0.3 * (u[1:-1, 2:] - u[1:-1, :-2]) - (v[2:, 1:-1] - v[:-2, 1:-1]) ** 2
        for _ in range(3):
            pn = p.copy()
            p[1:-1, 1:-1] = (
                0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]) - b[1:-1, 1:-1]
            )
            p[:, -1], p[0, :], p[:, 0], p[-1, :] = p[:, -2], p[1, :], p[:, 1], 0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - 0.5 * (p[1:-1, 2:] - p[1:-1, :-2])
        )
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[-1, :] = 1.0
    return np.sum(u**2) + np.sum(v * p)


@programs(draw(0, 1, (5, 6)), draw(0, 1, (4, 6)), draw(0, 1, (5, 5)))
def staggered_grid_divergence(p, u, v):
    for _ in range(3):
        u -= 0.2 * np.diff(p, axis=0)
        v -= 0.2 * np.diff(p, axis=1)
        p[1:-1] -= 0.2 * (u[1:] - u[:-1])
        p[0] -= 0.2 * u[0]
        p[:, 1:-1] -= 0.2 * np.diff(v, axis=1)
    return np.sum(p**2)


@programs(LINE)
def kuramoto_by_modified_newton(x):
    n = len(x)
    target = x.copy()
    for _ in range(4):
        residual = x + 0.1 * x**3 - target
        jac = np.zeros((n, n))
        jac[np.arange(n), np.arange(n)] = 1 + 0.3 * x**2
        jac[np.arange(n - 1), np.arange(1, n)] = 0.05 * x[1:]
        x -= np.linalg.solve(jac, residual)
    return np.sum(x**2)


@programs(PLANE)
def heat3d_like_with_views(a):
    cells = a.reshape(6, 3, 2)
    for axis in range(3):
        moved = np.moveaxis(cells, axis, 0)
        moved[1:] += 0.2 * moved[:-1]
        moved[0] *= 0.9
    inner = a[1:-1, 1:-1]
    inner[...] = 0.5 * (a[2:, 1:-1] + a[1:-1, :-2])
    return np.sum(a**2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
