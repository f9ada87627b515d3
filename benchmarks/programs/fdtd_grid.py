"""Light that passes a lens of glass: finite differences in the time domain, with absorbers.

Style: an optics student's grid object: sources and detectors register with it, slices in place.
"""

import numpy as np

from benchmarks.programs.program import Program


class Grid:
    """Fields Ez, Hx, Hy on a Yee grid in units of the cell, Courant number 0.5."""

    courant = 0.5

    def __init__(self, shape, absorber=8):
        self.shape = shape
        self.Ez = np.zeros(shape)
        self.Hx = np.zeros((shape[0], shape[1] - 1))
        self.Hy = np.zeros((shape[0] - 1, shape[1]))
        self.permittivity = np.ones(shape)
        self.conductivity = self._absorber(absorber)
        self.sources, self.detectors = [], []
        self.steps_passed = 0

    def _absorber(self, width):
        """Conductivity that grows towards the walls."""
        sigma = np.zeros(self.shape)
        for depth in range(width):
            value = 0.4 * ((width - depth) / width) ** 3
            sigma[depth, :] = np.maximum(sigma[depth, :], value)
            sigma[-1 - depth, :] = np.maximum(sigma[-1 - depth, :], value)
            sigma[:, depth] = np.maximum(sigma[:, depth], value)
            sigma[:, -1 - depth] = np.maximum(sigma[:, -1 - depth], value)
        return sigma

    def __setitem__(self, key, thing):
        """Place an object, a source or a detector: grid[10:20, 5] = Source(...)."""
        thing.register(self, key)

    def update_h(self):
        """Advance the magnetic field."""
        self.Hx -= self.courant * (self.Ez[:, 1:] - self.Ez[:, :-1])
        self.Hy += self.courant * (self.Ez[1:, :] - self.Ez[:-1, :])

    def update_e(self):
        """Advance the electric field."""
        curl = self.Hy[1:, 1:-1] - self.Hy[:-1, 1:-1] - self.Hx[1:-1, 1:] + self.Hx[1:-1, :-1]
        loss = 0.5 * self.conductivity[1:-1, 1:-1]
        inner = self.Ez[1:-1, 1:-1]
        inner *= (1.0 - loss) / (1.0 + loss)
        inner += self.courant * curl / (self.permittivity[1:-1, 1:-1] * (1.0 + loss))

    def run(self, steps):
        """Advance by so many steps."""
        for _ in range(steps):
            self.update_h()
            self.update_e()
            for source in self.sources:
                source.update(self.steps_passed)
            for detector in self.detectors:
                detector.detect()
            self.steps_passed += 1


class LineSource:
    """A soft source with a smooth switch-on."""

    def __init__(self, period, amplitude, phases):
        self.period, self.amplitude, self.phases = period, amplitude, phases

    def register(self, grid, key):
        """Remember the place in the grid."""
        self.grid, self.key = grid, key
        grid.sources.append(self)

    def update(self, step):
        """Add to the electric field."""
        ramp = 1.0 - np.exp(-((step / (2.0 * self.period)) ** 2))
        wave = np.sin(2.0 * np.pi * step / self.period + self.phases)
        self.grid.Ez[self.key] += self.amplitude * ramp * wave


class Glass:
    """A block of material, whose permittivity is given by cell."""

    def __init__(self, permittivity):
        self.permittivity = permittivity

    def register(self, grid, key):
        """Write into the grid."""
        grid.permittivity[key] = self.permittivity


class Intensity:
    """Accumulates the square of the electric field."""

    def __init__(self, start):
        self.start = start
        self.calls = 0

    def register(self, grid, key):
        """Remember the place in the grid."""
        self.view = grid.Ez[key]
        self.total = np.zeros_like(self.view)
        grid.detectors.append(self)

    def detect(self):
        """Add the present intensity."""
        self.calls += 1
        if self.calls > self.start:
            self.total += self.view**2


def focus(lens, phases, amplitude, period, steps=160):
    """Share of the light that arrives in the middle of the screen, and how much arrives."""
    grid = Grid((80, 60))
    nx, ny = lens.shape
    grid[24 : 24 + nx, 30 - ny // 2 : 30 - ny // 2 + ny] = Glass(1.0 + 2.0 / (1.0 + np.exp(-lens)))
    grid[12, 12:48] = LineSource(period, amplitude, phases)
    screen = Intensity(start=60)
    grid[66, 10:50] = screen
    grid.run(steps)
    bright = screen.total[17:23].sum() / screen.total.sum()
    return float(bright + 0.1 * np.log(screen.total.sum()))


def arguments():
    """Return the lens by cell, phases, amplitude and period of the source."""
    rng = np.random.default_rng(13)
    return rng.normal(0.0, 1.0, (10, 24)), 0.1 * rng.normal(size=36), 1.0, 14.0


PROGRAM = Program(run=focus, arguments=arguments, argnums=(0, 1, 2, 3), group="arrays")
