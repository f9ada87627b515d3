"""Cases of `scipy.optimize`."""

import numpy as np
from scipy import optimize

from tests.packages.suite import Package

PACKAGE = Package("scipy.optimize")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
NODES = np.array([0.0, 0.7, 1.5, 2.2, 3.0])
IMAGE = np.cos(np.arange(30.0).reshape(5, 6) ** 1.2)

works("brentq", lambda c: optimize.brentq(lambda t: t**3 - c, 0.0, 3.0, xtol=1e-13), 2.0)
works("newton", lambda c: optimize.newton(lambda t: t**3 - c, 1.0, tol=1e-13), 2.0)
works(
    "root_scalar",
    lambda c: optimize.root_scalar(lambda t: t**3 - c, bracket=(0, 3), xtol=1e-13).root,
    2.0,
)
works(
    "fsolve",
    lambda c: optimize.fsolve(lambda u: u**3 + 0.1 * u[::-1] - c, np.ones(5), xtol=1e-13),
    X,
)
works(
    "root", lambda c: optimize.root(lambda u: u**3 + 0.1 * u[::-1] - c, np.ones(5), tol=1e-13).x, X
)
works(
    "minimize",
    lambda c: (
        optimize.minimize(lambda u: ((u**2 - c) ** 2).sum() + (u**2).sum(), np.ones(5), tol=1e-12).x
    ),
    X + 1,
    rtol=1e-3,
)
works(
    "minimize(method='L-BFGS-B', bounds=)",
    lambda c: (
        optimize.minimize(
            lambda u: ((u - c) ** 2).sum() + (u**4).sum(),
            np.ones(5),
            bounds=[(0, 0.5)] * 5,
            method="L-BFGS-B",
            tol=1e-14,
        ).x
    ),
    X,
    rtol=1e-3,
)
works(
    "minimize_scalar",
    lambda c: optimize.minimize_scalar(lambda u: (u - c) ** 2 + u**4, tol=1e-12).x,
    0.8,
    rtol=1e-3,
)
works(
    "least_squares",
    lambda c: (
        optimize.least_squares(
            lambda u: np.exp(u[0] * NODES) * u[1] - c,
            np.array([0.1, 1.0]),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        ).x
    ),
    X,
    rtol=1e-3,
)
works(
    "curve_fit",
    lambda y: optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t), NODES, y, p0=(1.0, 0.3), xtol=1e-14, ftol=1e-14
    )[0],
    X[::-1].copy() + 1,
    rtol=1e-3,
)
works("rosen", optimize.rosen, X)
works("rosen_der", optimize.rosen_der, X)
works("lsq_linear", lambda b: optimize.lsq_linear(IMAGE[:, :3], b).x, X)
PACKAGE.refuses(
    "nnls",
    "compiled, no rule yet",
    "no rule for scipy.optimize.nnls",
    lambda b: optimize.nnls(np.abs(IMAGE[:, :2]), b)[0],
    X + 2,
)
PACKAGE.refuses(
    "linear_sum_assignment",
    "compiled, no rule yet; the assignment is constant",
    "no rule for scipy.optimize.linear_sum_assignment",
    lambda c: c[optimize.linear_sum_assignment(c)].sum(),
    IMAGE,
)
