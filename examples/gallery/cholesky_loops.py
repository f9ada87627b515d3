"""Fit a Gaussian process to a century of lynx, through a Cholesky factorization of plain loops.

The logarithm of the number y(t) of lynx trapped in a year is taken as a sample of a Gaussian
process: a cycle that repeats itself with the period P, and fluctuations that last some years,

    k(s, t) = a^2 exp(-sin^2(pi (s - t) / P) / (2 w^2)) + c^2 exp(-(s - t)^2 / (2 d^2)),

with white noise of variance b^2. The six parameters are those of the largest likelihood,

    -log p(y) = y^T K^-1 y / 2 + sum_i log L_ii + n/2 log(2 pi),   K = k + b^2 1 = L L^T,

found by L-BFGS. The factor L overwrites K, element by element, in three nested loops, and a fourth
pair of loops solves with it: no rule for a Cholesky factorization is used. With llvmlite installed,
`compile=True` makes machine code of loops and gradient; nothing is changed in them.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1
and equation 4.31. Data: C. Elton and M. Nicholson, The ten-year cycle in numbers of the
lynx in Canada, Journal of Animal Ecology 11 (1942) 215-244, table 4, Mackenzie River, 1821-1934.

What other tools would need. JAX: `fori_loop` with `.at[].set`; reverse mode needs bounds that are
constants, so masks in the place of `range(j)`. autograd: a factorization that assigns no elements.
PyTorch: on tensors, backward raises, "modified by an inplace operation": each product saves
elements of an array that the next line overwrites. Or the `cholesky` that each of them has.
"""

import importlib.util
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.optimize import minimize

from mooncake_py import value_and_grad

# fmt: off
LYNX = np.array([
    269, 321, 585, 871, 1475, 2821, 3928, 5943, 4950, 2577, 523, 98, 184, 279, 409, 2285, 2685,
    3409, 1824, 409, 151, 45, 68, 213, 546, 1033, 2129, 2536, 957, 361, 377, 225, 360, 731, 1638,
    2725, 2871, 2119, 684, 299, 236, 245, 552, 1623, 3311, 6721, 4254, 687, 255, 473, 358, 784,
    1594, 1676, 2251, 1426, 756, 299, 201, 229, 469, 736, 2042, 2811, 4431, 2511, 389, 73, 39, 49,
    59, 188, 377, 1292, 4031, 3495, 587, 105, 153, 387, 758, 1307, 3465, 6991, 6313, 3794, 1836,
    345, 382, 808, 1388, 2713, 3800, 3091, 2985, 3790, 674, 81, 80, 108, 229, 399, 1132, 2432,
    3574, 2935, 1537, 529, 485, 662, 1000, 1590, 2657, 3396,
])
# fmt: on
YEARS = np.arange(1821.0, 1821.0 + len(LYNX))
NAMES = ("a", "P [years]", "w", "c", "d [years]", "b")
GUESS = np.array([0.7, 10.0, 1.0, 0.3, 2.0, 0.1])


def factorize(a: Array) -> None:
    """Overwrite the lower triangle of `a` by its Cholesky factor."""
    for j in range(len(a)):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, len(a)):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]


def solve(lower: Array, b: Array) -> None:
    """Overwrite `b` by the solution of lower x = b."""
    for i in range(len(b)):
        for k in range(i):
            b[i] -= lower[i, k] * b[k]
        b[i] /= lower[i, i]


def covariance(parameters: Array, s: Array, t: Array) -> Array:
    """Return k(s, t) for each pair."""
    a, period, w, c, d, _ = parameters
    apart = s[:, None] - t
    sine = np.sin(np.pi * apart / period)
    return a**2 * np.exp(-0.5 * (sine / w) ** 2) + c**2 * np.exp(-0.5 * (apart / d) ** 2)


def negative_log_likelihood(logarithms: Array, t: Array, y: Array) -> float:
    """Return -log p(y) for parameters given by their logarithms."""
    parameters = np.exp(logarithms)
    k = covariance(parameters, t, t)
    for i in range(len(t)):
        k[i, i] += parameters[5] ** 2
    factorize(k)
    x = y.copy()
    solve(k, x)
    total = 0.5 * len(t) * math.log(2.0 * math.pi)
    for i in range(len(t)):
        total += 0.5 * x[i] ** 2 + math.log(k[i, i])
    return total


def predict(parameters: Array, t: Array, y: Array, new: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of new observations, given those at `t`."""
    k = covariance(parameters, t, t) + parameters[5] ** 2 * np.eye(len(t))
    across = covariance(parameters, new, t)
    variance = np.sum(parameters[[0, 3, 5]] ** 2) * np.ones(len(new))
    variance -= np.sum(across * np.linalg.solve(k, across.T).T, axis=1)
    return across @ np.linalg.solve(k, y), np.sqrt(variance)


def main(picture: Path) -> None:
    """Fit, look for the ten-year cycle, and draw a forecast."""
    logs: Array = np.log10(LYNX)
    y = logs - np.mean(logs)
    gradient = value_and_grad(negative_log_likelihood)
    report(negative_log_likelihood, gradient, np.log(GUESS), YEARS, y, rounds=3)
    if importlib.util.find_spec("llvmlite"):
        gradient = value_and_grad(negative_log_likelihood, compile=True)
        print("compiled: ", end="")
        report(negative_log_likelihood, gradient, np.log(GUESS), YEARS, y, rounds=3)

    found = minimize(gradient, np.log(GUESS), (YEARS, y), jac=True, method="L-BFGS-B", tol=1e-3)
    parameters = np.exp(found.x)
    print(f"{found.nfev} gradients; ", end="")
    print(", ".join(f"{name} {value:.3g}" for name, value in zip(NAMES, parameters, strict=True)))
    k = covariance(parameters, YEARS, YEARS) + parameters[5] ** 2 * np.eye(len(y))
    by_numpy = 0.5 * (
        y @ np.linalg.solve(k, y) + np.linalg.slogdet(k)[1] + len(y) * np.log(2.0 * np.pi)
    )
    assert abs(found.fun - by_numpy) < 1e-8
    assert 9.5 < parameters[1] < 9.8

    figure, axes = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
    new = np.arange(1821.0, 1955.0, 0.25)
    mean, deviation = predict(parameters, YEARS, y, new)
    mean += np.mean(logs)
    low, high = 10.0 ** (mean - 2.0 * deviation), 10.0 ** (mean + 2.0 * deviation)
    axes.fill_between(new, low, high, color="tab:blue", alpha=0.25, label="95 %")
    axes.semilogy(new, 10.0**mean, color="tab:blue", label="predicted")
    axes.plot(YEARS, LYNX, "k.", label="trapped")
    axes.axvline(YEARS[-1], color="gray", linestyle=":")
    axes.set(xlabel="year", ylabel="lynx per year", xlim=(1821, 1955))
    axes.set_title(f"Lynx of the Mackenzie River district: period {parameters[1]:.1f} years")
    axes.legend(ncols=3, fontsize="small", loc="lower left")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
