"""Gradients through SciPy over the functions: ``python -m benchmarks.sparse_systems``.

A diffusion problem is assembled from its coefficients and solved, by factors and by conjugate
gradients; and distances of all pairs of points.  Needs SciPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from benchmarks.kernel import generator
from benchmarks.timing import interleaved_medians
from mooncake_py import value_and_grad

Array = NDArray[np.float64]

LIMIT = 6.0
BUDGET = 5.0  # seconds for each


def diffusion(conductivity: Array) -> Any:
    """Assemble the matrix of a square grid, with the harmonic mean of two cells between them."""
    n = len(conductivity)
    places = np.arange(n * n).reshape(n, n)
    i = np.concatenate([places[:, :-1].ravel(), places[:-1].ravel()])
    j = np.concatenate([places[:, 1:].ravel(), places[1:].ravel()])
    k = conductivity.ravel()
    across = 2 * k[i] * k[j] / (k[i] + k[j])
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    elements = np.concatenate([-across, -across, across, across])
    inside = sp.coo_array((elements, (rows, columns)), shape=(n * n, n * n))
    return inside.tocsc() + sp.diags_array(edge_conductivity(conductivity), format="csc")


def edge_conductivity(conductivity: Array) -> Any:
    """Return the conductivity from each cell to the edges of the grid, with solution zero."""
    edge = np.zeros_like(conductivity)
    for side in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        edge[side] += 2 * conductivity[side]
    return edge.ravel()


def by_factors(conductivity: Array) -> Any:
    """Return the energy of the solution with a constant source."""
    source = np.ones(conductivity.size)
    return source @ spl.spsolve(diffusion(conductivity), source)


def by_conjugate_gradients(conductivity: Array) -> Any:
    """Return the same by an iterative method."""
    source = np.ones(conductivity.size)
    return source @ spl.cg(diffusion(conductivity), source, rtol=1e-8)[0]


def kernel_sum(points: Array) -> Any:
    """Return the sum of a Matern kernel over all pairs of points."""
    distances = cdist(points, points)
    return np.sum((1 + distances) * np.exp(-distances))


CASES: dict[str, tuple[Callable[..., Any], Callable[[], Array]]] = {
    "spsolve, 10,000 unknowns": (by_factors, lambda: generator().uniform(0.5, 2.0, (100, 100))),
    "cg, 10,000 unknowns": (
        by_conjugate_gradients,
        lambda: generator().uniform(0.5, 2.0, (100, 100)),
    ),
    "cdist, 500 points": (kernel_sum, lambda: generator().standard_normal((500, 3))),
}


def measure(function: Callable[..., Any], x: Array, budget: float = BUDGET) -> tuple[float, float]:
    """Return the seconds of a function and of its gradient, by turns."""
    gradient = value_and_grad(function)
    gradient(x.copy())
    found = interleaved_medians({"function": function, "gradient": gradient}, (x,), budget)
    return found["function"], found["gradient"]


def main() -> None:
    """Print a line for each case; ! marks a ratio above the limit."""
    print(f"{'':26}{'function':>12}{'gradient':>12}{'ratio':>8}")
    for name, (function, make) in CASES.items():
        plain, gradient = measure(function, make())
        ratio = gradient / plain
        mark = "!" * (ratio > LIMIT)
        print(f"{name:26}{plain * 1e3:>9.2f} ms{gradient * 1e3:>9.2f} ms{ratio:>8.2f}{mark}")


if __name__ == "__main__":
    main()
