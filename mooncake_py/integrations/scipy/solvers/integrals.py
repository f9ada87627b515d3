"""Integrals: the derivative of the integrand is integrated over the pieces that SciPy chose.

SciPy divides the interval into pieces on which its rule is precise enough.  The derivative is that
of a Gauss rule of high order on these pieces, with fixed nodes: the engine differentiates the
integrand, including its captured variables.  The value remains SciPy's; the rule must agree with
it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from scipy import integrate

from mooncake_py.application.foreign import is_other
from mooncake_py.errors import MissingRuleError, SolverError
from mooncake_py.integrations.scipy.solvers.results import changed, of_point, tuple_of
from mooncake_py.rules.declare import overlay_in_context
from mooncake_py.rules.plain_values import valued
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.approximated import approximated
from mooncake_py.solvers.implicit import moving
from mooncake_py.solvers.order import order
from mooncake_py.solvers.start import Solved
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

POINTS = 21
NODES, WEIGHTS = np.polynomial.legendre.leggauss(POINTS)
AGREEMENT = 1e-6
SMALLEST, NEAR, JUMP = 2.0**-17, 1e-9, 1e-4
"""Of pieces and distances, relative to the interval; of a jump, relative to the function."""


@overlay_in_context(integrate.quad)
def quad(
    ctx: Mode,
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
    points: Any = None,
    weight: Any = None,
    *rest: Any,
    complex_func: Any = False,
    **options: Any,
) -> Any:
    """Run `quad`; the real and imaginary parts of a complex function have separate pieces."""
    if complex_func:
        settings = (epsabs, epsrel, limit, points, weight, *rest)
        f = parts_of(func, tuple_of(args))
        real = quad(ctx, f[0], a, b, (), full_output, *settings, **options)
        imag = quad(ctx, f[1], a, b, (), full_output, *settings, **options)
        pieces = ({"real": real[2:], "imag": imag[2:]},) if full_output else ()
        return ctx.call(of_parts, real[0], imag[0]), ctx.call(of_parts, real[1], imag[1]), *pieces

    warned: list[str] = []

    def differentiated(run: Solved, found: Any) -> Any:
        if not full_output:
            warned.extend(found[3:])
        rest_of_output = found[1:] if full_output else found[1:2]
        if run.begin is None:
            return found[0], *rest_of_output
        require_plain(ctx, weight, points)
        last = found[2]["last"]
        pieces = np.stack([found[2]["alist"][:last], found[2]["blist"][:last]], 1)
        value = integral(run, of_point(func, args), a, b, pieces, points, halves=True)
        value = with_derivative_of(ctx, found[0], value, found[1])
        error, *output = rest_of_output
        if ctx.contains_active(value):
            error = approximated(ctx, {"abserr": error})["abserr"]
            output = [changed(run, p, value) if isinstance(p, dict) else p for p in output]
        return value, error, *output

    result = solved_apart(
        ctx, differentiated, ctx.contains_active((a, b, points)),
        integrate.quad, func, a, b, args, 1, epsabs, epsrel, limit, points, weight,
        *rest, **options,
    )  # fmt: skip
    for text in warned:
        warnings.warn(text, integrate.IntegrationWarning, stacklevel=2)
    return result


def require_plain(ctx: Mode, weight: Any, points: Any) -> None:
    """Raise if `quad` is asked for what has no derivative here."""
    if weight is not None:
        raise MissingRuleError(
            f"the derivative of scipy.integrate.quad with weight={weight!r} is not implemented",
            fix="make the weight part of the function",
        )
    if ctx.contains_active(points):
        raise MissingRuleError(
            "the derivative of scipy.integrate.quad with respect to `points` is not implemented",
            fix="integrate up to these points and from them, as limits",
        )


def parts_of(func: Any, args: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the real and the imaginary part of a function."""
    return lambda x: func(x, *args).real, lambda x: func(x, *args).imag


def of_parts(real: Any, imag: Any) -> Any:
    """Return the number of a real and an imaginary part."""
    return real + 1j * imag


@overlay_in_context(integrate.quad_vec)
def quad_vec(
    ctx: Mode,
    f: Any,
    a: Any,
    b: Any,
    *rest: Any,
    full_output: Any = False,
    args: Any = (),
    **options: Any,
) -> Any:
    """Run `quad_vec`."""

    def differentiated(run: Solved, found: Any) -> Any:
        output = found if full_output else found[:2]
        if run.begin is None:
            return output
        points, pieces = options.get("points"), found[2].intervals
        value = integral(run, of_point(f, args), a, b, pieces, points, halves=False)
        value = with_derivative_of(ctx, found[0], value, found[1])
        if ctx.contains_active(value):
            named: dict[str, Any] = dict(zip(("err", "info"), output[1:], strict=False))
            output = value, *approximated(ctx, named).values()
        return value, *output[1:]

    return solved_apart(
        ctx, differentiated, ctx.contains_active((a, b)),
        integrate.quad_vec, f, a, b, *rest, full_output=True, args=args, **options,
    )  # fmt: skip


def integral(
    run: Solved, f: Any, a: Any, b: Any, pieces: ndarray, points: Any, halves: bool
) -> Any:
    """Return the integral of a function by a Gauss rule on pieces of the interval.

    At the limits, whose positions may be active, the function is evaluated again.
    """
    ctx = run.ctx
    low, high = float(unwrapped(a)), float(unwrapped(b))
    place = substitution(low, high, halves)
    pieces = np.sort(pieces, axis=1)
    require_no_jump(run, f, place, pieces, points if points is None else plain_copy(points))
    starts, ends = pieces[:, :1], pieces[:, 1:]
    centers, widths = (starts + ends) / 2, (ends - starts) / 2
    x, weights = place((centers + widths * NODES).ravel(), (widths * WEIGHTS).ravel())
    total = ctx.call(weighted_sum, f, x.tolist(), weights.tolist())
    for end, sign in ((b, 1.0), (a, -1.0)):
        if ctx.contains_active(end) and np.isfinite(float(unwrapped(end))):
            total = ctx.call(sliver, total, sign, run.anew(f, end), end, *ends_rule(ctx, end))
    return total


def weighted_sum(f: Any, x: list[float], weights: list[float]) -> Any:
    """Return a sum over values of a function."""
    total: Any = 0.0
    for node, weight in zip(x, weights, strict=True):
        total = total + weight * f(node)
    return total


def substitution(low: float, high: float, halves: bool) -> Callable[[ndarray, ndarray], Any]:
    """Return the substitution from t and weights to x and weights that SciPy's pieces use.

    On an infinite interval the pieces are those of t in x = a + (1 - t) / t.  If both limits are
    infinite, x has the sign of t; if `halves` is true, t is positive and represents both signs.
    """
    sign = 1.0 if low < high else -1.0
    if np.isfinite(low) and np.isfinite(high):
        return lambda t, weights: (t, sign * weights)
    if np.isfinite(low):
        return lambda t, weights: (low + sign * (1 - t) / t, sign * weights / t**2)
    if np.isfinite(high):
        return lambda t, weights: (high - sign * (1 - t) / t, sign * weights / t**2)

    def both(t: ndarray, weights: ndarray) -> Any:
        x, weights = np.sign(t) * (1 - np.abs(t)) / np.abs(t), sign * weights / t**2
        return (np.append(x, -x), np.append(weights, weights)) if halves else (x, weights)

    return both


def require_no_jump(run: Solved, f: Any, place: Any, pieces: ndarray, points: Any) -> None:
    """Raise if the function jumps within the interval, as the position of the jump may be active.

    SciPy makes ever smaller pieces around a jump, except at its own division points.
    """
    if len(pieces) < 2:
        return
    low, high = pieces.min(), pieces.max()
    cuts = np.setdiff1d(pieces[:, 0], [low, *(() if points is None else points)])
    width = high - low
    smallest = np.argmin(pieces[:, 1] - pieces[:, 0])
    if pieces[smallest, 1] - pieces[smallest, 0] < SMALLEST * width:
        at = pieces[smallest, 0]
    elif not cuts.size:
        return
    else:
        x, _ = place(np.append(cuts - NEAR * width, cuts + NEAR * width), np.ones(2 * len(cuts)))
        values = np.array(run.evaluated(values_at, f, x.tolist()))
        left, right = np.split(values.reshape(-1, 2, len(cuts), *values.shape[1:]), 2, axis=1)
        jumps = np.abs(right - left) > JUMP * np.max(np.abs(values), initial=0.0)
        if not np.any(jumps):
            return
        at = cuts[np.argwhere(jumps)[0][2]]
    x, _ = place(np.array([at]), np.ones(1))
    raise SolverError(
        "the integrand jumps or is singular, so that its derivative cannot be integrated",
        why=f"near {x[0]:.6g} SciPy divides the interval into ever smaller pieces",
        fix="integrate up to that point and from it, with the point as a limit of both integrals",
    )


def values_at(f: Any, x: list[float]) -> list[Any]:
    """Return the values of a function at points."""
    return [f(node) for node in x]


def ends_rule(ctx: Mode, end: Any) -> tuple[float, list[float], list[float]]:
    """Return a limit, and nodes and weights of a rule for all derivatives in it that are taken."""
    return float(unwrapped(end)), *gauss(order(ctx) // 2 + 1)


@functools.cache
def gauss(n: int) -> tuple[list[float], list[float]]:
    """Return nodes and weights of the Gauss rule with so many nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes.tolist(), weights.tolist()


def sliver(
    total: Any, sign: float, f: Any, end: Any, start: float, nodes: Any, weights: Any
) -> Any:
    """Add the integral from a limit to itself: zero, with the derivatives in the limit."""
    half = (end - start) / 2
    for node, weight in zip(nodes, weights, strict=True):
        total = total + sign * weight * half * f(start + half * (1 + node))
    return total


def with_derivative_of(ctx: Mode, value: Any, computed: Any, error: Any) -> Any:
    """Return a value that SciPy has computed, with the derivative of another formula for it.

    QUADPACK converts what an integrand returns; the formula adds up objects.
    """
    if type(value) is float and is_other(computed):
        computed = ctx.call(float, computed)
    plain = unwrapped(computed)
    sizes = abs(plain - value), abs(value), abs(error)
    difference, size, expected = sizes if isinstance(value, float) else map(np.max, sizes)
    if not difference <= AGREEMENT * size + 10 * expected:
        raise SolverError(
            "an integral converges too slowly, so that its derivative is not precise",
            why=f"a Gauss rule on the pieces that SciPy has chosen differs from its value by "
            f"{difference:.2g}:\nthere is a singularity, from which SciPy extrapolates",
            fix="substitute, such that the function is smooth",
        )
    if type(value) is float:
        return ctx.call(moving, value, computed, 1.0)
    return ctx.call(valued, computed, value)
