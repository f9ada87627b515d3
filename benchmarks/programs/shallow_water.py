"""Shallow water on a staggered grid: waves from a hump of water, seen by tide gauges.

Style: an oceanographer's model class that steps its own preallocated arrays in place.
"""

import numpy as np

from benchmarks.programs.program import Program

GRAVITY = 9.81


class ShallowWater:
    """Linear momentum, nonlinear continuity, on an Arakawa C grid with closed walls."""

    def __init__(self, nx, ny, spacing, depth, coriolis=1e-4, friction=1e-5):
        self.nx, self.ny = nx, ny
        self.dx = spacing
        self.depth = depth
        self.f = coriolis
        self.friction = friction
        self.eta = np.zeros((ny, nx))
        self.u = np.zeros((ny, nx + 1))
        self.v = np.zeros((ny + 1, nx))
        self.flux_x = np.zeros_like(self.u)
        self.flux_y = np.zeros_like(self.v)
        self.time = 0.0
        self.dt = 0.4 * spacing / np.sqrt(GRAVITY * 60.0)

    def set_hump(self, amplitude, centre, width):
        """Raise the surface by a Gaussian hump."""
        x = (np.arange(self.nx) + 0.5) * self.dx
        y = (np.arange(self.ny) + 0.5) * self.dx
        xx, yy = np.meshgrid(x, y)
        r2 = (xx - centre[0]) ** 2 + (yy - centre[1]) ** 2
        self.eta[:] = amplitude * np.exp(-0.5 * r2 / width**2)

    def _momentum(self):
        """Advance the velocities at the inner faces."""
        slope_x = (self.eta[:, 1:] - self.eta[:, :-1]) / self.dx
        slope_y = (self.eta[1:, :] - self.eta[:-1, :]) / self.dx
        v_at_u = 0.25 * (self.v[:-1, :-1] + self.v[1:, :-1] + self.v[:-1, 1:] + self.v[1:, 1:])
        u_at_v = 0.25 * (self.u[:-1, :-1] + self.u[:-1, 1:] + self.u[1:, :-1] + self.u[1:, 1:])
        self.u[:, 1:-1] += self.dt * (self.f * v_at_u - GRAVITY * slope_x)
        self.v[1:-1, :] -= self.dt * (self.f * u_at_v + GRAVITY * slope_y)
        self.u *= 1.0 - self.dt * self.friction
        self.v *= 1.0 - self.dt * self.friction

    def _continuity(self):
        """Advance the surface by the divergence of the fluxes, upwind in the water height."""
        height = self.depth + self.eta
        east = np.where(self.u[:, 1:-1] > 0, height[:, :-1], height[:, 1:])
        north = np.where(self.v[1:-1, :] > 0, height[:-1, :], height[1:, :])
        self.flux_x[:, 1:-1] = self.u[:, 1:-1] * east
        self.flux_y[1:-1, :] = self.v[1:-1, :] * north
        self.eta -= (self.dt / self.dx) * (
            np.diff(self.flux_x, axis=1) + np.diff(self.flux_y, axis=0)
        )

    def step(self):
        """Advance one time step."""
        self._momentum()
        self._continuity()
        self.time += self.dt

    @property
    def energy(self):
        """Potential energy of the surface and kinetic energy of the water."""
        kinetic = np.sum(self.u**2) + np.sum(self.v**2)
        return 0.5 * (GRAVITY * np.sum(self.eta**2) + np.mean(self.depth) * kinetic)


class Gauge:
    """A tide gauge in one cell, which keeps its readings."""

    def __init__(self, i, j, name):
        self.i, self.j, self.name = i, j, name
        self.readings = []

    def read(self, model):
        """Store the height of the surface."""
        self.readings.append(model.eta[self.j, self.i])


def misfit(depth, amplitude, centre, friction, steps):
    """Run the model, and sum the power that the gauges see."""
    ny, nx = depth.shape
    model = ShallowWater(nx, ny, 1000.0, depth, friction=friction)
    model.set_hump(amplitude, centre, width=4000.0)
    gauges = [Gauge(2, 3, "west"), Gauge(nx - 3, ny // 2, "east"), Gauge(nx // 2, ny - 2, "north")]
    for n in range(steps):
        model.step()
        if n % 5 == 0:
            for gauge in gauges:
                gauge.read(model)
    power = sum(np.mean(np.square(gauge.readings)) for gauge in gauges)
    return float(power + 1e-4 * model.energy / model.eta.size)


def arguments():
    """Return a sloping sea floor with bumps, a hump, and the number of steps."""
    rng = np.random.default_rng(1)
    depth = 40.0 + 10.0 * np.linspace(0, 1, 40)[None, :] + rng.normal(0.0, 0.5, (30, 40))
    return depth, 1.2, np.array([17_200.0, 13_900.0]), 2e-5, 120


PROGRAM = Program(run=misfit, arguments=arguments, argnums=(0, 1, 2, 3), group="arrays")
