"""Cases of `scipy.integrate`."""

import numpy as np
from scipy import integrate

from tests.packages.suite import Package

PACKAGE = Package("scipy.integrate")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
NODES = np.array([0.0, 0.7, 1.5, 2.2, 3.0])

works("trapezoid", integrate.trapezoid, X, NODES)
works("simpson", integrate.simpson, X, NODES)
works("cumulative_trapezoid", integrate.cumulative_trapezoid, X, NODES)
works("cumulative_simpson", lambda y: integrate.cumulative_simpson(y, dx=0.5), X)
works("romb", lambda y: integrate.romb(y), X)
works("quad", lambda a, b, c: integrate.quad(lambda t: np.sin(c * t), a, b)[0], 0.2, 1.7, 0.9)
works("quad(args=)", lambda c: integrate.quad(lambda t, c: np.exp(-c * t), 0, 2, args=(c,))[0], 0.9)
works("quad to infinity", lambda c: integrate.quad(lambda t: np.exp(-c * t * t), 0, np.inf)[0], 0.9)
works("quad_vec", lambda c: integrate.quad_vec(lambda t: np.sin(c * t), 0, 1)[0], X)
works("dblquad", lambda c: integrate.dblquad(lambda y, x: c * x * y * y, 0, 1, 0, 2)[0], 0.9)
works("nquad", lambda c: integrate.nquad(lambda y, x: c * c * x * y, [[0, 1], [0, 2]])[0], 0.9)
works("fixed_quad", lambda a, b: integrate.fixed_quad(np.sin, a, b)[0], 0.2, 1.7)
works(
    "odeint",
    lambda y, k: integrate.odeint(lambda u, t: -k * u * u, y, NODES, rtol=1e-10, atol=1e-10),
    X,
    0.4,
)


def solve(method):
    def solved(y, k):
        def rate(t, u):
            return -k * u + np.sin(t)

        return integrate.solve_ivp(rate, (0, 1), y, method=method, rtol=1e-8, atol=1e-10).y[:, -1]

    return solved


for _method in ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"):
    works(f"solve_ivp(method='{_method}')", solve(_method), X, 0.4, rtol=1e-3)
works(
    "solve_ivp(t_eval=)",
    lambda y: integrate.solve_ivp(lambda t, u: -u * u, (0, 1), y, t_eval=[0.3, 0.9]).y,
    X,
    rtol=1e-3,
)
works(
    "solve_ivp(dense_output=True)",
    lambda y: integrate.solve_ivp(lambda t, u: -u * u, (0, 1), y, dense_output=True).sol(0.37),
    X,
    rtol=1e-3,
)
