"""A neural network with batch normalization and dropout, as a list of layer objects.

Style: a machine learner's own little framework in NumPy, forward pass only.
"""

import numpy as np

from benchmarks.programs.program import Program


class Layer:
    """Base of all layers."""

    training = True

    def __call__(self, x):
        """Run the layer."""
        return self.forward(x)

    def forward(self, x):
        """Return the output of the layer."""
        raise NotImplementedError

    def parameters(self):
        """Yield the arrays that are learnt."""
        yield from ()


class Dense(Layer):
    """An affine map."""

    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias

    def forward(self, x):
        """Return x W + b."""
        return x @ self.weights + self.bias

    def parameters(self):
        """Yield weights and bias."""
        yield self.weights
        yield self.bias


class BatchNorm(Layer):
    """Normalize over the batch, and keep running moments."""

    def __init__(self, size, momentum=0.9, eps=1e-5):
        self.gain, self.shift = np.ones(size), np.zeros(size)
        self.running_mean, self.running_var = np.zeros(size), np.ones(size)
        self.momentum, self.eps = momentum, eps

    def forward(self, x):
        """Return the normalized batch."""
        if self.training:
            mean, var = x.mean(axis=0), x.var(axis=0)
            self.running_mean *= self.momentum
            self.running_mean += (1 - self.momentum) * mean
            self.running_var *= self.momentum
            self.running_var += (1 - self.momentum) * var
        else:
            mean, var = self.running_mean, self.running_var
        return self.gain * (x - mean) / np.sqrt(var + self.eps) + self.shift

    def parameters(self):
        """Yield gain and shift."""
        yield self.gain
        yield self.shift


class Gelu(Layer):
    """A smooth activation."""

    def forward(self, x):
        """Return the activation."""
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


class Dropout(Layer):
    """Set some of the units to zero."""

    def __init__(self, rate, rng):
        self.rate, self.rng = rate, rng

    def forward(self, x):
        """Return x with a random mask, if training."""
        if not self.training:
            return x
        mask = self.rng.random(x.shape) >= self.rate
        return np.where(mask, x / (1 - self.rate), 0.0)


class Residual(Layer):
    """Layers whose input is added to their output."""

    def __init__(self, *layers):
        self.layers = list(layers)

    def forward(self, x):
        """Return x plus what the layers make of it."""
        y = x
        for layer in self.layers:
            y = layer(y)
        return x + y

    def parameters(self):
        """Yield those of all layers."""
        for layer in self.layers:
            yield from layer.parameters()


class Sequential(Residual):
    """Layers one after another."""

    def forward(self, x):
        """Return the output of the last layer."""
        for layer in self.layers:
            x = layer(x)
        return x


def build(weights, seed):
    """Return a network with the given weights."""
    rng = np.random.default_rng(seed)
    layers = []
    for n, (w, b) in enumerate(weights[:-1]):
        parts = [Dense(w, b), BatchNorm(len(b)), Gelu(), Dropout(0.1, rng)]
        layers.extend([Residual(*parts)] if n and w.shape[0] == w.shape[1] else parts)
    return Sequential(*layers, Dense(*weights[-1]))


def cross_entropy(logits, labels):
    """Mean of minus log probabilities of the labels."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_norm = np.log(np.exp(shifted).sum(axis=1))
    return np.mean(log_norm - shifted[np.arange(len(labels)), labels])


def batches(x, labels, size):
    """Yield the data in pieces."""
    for start in range(0, len(x), size):
        yield x[start : start + size], labels[start : start + size]


def loss(weights, x, labels, decay=1e-3):
    """Train-mode loss over the batches, then test-mode loss, and weight decay."""
    net = build(weights, seed=3)
    total, count = 0.0, 0
    for bx, by in batches(x, labels, 64):
        total += cross_entropy(net(bx), by)
        count += 1
    Layer.training = False
    try:
        test = cross_entropy(net(x), labels)
    finally:
        Layer.training = True
    penalty = sum(np.sum(p**2) for p in net.parameters() if p.ndim == 2)
    return float(total / count + test + decay * penalty)


def arguments():
    """Return weights of four layers, and blobs of points with labels."""
    rng = np.random.default_rng(11)
    sizes = [10, 48, 48, 48, 4]
    weights = [
        (rng.normal(0, 1 / np.sqrt(m), (m, n)), rng.normal(0, 0.1, n))
        for m, n in zip(sizes, sizes[1:])
    ]
    labels = rng.integers(0, 4, 512)
    x = rng.normal(size=(4, 10))[labels] + rng.normal(size=(512, 10))
    return weights, x, labels


PROGRAM = Program(run=loss, arguments=arguments, argnums=(0, 1), group="arrays")
