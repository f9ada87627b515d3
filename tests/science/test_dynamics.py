"""Things that move: integrators, particles, strings, events, in place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
draw = np.random.default_rng(3).uniform


def lorenz(state, out):
    x, y, z = state
    out[0] = 10.0 * (y - x)
    out[1] = x * (28.0 - z) - y
    out[2] = x * y - 8.0 / 3.0 * z
    return out


@programs(np.array([1.0, 1.2, 20.0]), 0.01)
def runge_kutta_with_buffers(y, h):
    k = np.empty((4, 3))
    scratch = np.empty(3)
    for _ in range(5):
        lorenz(y, k[0])
        np.add(y, np.multiply(0.5 * h, k[0], out=scratch), out=scratch)
        lorenz(scratch, k[1])
        scratch[:] = y + 0.5 * h * k[1]
        lorenz(scratch, k[2])
        scratch[:] = y + h * k[2]
        lorenz(scratch, k[3])
        y += h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(y**2)


@programs(draw(-1, 1, (4, 3)), draw(-0.1, 0.1, (4, 3)), draw(0.5, 1, 4))
def n_body_by_leapfrog(pos, vel, mass):
    def accelerate(pos, acc):
        acc.fill(0.0)
        for i in range(len(pos)):
            for j in range(i + 1, len(pos)):
                d = pos[j] - pos[i]
                r3 = (d @ d + 0.1) ** 1.5
                acc[i] += mass[j] * d / r3
                acc[j] -= mass[i] * d / r3

    acc = np.zeros_like(pos)
    accelerate(pos, acc)
    for _ in range(3):
        vel += 0.05 * acc
        pos += 0.1 * vel
        accelerate(pos, acc)
        vel += 0.05 * acc
    return 0.5 * np.sum(mass[:, None] * vel**2) + np.sum(pos[0])


@programs(draw(0, 1, (5, 2)))
def verlet_with_pairs_by_broadcasting(r):
    old = r.copy()
    for _ in range(3):
        d = r[:, None] - r[None]
        dist2 = (d**2).sum(axis=-1) + 0.3 + np.eye(len(r))
        force = (d * (dist2**-2 - 0.5 / dist2)[..., None]).sum(axis=1)
        new = 2 * r - old + 0.001 * force
        old[...], r[...] = r, new
    return np.sum(r**2)


@programs(draw(0.5, 1, 4), 0.3)
def implicit_explicit_steps(u, nu):
    n = len(u)
    matrix = np.eye(n) * (1 + 2 * nu)
    matrix[np.arange(n - 1), np.arange(1, n)] = -nu
    matrix[np.arange(1, n), np.arange(n - 1)] = -nu
    before = None
    for _ in range(3):
        nonlinear = -u * np.gradient(u)
        rhs = u + 0.1 * (nonlinear if before is None else 1.5 * nonlinear - 0.5 * before)
        before = nonlinear
        u[:] = np.linalg.solve(matrix, rhs)
    return np.sum(u**2)


@programs(2.0, 0.3, 0.8)
def bouncing_ball_with_events(height, speed, restitution):
    t, bounces = 0.0, 0
    while t < 1.5:
        step = 0.1
        new_speed = speed - 9.81 * step
        new_height = height + speed * step - 0.5 * 9.81 * step * step
        if new_height < 0:
            root = (speed + math.sqrt(speed**2 + 2 * 9.81 * height)) / 9.81
            speed = -restitution * (speed - 9.81 * root)
            height, bounces = 0.0, bounces + 1
            t += root
        else:
            height, speed = new_height, new_speed
            t += step
    return height + bounces * speed


@programs(draw(0, 0.1, 7))
def string_with_constraints(y):
    x = np.linspace(0, 1, len(y))
    rest = 0.17
    for _ in range(4):
        y[1:-1] -= 0.02
        for _ in range(3):
            for i in range(len(y) - 1):
                dx, dy = x[i + 1] - x[i], y[i + 1] - y[i]
                length = math.hypot(dx, dy)
                shift = 0.5 * (length - rest) / length
                if i > 0:
                    x[i] += shift * dx
                    y[i] += shift * dy
                if i + 1 < len(y) - 1:
                    x[i + 1] -= shift * dx
                    y[i + 1] -= shift * dy
    return np.sum(y**2) + x[3]


@programs(draw(0, 4, 6), draw(-0.5, 0.5, 6))
def particle_in_cell(x, v):
    cells = 4
    rho = np.empty(cells)
    for _ in range(3):
        left = np.floor(x).astype(int) % cells
        weight = x - np.floor(x)
        rho[:] = -len(x) / cells
        np.add.at(rho, left, 1 - weight)
        np.add.at(rho, (left + 1) % cells, weight)
        field = np.cumsum(rho)
        field -= field.mean()
        v += 0.1 * ((1 - weight) * field[left] + weight * field[(left + 1) % cells])
        x += 0.1 * v
        x %= cells
    return np.sum(v**2) + np.sum(x**2)


@programs(draw(0, 1, (6, 2)))
def smoothed_particles(pos):
    h = 0.7
    vel = np.zeros_like(pos)
    for _ in range(2):
        density, pressure = np.zeros(len(pos)), np.zeros(len(pos))
        for i in range(len(pos)):
            q = np.sum((pos - pos[i]) ** 2, axis=1) / h**2
            near = q < 1
            density[i] = np.sum((1 - q[near]) ** 3)
            pressure[i] = max(density[i] - 1.0, 0.0)
        for i in range(len(pos)):
            d = pos - pos[i]
            q = np.sqrt(np.sum(d**2, axis=1) + 1e-6) / h
            w = np.where(q < 1, (1 - q) ** 2, 0.0)
            w[i] = 0.0
            vel[i] -= 0.05 * np.sum((pressure[i] + pressure)[:, None] * d * w[:, None], axis=0)
        pos += 0.1 * vel
    return np.sum(pos**2)


@programs(draw(0.5, 1, 3), np.array([0.1, 0.0, 0.0]))
def adaptive_steps(y, z):
    t, h, accepted = 0.0, 0.1, 0
    while t < 0.5:
        k1 = -y * z.sum() + 0.1
        k2 = -(y + h * k1) * z.sum() + 0.1
        error = np.max(np.abs(0.5 * h * (k2 - k1)))
        if error < 1e-2:
            y += 0.5 * h * (k1 + k2)
            z[0] += h * y[0]
            t, accepted = t + h, accepted + 1
            h = min(0.2, 1.2 * h)
        else:
            h *= 0.5
    return np.sum(y**2) + accepted * z[0]


class Pendulum:
    g = 9.81

    def __init__(self, angles, lengths):
        self.state = {"angle": angles, "momentum": np.zeros_like(angles)}
        self.lengths = lengths
        self.history = []

    def step(self, h):
        s = self.state
        s["momentum"] -= h * self.g / self.lengths * np.sin(s["angle"])
        s["angle"] += h * s["momentum"]
        self.history.append(s["angle"][:1])

    @property
    def energy(self):
        return np.sum(0.5 * self.state["momentum"] ** 2 - np.cos(self.state["angle"]))


@programs(draw(0.2, 1, 3), draw(0.5, 2, 3))
def pendulum_as_an_object(angles, lengths):
    p = Pendulum(angles, lengths)
    for _ in range(5):
        p.step(0.05)
    return p.energy + sum(h[0] for h in p.history)


@programs(draw(0, 1, 5), draw(0.1, 0.5, 5))
def kuramoto_oscillators(theta, omega):
    mean = np.zeros(1, complex)
    for _ in range(4):
        mean[0] = np.mean(np.exp(1j * theta))
        theta += 0.1 * (omega + np.abs(mean[0]) * np.sin(np.angle(mean[0]) - theta))
    return np.abs(mean[0]) + np.sum(theta)


@programs(draw(0.5, 1.0, 4), 0.7)
def quantum_walk_with_complex_state(amplitudes, angle):
    psi = np.zeros((2, 4), complex)
    psi[0] = amplitudes
    psi[1].imag = amplitudes[::-1]
    coin = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    for _ in range(3):
        psi[:] = coin @ psi
        psi[0] = np.roll(psi[0], 1)
        psi[1] = np.roll(psi[1], -1)
        psi *= np.exp(1j * 0.1 * np.arange(4))
    return np.sum(np.arange(4) * np.sum(np.abs(psi) ** 2, axis=0))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
