"""Explicit Runge-Kutta methods of `solve_ivp`, as text that regions read: never called.

The steps, their sizes and their errors are those of SciPy, whose operations follow one another in
the same order.  Whatever SciPy would warn of or refuse raises, so that the region is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from mooncake_py.compiler.native.reading.held import held

__all__ = ["solved"]

SMALLEST = 2.3e-15
"""Times the time: steps that may be as small as SciPy's smallest."""
PRECISION: Any = 4 * float(np.finfo(float).eps)


def require(holds: Any) -> None:
    """Leave the region if something does not hold."""
    if not holds:
        raise ValueError


def norm(x: Any) -> Any:
    """Return the root of the mean square."""
    return np.sqrt(np.sum(x * x)) / len(x) ** 0.5


def slope_of(fun: Any, t: Any, y: Any, further: Any) -> Any:
    """Return the right-hand side in memory of its own."""
    f = np.array(fun(t, y, *further), dtype=float)
    require(len(f) == len(y))
    return f


def first_step(
    fun: Any, t: Any, y: Any, f: Any, stop: Any, further: Any, order: Any, rtol: Any, atol: Any,
    longest: Any, sign: Any,
) -> Any:  # fmt: skip
    """Return the size of the first step."""
    length = abs(stop - t)
    scale = atol + np.abs(y) * rtol
    d0 = norm(y / scale)
    d1 = norm(f / scale)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, length)
    other = slope_of(fun, t + h0 * sign, y + h0 * sign * f, further)
    d2 = norm((other - f) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1 / (order + 1))
    return min(100 * h0, h1, length, longest)


def solved(
    fun: Any, span: Any, y0: Any, times: Any, event: Any, direction: Any, further: Any, rtol: Any,
    atol: Any, longest: Any, is_steady: Any, order: Any, stages: Any, nodes: Any, errors: Any,
    series: Any,
) -> Any:  # fmt: skip
    """Return times, states in columns, and times of the event if there is one.

    Parameters
    ----------
    times : ndarray or None
        Where the solution is asked for: at the ends of steps if None.
    event : callable or None
    direction : int or float
        In which it crosses zero.
    further : tuple
        Arguments of functions.
    is_steady : bool
        Whether the sizes of steps have no derivative.
    order : int
        Of the estimate of the error.
    stages : ndarray
        Butcher's matrix, with the weights as its last row.
    """
    t = float(span[0])
    stop = float(span[1])
    y = np.array(y0, dtype=float)
    n = len(y)
    require(n > 0)
    require(t != stop)
    require(np.all(np.isfinite(y)))
    sign = 1.0 if stop > t else -1.0
    if times is not None:
        require(len(times) > 0)
        require(sign * times[0] >= sign * t)
        require(sign * times[-1] <= sign * stop)
        require(np.all(sign * np.diff(times) > 0))
    matrix = np.array(stages)
    error_weights = np.array(errors)
    of_polynomials = np.array(series)
    f = slope_of(fun, t, y, further)
    h_abs = first_step(fun, t, y, f, stop, further, order, rtol, atol, longest, sign)
    if is_steady:
        h_abs = held(h_abs)
    count = len(nodes)
    places = np.array(nodes)
    slopes = np.zeros((count + 1, n))
    y_new = np.zeros(n)
    found_times = []
    found_states = []
    crossings = []
    if times is None:
        found_times.append(t)
        for j in range(n):
            found_states.append(y[j])
    asked = 0
    before = event(t, y, *further) if event is not None else 0.0
    has_failed = False
    while sign * (t - stop) < 0:
        is_rejected = False
        is_accepted = False
        h_abs = min(h_abs, longest)
        t_new = t
        h = h_abs
        while not is_accepted:
            if not h_abs > SMALLEST * abs(t):
                has_failed = True
                break
            t_new = t + h_abs * sign
            if sign * (t_new - stop) > 0:
                t_new = stop
            h = t_new - t
            h_abs = abs(h)
            slopes[0] = f
            for s in range(1, count + 1):
                y_new[:] = y + h * (matrix[s, :s] @ slopes[:s])
                slopes[s] = slope_of(fun, t + places[s] * h if s < count else t_new, y_new, further)
            scale = atol + np.maximum(np.abs(y), np.abs(y_new)) * rtol
            error = norm(error_weights @ slopes * h / scale)
            if is_steady:
                error = held(error)
            if error < 1:
                factor = 10.0 if error == 0 else min(10.0, 0.9 * error ** (-1 / (order + 1)))
                h_abs = h_abs * (min(1.0, factor) if is_rejected else factor)
                is_accepted = True
            else:
                h_abs = h_abs * max(0.2, 0.9 * error ** (-1 / (order + 1)))
                is_rejected = True
        if has_failed:
            break
        polynomials = slopes.T @ of_polynomials
        if event is not None:
            after = event(t_new, y_new, *further)
            if (before <= 0 and after >= 0 and direction >= 0) or (
                before >= 0 and after <= 0 and direction <= 0
            ):
                span_of_step = float(t), float(t_new), float(h)
                crossings.append(crossing(event, *span_of_step, y, polynomials, further))
            before = after
        if times is None:
            found_times.append(t_new)
            for j in range(n):
                found_states.append(y_new[j])
        else:
            while asked < len(times) and sign * times[asked] <= sign * t_new:
                at = state_within(times[asked], t, y, h, polynomials)
                for j in range(n):
                    found_states.append(at[j])
                asked += 1
        t = t_new
        y[:] = y_new
        f[:] = slopes[count]
    require(not has_failed)
    states = np.array(found_states).reshape(-1, n).T.copy()
    if times is None:
        ends = np.array(found_times)
    else:
        ends = times.copy()
    if event is None:
        return ends, states
    return ends, states, np.array(crossings)


def crossing(event: Any, t: Any, t_new: Any, h: Any, y: Any, polynomials: Any, further: Any) -> Any:
    """Return the time within a step at which an event is zero."""

    def value(at: Any) -> Any:
        x = (at - t) / h
        powers = np.array([x**k for k in range(1, polynomials.shape[1] + 1)])
        return event(at, y + h * (polynomials @ powers), *further)

    return brentq(value, t, t_new, xtol=PRECISION, rtol=PRECISION)


def state_within(at: Any, t: Any, y: Any, h: Any, polynomials: Any) -> Any:
    """Return the state at a time within a step."""
    x = (at - t) / h
    power = 1.0
    total = np.zeros(len(y))
    for k in range(polynomials.shape[1]):
        power = power * x
        total = total + polynomials[:, k] * power
    return y + h * total
