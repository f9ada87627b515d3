"""Cases of `scipy.interpolate`."""

import numpy as np
from scipy import interpolate

from tests.packages.suite import Package

PACKAGE = Package("scipy.interpolate")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
NODES = np.array([0.0, 0.7, 1.5, 2.2, 3.0])
INSIDE = np.array([0.2, 1.1, 2.7])
IMAGE = np.cos(np.arange(30.0).reshape(5, 6) ** 1.2)
P = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9]])
Q = P[:3, ::-1] + 0.3

works("CubicSpline", lambda y, t: interpolate.CubicSpline(NODES, y)(t), X, INSIDE)
works(
    "CubicSpline(bc_type='natural')",
    lambda y: interpolate.CubicSpline(NODES, y, bc_type="natural")(INSIDE, 1),
    X,
)
works("PchipInterpolator", lambda y, t: interpolate.PchipInterpolator(NODES, y)(t), X, INSIDE)
works("Akima1DInterpolator", lambda y, t: interpolate.Akima1DInterpolator(NODES, y)(t), X, INSIDE)
works("CubicHermiteSpline", lambda y, t: interpolate.CubicHermiteSpline(NODES, y, y)(t), X, INSIDE)
works(
    "BarycentricInterpolator",
    lambda y, t: interpolate.BarycentricInterpolator(NODES, y)(t),
    X,
    INSIDE,
)
works("KroghInterpolator", lambda y, t: interpolate.KroghInterpolator(NODES, y)(t), X, INSIDE)
works("lagrange", lambda y: interpolate.lagrange(NODES, y)(INSIDE), X)
works("interp1d", lambda y, t: interpolate.interp1d(NODES, y)(t), X, INSIDE)
works(
    "interp1d(kind='cubic')",
    lambda y, t: interpolate.interp1d(NODES, y, kind="cubic")(t),
    X,
    INSIDE,
)
works("make_interp_spline", lambda y, t: interpolate.make_interp_spline(NODES, y)(t), X, INSIDE)
works(
    "make_lsq_spline",
    lambda y: interpolate.make_lsq_spline(NODES, y, [0, 0, 0, 0, 3, 3, 3, 3])(INSIDE),
    X,
)
works("BSpline", lambda c, t: interpolate.BSpline([0, 0, 0, 0, 1, 3, 3, 3, 3], c, 3)(t), X, INSIDE)
works("splrep, splev", lambda y: interpolate.splev(INSIDE, interpolate.splrep(NODES, y)), X)
works("UnivariateSpline(s=0)", lambda y: interpolate.UnivariateSpline(NODES, y, s=0)(INSIDE), X)
works(
    "RegularGridInterpolator",
    lambda v, p: interpolate.RegularGridInterpolator((NODES, np.arange(6.0)), v)(p),
    IMAGE,
    P + 0.5,
)
works(
    "RectBivariateSpline",
    lambda v: interpolate.RectBivariateSpline(NODES, np.arange(6.0), v)(0.4, 2.2),
    IMAGE,
)
works("RBFInterpolator", lambda y: interpolate.RBFInterpolator(P, y)(Q), X[:4])
works(
    "LinearNDInterpolator",
    lambda y: interpolate.LinearNDInterpolator(P, y)(np.array([[0.8, 0.5]])),
    X[:4],
)
works("PPoly.derivative", lambda y: interpolate.CubicSpline(NODES, y).derivative()(INSIDE), X)
works("PPoly.integrate", lambda y: interpolate.CubicSpline(NODES, y).integrate(0.3, 2.1), X)
