"""Likelihood of a tracked object by the Kalman filter, with missing and gated measurements.

Style: an engineer's filter class with predict and update, attributes named as in the books.
"""

import numpy as np

from benchmarks.programs.program import Program


class KalmanFilter:
    """The linear filter with state x, covariance P, and the usual matrices."""

    def __init__(self, dim_x, dim_z):
        self.x = np.zeros((dim_x, 1))
        self.P = np.eye(dim_x)
        self.F = np.eye(dim_x)
        self.Q = np.eye(dim_x)
        self.H = np.zeros((dim_z, dim_x))
        self.R = np.eye(dim_z)
        self.K = np.zeros((dim_x, dim_z))
        self.y = np.zeros((dim_z, 1))
        self.S = np.zeros((dim_z, dim_z))
        self._I = np.eye(dim_x)
        self.log_likelihood = 0.0

    def predict(self):
        """Propagate the state."""
        self.x = np.dot(self.F, self.x)
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        """Take in a measurement; None if it is missing."""
        if z is None:
            self.log_likelihood = 0.0
            return
        z = np.reshape(z, (-1, 1))
        self.y = z - self.H @ self.x
        PHT = self.P @ self.H.T
        self.S = self.H @ PHT + self.R
        self.K = PHT @ np.linalg.inv(self.S)
        self.x = self.x + self.K @ self.y
        IKH = self._I - self.K @ self.H
        self.P = IKH @ self.P @ IKH.T + self.K @ self.R @ self.K.T
        self.log_likelihood = self._gaussian()

    def _gaussian(self):
        """Log density of the innovation."""
        _, logdet = np.linalg.slogdet(self.S)
        distance = (self.y.T @ np.linalg.solve(self.S, self.y)).item()
        return -0.5 * (distance + logdet + len(self.y) * np.log(2.0 * np.pi))


def white_noise(dt, spectral_density):
    """Process noise of a nearly constant velocity in one dimension."""
    q = np.array([[dt**3 / 3.0, dt**2 / 2.0], [dt**2 / 2.0, dt]])
    return q * spectral_density


def block(a, b):
    """Block diagonal of two square matrices."""
    n, m = len(a), len(b)
    out = np.zeros((n + m, n + m))
    out[:n, :n] = a
    out[n:, n:] = b
    return out


def make_tracker(dt, sigma_a, sigma_z, drag, start):
    """Return a filter of positions and velocities in the plane."""
    kf = KalmanFilter(dim_x=4, dim_z=2)
    one = np.array([[1.0, dt], [0.0, np.exp(-drag * dt)]])
    kf.F = block(one, one)
    kf.Q = block(white_noise(dt, sigma_a**2), white_noise(dt, sigma_a**2))
    kf.H = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]])
    kf.R = np.diag(sigma_z**2)
    kf.x = start.reshape(4, 1)
    kf.P *= 4.0
    return kf


def loss(log_sigma_a, log_sigma_z, drag, start, measurements):
    """Negative log likelihood of the measurements."""
    kf = make_tracker(0.5, np.exp(log_sigma_a), np.exp(log_sigma_z), drag, start)
    total = 0.0
    for z in measurements:
        kf.predict()
        kf.update(z)
        total += kf.log_likelihood
    return float(-total)


def arguments():
    """Return parameters, and measurements some of which are missing."""
    rng = np.random.default_rng(6)
    position, velocity = np.zeros(2), np.array([1.0, 0.4])
    measurements = []
    for _ in range(400):
        velocity = velocity + rng.normal(0.0, 0.2, 2)
        position = position + 0.5 * velocity
        seen = rng.random() > 0.15
        measurements.append(position + rng.normal(0.0, 0.5, 2) if seen else None)
    return -1.2, np.log([0.6, 0.4]), 0.05, np.array([0.1, 0.9, -0.1, 0.3]), measurements


PROGRAM = Program(run=loss, arguments=arguments, argnums=(0, 1, 2, 3), group="arrays")
