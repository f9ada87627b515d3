"""Train a network of PyTorch through a simulation written in NumPy.

A sensor in a thick wall is read each hour for three days; what was the temperature outside? A
network of PyTorch answers from the readings alone. It never sees a true answer: its answer goes
through a simulation of the wall, and the loss compares the readings that this gives with those of
the sensor. The simulation is NumPy code that overwrites one array of temperatures; `to_torch` makes
it a layer, and `loss.backward()` passes through it. The network is then asked about days that it
has not been trained on.

What other tools would need. In PyTorch alone the simulation on tensors: new tensors in each step,
and a list of readings. In JAX `lax.scan`, and a network of Flax or Equinox.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from common import Array, picture_path, report, save

from mooncake_py.integrations.torch import to_torch

HOURS = 72
STEPS = 4  # of the simulation in an hour
LAYERS, DEPTH = 12, 3
CONDUCTION = 0.4
NOISE = 0.02
ROUGHNESS = 0.003


def readings(outside: Array) -> Array:
    """Simulate walls, a row each, and return what a sensor within them reads each hour."""
    wall = np.zeros((len(outside), LAYERS))
    read = np.empty_like(outside)
    for hour in range(HOURS):
        wall[:, 0] = outside[:, hour]
        for _ in range(STEPS):
            wall[:, 1:-1] += CONDUCTION * (wall[:, 2:] - 2.0 * wall[:, 1:-1] + wall[:, :-2])
            wall[:, -1] = wall[:, -2]  # no heat passes the inner side
        read[:, hour] = wall[:, DEPTH]
    return read


def weather(count: int, random: np.random.Generator) -> Array:
    """Draw temperatures outside: days and nights, and fronts that pass."""
    hours = np.arange(HOURS)
    phase = random.uniform(0.0, 0.5, (count, 1))
    outside = random.uniform(0.3, 1.0, (count, 1)) * np.sin(2.0 * np.pi * (hours / 24.0 - phase))
    for _ in range(3):
        passes = random.uniform(0.0, HOURS, (count, 1))
        outside += random.normal(0.0, 0.7, (count, 1)) * np.tanh((hours - passes) / 3.0)
    return outside


simulate = to_torch(readings)


def misfit(outside: Any, measured: Any) -> Any:
    """Return the loss of answers: the misfit of readings, and a penalty on roughness."""
    bends = outside[:, 2:] - 2.0 * outside[:, 1:-1] + outside[:, :-2]
    return ((simulate(outside) - measured) ** 2).mean() + ROUGHNESS * (bends**2).mean()


def misfit_and_gradient(outside: Array, measured: Array) -> tuple[float, Array]:
    """Return the loss and its gradient, by PyTorch."""
    tensor = torch.from_numpy(outside).requires_grad_()
    loss = misfit(tensor, torch.from_numpy(measured))
    loss.backward()
    assert tensor.grad is not None
    return loss.item(), tensor.grad.numpy()


def trained(measured: Any) -> tuple[torch.nn.Module, list[float]]:
    """Train a network on readings, and return it and its losses."""
    network = torch.nn.Sequential(
        torch.nn.Linear(HOURS, 128), torch.nn.Tanh(), torch.nn.Linear(128, HOURS)
    ).double()
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        for batch in torch.randperm(len(measured)).split(64):
            optimiser.zero_grad()
            loss = misfit(network(measured[batch]), measured[batch])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return network, losses


def main(picture: Path) -> None:
    """Train the network, ask it about other days, and draw its answers."""
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    outside = weather(600, random)
    measured = readings(outside)
    measured += NOISE * random.standard_normal(measured.shape)
    seen, asked = torch.from_numpy(measured[:512]), torch.from_numpy(measured[512:])

    report(
        lambda x, y: misfit(torch.from_numpy(x), torch.from_numpy(y)).item(),
        misfit_and_gradient, outside[:64], measured[:64] + 0.1, rounds=5,
    )  # fmt: skip
    network, losses = trained(seen)
    with torch.no_grad():
        answers = network(asked).numpy()
    inner = slice(6, HOURS - 6)  # the last hours have not reached the sensor yet
    errors = (answers - outside[512:])[:, inner].std()
    naive = (measured[512:] - outside[512:])[:, inner].std()
    print(f"{len(losses)} steps; loss {losses[0]:.3g} at first, {np.mean(losses[-8:]):.2g} at last")
    print(f"error of the answers for other days: {errors:.2f} degrees")
    print(f"error of the readings themselves: {naive:.2f} degrees")
    assert errors < 0.3 * naive

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    for number, axis in enumerate(axes[:2]):
        axis.plot(outside[512 + number], "k", linewidth=0.9, label="outside")
        axis.plot(measured[512 + number], ".", color="tab:blue", markersize=3, label="read")
        axis.plot(answers[number], color="tab:red", label="answer of the network")
        axis.set(xlabel="time [h]", ylabel="temperature [degrees]")
    axes[0].legend(fontsize="small")
    axes[2].semilogy(losses)
    axes[2].set(xlabel="step", ylabel="loss", title="training, without true answers")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
