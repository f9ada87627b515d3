"""Train a small network, in place, to tell two spirals apart.

Two spirals of 300 points wind round each other; no line, circle or parabola separates them. A
network with two hidden layers of 32 tanh units does. Its parameters are arrays in a list of dicts,
its layers write into buffers that are allocated once (`out=`), and momentum and parameters are
updated in place:

    v = 0.95 v - 0.05 dL/dp,   p = p + v,    L = mean log(1 + exp(-label * output)).

References
----------
K. J. Lang and M. J. Witbrock, Learning to tell two spirals apart, Proceedings of the 1988
Connectionist Models Summer School, 52-59, set the problem.

What other tools would need. JAX: no `out=`, no buffers; parameters and momentum as new arrays from
each step, which `jit` can be allowed to put where the old ones were. autograd: no buffers, as it
refuses `out=`. PyTorch: tensors; its functions refuse `out=` where a gradient is needed.
"""

from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from matplotlib.colors import ListedColormap

from mooncake_py import flatten, value_and_grad

Layer = dict[str, Array]

POINTS, STEPS = 300, 1500
SIZES = (2, 32, 32, 1)
RATE, MOMENTUM = 0.05, 0.95


def spirals(random: np.random.Generator) -> tuple[Array, Array]:
    """Return points, and the label of each, 1 or -1."""
    angle = 0.6 + 3.0 * np.pi * np.sqrt(np.linspace(0.0, 1.0, POINTS))
    arm = np.stack([angle * np.cos(angle), angle * np.sin(angle)], axis=1) / 10.0
    points = np.concatenate([arm, -arm])
    points += 0.02 * random.standard_normal(points.shape)
    return points, np.repeat([1.0, -1.0], POINTS)


def new_network(random: np.random.Generator) -> list[Layer]:
    """Return random weights, and zeros as biases."""
    return [
        {"weights": random.standard_normal((m, n)) / np.sqrt(m), "bias": np.zeros(n)}
        for m, n in pairwise(SIZES)
    ]


def buffers(rows: int) -> list[Array]:
    """Return memory for the outputs of each layer."""
    return [np.empty((rows, size)) for size in SIZES[1:]]


def output(network: list[Layer], points: Array, memory: list[Array]) -> Array:
    """Return the output for each point, a view of the last buffer."""
    signal = points
    for layer, buffer in zip(network, memory, strict=True):
        np.matmul(signal, layer["weights"], out=buffer)
        buffer += layer["bias"]
        if buffer is not memory[-1]:
            np.tanh(buffer, out=buffer)
        signal = buffer
    return signal[:, 0]


def loss(network: list[Layer], points: Array, labels: Array, memory: list[Array]) -> float:
    """Return the mean logistic loss."""
    return np.sum(np.logaddexp(0.0, -labels * output(network, points, memory))) / len(labels)


def train(network: list[Layer], points: Array, labels: Array) -> list[float]:
    """Change the network in place, and return the loss at each step."""
    gradient = value_and_grad(loss)
    memory = buffers(len(points))
    velocity = [{name: np.zeros_like(array) for name, array in layer.items()} for layer in network]
    history = []
    for _ in range(STEPS):
        value, slopes = gradient(network, points, labels, memory)
        for layer, speed, slope in zip(network, velocity, slopes, strict=True):
            for name in layer:
                speed[name] *= MOMENTUM
                speed[name] -= RATE * slope[name]
                layer[name] += speed[name]
        history.append(value)
    return history


def check(network: list[Layer], points: Array, labels: Array) -> None:
    """Check the gradient in all parameters, as one vector."""
    memory = buffers(len(points))
    gradient = value_and_grad(loss)
    vector, network_of = flatten(network)

    def of_vector(x: Array) -> tuple[float, Array]:
        value, slopes = gradient(network_of(x), points, labels, memory)
        return value, flatten(slopes)[0]

    report(lambda x: loss(network_of(x), points, labels, memory), of_vector, vector, rounds=99)


def main(picture: Path) -> None:
    """Train, count the errors, and draw what the network makes of the plane."""
    random = np.random.default_rng(1)
    points, labels = spirals(random)
    network = new_network(random)
    check(network, points, labels)
    history = train(network, points, labels)
    right = np.mean(np.sign(output(network, points, buffers(len(points)))) == labels)
    print(f"{STEPS} steps; loss {history[0]:.3f} at first, {history[-1]:.4f} at last")
    print(f"{right:.1%} of the {len(points)} points are classified correctly")
    assert right > 0.99

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    axis = np.linspace(-1.2, 1.2, 150)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    answers = output(network, plane, buffers(len(plane))).reshape(150, 150)
    panels[0].contourf(axis, axis, answers > 0, cmap=ListedColormap(["#cfe0f3", "#fbe3c8"]))
    for label, colour in ((1.0, "tab:orange"), (-1.0, "tab:blue")):
        panels[0].plot(*points[labels == label].T, ".", color=colour, markersize=4)
    panels[0].set(title="points, and answers of the network", xlabel="x", ylabel="y")
    panels[0].set_aspect("equal")
    panels[1].semilogy(history)
    panels[1].set(title="training", xlabel="step", ylabel="logistic loss")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
