"""Planets, a comet and a probe whose burns wait in a queue, in vectors with operators.

Style: an astronomer's object-oriented code: a Vector class, dispatch on types, queues, copies.
"""

import copy
import heapq
import math
from collections import deque
from contextlib import contextmanager
from functools import singledispatch
from itertools import combinations, count

from benchmarks.programs.program import Program


class Vector:
    """Three numbers."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z

    def __iter__(self):
        yield from (self.x, self.y, self.z)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self, other)))

    def __sub__(self, other):
        return Vector(*(a - b for a, b in zip(self, other)))

    def __mul__(self, factor):
        return Vector(*(a * factor for a in self))

    __rmul__ = __mul__

    def __truediv__(self, factor):
        return self * (1.0 / factor)

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))

    def __xor__(self, other):
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        self.z += other.z
        return self

    def __abs__(self):
        return math.sqrt(self @ self)


class Body:
    """A point mass with a trail of its last places."""

    def __init__(self, name, mass, position, velocity):
        self.name, self.mass, self.position, self.velocity = name, mass, position, velocity
        self.acceleration = Vector()
        self.trail = deque(maxlen=5)

    momentum = property(lambda self: self.mass * self.velocity)


class Comet(Body):
    """A body that the sun's heat pushes and evaporates."""

    outgassing = 0.002

    def push(self, sun):
        """Acceleration by its own gas."""
        away = self.position - sun.position
        return away * (self.outgassing / abs(away) ** 4)


class Probe(Body):
    """A body with engines."""

    fuel = 1.0

    def burn(self, amount):
        """Accelerate along the velocity, by the rocket equation."""
        gain = 0.5 * math.log(self.fuel / (self.fuel - amount))
        self.fuel -= amount
        self.velocity += self.velocity * (gain / abs(self.velocity))


@singledispatch
def extra(body, sun):
    """Acceleration besides gravity, if any."""


@extra.register
def _(body: Comet, sun):
    return body.push(sun)


class System:
    """Bodies, a clock, and a queue of events."""

    def __init__(self, bodies, softening):
        self.bodies = {body.name: body for body in bodies}
        self.softening = softening
        self.steps = 0
        self.queue = []
        self.tickets = count()

    def at(self, step, action):
        """Plan an action."""
        heapq.heappush(self.queue, (step, next(self.tickets), action))

    @contextmanager
    def without(self, name):
        """Leave a body out for a while."""
        body = self.bodies.pop(name)
        try:
            yield self
        finally:
            self.bodies[name] = body

    def accelerate(self):
        """Compute all accelerations."""
        for body in self.bodies.values():
            body.acceleration = Vector()
        for a, b in combinations(self.bodies.values(), 2):
            d = b.position - a.position
            pull = d / (d @ d + self.softening**2) ** 1.5
            a.acceleration += b.mass * pull
            b.acceleration += -a.mass * pull
        for body in self.bodies.values():
            if (push := extra(body, self.bodies["sun"])) is not None:
                body.acceleration += push

    def step(self, dt):
        """Kick, drift, kick; run the events that are due."""
        while self.queue and self.queue[0][0] <= self.steps:
            _, _, action = heapq.heappop(self.queue)
            action(self)
        for body in self.bodies.values():
            body.velocity += body.acceleration * (0.5 * dt)
            body.position += body.velocity * dt
        self.accelerate()
        for body in self.bodies.values():
            body.velocity += body.acceleration * (0.5 * dt)
            body.trail.append(copy.copy(body.position))
        self.steps += 1

    def energy(self):
        """Kinetic and potential energy."""
        pairs = combinations(self.bodies.values(), 2)
        total = sum(0.5 * b.momentum @ b.velocity for b in self.bodies.values())
        return total - sum(a.mass * b.mass / abs(a.position - b.position) for a, b in pairs)


def make_system(masses, speeds, softening):
    """Return sun, planets, comet and probe on their first orbits."""
    bodies = [Body("sun", 1.0, Vector(), Vector())]
    for n, (mass, speed) in enumerate(zip(masses, speeds)):
        radius = 1.0 + 0.7 * n
        start = Vector(radius * math.cos(n), radius * math.sin(n), 0.05 * n)
        direction = Vector(0.0, 0.0, 1.0) ^ (start / abs(start))
        bodies.append(Body(f"planet {n}", mass, start, direction * (speed / math.sqrt(radius))))
    bodies.append(Comet("comet", 1e-6, Vector(2.5, -1.0, 0.4), Vector(-0.3, 0.45, 0.0)))
    bodies.append(Probe("probe", 1e-9, Vector(1.1, 0.1, 0.0), Vector(-0.1, 0.95, 0.02)))
    return System(bodies, softening)


def miss_distance(masses, speeds, burns, softening, steps=90):
    """Distance of probe and comet at the end, with energy and spin of the others."""
    system = make_system(masses, speeds, softening)
    for step, amount in burns:
        system.at(step, lambda s, amount=amount: s.bodies["probe"].burn(amount))
    system.accelerate()
    nearest = math.inf
    for _ in range(steps):
        system.step(0.05)
        gap = abs(system.bodies["probe"].position - system.bodies["comet"].position)
        nearest = min(nearest, gap)
    with system.without("probe"):
        spin = sum((b.position ^ b.momentum for b in system.bodies.values()), start=Vector())
        energy = system.energy()
    trail = system.bodies["comet"].trail
    length = sum(abs(b - a) for a, b in zip(trail, list(trail)[1:]))
    return gap + nearest + 10.0 * energy + abs(spin) + length + system.bodies["probe"].fuel


def arguments():
    """Return masses and speeds of planets, burns at their times, and the softening."""
    return [0.002, 0.005], [1.02, 0.97], [(20, 0.1), (6, 0.15), (40, 0.05)], 0.02


PROGRAM = Program(run=miss_distance, arguments=arguments, argnums=(0, 1, 2, 3), group="objects")
