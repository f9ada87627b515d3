"""A ray tracer of spheres over a floor, with shadows, highlights and reflections.

Style: a graphics hobbyist: scene objects with intersect methods, small vectors, recursion.
"""

import numpy as np

from benchmarks.programs.program import Program


def normalize(v):
    """Return the vector at length one."""
    return v / np.linalg.norm(v)


class Sphere:
    """A sphere with a colour and some mirror."""

    def __init__(self, centre, radius, colour, mirror=0.3):
        self.centre = np.asarray(centre)
        self.radius = radius
        self.colour = np.asarray(colour)
        self.mirror = mirror

    def intersect(self, origin, direction):
        """Return the distance along the ray, infinite if it misses."""
        to = origin - self.centre
        b = np.dot(to, direction)
        c = np.dot(to, to) - self.radius**2
        disc = b * b - c
        if disc <= 0:
            return np.inf
        root = np.sqrt(disc)
        for t in (-b - root, -b + root):
            if t > 1e-4:
                return t
        return np.inf

    def normal(self, point):
        """Return the outward normal."""
        return (point - self.centre) / self.radius

    def shade(self, point):
        """Return the colour at a point."""
        return self.colour


class Floor:
    """A plane through three corners, with a smooth pattern."""

    mirror = 0.1

    def __init__(self, a, b, c):
        self.a = a
        self.n = normalize(np.cross(b - a, c - a))

    def intersect(self, origin, direction):
        """Return the distance along the ray, infinite if it misses."""
        slope = np.dot(self.n, direction)
        if abs(slope) < 1e-6:
            return np.inf
        t = np.dot(self.a - origin, self.n) / slope
        return t if t > 1e-4 else np.inf

    def normal(self, point):
        """Return the normal."""
        return self.n

    def shade(self, point):
        """Return the pattern at a point."""
        wave = 0.5 + 0.4 * np.sin(3.0 * point[0]) * np.sin(3.0 * point[2])
        return wave * np.array([0.9, 0.85, 0.8])


class Camera:
    """A pinhole camera that looks at a target."""

    def __init__(self, position, target, fov):
        self.position = position
        forward = normalize(target - position)
        right = normalize(np.cross(forward, np.array([0.0, 1.0, 0.0])))
        up = np.cross(right, forward)
        self.basis = np.stack([right, up, forward], axis=1)
        self.scale = np.tan(0.5 * fov)

    def rays(self, width, height):
        """Yield a ray for each pixel."""
        for j in range(height):
            for i in range(width):
                x = (2.0 * (i + 0.5) / width - 1.0) * self.scale * width / height
                y = (1.0 - 2.0 * (j + 0.5) / height) * self.scale
                yield i, j, normalize(self.basis @ np.array([x, y, 1.0]))


class Scene:
    """Objects and a light."""

    def __init__(self, objects, light, ambient=0.1):
        self.objects, self.light, self.ambient = objects, light, ambient

    def nearest(self, origin, direction):
        """Return the nearest object and its distance."""
        hits = [(obj.intersect(origin, direction), n) for n, obj in enumerate(self.objects)]
        t, n = min(hits)
        return (self.objects[n], t) if t < np.inf else (None, t)

    def trace(self, origin, direction, depth=2):
        """Return the colour that a ray sees."""
        obj, t = self.nearest(origin, direction)
        if obj is None:
            return np.array([0.5, 0.7, 0.9]) * (0.6 + 0.4 * direction[1])
        point = origin + t * direction
        normal = obj.normal(point)
        to_light = normalize(self.light - point)
        colour = self.ambient * obj.shade(point)
        blocker, distance = self.nearest(point + 1e-3 * normal, to_light)
        if blocker is None or distance > np.linalg.norm(self.light - point):
            half = normalize(to_light - direction)
            colour = colour + max(0.0, np.dot(normal, to_light)) * obj.shade(point)
            colour = colour + 0.5 * max(0.0, np.dot(normal, half)) ** 30
        if depth > 0 and obj.mirror > 0:
            bounced = direction - 2.0 * np.dot(direction, normal) * normal
            colour = colour + obj.mirror * self.trace(point + 1e-3 * normal, bounced, depth - 1)
        return colour


def render_error(centres, radii, light, position, fov, target_image):
    """Compare the rendered picture with another."""
    colours = [(0.9, 0.2, 0.2), (0.2, 0.8, 0.3), (0.3, 0.3, 0.9)]
    objects = [Sphere(c, r, rgb) for c, r, rgb in zip(centres, radii, colours)]
    corners = np.array([[0.0, -1.0, 0.0], [0.0, -1.0, 1.0], [1.0, -1.0, 0.0]])
    objects.append(Floor(*corners))
    scene = Scene(objects, light)
    height, width = target_image.shape[:2]
    image = np.zeros((height, width, 3))
    for i, j, ray in Camera(position, np.zeros(3), fov).rays(width, height):
        image[j, i] = np.clip(scene.trace(position, ray), 0.0, 2.0)
    return float(np.mean((image - target_image) ** 2))


def arguments():
    """Return spheres, light, camera and a smooth picture to compare with."""
    centres = np.array([[-1.1, 0.0, 0.2], [0.1, -0.2, -0.4], [1.2, 0.1, 0.3]])
    target = np.full((9, 12, 3), 0.4) + np.linspace(0.0, 0.3, 9)[:, None, None]
    light, position = np.array([3.0, 5.0, -4.0]), np.array([0.17, 1.0, -5.0])
    return centres, [1.0, 0.6, 0.8], light, position, 1.1, target


PROGRAM = Program(run=render_error, arguments=arguments, argnums=(0, 1, 2, 3, 4), group="scalars")
