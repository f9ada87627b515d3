"""Compartments of a lake that exchange a pollutant, computed in quantities with units.

Style: a physicist's little units library: operators of classes, a hierarchy, checks of dimensions.
"""

import math
from abc import ABC, abstractmethod

from benchmarks.programs.program import Program

BASE = ("kg", "m", "s")


class DimensionError(TypeError):
    """Quantities that cannot be added or compared."""


class Quantity:
    """A number with the powers of its base units."""

    __slots__ = ("dims", "value")

    def __init__(self, value, dims=(0, 0, 0)):
        self.value = value
        self.dims = dims

    def _same(self, other):
        if not isinstance(other, Quantity):
            other = Quantity(other)
        if other.dims != self.dims:
            raise DimensionError(f"{self} and {other}")
        return other

    def __add__(self, other):
        return Quantity(self.value + self._same(other).value, self.dims)

    __radd__ = __add__

    def __sub__(self, other):
        return Quantity(self.value - self._same(other).value, self.dims)

    def __neg__(self):
        return Quantity(-self.value, self.dims)

    def __mul__(self, other):
        if isinstance(other, Quantity):
            dims = tuple(a + b for a, b in zip(self.dims, other.dims))
            return Quantity(self.value * other.value, dims)
        return Quantity(self.value * other, self.dims)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, Quantity):
            dims = tuple(a - b for a, b in zip(self.dims, other.dims))
            return Quantity(self.value / other.value, dims)
        return Quantity(self.value / other, self.dims)

    def __pow__(self, n):
        return Quantity(self.value**n, tuple(n * d for d in self.dims))

    def __lt__(self, other):
        return self.value < self._same(other).value

    def __float__(self):
        if any(self.dims):
            raise DimensionError(f"{self} is not a pure number")
        return float(self.value)

    def __repr__(self):
        units = " ".join(f"{u}^{d}" for u, d in zip(BASE, self.dims) if d)
        return f"{self.value:.4g} {units}"


KG = Quantity(1.0, (1, 0, 0))
METRE = Quantity(1.0, (0, 1, 0))
DAY = Quantity(86_400.0, (0, 0, 1))


class Compartment(ABC):
    """A volume that holds a mass of pollutant."""

    def __init__(self, name, volume, mass):
        self.name, self.volume, self.mass = name, volume, mass
        self.links = []

    @property
    def concentration(self):
        """Mass per volume."""
        return self.mass / self.volume

    def connect(self, other, exchange):
        """Exchange water with another compartment."""
        self.links.append((other, exchange))
        other.links.append((self, exchange))

    @abstractmethod
    def loss(self):
        """Mass lost per time."""

    def rate(self):
        """Mass gained per time."""
        gain = -self.loss()
        for other, exchange in self.links:
            gain = gain + exchange * (other.concentration - self.concentration)
        return gain


class Surface(Compartment):
    """Open to the air: the pollutant evaporates."""

    def __init__(self, name, volume, mass, area, velocity):
        super().__init__(name, volume, mass)
        self.area, self.velocity = area, velocity

    def loss(self):
        """Evaporate through the surface."""
        return self.velocity * self.area * self.concentration


class Deep(Compartment):
    """Dark water, where the pollutant decays with saturation."""

    def __init__(self, name, volume, mass, decay, saturation):
        super().__init__(name, volume, mass)
        self.decay, self.saturation = decay, saturation

    def loss(self):
        """Decay, slower at high concentrations."""
        return self.decay * self.mass / (1.0 + float(self.concentration / self.saturation))


def build(p):
    """Return the compartments of a lake with two basins."""
    basins = []
    for n, mass in enumerate(p["masses"]):
        area = 2e6 * (1 + n) * METRE**2
        top = Surface(f"top {n}", area * (8.0 * METRE), mass * KG, area, p["piston"] * METRE / DAY)
        limit = p["saturation"] * KG / METRE**3
        decay = Quantity(p["decay"]) / DAY
        low = Deep(f"deep {n}", area * (25.0 * METRE), 0.1 * mass * KG, decay, limit)
        top.connect(low, p["mixing"] * area * METRE / DAY)
        basins.append((top, low))
    basins[0][0].connect(basins[1][0], p["channel"] * METRE**3 / DAY)
    return [each for basin in basins for each in basin]


def exposure(p, days):
    """Concentration over time that the fish of the surface meet, as a pure number."""
    lake = build(p)
    step = 0.25 * DAY
    dose = Quantity(0.0, (1, -3, 1))
    for _ in range(4 * days):
        rates = [c.rate() for c in lake]
        for c, rate in zip(lake, rates):
            c.mass = c.mass + step * rate
        dose = sum((c.concentration * step for c in lake if isinstance(c, Surface)), dose)
    return math.log(float(dose / (1e-6 * KG / METRE**3 * DAY)))


def arguments():
    """Return the parameters of the lake, and the days."""
    p = {
        "masses": [120.0, 40.0],
        "piston": 0.3,
        "decay": 0.04,
        "saturation": 2e-6,
        "mixing": 0.5,
        "channel": 8e5,
    }
    return p, 50


PROGRAM = Program(run=exposure, arguments=arguments, argnums=(0,), group="objects")
