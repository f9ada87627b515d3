"""A bridge of bars in the plane: assembly, large displacements by load steps, stresses.

Style: a structural engineer's finite elements: nodes and elements as classes, global matrices.
"""

import numpy as np

from benchmarks.programs.program import Program


class Node:
    """A joint with its numbers in the global vector."""

    def __init__(self, number, x, y, fixed=(False, False)):
        self.number = number
        self.position = np.array([x, y])
        self.fixed = fixed

    @property
    def dofs(self):
        """Positions of its displacements."""
        return [2 * self.number, 2 * self.number + 1]


class Bar:
    """An elastic bar between two nodes, with Green's strain."""

    def __init__(self, start, end, area, modulus):
        self.start, self.end = start, end
        self.area, self.modulus = area, modulus
        self.length0 = np.linalg.norm(end.position - start.position)

    @property
    def dofs(self):
        """Positions of the displacements of both ends."""
        return self.start.dofs + self.end.dofs

    def current(self, u):
        """Vector from start to end after the displacement."""
        i, j = self.start.dofs, self.end.dofs
        return self.end.position + u[j] - self.start.position - u[i]

    def strain(self, u):
        """Green's strain."""
        x = self.current(u)
        return 0.5 * (x @ x - self.length0**2) / self.length0**2

    def stress(self, u):
        """Second stress of Piola and Kirchhoff."""
        return self.modulus * self.strain(u)

    def internal_force(self, u):
        """Return the forces on the four displacements."""
        x = self.current(u)
        n = self.area * self.stress(u) / self.length0
        return n * np.concatenate([-x, x])

    def tangent(self, u):
        """Stiffness matrix: material and geometric part."""
        x = self.current(u)
        b = np.concatenate([-x, x]) / self.length0**2
        material = self.modulus * self.area * self.length0 * np.outer(b, b)
        eye = np.eye(2)
        geometric = np.block([[eye, -eye], [-eye, eye]])
        return material + self.area * self.stress(u) / self.length0 * geometric


class Truss:
    """Nodes, bars and loads."""

    def __init__(self, nodes, bars):
        self.nodes, self.bars = nodes, bars
        self.n = 2 * len(nodes)
        fixed = [d for node in nodes for d, f in zip(node.dofs, node.fixed) if f]
        self.free = np.setdiff1d(np.arange(self.n), fixed)

    def assemble(self, u):
        """Return stiffness and internal forces."""
        k = np.zeros((self.n, self.n))
        f = np.zeros(self.n)
        for bar in self.bars:
            k[np.ix_(bar.dofs, bar.dofs)] += bar.tangent(u)
            f[bar.dofs] += bar.internal_force(u)
        return k, f

    def solve(self, load, steps=3, tolerance=1e-9):
        """Raise the load in steps, and find equilibrium by Newton's method."""
        u = np.zeros(self.n)
        for level in np.linspace(0.0, 1.0, steps + 1)[1:]:
            for _ in range(20):
                k, f = self.assemble(u)
                residual = (level * load - f)[self.free]
                if np.linalg.norm(residual) < tolerance * np.linalg.norm(load):
                    break
                u[self.free] += np.linalg.solve(k[np.ix_(self.free, self.free)], residual)
            else:
                raise RuntimeError("no equilibrium")
        return u


def bridge(heights, span, panels):
    """Return nodes and pairs of nodes of a bridge with an upper chord of given heights."""
    nodes, pairs = [], []
    for i in range(panels + 1):
        ends = {0: (True, True), panels: (False, True)}
        nodes.append(Node(i, span * i / panels, 0.0, ends.get(i, (False, False))))
    for i, h in enumerate(heights):
        nodes.append(Node(panels + 1 + i, span * (i + 0.5) / panels, h))
    upper = range(panels + 1, 2 * panels + 1)
    pairs += [(i, i + 1) for i in range(panels)]
    pairs += [(i, i + 1) for i in upper[:-1]]
    for i, top in enumerate(upper):
        pairs += [(i, top), (top, i + 1)]
    return nodes, pairs


def design_cost(heights, areas, modulus, load, span):
    """Weight, compliance and a smooth maximum of the stresses."""
    nodes, pairs = bridge(heights, span, len(heights))
    bars = [Bar(nodes[a], nodes[b], area, modulus) for (a, b), area in zip(pairs, areas)]
    truss = Truss(nodes, bars)
    force = np.zeros(truss.n)
    for node, p in zip(nodes[1 : len(heights)], load):
        force[node.dofs[1]] -= p
    u = truss.solve(force)
    weight = sum(bar.area * bar.length0 for bar in bars)
    stresses = np.array([bar.stress(u) for bar in bars])
    worst = np.sum((stresses / modulus) ** 8) ** 0.125
    return float(weight + force @ u + 20.0 * worst)


def arguments():
    """Return heights, areas, modulus, loads and span."""
    rng = np.random.default_rng(17)
    heights = 1.0 + 0.4 * np.sin(np.linspace(0.3, np.pi - 0.3, 5)) + 0.05 * rng.normal(size=5)
    areas = 0.02 + 0.01 * rng.random(19)
    return heights, areas, 2e3, np.array([0.5, 0.8, 0.8, 0.5]), 10.0


PROGRAM = Program(run=design_cost, arguments=arguments, argnums=(0, 1, 2, 3, 4), group="objects")
