"""A regression trained by an optimiser of one's own; the result judges the hyperparameters.

Style: a training loop: handwritten gradient, Adam with buffers, schedule, early stop.
"""

import numpy as np

from benchmarks.programs.program import Program


class Adam:
    """Adam with buffers that are updated in place."""

    def __init__(self, params, lr, beta1=0.9, beta2=0.99, eps=1e-8):
        self.params = params
        self.lr, self.beta1, self.beta2, self.eps = lr, beta1, beta2, eps
        self.m = {name: np.zeros_like(p) for name, p in params.items()}
        self.v = {name: np.zeros_like(p) for name, p in params.items()}
        self.t = 0

    def step(self, grads, scale=1.0):
        """Update the parameters."""
        self.t += 1
        for name, p in self.params.items():
            g = grads[name]
            self.m[name] *= self.beta1
            self.m[name] += (1.0 - self.beta1) * g
            self.v[name] *= self.beta2
            self.v[name] += (1.0 - self.beta2) * g * g
            m_hat = self.m[name] / (1.0 - self.beta1**self.t)
            v_hat = self.v[name] / (1.0 - self.beta2**self.t)
            p -= scale * self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


class Schedule:
    """Warm up, then decay by a cosine."""

    def __init__(self, warmup, total):
        self.warmup, self.total = warmup, total

    def __call__(self, step):
        """Return the factor of the learning rate."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        progress = (step - self.warmup) / (self.total - self.warmup)
        return 0.5 * (1.0 + np.cos(np.pi * progress))


def forward(params, x):
    """Return hidden units and predictions."""
    hidden = np.tanh(x @ params["W"] + params["b"])
    return hidden, hidden @ params["v"] + params["c"]


def backward(params, x, y, decay):
    """Return the loss of a batch and its gradient, derived manually."""
    hidden, prediction = forward(params, x)
    residual = prediction - y
    n = len(y)
    grads = {}
    grads["v"] = hidden.T @ residual / n + decay * params["v"]
    grads["c"] = np.array(residual.mean())
    back = np.outer(residual, params["v"]) * (1.0 - hidden**2) / n
    grads["W"] = x.T @ back + decay * params["W"]
    grads["b"] = back.sum(axis=0)
    return 0.5 * np.mean(residual**2), grads


def clip(grads, limit):
    """Scale all gradients if their common norm is above the limit."""
    norm = np.sqrt(sum(np.sum(g**2) for g in grads.values()))
    if norm > limit:
        for g in grads.values():
            g *= limit / norm
    return norm


def train(params, x, y, hyper, epochs=12, batch=32, seed=0):
    """Train in place; return the losses of the batches."""
    rng = np.random.default_rng(seed)
    optimizer = Adam(params, hyper["lr"], beta1=hyper["beta1"])
    schedule = Schedule(warmup=10, total=epochs * (len(x) // batch))
    losses = []
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch):
            rows = order[start : start + batch]
            loss, grads = backward(params, x[rows], y[rows], hyper["decay"])
            clip(grads, hyper["clip"])
            optimizer.step(grads, schedule(optimizer.t))
            losses.append(loss)
        if np.mean(losses[-8:]) < 1e-4:
            break
    return losses


def validation_loss(params, hyper, data, held_out):
    """Loss on the held-out data after training, plus a little of the last losses."""
    params = {name: p.copy() for name, p in params.items()}
    losses = train(params, *data, hyper)
    x, y = held_out
    _, prediction = forward(params, x)
    return float(0.5 * np.mean((prediction - y) ** 2) + 0.1 * np.mean(losses[-5:]))


def arguments():
    """Return first parameters, hyperparameters, training data and held-out data."""
    rng = np.random.default_rng(14)
    params = {
        "W": rng.normal(0.0, 0.6, (5, 16)),
        "b": np.zeros(16),
        "v": rng.normal(0.0, 0.3, 16),
        "c": np.array(0.1),
    }
    hyper = {"lr": 0.02, "beta1": 0.88, "decay": 1e-3, "clip": 0.6}
    x = rng.normal(size=(320, 5))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=320)
    return params, hyper, (x[:256], y[:256]), (x[256:], y[256:])


PROGRAM = Program(run=validation_loss, arguments=arguments, argnums=(0, 1), group="arrays")
