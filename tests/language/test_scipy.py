"""SciPy: what is written in Python is derived, roots have a derivative, the rest is refused."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError, SolverError
from tests.support.gradients import Program, Programs, check

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[2.3, -0.2, 0.7], [1.1, 3.4, -0.6], [0.2, 0.3, 1.9]])
pytest.importorskip("scipy")
import scipy.integrate as si  # noqa: E402
import scipy.interpolate as sint  # noqa: E402
import scipy.linalg as sl  # noqa: E402
import scipy.optimize as so  # noqa: E402
import scipy.signal as sg  # noqa: E402
import scipy.special as ss  # noqa: E402
import scipy.stats as st  # noqa: E402


def rhs(t, y, k):
    return np.array([y[1], -k[0] * y[0] - k[1] * y[1]])


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp(y0, k):
    return si.solve_ivp(rhs, (0.0, 1.0), y0, args=(k,)).y[0, -1]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp23(y0, k):
    return si.solve_ivp(rhs, (0.0, 1.0), y0, method="RK23", args=(k,)).y[:, -1].sum()


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp853(y0, k):
    return si.solve_ivp(rhs, (0.0, 1.0), y0, method="DOP853", args=(k,)).y[:, -1].sum()


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_teval(y0, k):
    return (
        si.solve_ivp(lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, t_eval=np.linspace(0, 1, 5)).y ** 2
    ).sum()


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_dense(y0, k):
    s = si.solve_ivp(lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, dense_output=True)
    return s.sol(0.5)[0] + (s.sol(np.array([0.2, 0.7])) ** 2).sum()


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_list(y0, k):
    return si.solve_ivp(
        lambda t, y: [y[1], -k[0] * y[0]], (0.0, 1.0), [y0[0], y0[1]], first_step=0.1, max_step=0.1
    ).y[0, -1]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_max(y0, k):
    return si.solve_ivp(
        lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, first_step=0.05, max_step=0.05
    ).y[0, -1]


@programs(np.array([1.0, 0.2]), 1.3, rtol=0.0001)
def ivp_tend(y0, T):
    return si.solve_ivp(lambda t, y: np.array([y[1], -y[0]]), (0.0, T), y0).y[0, -1]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_event(y0, k):

    def ev(t, y):
        return y[1]

    s = si.solve_ivp(lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, events=ev)
    return s.y[0, -1]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_event_t(y0, k):

    def ev(t, y):
        return y[1]

    s = si.solve_ivp(lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, events=ev)
    return s.t_events[0][0]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def ivp_vec(y0, k):
    return si.solve_ivp(lambda t, y: rhs(t, y, k), (0.0, 1.0), y0, vectorized=True).y[0, -1]


@programs(np.array([1.0, 0.2]), np.array([2.0, 0.3]), rtol=0.0001)
def rk45cls(y0, k):
    s = si.RK45(lambda t, y: rhs(t, y, k), 0.0, y0, 1.0)
    while s.status == "running":
        s.step()
    return s.y[0]


@programs(2.0)
def newton_(a):
    return so.newton(lambda v: v * v - a, 1.0)


@programs(2.0)
def newton_p(a):
    return so.newton(lambda v: v * v - a, 1.0, fprime=lambda v: 2 * v)


@programs(2.0)
def newton_p2(a):
    return so.newton(
        lambda v: v * v * v - a, 1.0, fprime=lambda v: 3 * v * v, fprime2=lambda v: 6 * v
    )


@programs(2.0)
def newton_args(a):
    return so.newton(lambda v, b: v * v - b, 1.0, args=(a,))


@programs(np.array([2.0, 3.0]))
def newton_vec(a):
    return so.newton(lambda v: v * v - a, np.array([1.0, 1.5])).sum()


@programs(np.array([2.0, 3.0]))
def newton_vec_p(a):
    return so.newton(lambda v: v * v - a, np.array([1.0, 1.5]), fprime=lambda v: 2 * v).sum()


@programs(2.0)
def newton_full(a):
    r, info = so.newton(lambda v: v * v - a, 1.0, full_output=True)
    return r * info.converged


@programs(2.0)
def fixedp(a):
    return float(so.fixed_point(lambda v: 0.5 * (v + a / v), 1.0))


@programs(np.array([2.0, 3.0]))
def fixedp_vec(a):
    return so.fixed_point(lambda v: 0.5 * (v + a / v), np.array([1.0, 1.2])).sum()


@programs(np.array([2.0, 3.0]))
def fixedp_iter(a):
    return so.fixed_point(
        lambda v, c: np.sqrt(c / (v + 1)), np.array([1.0, 1.2]), args=(a,), method="iteration"
    ).sum()


@programs(2.0)
def brentq_(a):
    return so.brentq(lambda v: v * v - a, 0, 5)


@programs(2.0)
def bisect_(a):
    return so.bisect(lambda v: v * v - a, 0, 5)


@programs(2.0)
def fixedq(a):
    return si.fixed_quad(lambda v: v * a, 0, 1, n=4)[0]


@programs(X)
def simps(x):
    return si.simpson(x * x, dx=0.1) + si.simpson(x, x=np.array([0.0, 0.3, 0.9]))


@programs(np.array([0.1, 0.4, -0.5, 0.7]))
def simps_even(x):
    return si.simpson(x * x, x=np.array([0.0, 0.3, 0.9, 1.4]))


@programs(np.array([0.1, 0.4, -0.5, 0.7]))
def simps_x(x):
    return si.simpson(np.array([0.0, 0.3, 0.9, 1.4]), x=np.array([0.0, 0.3, 0.9, 1.4]) + x * x)


@programs(X)
def trapz(x):
    return si.trapezoid(x * x, dx=0.1) + si.trapezoid(x, x=[0.0, 0.3, 0.9])


@programs(X)
def ctrapz(x):
    return (si.cumulative_trapezoid(x * x, dx=0.1, initial=0) * np.arange(3)).sum()


@programs(np.array([0.1, 0.4, -0.5, 0.7]))
def csimps(x):
    return (si.cumulative_simpson(x * x, dx=0.1) * np.arange(3)).sum()


@programs(np.array([0.1, 0.4, -0.5, 0.7, 0.2]))
def romb_(x):
    return si.romb(x * x, dx=0.1)


@programs(X)
def lagr(x):
    return sint.lagrange([0.0, 1.0, 2.0], x)(0.5)


@programs(X)
def kro(x):
    return float(sint.KroghInterpolator([0.0, 1.0, 2.0], x)(0.5))


@programs(X)
def bary(x):
    return float(sint.BarycentricInterpolator([0.0, 1.0, 2.0], x)(0.5))


@programs(X)
def i1d(x):
    return float(sint.interp1d([0.0, 1.0, 2.0], x)(0.5))


@programs(X)
def sl_toep(x):
    return (
        (sl.toeplitz(x) ** 2).sum()
        + (sl.circulant(x) ** 3).sum()
        + (sl.hankel(x) ** 3).sum()
        + (sl.block_diag(x, x[:, None]) ** 2).sum()
    )


@programs(X)
def stats_zscore(x):
    return (st.zscore(x) ** 3).sum()


@programs(X)
def sig_conv(x):
    return sg.convolve(x, x).sum()


@programs(X)
def rosen_(x):
    return so.rosen(x)


@programs(2.0, 5.0)
def brentq_args(a, b):
    return so.brentq(lambda v, c: v**3 - c * v - 1, 0.1, b, args=(a,))


@programs(2.0)
def brenth_full(a):
    r, info = so.brenth(lambda v: math.exp(-v) - a * v, 0.0, 3.0, full_output=True)
    return r * r * info.converged


@programs(2.0)
def ridder_(a):
    return so.ridder(lambda v: v * v - a, 0.0, 3.0, xtol=1e-12)


@programs(np.array([2.0, 0.5]))
def bisect_arr(x):
    return so.bisect(lambda v: x[0] * v - x[1] * np.cos(v), -3.0, 3.0)


@programs(2.0)
def root_int(a):
    return so.brentq(lambda v: v - a, 0, 5) * a


@programs(2.0)
def brent_then(a):
    r = so.brentq(lambda v: v**5 - a, 0.0, 3.0)
    return r * r * a


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@programs(X)
def softmax(x):
    return (ss.softmax(x) * np.arange(3)).sum() + ss.logsumexp(x)


REFUSED = {
    "scipy.optimize.golden": lambda x: so.golden(lambda v: (v - x[0]) ** 2),
    "scipy.special.pro_cv": lambda x: ss.pro_cv(1, 2, x).sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_compiled_functions_are_refused_by_their_names(name):
    with pytest.raises(MissingRuleError) as caught:
        grad(REFUSED[name])(X.copy())
    assert caught.value.what == f"no rule for {name}"
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_search_among_constants_runs():
    def f(x):
        return so.minimize_scalar(lambda v: (v - 1.5) ** 2).x * x[0]

    np.testing.assert_allclose(grad(f)(X), [1.5, 0.0, 0.0], rtol=1e-6, strict=True)


@pytest.mark.parametrize(
    "f", [lambda v, a: (v - a) ** 3, lambda v, a: (v > a) - 0.5], ids=["flat", "jump"]
)
def test_root_without_a_slope_is_refused(f):
    with pytest.raises(SolverError, match="singular"):
        grad(lambda a: so.brentq(lambda v: float(f(v, a)), 0.0, 2.0, xtol=1e-4))(1.0)


@programs(X)
def overwritten(x):
    a = M.copy()
    y = a[:, 0] * x
    b = x * x
    sl.solve(a, b, overwrite_a=True, overwrite_b=True)
    c = np.asfortranarray(M)
    z = c[0] * x
    sl.inv(c, True)
    return (y * z).sum()


@programs(X)
def overwritten_constants(x):
    a = np.asfortranarray(M)
    y = a[:, 0] * x
    sl.lu_factor(a, overwrite_a=True)
    return (y * x).sum()


@programs(X)
def in_place_system(x):
    a = M.copy()
    a[0] += x
    factor = sl.lu_factor(a)
    a[...] = 0.0
    b = x.copy()
    for _ in range(3):
        b[:] = sl.lu_solve(factor, b) + x
    return b @ b


@programs(X)
def options_by_position(x):
    a = np.outer(x, x) + M @ M.T
    return sl.solve(a, x, False, True, True, True, "pos").sum()


@pytest.mark.without_modes("what callbacks store has no derivative in a second one")
def test_callback_of_a_root_finder_writes():
    def f(x):
        seen = np.zeros(1)

        def g(v):
            seen[0] = v * x[0]
            return v - x[1]

        return so.brentq(g, -5.0, 5.0) + seen[0]

    np.testing.assert_allclose(grad(f)(X), [-1.2, 1.3, 0.0], rtol=1e-9, strict=True)


GRID = np.array([0.0, 0.7, 1.5, 2.6])
HEIGHTS = np.array([0.4, -1.1, 0.6])
PIECEWISE = {
    "values": lambda x: sint.CubicSpline(GRID, np.append(x, 0.5))([0.3, 1.0, 3.0]),
    "grid": lambda x: sint.CubicSpline(np.cumsum(np.exp(x)), HEIGHTS)(1.9),
    "points": lambda x: sint.CubicSpline(GRID, np.sin(GRID))(x),
    "derivatives": lambda x: sint.CubicSpline(GRID, np.sin(GRID))(np.outer(x, x), 1),
    "natural": lambda x: sint.CubicSpline(GRID[:3], x, bc_type="natural")(x),
    "periodic": lambda x: sint.CubicSpline(
        GRID, np.append(x, x[0]), bc_type="periodic")(4 * x),
    "rows": lambda x: sint.CubicSpline(GRID, np.outer(GRID, x), axis=0)([0.1, 2.0]),
    "columns": lambda x: sint.CubicSpline(GRID, np.outer(x, GRID**2), axis=1)([[0.1, 2.0]]),
    "not beyond the ends": lambda x: np.nan_to_num(
        sint.CubicSpline(GRID, np.append(x, 1.0), extrapolate=False)([-1.0, 0.5, 4.0])),
    "derived": lambda x: sint.CubicSpline(GRID, np.append(x, 0.5)).derivative()(x),
    "PCHIP": lambda x: sint.PchipInterpolator(GRID, np.append(x, 0.5))([0.3, 2.0]),
    "Akima": lambda x: sint.Akima1DInterpolator(GRID, np.append(x, 0.5))([0.3, 2.0]),
    "coefficients": lambda x: sint.PPoly(np.outer(x, x), GRID)([0.3, 1.0], 1),
    "breakpoints": lambda x: sint.PPoly(np.ones((3, 2)), np.cumsum(np.exp(x)))(
        [1.5, 2.0]),
    "descending": lambda x: sint.PPoly(np.outer(HEIGHTS, x)[:, :2], GRID[2::-1])([0.3, 1.1]),
    "complex": lambda x: np.abs(sint.PPoly(np.outer(HEIGHTS, x * (1 + 2j)), GRID)([0.3, 1.1])),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PIECEWISE)
def test_piecewise_polynomials(name):
    check(lambda x: np.sum(np.cos(PIECEWISE[name](x * 1.0))), X)


def test_polynomials_in_the_basis_of_bernstein_are_evaluated_by_compiled_code():
    with pytest.raises(MissingRuleError, match="BPoly"):
        grad(lambda x: float(sint.BPoly(x[:, None], [0.0, 1.0])(0.3)))(X)
