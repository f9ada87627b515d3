"""Cases of `filterpy`."""

import numpy as np
from filterpy import common, gh, kalman, leastsq, memory, stats

from tests.packages.suite import Package

PACKAGE = Package("filterpy")
works = PACKAGE.works

Z = np.array([0.3, 1.2, 1.9, 3.4, 4.1])
F = np.array([[1.0, 0.5], [0.0, 1.0]])
Q = np.array([[0.3, 0.1], [0.1, 0.4]])


def kalman_filter(kind, z, q, r):
    f = kind(dim_x=2, dim_z=1)
    f.x = np.zeros((2, 1))
    f.F, f.H = F, np.array([[1.0, 0.0]])
    f.P = f.P * 2.0
    f.Q = np.eye(2) * q
    f.R = np.eye(1) * r
    for value in z:
        f.predict()
        f.update(np.array([[value]]))
    return f


def unscented(z, q):
    points = kalman.MerweScaledSigmaPoints(2, 0.5, 2.0, 1.0)
    f = kalman.UnscentedKalmanFilter(2, 1, 0.5, lambda x: x[:1], lambda x, dt: F @ x, points)
    f.Q = np.eye(2) * q
    for value in z:
        f.predict()
        f.update(np.array([value]))
    return f.x


def extended(z, r):
    f = kalman.ExtendedKalmanFilter(2, 1)
    f.x = np.array([[0.1], [0.4]])
    f.F = F
    f.R = np.eye(1) * r
    for value in z:
        f.predict()
        f.update(
            np.array([[value]]), lambda x: np.array([[2 * x[0, 0], 0.0]]), lambda x: x[:1] ** 2
        )
    return f.x


def ensemble(z):
    np.random.seed(4)  # noqa: NPY002 (what filterpy draws from)
    f = kalman.EnsembleKalmanFilter(
        np.zeros(2), np.eye(2), 1, 0.5, 8, lambda x: x[:1], lambda x, dt: F @ x
    )
    for value in z:
        f.predict()
        f.update(np.array([value]))
    return f.x


works("KalmanFilter x", lambda z, q, r: kalman_filter(kalman.KalmanFilter, z, q, r).x, Z, 0.1, 0.4)
works("KalmanFilter P", lambda z, q, r: kalman_filter(kalman.KalmanFilter, z, q, r).P, Z, 0.1, 0.4)
works(
    "KalmanFilter log_likelihood",
    lambda z, q, r: kalman_filter(kalman.KalmanFilter, z, q, r).log_likelihood,
    Z,
    0.1,
    0.4,
)
works("KalmanFilter.batch_filter", lambda z: batch(z)[0], Z)
works("KalmanFilter.rts_smoother", lambda z: smoothed(z), Z)
works(
    "SquareRootKalmanFilter",
    lambda z, q, r: kalman_filter(kalman.SquareRootKalmanFilter, z, q, r).x,
    Z,
    0.1,
    0.4,
    forward=False,
)
works("InformationFilter", lambda z: information(z), Z)
works("FadingKalmanFilter", lambda z: fading(z), Z)
works("ExtendedKalmanFilter", extended, Z, 0.4)
works("UnscentedKalmanFilter", unscented, Z, 0.1)
works("EnsembleKalmanFilter", ensemble, Z)
works("kalman.predict", lambda x, p: kalman.predict(x, p, F, Q), Z[:2], Q)
works(
    "kalman.update",
    lambda x, p, z: kalman.update(x, p, z, np.eye(1) * 0.4, np.array([[1.0, 0.0]])),
    Z[:2],
    Q,
    Z[:1],
)
works(
    "MerweScaledSigmaPoints.sigma_points",
    lambda x, p: kalman.MerweScaledSigmaPoints(2, 0.5, 2.0, 1.0).sigma_points(x, p),
    Z[:2],
    Q,
)
works(
    "JulierSigmaPoints.sigma_points",
    lambda x, p: kalman.JulierSigmaPoints(2, 1.0).sigma_points(x, p),
    Z[:2],
    Q,
)
works(
    "unscented_transform",
    lambda s: kalman.unscented_transform(s, np.full(5, 0.2), np.full(5, 0.2)),
    np.outer(Z, Z[:2]),
)
works("Q_discrete_white_noise", lambda v: common.Q_discrete_white_noise(2, 0.5, v), 0.3)
works("Q_continuous_white_noise", lambda v: common.Q_continuous_white_noise(2, 0.5, v), 0.3)
works("van_loan_discretization", lambda f: common.van_loan_discretization(f, Q, 0.1), F)
works("linear_ode_discretation", lambda f: common.linear_ode_discretation(f, np.eye(2), Q, 0.1), F)
works("GHFilter", lambda z, g: gh.GHFilter(0.0, 1.0, 0.5, g, 0.2).batch_filter(z), Z, 0.6)
works(
    "GHKFilter", lambda z: [gh.GHKFilter(0.0, 0.0, 0.0, 1.0, 0.5, 0.2, 0.1).update(v) for v in z], Z
)
works("LeastSquaresFilter", lambda z: least(z), Z)
works("FadingMemoryFilter", lambda z: faded(z), Z)
works("stats.gaussian", stats.gaussian, 0.3, 0.5, 1.2)
works("stats.mul", stats.mul, 0.3, 0.5, 1.2, 0.8)
works("stats.add", stats.add, 0.3, 0.5, 1.2, 0.8)
works(
    "stats.multivariate_gaussian",
    lambda x, m, c: stats.multivariate_gaussian(x, m, c),
    Z[:2],
    Z[1:3],
    Q,
)
works("stats.logpdf", lambda x, c: stats.logpdf(x, np.zeros(2), c @ c.T), Z[:2], Q)
works("stats.mahalanobis", lambda x, c: stats.mahalanobis(x, np.zeros(2), c), Z[:2], Q)
works(
    "stats.multivariate_multiply",
    lambda m, c: stats.multivariate_multiply(m, c, Z[1:3], Q),
    Z[:2],
    Q,
)
works("stats.NEES", lambda x: stats.NEES(np.zeros((1, 2)), x[None], Q[None]), Z[:2])


def batch(z):
    f = kalman.KalmanFilter(dim_x=2, dim_z=1)
    f.F, f.H = F, np.array([[1.0, 0.0]])
    return f.batch_filter([np.array([[v]]) for v in z])


def smoothed(z):
    f = kalman.KalmanFilter(dim_x=2, dim_z=1)
    f.F, f.H, f.Q = F, np.array([[1.0, 0.0]]), Q
    means, covariances, _, _ = f.batch_filter([np.array([[v]]) for v in z])
    return f.rts_smoother(means, covariances)[0]


def information(z):
    f = kalman.InformationFilter(dim_x=2, dim_z=1)
    f.x = np.zeros((2, 1))
    f.F, f.H = F, np.array([[1.0, 0.0]])
    for value in z:
        f.predict()
        f.update(np.array([[value]]))
    return f.x


def fading(z):
    f = kalman.FadingKalmanFilter(1.02, dim_x=2, dim_z=1)
    f.F, f.H = F, np.array([[1.0, 0.0]])
    for value in z:
        f.predict()
        f.update(np.array([[value]]))
    return f.x


def least(z):
    f = leastsq.LeastSquaresFilter(0.5, 1, 0.3)
    for value in z:
        f.update(value)
    return f.x


def faded(z):
    f = memory.FadingMemoryFilter([0.0, 0.5], 0.5, 1, 0.7)
    for value in z:
        f.update(value)
    return f.x
