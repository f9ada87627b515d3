"""Find the shape in which a chain hangs, and compare it with the catenary.

A chain of n links of the same weight hangs between two nails. Its shape is that of the least
potential energy. Links of length l that hardly stretch are a penalty, k large:

    E = w sum_i (y_i + y_i+1) / 2 + (k/2) sum_i (|p_i+1 - p_i| - l)^2

Newton's method in a trust region finds the joints p_i, for k that grows, with the exact Hessian.
The energy writes the free joints between the nails into one array. The limit of many links is the
catenary, y = a cosh((x - x0) / a) + c, whose a, x0 and c follow from the length of the chain and
the places of the nails; the distance between the two is the check.

What other tools would need. JAX: the joints as `.at[1:-1].set`. autograd: `concatenate` of nails
and joints, as it refuses assignment to slices. PyTorch: the energy works unchanged on tensors.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.optimize import brentq, minimize

from mooncake_py import hessian, value_and_grad

LINKS, LENGTH, WEIGHT = 30, 3.0, 1.0
NAILS = np.array([[0.0, 0.0], [2.0, 0.5]])


def energy(free: Array, stiffness: float) -> float:
    """Return the potential energy of a chain whose free joints are given, x and y in turn."""
    joints = np.empty((LINKS + 1, 2))
    joints[0], joints[-1] = NAILS
    joints[1:-1] = free.reshape(-1, 2)
    links = joints[1:] - joints[:-1]
    stretch = np.sqrt(np.sum(links**2, axis=1)) - LENGTH / LINKS
    heights = 0.5 * (joints[1:, 1] + joints[:-1, 1])
    return WEIGHT / LINKS * np.sum(heights) + 0.5 * stiffness * np.sum(stretch**2)


def catenary(x: Array) -> Array:
    """Return the heights of the catenary of this length between the nails.

    Its parameter a satisfies 2 a sinh(d / 2a) = sqrt(length^2 - h^2), for nails a distance of d
    and a height of h apart.
    """
    distance, height = NAILS[1] - NAILS[0]
    straight = np.sqrt(LENGTH**2 - height**2)
    a = brentq(lambda a: 2.0 * a * np.sinh(0.5 * distance / a) - straight, 0.05, 50.0)
    middle = 0.5 * distance - a * np.arctanh(height / LENGTH)
    return a * (np.cosh((x - middle) / a) - np.cosh(middle / a))


def main(picture: Path) -> None:
    """Let the chain hang, compare it with the catenary, and draw both."""
    gradient = value_and_grad(energy)
    straight = np.linspace(NAILS[0], NAILS[1], LINKS + 1)
    straight[:, 1] -= np.sin(np.pi * straight[:, 0] / 2.0)
    free = straight[1:-1].ravel()
    report(energy, gradient, free, 100.0, step=1e-7)

    shapes = {"first guess": straight}
    evaluations = 0
    for stiffness in (1e1, 1e2, 1e3, 1e4):
        found = minimize(
            gradient, free, stiffness, "trust-exact", jac=True, hess=hessian(energy),
            options={"gtol": 1e-8},
        )  # fmt: skip
        free, evaluations = found.x, evaluations + found.nfev
        joints = straight.copy()
        joints[1:-1] = free.reshape(-1, 2)
        shapes[f"k = {stiffness:,.0f}"] = joints

    difference = np.max(abs(joints[:, 1] - catenary(joints[:, 0])))
    print(f"{evaluations} gradients of {len(free)} numbers; lowest point {joints[:, 1].min():.4f}")
    print(f"largest distance from the catenary: {difference:.5f} of a length of {LENGTH}")
    assert difference < 1e-3 * LENGTH

    figure, panel = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, shape in shapes.items():
        panel.plot(*shape.T, ".:", markersize=3, linewidth=1, label=name)
    x = np.linspace(NAILS[0, 0], NAILS[1, 0], 200)
    panel.plot(x, catenary(x), color="black", linewidth=1, label="catenary")
    panel.plot(*NAILS.T, "s", color="black")
    panel.set(xlabel="x", ylabel="y", aspect="equal")
    panel.legend()
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
