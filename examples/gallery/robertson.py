"""Fit the rates of a stiff reaction through SciPy's `solve_ivp`.

Robertson's reaction turns A into C by way of a short-lived B,

    A -> B,  B + C -> A + C,  2 B -> B + C:

    A' = -k1 A + k2 B C,   B' = k1 A - k2 B C - k3 B^2,   C' = k3 B^2,

with k1 = 0.04, k2 = 1e4, k3 = 3e7. Rates nine powers of ten apart make it the standard test of
stiff solvers. The three concentrations are measured at 25 times between a millisecond and three
hours, with noise of one percent (of B: one percent of its peak); the rates that fit them are sought
by L-BFGS, in logarithms. The solver is SciPy's BDF, with adaptive steps and orders; its Python runs
unchanged, and is differentiated as it runs.

References
----------
H. H. Robertson, The solution of a set of reaction rate equations, in: Numerical Analysis: an
Introduction, ed. J. Walsh, Academic Press (1966) 178-182.

What other tools would need. None of them can look into SciPy: a solver written for their arrays. In
JAX a stiff one is in Diffrax (`jax.experimental.ode` has an explicit one); for PyTorch there is
torchdiffeq. autograd has a rule for `odeint`, by the adjoint equation, and none for `solve_ivp`.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from mooncake_py import value_and_grad

TRUE = np.array([0.04, 1e4, 3e7])
GUESS = np.array([0.08, 3e3, 2e7])
SCALE = np.array([[1.0], [3e4], [1.0]])  # B is never more than 1 / 27000
NOISE = 0.01


def concentrations(rates: Array, times: Array) -> Array:
    """Return A, B and C, in a row each, at the given times."""

    def change(time: float, state: Array) -> Array:
        a, b, c = state
        k1, k2, k3 = rates
        out = np.empty(3)
        out[0] = k2 * b * c - k1 * a
        out[2] = k3 * b * b
        out[1] = -out[0] - out[2]
        return out

    def jacobian(time: float, state: Array) -> Array:
        _, b, c = state
        k1, k2, k3 = rates
        out = np.zeros((3, 3))
        out[0] = -k1, k2 * c, k2 * b
        out[2, 1] = 2.0 * k3 * b
        out[1] = -out[0] - out[2]
        return out

    solution = solve_ivp(
        change,
        (0.0, times[-1]),
        np.array([1.0, 0.0, 0.0]),
        method="BDF",
        t_eval=times,
        jac=jacobian,
        rtol=1e-5,
        atol=1e-9,
    )
    return solution.y


def misfit(logarithms: Array, times: Array, measured: Array) -> float:
    """Return the mean square of the residuals, in units of the noise."""
    residuals = (concentrations(np.exp(logarithms), times) * SCALE - measured) / NOISE
    return np.sum(residuals**2) / residuals.size


def main(picture: Path) -> None:
    """Fit the rates, check them, and draw the reaction."""
    times = np.logspace(-3, 4, 25)
    random = np.random.default_rng(0)
    measured = concentrations(TRUE, times) * SCALE
    measured += NOISE * random.standard_normal(measured.shape)

    gradient = value_and_grad(misfit)
    report(misfit, gradient, np.log(GUESS), times, measured, rounds=3)

    found = minimize(
        gradient, np.log(GUESS), (times, measured), jac=True, method="L-BFGS-B", tol=1e-3
    )
    rates = np.exp(found.x)
    print(f"{found.nfev} gradients; mean square residual {found.fun:.2f} times that of the noise")
    for name, rate, true in zip(("k1", "k2", "k3"), rates, TRUE, strict=True):
        print(f"{name} = {rate:.3g} (true: {true:.3g})")
    assert found.fun < 1.2
    assert np.all(abs(rates / TRUE - 1.0) < 0.1)

    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    fine = np.logspace(-3, 4, 300)
    guessed, fitted = concentrations(GUESS, fine) * SCALE, concentrations(rates, fine) * SCALE
    names = ("A", "B, times 30,000", "C")
    for row, colour in enumerate(("tab:blue", "tab:red", "tab:green")):
        axes.semilogx(times, measured[row], "o", color=colour, markersize=4)
        axes.semilogx(fine, guessed[row], "--", color=colour, linewidth=0.9)
        axes.semilogx(fine, fitted[row], color=colour, label=names[row])
    axes.plot([], [], "k--", linewidth=0.9, label="first guess")
    axes.plot([], [], "ko", markersize=4, label="measured")
    axes.set(xlabel="time [s]", ylabel="concentration / that of A at first")
    axes.set_title("Robertson's reaction, fitted")
    axes.legend(fontsize="small", loc="upper right")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
