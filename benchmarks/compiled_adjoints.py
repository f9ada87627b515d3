"""Handwritten adjoints as loops over numbers, to be compiled by Numba.

Each takes the arguments of its kernel, may overwrite them, and returns the value and a tuple of
gradients.  They restore nothing: this is the least that a gradient takes.  Rows of matrices, and
counters without a sign, let the compiler use vectors: three times as fast as without.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ONE = np.uint64(1)


def jacobi_2d(u: Array, steps: int) -> tuple[float, tuple[Array]]:
    """Reverse the steps, which are linear: `inner` has the cotangents of inner points only."""
    rows, columns = u.shape
    new = u.copy()
    for _ in range(steps):
        for i in range(1, rows - 1):
            above, here, below, to = u[i - 1], u[i], u[i + 1], new[i]
            for j in range(ONE, np.uint64(columns - 1)):
                to[j] = 0.25 * (below[j] + above[j] + here[j + ONE] + here[j - ONE])
        u, new = new, u
    value = np.sum(u * u)
    du = 2.0 * u
    inner, spare = np.zeros_like(u), np.zeros_like(u)
    inner[1:-1, 1:-1] = du[1:-1, 1:-1]
    for _ in range(steps):
        for j in range(1, columns - 1):
            du[0, j] += 0.25 * inner[1, j]
            du[-1, j] += 0.25 * inner[-2, j]
        for i in range(1, rows - 1):
            above, here, below, to = inner[i - 1], inner[i], inner[i + 1], spare[i]
            du[i, 0] += 0.25 * here[1]
            du[i, -1] += 0.25 * here[-2]
            for j in range(ONE, np.uint64(columns - 1)):
                to[j] = 0.25 * (below[j] + above[j] + here[j + ONE] + here[j - ONE])
        inner, spare = spare, inner
    du[1:-1, 1:-1] = inner[1:-1, 1:-1]
    return value, (du,)


def lu(a: Array) -> tuple[float, tuple[Array]]:
    """Walk the elimination backwards, reading the factors that it left in place."""
    n = len(a)
    for k in range(n - 1):
        pivot = a[k]
        for i in range(k + 1, n):
            row = a[i]
            row[k] /= pivot[k]
            factor = row[k]
            for j in range(np.uint64(k + 1), np.uint64(n)):
                row[j] -= factor * pivot[j]
    value = 0.0
    da = np.zeros_like(a)
    for k in range(n):
        value += np.log(a[k, k])
        da[k, k] = 1.0 / a[k, k]
    for k in range(n - 2, -1, -1):
        of_pivot = 0.0
        pivot, dpivot = a[k], da[k]
        for i in range(k + 1, n):
            drow = da[i]
            factor = a[i, k]
            of_factor = drow[k]
            for j in range(np.uint64(k + 1), np.uint64(n)):
                dpivot[j] -= factor * drow[j]
            for j in range(np.uint64(k + 1), np.uint64(n)):
                of_factor -= drow[j] * pivot[j]
            of_factor /= pivot[k]
            drow[k] = of_factor
            of_pivot += of_factor * factor
        dpivot[k] -= of_pivot
    return value, (da,)


def recurrence(x: Array, decay: Array) -> tuple[float, tuple[Array, Array]]:
    """Run the recurrence backwards; the factors are the final values of x."""
    n = len(x)
    for i in range(1, n):
        x[i] += decay[i] * x[i - 1]
    value = np.sum(x * x)
    dx, ddecay = np.empty_like(x), np.zeros_like(decay)
    above = 2.0 * x[n - 1]
    for i in range(n - 1, 0, -1):
        dx[i] = above
        ddecay[i] = above * x[i - 1]
        above = 2.0 * x[i - 1] + decay[i] * above
    dx[0] = above
    return value, (dx, ddecay)


def prediction(r: Array) -> tuple[float, tuple[Array]]:
    """Keep the coefficients of each step."""
    n = len(r)
    kept = np.empty((n, n))
    errors, reflections = np.empty(n), np.empty(n)
    errors[0] = r[0]
    value = np.log(r[0])
    for k in range(n - 1):
        a, new, last = kept[k], kept[k + 1], np.uint64(k)
        total = r[k + 1]
        for i in range(last):
            total += r[last - i] * a[i]
        reflection = -total / errors[k]
        for i in range(last):
            new[i] = a[i] + reflection * a[last - ONE - i]
        new[last] = reflection
        reflections[k] = reflection
        errors[k + 1] = errors[k] * (1.0 - reflection * reflection)
        value += np.log(errors[k + 1])
    dr, da, new = np.zeros(n), np.zeros(n), np.zeros(n)
    of_error = 0.0
    for k in range(n - 2, -1, -1):
        a, reflection, last = kept[k], reflections[k], np.uint64(k)
        of_error += 1.0 / errors[k + 1]
        of_reflection = da[k] - 2.0 * reflection * errors[k] * of_error
        for i in range(last):
            of_reflection += da[i] * a[last - ONE - i]
        g = -of_reflection / errors[k]
        of_error = of_error * (1.0 - reflection * reflection) + g * reflection
        dr[k + 1] += g
        for i in range(last):
            dr[last - i] += g * a[i]
        for i in range(last):
            new[i] = da[i] + reflection * da[last - ONE - i] + g * r[last - i]
        da, new = new, da
    dr[0] += of_error + 1.0 / r[0]
    return value, (dr,)


def upwind(u: Array, steps: int) -> tuple[float, tuple[Array]]:
    """Keep the values of each step."""
    n = len(u)
    kept = np.empty((steps + 1, n))
    kept[0] = u
    for step in range(steps):
        old, new = kept[step], kept[step + 1]
        new[0], new[-1] = old[0], old[-1]
        for i in range(ONE, np.uint64(n - 1)):
            speed = old[i]
            change = speed - old[i - ONE] if speed > 0.0 else old[i + ONE] - speed
            new[i] = speed - 0.4 * speed * change
    value = 0.5 * np.sum(kept[steps] * kept[steps])
    du, before = kept[steps].copy(), np.empty(n)
    for step in range(steps - 1, -1, -1):
        old = kept[step]
        before[0] = du[0] + 0.4 * du[1] * max(old[1], 0.0)
        before[-1] = du[-1] - 0.4 * du[-2] * min(old[-2], 0.0)
        du[0] = du[-1] = 0.0
        for i in range(ONE, np.uint64(n - 1)):
            speed = old[i]
            twice = speed + (speed - old[i - ONE] if speed > 0.0 else old[i + ONE] - 3.0 * speed)
            from_right = du[i + ONE] * max(old[i + ONE], 0.0)
            from_left = du[i - ONE] * min(old[i - ONE], 0.0)
            before[i] = du[i] * (1.0 - 0.4 * twice) + 0.4 * (from_right - from_left)
        du, before = before, du
    return value, (du,)


ADJOINTS: dict[str, Callable[..., tuple[Any, tuple[Any, ...]]]] = {
    "jacobi_2d": jacobi_2d,
    "lu": lu,
    "recurrence": recurrence,
    "prediction": prediction,
    "upwind": upwind,
}
"""By the name of the kernel."""
