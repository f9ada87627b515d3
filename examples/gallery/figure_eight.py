"""Find the figure-eight orbit of three equal masses.

Three bodies of mass 1 attract each other (gravitational constant 1),

    x_i'' = sum_j (x_j - x_i) / |x_j - x_i|^3.

They start on a line, at (-1, 0), (1, 0) and (0, 0), the outer two with velocity (p, q), the middle
one with (-2 p, -2 q). For one choice of p, q and the period T all three chase each other along one
figure eight: after T / 3 each body is where another one was, at that one's velocity. The script
starts from a guess that is 6 to 10 percent off and lets L-BFGS close that gap. Leapfrog (kick,
drift, kick) overwrites positions, velocities and forces, pair by pair; the length of a step, T over
the number of steps, is unknown too.

References
----------
C. Moore, Braids in classical dynamics, Physical Review Letters 70 (1993) 3675-3679.
A. Chenciner and R. Montgomery, A remarkable periodic solution of the three-body problem in the case
of equal masses, Annals of Mathematics 152 (2000) 881-901.

What other tools would need. JAX: `.at[i].add` for each pair and `lax.scan` for the steps. autograd:
new arrays in each step, as it refuses `force[i] += pull`. PyTorch: on tensors, backward raises,
"modified by an inplace operation": `dt * force` saves the force, as dt is unknown too, and the next
line overwrites it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.optimize import minimize

from mooncake_py import value_and_grad

STEPS = 150  # in a third of the period
GUESS = np.array([0.38, 0.50, 5.8])  # p, q, T
KNOWN = np.array([0.347117, 0.532725, 6.325914])  # by an integrator of high order


def attract(places: Array, force: Array) -> None:
    """Write the force on each body into `force`."""
    force[...] = 0.0
    for i in range(len(places)):
        for j in range(i):
            apart = places[j] - places[i]
            pull = apart / (apart @ apart) ** 1.5
            force[i] += pull
            force[j] -= pull


def move(places: Array, speeds: Array, dt: float, track: Array) -> None:
    """Let the bodies move, in place; note where they are after each step."""
    force = np.empty_like(places)
    attract(places, force)
    for step in range(len(track)):
        speeds += 0.5 * dt * force
        places += dt * speeds
        attract(places, force)
        speeds += 0.5 * dt * force
        track[step] = places


def start(p: float, q: float) -> tuple[Array, Array]:
    """Return places and velocities at time zero."""
    speeds = np.empty((3, 2))
    speeds[:2] = p, q
    speeds[2] = -2.0 * p, -2.0 * q
    return np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), speeds


def gap(unknowns: Array) -> float:
    """Return how far the bodies are, after T / 3, from having changed places."""
    p, q, period = unknowns
    places, speeds = start(p, q)
    move(places, speeds, period / 3 / STEPS, np.empty((STEPS, 3, 2)))
    first_places, first_speeds = start(p, q)
    total = 0.0
    for body, successor in ((0, 1), (1, 2), (2, 0)):
        total += np.sum((places[body] - first_places[successor]) ** 2)
        total += np.sum((speeds[body] - first_speeds[successor]) ** 2)
    return total


def track_of(unknowns: Array, thirds: int) -> Array:
    """Return where the bodies are during some thirds of the period."""
    p, q, period = unknowns
    places, speeds = start(p, q)
    track = np.empty((thirds * STEPS, 3, 2))
    move(places, speeds, period / 3 / STEPS, track)
    return track


def main(picture: Path) -> None:
    """Close the orbit, compare it with the known one, and draw it."""
    gradient = value_and_grad(gap)
    report(gap, gradient, GUESS)

    found = minimize(gradient, GUESS, jac=True, method="BFGS", options={"gtol": 1e-9})
    print(f"{found.nfev} gradients; gap {gap(GUESS):.3f} at first, {found.fun:.1e} at last")
    print("p = {:.4f}, q = {:.4f}, period {:.4f}".format(*found.x))
    assert found.fun < 1e-12
    assert np.max(abs(found.x - KNOWN)) < 1e-3

    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharey=True)
    for panel, unknowns, thirds in zip(panels, (GUESS, found.x), (3, 1), strict=True):
        track = track_of(unknowns, thirds)
        for body, colour in enumerate(("tab:blue", "tab:orange", "tab:green")):
            panel.plot(*start(0.0, 0.0)[0][body], "o", color=colour, markersize=9, fillstyle="none")
            panel.plot(*track[:, body].T, color=colour, label=f"body {body + 1}")
            panel.plot(*track[-1, body], "o", color=colour, markersize=5)
        panel.set(xlabel="x", aspect="equal")
    panels[0].set(title="guess: one period", ylabel="y")
    panels[1].set_title("found: a third of the period")
    panels[1].legend(
        loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small", title="○ start  ● end"
    )
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
