"""Swing a pendulum up with a motor that is too weak to lift it.

A pendulum of one metre and one kilogram hangs at rest. A motor turns it with the torque u,

    a'' = -g sin(a) - b a' + u,    |u| <= 3 N m,

where 9.8 N m would be needed to hold it level: it must swing. The torques of 150 intervals of time
are sought that bring it upright and at rest in six seconds (a = pi, a' = 0) with the least effort,
the integral of u^2. The pendulum is an object that moves by the leapfrog method and writes its path
into an array. L-BFGS-B keeps the torques within their limits; a penalty, heavier in each of three
rounds, brings the pendulum to its goal. An independent integration (SciPy's DOP853) with the
torques found checks that they do swing it up.

What other tools would need. JAX: a function of angle and speed for `lax.scan` instead of the
object, the path as its stacked output. autograd: `sin` from its own NumPy, the path as a list.
PyTorch: `torch.sin`, the path as a tensor; then backward raises, "modified by an inplace
operation": `sin` saves the angle, and `self.angle += ...` overwrites that tensor.
"""

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from mooncake_py import value_and_grad

GRAVITY, DAMPING, LIMIT = 9.81, 0.05, 3.0
INTERVALS, STEPS, DT = 150, 4, 0.01  # 4 steps of the integrator in each interval: six seconds


class Pendulum:
    """A pendulum with a motor; it hangs at rest at first."""

    def __init__(self) -> None:
        self.angle = 0.0
        self.speed = 0.0
        self.path = np.zeros(INTERVALS + 1)
        self.interval = 0

    def turn(self, torque: float) -> None:
        """Move for an interval of time under a torque."""
        for _ in range(STEPS):
            self.angle += 0.5 * DT * self.speed
            pull = torque - GRAVITY * math.sin(self.angle)
            self.speed += DT * (pull - DAMPING * self.speed)
            self.angle += 0.5 * DT * self.speed
        self.interval += 1
        self.path[self.interval] = self.angle


def swing(torques: Array) -> Pendulum:
    """Return the pendulum after all torques."""
    pendulum = Pendulum()
    for torque in torques:
        pendulum.turn(torque)
    return pendulum


def cost(torques: Array, penalty: float) -> float:
    """Return the effort, with a penalty for missing the goal."""
    pendulum = swing(torques)
    miss = (pendulum.angle - math.pi) ** 2 + pendulum.speed**2
    return STEPS * DT * np.sum(torques**2) + penalty * miss


def main(picture: Path) -> None:
    """Find the torques, check them, and draw the swing."""
    gradient = value_and_grad(cost)
    time = STEPS * DT * np.arange(INTERVALS + 1)
    torques = 0.5 * np.sin(math.sqrt(GRAVITY) * time[:-1])  # at the frequency of small swings
    report(cost, gradient, torques, 10.0)

    evaluations = 0
    for penalty in (10.0, 1e3, 1e5):
        found = minimize(
            gradient, torques, penalty, "L-BFGS-B", jac=True,
            bounds=[(-LIMIT, LIMIT)] * INTERVALS, options={"maxiter": 60},
        )  # fmt: skip
        torques, evaluations = found.x, evaluations + found.nfev

    pendulum = swing(torques)
    effort = STEPS * DT * np.sum(torques**2)
    print(f"{evaluations} gradients of {INTERVALS} torques; effort {effort:.2f} N^2 m^2 s")
    print(f"at the end: {math.pi - pendulum.angle:+.4f} from upright, speed {pendulum.speed:+.4f}")

    def derivative(t: float, state: Array) -> list[float]:
        torque = torques[min(int(t / (STEPS * DT)), INTERVALS - 1)]
        return [state[1], torque - GRAVITY * math.sin(state[0]) - DAMPING * state[1]]

    solution = solve_ivp(derivative, (0.0, time[-1]), [0.0, 0.0], "DOP853", max_step=DT)
    print(f"by an independent integration: {math.pi - solution.y[0, -1]:+.4f} from upright")
    assert abs(pendulum.angle - math.pi) < 0.01
    assert abs(pendulum.speed) < 0.01
    assert abs(solution.y[0, -1] - math.pi) < 0.1

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    angles = pendulum.path
    left.scatter(np.sin(angles), -np.cos(angles), c=time, cmap="viridis", s=14)
    left.plot([0.0, np.sin(angles[-1])], [0.0, -np.cos(angles[-1])], "o-", color="black")
    left.set(aspect="equal", xticks=[], yticks=[], title="from dark (0 s) to light (6 s)")
    right.plot(time, angles / math.pi, color="tab:blue", label="angle / π")
    right.step(time[:-1], torques / LIMIT, where="post", color="tab:orange", label="torque / limit")
    right.set(xlabel="time, s")
    right.legend()
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
