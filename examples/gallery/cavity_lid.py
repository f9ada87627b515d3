"""Find the lid that stirs a cavity best, by the lattice Boltzmann method.

A square cavity is full of a viscous fluid at rest; its lid begins to slide, and drags the fluid
round. The lid may slide at another speed u(x) at each place (think of many belts), but its mean
square is given. Which profile moves the lower half of the fluid most, two turns of the lid later?

The fluid is nine populations of particles at each point of a grid, which collide (BGK),

    f_k += (f_k^eq - f_k) / tau,   f_k^eq = w_k rho (1 + 3 c_k.u + 9/2 (c_k.u)^2 - 3/2 u.u),

then move to the neighbours, and bounce back from the walls; those that hit the lid gain momentum.
All of it happens in place: 9 x 24 x 24 numbers, overwritten 400 times.

References
----------
Y. H. Qian, D. d'Humieres and P. Lallemand, Lattice BGK models for Navier-Stokes equation,
Europhysics Letters 17 (1992) 479-484. A. J. C. Ladd, Numerical simulations of particulate
suspensions via a discretized Boltzmann equation, Journal of Fluid Mechanics 271 (1994) 285-309.

What other tools would need. JAX: the walls as `.at[].set`, the steps as `lax.scan`. autograd: new
arrays in each step, as it refuses assignment to slices. PyTorch: on tensors, backward raises,
"modified by an inplace operation": `u * u` saves u, and the next step overwrites it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.optimize import minimize

from mooncake_py import value_and_grad

SIZE, STEPS = 24, 400
SPEED = 0.1  # root mean square of the lid's, in points per step
TAU = 0.6
VELOCITIES = np.array([[0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]])
WEIGHTS = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])


def flow(f: Array, density: Array, u: Array, v: Array) -> None:
    """Write density and velocity into the last three."""
    density[...] = f.sum(axis=0)
    u[...] = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
    v[...] = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density


def collide(f: Array, density: Array, u: Array, v: Array) -> None:
    """Bring the populations closer to equilibrium, in place."""
    flow(f, density, u, v)
    square = 1.5 * (u * u + v * v)
    for k in range(9):
        along = 3.0 * (VELOCITIES[0, k] * u + VELOCITIES[1, k] * v)
        f[k] += (WEIGHTS[k] * density * (1.0 + along + 0.5 * along**2 - square) - f[k]) / TAU


def stream(f: Array, old: Array, lid: Array) -> None:
    """Move the populations by one point, in place; walls and lid send them back."""
    old[...] = f
    for k in range(1, 9):
        f[k] = np.roll(old[k], (VELOCITIES[1, k], VELOCITIES[0, k]), axis=(0, 1))
    for there, back in ((3, 1), (7, 5), (6, 8)):
        f[back, :, 0] = old[there, :, 0]
        f[there, :, -1] = old[back, :, -1]
    for there, back in ((4, 2), (7, 5), (8, 6)):
        f[back, 0] = old[there, 0]
        f[there, -1] = old[back, -1]
    f[7, -1] -= lid / 6.0
    f[8, -1] += lid / 6.0


def simulate(lid: Array) -> tuple[Array, Array]:
    """Return the velocities at the end; row 0 is the bottom."""
    f = np.empty((9, SIZE, SIZE))
    f[...] = WEIGHTS[:, None, None]
    old = np.empty_like(f)
    density, u, v = np.empty((3, SIZE, SIZE))
    for _ in range(STEPS):
        collide(f, density, u, v)
        stream(f, old, lid)
    flow(f, density, u, v)
    return u, v


def lid_of(profile: Array) -> Array:
    """Scale a profile to the given root mean square."""
    return SPEED * profile / np.sqrt(np.mean(profile**2))


def calm(profile: Array) -> float:
    """Return minus the mean square of the speed in the lower half, in percent of the lid's."""
    u, v = simulate(lid_of(profile))
    lower = slice(0, SIZE // 2)
    return -100.0 * np.sum(u[lower] ** 2 + v[lower] ** 2) / u[lower].size / SPEED**2


def main(picture: Path) -> None:
    """Compare the uniform lid with the best one."""
    gradient = value_and_grad(calm)
    uniform = np.ones(SIZE)
    report(calm, gradient, uniform, rounds=3)
    found = minimize(gradient, uniform, jac=True, method="L-BFGS-B", options={"maxiter": 6})
    print(f"{found.nfev} gradients; mean square of the speed in the lower half:")
    print(f"{-calm(uniform):.2f} % of the lid's if that is uniform, {-found.fun:.2f} % at best")
    assert found.fun < 1.4 * calm(uniform)

    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.3), layout="constrained")
    places = (np.arange(SIZE) + 0.5) / SIZE
    lids = {"uniform": lid_of(uniform), "best": lid_of(found.x)}
    contours = []
    for panel, (name, lid) in zip(panels, lids.items(), strict=False):
        u, v = simulate(lid)
        speed = np.hypot(u, v) / SPEED
        contours.append(panel.contourf(places, places, speed, np.linspace(0, 1, 11), extend="max"))
        panel.streamplot(places, places, u, v, color="white", density=0.45, linewidth=0.7)
        panel.axhline(0.5, color="white", linestyle=":")
        panel.set(aspect="equal", xlim=places[[0, -1]], ylim=places[[0, -1]])
        panel.set(title=f"Flow under the {name} lid", xlabel="x / width", ylabel="y / width")
        panels[2].plot(places, lid / SPEED, label=name)
    figure.colorbar(contours[1], ax=panels[1], label="speed / that of the lid", shrink=0.8)
    panels[2].set(title="Speed of the lids", xlabel="x / width", box_aspect=1)
    panels[2].set_ylabel("speed / root mean square")
    panels[2].legend()
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
