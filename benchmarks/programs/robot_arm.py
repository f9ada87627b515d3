"""An arm with six joints follows a path: forward kinematics, Jacobians, damped inverse steps.

Style: a roboticist's chains of 4 by 4 transforms, lists of links, small helper functions.
"""

from functools import reduce

import numpy as np

from benchmarks.programs.program import Program


def rotation_z(angle):
    """Rotate about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def rotation_x(angle):
    """Rotate about x."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def translation(x, y, z):
    """Move."""
    t = np.eye(4)
    t[:3, 3] = [x, y, z]
    return t


class Link:
    """A link by Denavit and Hartenberg, with a mass at its end."""

    def __init__(self, a, alpha, d, mass, limit=2.8):
        self.a, self.alpha, self.d = a, alpha, d
        self.mass, self.limit = mass, limit

    def transform(self, theta):
        """Return the transform from this link to the one before."""
        parts = [
            rotation_z(theta),
            translation(0.0, 0.0, self.d),
            translation(self.a, 0.0, 0.0),
            rotation_x(self.alpha),
        ]
        return reduce(np.matmul, parts)


class Arm:
    """A chain of links."""

    def __init__(self, links):
        self.links = list(links)

    def __len__(self):
        return len(self.links)

    def frames(self, q):
        """Return the frames of all joints, from the base to the hand."""
        frames = [np.eye(4)]
        for link, theta in zip(self.links, q):
            frames.append(frames[-1] @ link.transform(theta))
        return frames

    def jacobian(self, frames):
        """Return the geometric Jacobian of the hand."""
        hand = frames[-1][:3, 3]
        columns = []
        for frame in frames[:-1]:
            axis, origin = frame[:3, 2], frame[:3, 3]
            columns.append(np.concatenate([np.cross(axis, hand - origin), axis]))
        return np.column_stack(columns)

    def gravity_torques(self, frames, g=9.81):
        """Return the torques that hold the arm."""
        torques = np.zeros(len(self))
        for i in range(len(self)):
            axis, origin = frames[i][:3, 2], frames[i][:3, 3]
            for link, frame in zip(self.links[i:], frames[i + 1 :]):
                lever = frame[:3, 3] - origin
                torques[i] += axis @ np.cross(lever, np.array([0.0, 0.0, link.mass * g]))
        return torques


def pose_error(frame, target):
    """Return the errors of position and of orientation."""
    r, wanted = frame[:3, :3], target[:3, :3]
    turn = 0.5 * sum(np.cross(r[:, k], wanted[:, k]) for k in range(3))
    return np.hstack((target[:3, 3] - frame[:3, 3], turn))


def track(arm, q, targets, gain, damping):
    """Follow the targets by damped least squares; yield joints, frames and errors."""
    for target in targets:
        for _ in range(2):
            frames = arm.frames(q)
            error = pose_error(frames[-1], target)
            j = arm.jacobian(frames)
            lhs = j @ j.T + damping**2 * np.eye(6)
            q = q + gain * j.T @ np.linalg.solve(lhs, error)
        yield q, frames, error


def circle(centre, radius, steps):
    """Return poses on a circle, the hand pointing down."""
    down = rotation_x(np.pi)
    angles = np.linspace(0.0, 2.0 * np.pi, steps)
    return [
        translation(*(centre + radius * np.array([0.0, np.cos(t), np.sin(t)]))) @ down
        for t in angles
    ]


def effort(lengths, offsets, masses, q0, centre, gain, damping):
    """Sum of errors, torques and closeness to the limits along the circle."""
    twists = [np.pi / 2, 0.0, np.pi / 2, -np.pi / 2, np.pi / 2, 0.0]
    arm = Arm(Link(*row) for row in zip(lengths, twists, offsets, masses))
    total = 0.0
    for q, frames, error in track(arm, q0, circle(centre, 0.15, 12), gain, damping):
        limits = np.array([link.limit for link in arm.links])
        total += np.linalg.norm(error[:3]) + 0.3 * np.linalg.norm(error[3:])
        total += 1e-4 * np.sum(arm.gravity_torques(frames) ** 2)
        total += 0.1 * np.sum((q / limits) ** 8)
    return float(total)


def arguments():
    """Return lengths, offsets, masses, first angles, centre of the circle, gain and damping."""
    lengths = [0.05, 0.45, 0.08, 0.0, 0.0, 0.0]
    offsets = [0.4, 0.0, 0.0, 0.42, 0.0, 0.12]
    masses = [4.0, 3.0, 2.0, 1.5, 0.8, 0.5]
    q0 = np.array([0.2, 1.1, -0.4, 0.3, 0.9, -0.2])
    return lengths, offsets, masses, q0, np.array([0.5, 0.1, 0.4]), 0.6, 0.15


PROGRAM = Program(run=effort, arguments=arguments, argnums=(0, 1, 2, 3, 4, 5, 6), group="scalars")
