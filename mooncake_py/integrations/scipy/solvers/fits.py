"""Least squares: minima of half the sum of squares, or of another `loss`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from scipy import linalg, optimize

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.solvers.minima import limits, minimum, reaches_active
from mooncake_py.integrations.scipy.solvers.results import changed, tuple_of
from mooncake_py.interface import grad
from mooncake_py.jacobians import jacobian
from mooncake_py.rules.declare import overlay_in_context
from mooncake_py.rules.plain_values import valued
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.as_found import as_found
from mooncake_py.solvers.start import Solved, named_as
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

OPTIONS = (
    "method", "ftol", "xtol", "gtol", "x_scale", "loss", "f_scale", "diff_step", "tr_solver",
    "tr_options", "jac_sparsity", "max_nfev", "verbose", "args", "kwargs",
)  # fmt: skip
"""Those of `least_squares`, in order."""

LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * (np.sqrt(1 + z) - 1),
    "huber": lambda z: np.where(z <= 1, z, 2 * np.sqrt(np.maximum(z, 1.0)) - 1),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def cost_of(f: Any, loss: str | Callable[[Any], Any] = "linear", scale: Any = 1.0) -> Any:
    """Return half the sum of losses."""
    z = (f / scale) ** 2
    losses = LOSSES[loss](z) if isinstance(loss, str) else loss(z)[0]
    return 0.5 * scale**2 * np.sum(losses)


@overlay_in_context(optimize.least_squares)
def least_squares(
    ctx: Mode,
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `least_squares`."""
    given = {**dict(zip(OPTIONS, rest, strict=False)), **options}
    loss, scale = given.get("loss", "linear"), given.get("f_scale", 1.0)
    args, kwargs = tuple_of(given.get("args", ())), given.get("kwargs") or {}

    def differentiated(run: Solved, found: Any) -> Any:
        if run.begin is None:
            return found
        errors = run.anew(lambda x: np.atleast_1d(fun(x, *args, **kwargs)), found.x)
        if not reaches_active(ctx, (fun, x0, given, bounds), errors, found.x):
            return found

        def cost(x: Any) -> Any:
            return cost_of(errors(x), loss, scale)

        low, high = pair_of_limits(ctx, bounds, found.x.shape)
        x = minimum(run, found.x, grad(named_as(fun, cost)), low, high, x0)
        r = ctx.method(ctx.call(errors, x), "copy")  # of what may be the buffer of the callback
        r = as_found(run, r, found.fun, errors, x)
        sum_of_losses = ctx.call(valued, ctx.call(cost_of, r, loss, scale), found.cost)
        return changed(run, found, x=x, fun=r, cost=sum_of_losses)

    return solved_apart(
        ctx, differentiated, True, optimize.least_squares, fun, x0, jac, bounds, *rest, **options
    )


UNBOUNDED = (-np.inf, np.inf)


def pair_of_limits(ctx: Mode, bounds: Any, shape: Any) -> tuple[Any, Any]:
    """Return lower and upper bounds that are given as a pair."""
    if type(bounds) is tuple and bounds == UNBOUNDED:
        return None, None
    low, high = ctx.call(limits_of_pair, bounds, shape)
    unbounded = np.all(np.isinf(plain_copy(low))) and np.all(np.isinf(plain_copy(high)))
    return (None, None) if unbounded else (low, high)


def limits_of_pair(bounds: Any, shape: Any) -> tuple[Any, Any]:
    """Return bounds in the shape of the solution."""
    return limits(
        bounds if isinstance(bounds, optimize.Bounds) else optimize.Bounds(*bounds), shape
    )


@overlay_in_context(optimize.curve_fit)
def curve_fit(
    ctx: Mode,
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `curve_fit`; the covariance has its own derivative."""
    if options.get("nan_policy") is not None:
        raise MissingRuleError(
            "the derivative of scipy.optimize.curve_fit with a nan_policy is not implemented",
            fix="leave the points with nan out before the call",
        )

    if isinstance(xdata, (list, tuple, ndarray)):
        xdata = ctx.call(np.asarray, xdata, float)  # as SciPy passes it on

    def errors(p: Any) -> Any:
        r = np.ravel(f(xdata, *p) - ydata)
        if sigma is None:
            return r
        if np.size(sigma) == np.size(r):
            return r / np.ravel(sigma)
        return linalg.solve_triangular(linalg.cholesky(sigma, lower=True), r, lower=True)

    def differentiated(run: Solved, found: Any) -> Any:
        if run.begin is None:
            return found
        from_start = run.anew(errors, found[0])
        if not reaches_active(ctx, (f, xdata, ydata, p0, sigma, bounds), from_start, found[0]):
            return found

        def cost(p: Any) -> Any:
            return cost_of(from_start(p))

        low, high = pair_of_limits(ctx, bounds, found[0].shape)
        p = minimum(run, found[0], grad(named_as(f, cost)), low, high, p0)
        covariance = found[1]
        if np.all(np.isfinite(covariance)):
            formula = ctx.call(covariance_of, from_start, p, absolute_sigma)
            covariance = ctx.call(valued, formula, covariance)

        def with_errors(info: Any) -> Any:
            r = as_found(run, ctx.call(from_start, p), info["fvec"], from_start, p)
            return changed(run, info, p, fvec=r)

        rest_of_output = [
            with_errors(part) if isinstance(part, dict) else part for part in found[2:]
        ]
        return p, covariance, *rest_of_output

    return solved_apart(
        ctx, differentiated, True,
        optimize.curve_fit, f, xdata, ydata, p0, sigma, absolute_sigma, check_finite, bounds,
        *rest, **options,
    )  # fmt: skip


def covariance_of(errors: Any, p: Any, absolute: Any) -> Any:
    """Return the covariance of the parameters of a fit."""
    slopes, r = jacobian(errors)(p), errors(p)
    covariance = np.linalg.inv(slopes.T @ slopes)
    return covariance if absolute else covariance * np.sum(r * r) / (len(r) - len(p))
