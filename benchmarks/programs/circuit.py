"""A diode clipper with a transistor stage: transient nodal analysis by Newton's method.

Style: an electronics engineer: components as objects that stamp a matrix, np.linalg.solve.
"""

import numpy as np

from benchmarks.programs.program import Program

THERMAL = 0.02585


class Component:
    """Something between nodes, which stamps its linearized equations."""

    def __init__(self, *nodes):
        self.nodes = nodes

    def stamp(self, system, v, dt):
        """Add the currents and conductances at the voltages v."""

    def accept(self, v, dt):
        """Keep what the next step needs."""


class Resistor(Component):
    """Ohm's law."""

    def __init__(self, a, b, resistance):
        super().__init__(a, b)
        self.g = 1.0 / resistance

    def stamp(self, system, v, dt):
        """Add a conductance."""
        system.conductance(*self.nodes, self.g)


class Capacitor(Component):
    """Implicit Euler of a capacitor."""

    def __init__(self, a, b, capacitance):
        super().__init__(a, b)
        self.c = capacitance
        self.voltage = 0.0

    def stamp(self, system, v, dt):
        """Add the companion model."""
        a, b = self.nodes
        g = self.c / dt
        system.conductance(a, b, g)
        system.current(a, b, -g * self.voltage)

    def accept(self, v, dt):
        """Keep the voltage."""
        a, b = self.nodes
        self.voltage = v[a] - v[b]


class Diode(Component):
    """Shockley's equation."""

    def __init__(self, a, b, saturation, ideality=1.5):
        super().__init__(a, b)
        self.saturation = saturation
        self.vt = ideality * THERMAL

    def stamp(self, system, v, dt):
        """Add the tangent at the present voltage, limited for large ones."""
        a, b = self.nodes
        u = min(v[a] - v[b], 0.9)
        e = np.exp(u / self.vt)
        current = self.saturation * (e - 1.0)
        g = self.saturation * e / self.vt + 1e-12
        system.conductance(a, b, g)
        system.current(a, b, current - g * u)


class Transistor(Component):
    """A field effect transistor with a smooth square law: drain, gate, source."""

    def __init__(self, drain, gate, source, k, threshold):
        super().__init__(drain, gate, source)
        self.k, self.threshold = k, threshold

    def stamp(self, system, v, dt):
        """Add a transconductance."""
        d, g, s = self.nodes
        over = (v[g] - v[s] - self.threshold) / 0.1
        soft = 0.1 * np.logaddexp(0.0, over)
        slope = 1.0 / (1.0 + np.exp(-over))
        current, gm = self.k * soft**2, 2.0 * self.k * soft * slope
        system.transconductance(d, s, g, s, gm)
        system.current(d, s, current - gm * (v[g] - v[s]))


class Source(Component):
    """A voltage source with an inner resistance, to ground."""

    def __init__(self, a, waveform, resistance=1.0):
        super().__init__(a, 0)
        self.waveform, self.g = waveform, 1.0 / resistance

    def stamp(self, system, v, dt):
        """Add the Norton equivalent."""
        system.conductance(*self.nodes, self.g)
        system.current(*self.nodes, -self.g * self.waveform(system.time))


class System:
    """The matrix and the right-hand side of all nodes but the ground, which is node 0."""

    def __init__(self, n):
        self.matrix, self.rhs = np.zeros((n, n)), np.zeros(n)
        self.time = 0.0

    def clear(self):
        """Set all to zero."""
        self.matrix.fill(0.0)
        self.rhs.fill(0.0)

    def transconductance(self, a, b, c, d, g):
        """Let g times the voltage from c to d flow from a to b."""
        for i, si in ((a, 1.0), (b, -1.0)):
            for j, sj in ((c, 1.0), (d, -1.0)):
                self.matrix[i, j] += si * sj * g

    def conductance(self, a, b, g):
        """Connect two nodes."""
        self.transconductance(a, b, a, b, g)

    def current(self, a, b, i):
        """Let a current flow from a to b."""
        self.rhs[[a, b]] += (-i, i)

    def solve(self):
        """Return the voltages, that of the ground zero."""
        v = np.zeros(len(self.rhs))
        v[1:] = np.linalg.solve(self.matrix[1:, 1:], self.rhs[1:])
        return v


class Circuit:
    """Components and the transient analysis."""

    def __init__(self, n_nodes, components):
        self.system = System(n_nodes)
        self.components = components

    def newton(self, v, dt):
        """Iterate until the voltages stay."""
        for _ in range(60):
            self.system.clear()
            for component in self.components:
                component.stamp(self.system, v, dt)
            new = self.system.solve()
            change = np.clip(new - v, -0.5, 0.5)
            v = v + change
            if np.abs(change).max() < 1e-10:
                return v
        raise RuntimeError("no convergence")

    def transient(self, steps, dt):
        """Yield the voltages of each time step."""
        v = np.zeros(len(self.system.rhs))
        for _ in range(steps):
            self.system.time += dt
            v = self.newton(v, dt)
            for component in self.components:
                component.accept(v, dt)
            yield v


def output_power(resistances, capacitances, saturations, k, amplitude, steps=40):
    """Mean square of the output, and its mean."""
    drive = lambda t: amplitude * np.sin(2.0 * np.pi * 1000.0 * t)  # noqa: E731
    circuit = Circuit(
        6,
        [
            Source(1, drive, resistance=50.0),
            Resistor(1, 2, resistances[0]),
            Capacitor(2, 0, capacitances[0]),
            Diode(2, 0, saturations[0]),
            Diode(0, 2, saturations[1]),
            Source(5, lambda t: 9.0),
            Resistor(5, 3, resistances[1]),
            Transistor(3, 2, 0, k, -0.8),
            Capacitor(3, 4, capacitances[1]),
            Resistor(4, 0, resistances[2]),
        ],
    )
    outputs = [v[4] for v in circuit.transient(steps, dt=2.5e-5)]
    return float(np.mean(np.square(outputs)) + 0.1 * np.mean(outputs))


def arguments():
    """Return resistances, capacitances, saturation currents, gain and amplitude."""
    return [2.2e3, 3.3e3, 1e4], [1e-8, 1e-6], [2.5e-9, 4e-9], 1e-3, 2.0


PROGRAM = Program(run=output_power, arguments=arguments, argnums=(0, 1, 2, 3, 4), group="objects")
