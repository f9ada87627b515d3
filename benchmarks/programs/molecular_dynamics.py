"""Molecular dynamics of a small Lennard-Jones cluster with Verlet neighbour lists.

Style: a chemist's simulation class with loops over pairs and lists of neighbours.
"""

import numpy as np

from benchmarks.programs.program import Program


class LennardJones:
    """Pair potential, cut off with a shift of the force."""

    def __init__(self, epsilon, sigma, cutoff):
        self.epsilon = epsilon
        self.sigma = sigma
        self.cutoff = cutoff
        self.shift = self._slope(cutoff)

    def _slope(self, r):
        s6 = (self.sigma / r) ** 6
        return -24.0 * self.epsilon * (2.0 * s6 * s6 - s6) / r

    def energy(self, r):
        """Potential energy of a pair at distance r."""
        s6 = (self.sigma / r) ** 6
        c6 = (self.sigma / self.cutoff) ** 6
        unshifted = 4.0 * self.epsilon * (s6 * s6 - s6)
        at_cutoff = 4.0 * self.epsilon * (c6 * c6 - c6)
        return unshifted - at_cutoff - (r - self.cutoff) * self.shift

    def force(self, r):
        """Force along the line between the two, positive if they repel."""
        return self.shift - self._slope(r)


class NeighbourList:
    """Half lists of the pairs within a radius somewhat larger than the cut-off."""

    def __init__(self, cutoff, skin):
        self.reach = cutoff + skin
        self.skin = skin
        self.pairs = []
        self.anchor = None
        self.builds = 0

    def update(self, positions):
        """Rebuild the list if an atom has moved by more than half of the skin."""
        if self.anchor is not None:
            moved = np.sqrt(((positions - self.anchor) ** 2).sum(axis=1).max())
            if moved < 0.5 * self.skin:
                return
        n = len(positions)
        self.pairs = []
        for i in range(n):
            d = positions[i + 1 :] - positions[i]
            close = np.flatnonzero((d * d).sum(axis=1) < self.reach**2)
            self.pairs.append([i + 1 + int(j) for j in close])
        self.anchor = positions.copy()
        self.builds += 1


class Simulation:
    """Velocity Verlet of atoms of equal mass."""

    def __init__(self, positions, velocities, potential, dt=0.004):
        self.x = positions.copy()
        self.v = velocities.copy()
        self.potential = potential
        self.neighbours = NeighbourList(potential.cutoff, skin=0.3)
        self.dt = dt
        self.f = np.zeros_like(self.x)
        self.virial = 0.0
        self.compute_forces()

    def compute_forces(self):
        """Sum the forces of all pairs in the list."""
        self.neighbours.update(self.x)
        self.f[:] = 0.0
        self.virial = 0.0
        for i, others in enumerate(self.neighbours.pairs):
            for j in others:
                d = self.x[i] - self.x[j]
                r = np.sqrt(d @ d)
                if r >= self.potential.cutoff:
                    continue
                magnitude = self.potential.force(r)
                self.f[i] += magnitude * d / r
                self.f[j] -= magnitude * d / r
                self.virial += magnitude * r

    def step(self):
        """Advance by one time step."""
        self.v += 0.5 * self.dt * self.f
        self.x += self.dt * self.v
        self.compute_forces()
        self.v += 0.5 * self.dt * self.f

    def kinetic(self):
        """Kinetic energy."""
        return 0.5 * np.sum(self.v**2)

    def potential_energy(self):
        """Potential energy over the pairs of the list."""
        total = 0.0
        for i, others in enumerate(self.neighbours.pairs):
            for j in others:
                r = np.linalg.norm(self.x[i] - self.x[j])
                if r < self.potential.cutoff:
                    total += self.potential.energy(r)
        return total


def observable(positions, velocities, epsilon, sigma, steps):
    """Mean virial and final energies of a short run."""
    sim = Simulation(positions, velocities, LennardJones(epsilon, sigma, cutoff=2.5))
    virials = []
    for _ in range(steps):
        sim.step()
        virials.append(sim.virial)
    pressure = 2.0 * sim.kinetic() / 3.0 + sum(virials) / (3.0 * len(virials))
    return float(pressure + 0.1 * sim.potential_energy())


def arguments():
    """Return a perturbed lattice of 18 atoms."""
    rng = np.random.default_rng(2)
    lattice = np.array([(i, j, k) for i in range(3) for j in range(3) for k in range(2)], float)
    positions = 1.15 * lattice + rng.normal(0.0, 0.03, lattice.shape)
    velocities = rng.normal(0.0, 0.3, lattice.shape)
    return positions, velocities - velocities.mean(axis=0), 1.0, 1.0, 20


PROGRAM = Program(run=observable, arguments=arguments, argnums=(0, 1, 2, 3), group="scalars")
