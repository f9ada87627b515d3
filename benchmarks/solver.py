"""A flow solver as one function of a hundred lines: the code whose deriving is timed."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def laplacian(w: Array, dx: float, dy: float) -> Array:
    """Return the five-point Laplacian of the inner part of a field."""
    return (w[1:-1, 2:] - 2.0 * w[1:-1, 1:-1] + w[1:-1, :-2]) / dx**2 + (
        w[2:, 1:-1] - 2.0 * w[1:-1, 1:-1] + w[:-2, 1:-1]
    ) / dy**2


def slope_limiter(a: Array, b: Array, kind: str) -> Array:
    """Return the limited slope between two one-sided differences."""
    if kind == "minmod":
        return np.where(a * b > 0.0, np.sign(a) * np.minimum(np.abs(a), np.abs(b)), 0.0)
    product = np.maximum(a * b, 0.0)
    return 2.0 * product / (a + b + 1e-12)


def cavity_flow(
    u: Array,
    v: Array,
    lid: float = 1.0,
    viscosity: float = 0.05,
    steps: int = 2,
    scheme: str = "upwind",
    limiter: str = "minmod",
    options: dict[str, float] | None = None,
) -> float:
    """Return a measure of the flow in a cavity after some steps of a projection method."""
    settings = {"sweeps": 3, "relaxation": 1.2, "cooling": 0.01, "forcing": 0.3}
    if options is not None:
        settings.update(options)
    rows, columns = u.shape
    dx, dy = 2.0 / (columns - 1), 2.0 / (rows - 1)
    dt = min(0.2 * dx * dx / viscosity, 0.5 * dx / abs(lid))
    p = np.zeros_like(u)
    heat = np.zeros_like(u)
    centre = np.zeros(steps)
    history = []
    time, energy, dissipated = 0.0, 0.0, 0.0

    def walls(a: Array, b: Array) -> None:
        a[0, :] = a[:, 0] = a[:, -1] = 0.0
        a[-1, :] = lid * (1.0 + 0.1 * math.sin(time))
        b[0, :] = b[-1, :] = 0.0
        b[:, 0] = b[:, -1] = 0.0

    walls(u, v)
    for step in range(steps):
        un, vn, hn = u.copy(), v.copy(), heat.copy()
        uc, vc, hc = un[1:-1, 1:-1], vn[1:-1, 1:-1], hn[1:-1, 1:-1]
        if scheme == "upwind":
            du_dx = (uc - un[1:-1, :-2]) / dx
            du_dy = (uc - un[:-2, 1:-1]) / dy
            dv_dx = (vc - vn[1:-1, :-2]) / dx
            dv_dy = (vc - vn[:-2, 1:-1]) / dy
        elif scheme == "limited":
            du_dx = slope_limiter(uc - un[1:-1, :-2], un[1:-1, 2:] - uc, limiter) / dx
            du_dy = slope_limiter(uc - un[:-2, 1:-1], un[2:, 1:-1] - uc, limiter) / dy
            dv_dx = slope_limiter(vc - vn[1:-1, :-2], vn[1:-1, 2:] - vc, limiter) / dx
            dv_dy = slope_limiter(vc - vn[:-2, 1:-1], vn[2:, 1:-1] - vc, limiter) / dy
        else:
            raise ValueError(f"unknown scheme {scheme!r}")

        # Momentum, without the pressure.
        u[1:-1, 1:-1] = uc - dt * (uc * du_dx + vc * du_dy)
        v[1:-1, 1:-1] = vc - dt * (uc * dv_dx + vc * dv_dy)
        u[1:-1, 1:-1] += viscosity * dt * laplacian(un, dx, dy)
        v[1:-1, 1:-1] += viscosity * dt * laplacian(vn, dx, dy)
        v[1:-1, 1:-1] += dt * settings["forcing"] * hc
        walls(u, v)

        # Pressure: what makes the flow free of divergence.
        source = np.zeros_like(p)
        source[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
        source[1:-1, 1:-1] += (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)
        source /= dt
        weight = settings["relaxation"]
        for sweep in range(int(settings["sweeps"])):
            old = p[1:-1, 1:-1].copy()
            sides = (p[1:-1, 2:] + p[1:-1, :-2]) * dy**2
            ends = (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2
            new = (sides + ends - source[1:-1, 1:-1] * dx**2 * dy**2) / (2.0 * (dx**2 + dy**2))
            p[1:-1, 1:-1] = weight * new + (1.0 - weight) * old
            p[:, -1] = p[:, -2]
            p[:, 0] = p[:, 1]
            p[0, :] = p[1, :]
            p[-1, :] = 0.0
            change = np.max(np.abs(p[1:-1, 1:-1] - old))
            if change < 1e-12 and sweep > 0:
                break
        u[1:-1, 1:-1] -= dt / (2.0 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] -= dt / (2.0 * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        walls(u, v)

        # Heat, carried along and lost at the floor.
        flux = uc * (hc - hn[1:-1, :-2]) / dx + vc * (hc - hn[:-2, 1:-1]) / dy
        heat[1:-1, 1:-1] = hc - dt * flux + 0.1 * viscosity * dt * laplacian(hn, dx, dy)
        heat[1:-1, 1:-1] += dt * (du_dy + dv_dx) ** 2
        for j in range(1, columns - 1):
            heat[0, j] = heat[1, j] * (1.0 - settings["cooling"] * j)
            heat[-1, j] = 0.5 * (heat[-2, j] + heat[-2, j - 1])

        # What is reported of the step.
        speed = np.sqrt(u * u + v * v + 1e-12)
        courant = float(np.max(speed)) * dt / min(dx, dy)
        if courant > 1.0:
            dt *= 0.5
        energy = 0.5 * np.sum(speed * speed) * dx * dy
        dissipated += viscosity * dt * np.sum(du_dx**2 + du_dy**2 + dv_dx**2 + dv_dy**2)
        centre[step] = u[rows // 2, columns // 2] - 0.5 * v[rows // 2, columns // 2]
        history.append((energy, np.mean(heat), step * dt))
        time += dt

    mean = sum(item[0] for item in history) / len(history)
    warmth = [warm * (1.0 + when) for _, warm, when in history]
    vorticity = (v[1:-1, 2:] - v[1:-1, :-2]) / dx - (u[2:, 1:-1] - u[:-2, 1:-1]) / dy
    stream = np.cumsum(u, axis=0) * dy
    strength = np.abs(np.min(stream)) + 0.01 * np.linalg.norm(vorticity)
    return mean + 0.1 * strength + 0.01 * dissipated + sum(warmth) + np.dot(centre, centre)
