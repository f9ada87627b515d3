"""Dense layers with a squared loss: the one kernel here without writes in place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import Kernel, generator

Array = NDArray[np.float64]


def dense_layers(weights: list[Array], biases: list[Array], x: Array, target: Array) -> float:
    """Return the mean squared error of a multilayer perceptron with tanh units."""
    for w, b in zip(weights, biases, strict=True):
        x = np.tanh(x @ w + b)
    return np.sum((x - target) ** 2) / target.size


def dense_layers_adjoint(
    weights: list[Array], biases: list[Array], x: Array, target: Array
) -> tuple[float, tuple[list[Array], list[Array]]]:
    """Back-propagation: keep the output of each layer, nothing else."""
    outputs = [x]
    for w, b in zip(weights, biases, strict=True):
        h = outputs[-1] @ w
        h += b
        outputs.append(np.tanh(h, out=h))
    error = outputs[-1] - target
    g = (2.0 / error.size) * error
    dweights = []
    dbiases = []
    for k in range(len(weights) - 1, -1, -1):
        y = outputs[k + 1]
        g *= 1.0 - y * y
        dweights.append(outputs[k].T @ g)
        dbiases.append(np.add.reduce(g, axis=0))
        if k > 0:
            g = g @ weights[k].T
    return np.sum(error * error) / error.size, (dweights[::-1], dbiases[::-1])


def _network(size: int) -> tuple[Any, ...]:
    random = generator()
    weights = [random.standard_normal((size, size)) / np.sqrt(size) for _ in range(6)]
    biases = [0.1 * random.standard_normal(size) for _ in range(6)]
    x, target = random.standard_normal((2, 64, size))
    return weights, biases, x, target


KERNELS = (
    Kernel(
        "dense_layers", "vector", dense_layers, _network, (48, 128), (0, 1), dense_layers_adjoint,
        tiny=(16,),
    ),
)  # fmt: skip
