"""Find the latitude of a drifting buoy from the circles that it makes.

After a gust of wind, water of the ocean moves in circles, with the inertial frequency
f = 2 Omega sin(latitude). A buoy in it has the state s = (x, y, u, v), place and velocity:

    s[k+1] = F s[k] + noise of covariance Q,    F: rotation of (u, v) by f dt, damping by exp(-r dt)
    z[k]   = (x, y)[k] + noise of covariance m^2 I

A Kalman filter predicts each fix z[k] of its place from those before; the likelihood of f, r, the
strength of the gusts and the error m of the fixes is that of its errors, normal with covariance S:

    -log L = 1/2 sum_k (log det S_k + e_k^T S_k^-1 e_k)

(F. C. Schweppe, IEEE Trans. Inf. Theory 11 (1965) 61-70). The filter is an object that updates its
mean and covariance in place. L-BFGS-B finds the maximum; differences of the gradient there give the
Hessian, and its inverse the standard errors. The data are made up: a buoy at 43 degrees North for
five days, with a fix every half hour.

What other tools would need. JAX: a function from state to state for `lax.scan` instead of the
object, F as `.at[].set`. autograd: F by `np.array` of nested lists; mean and covariance as new
arrays. PyTorch: on tensors, backward raises, "modified by an inplace operation": `F @ P @ F.T`
saves P, and the next line overwrites it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.optimize import minimize

from mooncake_py import value_and_grad

HOURS, DT = 120.0, 0.5
TURN = 4.0 * np.pi / 23.9345  # twice the rotation of the Earth, rad/h
LATITUDE = 43.0
NAMES = ("inertial frequency, rad/h", "damping, 1/h", "gusts, km/h^1.5", "error of fixes, km")
TRUE = np.array([TURN * np.sin(np.radians(LATITUDE)), 0.01, 0.03, 0.15])


class KalmanFilter:
    """The distribution of place and velocity, given the fixes so far."""

    def __init__(self, frequency: float, damping: float, gusts: float, error: float) -> None:
        self.mean = np.zeros(4)
        self.covariance = np.diag([1.0, 1.0, 0.25, 0.25])
        self.transition = transition(frequency, damping)
        self.noise = np.zeros((4, 4))
        self.noise[2, 2] = self.noise[3, 3] = gusts**2 * DT
        self.error = error**2 * np.eye(2)

    def predict(self) -> None:
        """Move on by a time step."""
        self.mean[:] = self.transition @ self.mean
        self.covariance[:] = self.transition @ self.covariance @ self.transition.T
        self.covariance += self.noise

    def update(self, fix: Array) -> float:
        """Take in a fix, and return its negative log-likelihood up to a constant."""
        innovation = fix - self.mean[:2]
        spread = self.covariance[:2, :2] + self.error
        gain = np.linalg.solve(spread, self.covariance[:2]).T
        self.mean += gain @ innovation
        self.covariance -= gain @ spread @ gain.T
        distance = innovation @ np.linalg.solve(spread, innovation)
        return 0.5 * (np.log(np.linalg.det(spread)) + distance)


def transition(frequency: float, damping: float) -> Array:
    """Return the matrix that moves place and velocity on by a time step."""
    matrix = np.eye(4)
    matrix[0, 2] = matrix[1, 3] = DT
    cosine, sine = np.cos(frequency * DT), np.sin(frequency * DT)
    matrix[2:, 2:] = [[cosine, sine], [-sine, cosine]]
    matrix[2:, 2:] *= np.exp(-damping * DT)
    return matrix


def negative_log_likelihood(logs: Array, fixes: Array) -> float:
    """Run the filter over the fixes; the parameters are positive, so their logarithms vary."""
    frequency, damping, gusts, error = np.exp(logs)
    buoy = KalmanFilter(frequency, damping, gusts, error)
    total = 0.0
    for fix in fixes:
        buoy.predict()
        total += buoy.update(fix)
    return total


def drift(random: np.random.Generator) -> Array:
    """Return the fixes of a buoy that begins at rest relative to the mean and is blown about."""
    frequency, damping, gusts, error = TRUE
    matrix = transition(frequency, damping)
    state = np.array([0.0, 0.0, 0.6, 0.0])
    fixes = np.empty((int(HOURS / DT), 2))
    for fix in fixes:
        state = matrix @ state
        state[2:] += gusts * np.sqrt(DT) * random.standard_normal(2)
        fix[:] = state[:2] + error * random.standard_normal(2)
    return fixes


def main(picture: Path) -> None:
    """Fit, compare with the truth and the standard errors, and draw the drift."""
    fixes = drift(np.random.default_rng(1))
    gradient = value_and_grad(negative_log_likelihood)
    guess = np.log([0.3, 0.05, 0.1, 0.5])
    report(negative_log_likelihood, gradient, guess, fixes, rounds=7)

    found = minimize(gradient, guess, fixes, "L-BFGS-B", jac=True)
    moves = 1e-4 * np.eye(len(guess))
    changes = [gradient(found.x + d, fixes)[1] - gradient(found.x - d, fixes)[1] for d in moves]
    errors = np.sqrt(np.diag(np.linalg.inv(np.array(changes) / 2e-4)))
    print(f"{found.nfev} gradients; estimates, standard errors, truth:")
    for name, log, error, truth in zip(NAMES, found.x, errors, TRUE, strict=True):
        print(f"  {name:<28}{np.exp(log):8.4f} +- {np.exp(log) * error:.4f}   {truth:8.4f}")
        assert abs(log - np.log(truth)) < 3.0 * error
    sine = np.exp(found.x[0]) / TURN
    latitude = np.degrees(np.arcsin(sine))
    degrees = np.degrees(sine * errors[0] / np.sqrt(1.0 - sine**2))
    print(f"latitude: {latitude:.1f} +- {degrees:.1f} degrees North, true {LATITUDE}")

    buoy = KalmanFilter(*np.exp(found.x))
    filtered = np.empty_like(fixes)
    for step, fix in enumerate(fixes):
        buoy.predict()
        buoy.update(fix)
        filtered[step] = buoy.mean[:2]
    figure, panel = plt.subplots(figsize=(5, 4), layout="constrained")
    panel.plot(*fixes.T, ".", color="tab:gray", markersize=4, label="fixes")
    panel.plot(*filtered.T, color="tab:blue", label="filtered")
    panel.set(xlabel="east, km", ylabel="north, km", aspect="equal")
    panel.set_title(f"latitude {latitude:.1f} ± {degrees:.1f}°, true {LATITUDE}°")
    panel.legend()
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
