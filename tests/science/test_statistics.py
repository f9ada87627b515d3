"""Filters, mixtures, chains, samplers and training loops, in place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
draw = np.random.default_rng(4).uniform


@programs(draw(-1, 1, (5, 2)), np.array([0.0, 0.5]), 0.1)
def kalman_filter(observations, x, q):
    f = np.array([[1.0, 0.1], [0.0, 1.0]])
    p, h = np.eye(2), np.eye(2)
    total = 0.0
    for z in observations:
        x[:] = f @ x
        p[...] = f @ p @ f.T
        p[np.diag_indices(2)] += q
        s = h @ p @ h.T + 0.2 * np.eye(2)
        gain = np.linalg.solve(s, h @ p).T
        r = z - h @ x
        x += gain @ r
        p -= gain @ s @ gain.T
        total += r @ np.linalg.inv(s) @ r + np.log(np.linalg.det(s))
    return total + np.trace(p)


@programs(draw(-1, 1, 4), 0.7)
def particle_filter_with_fixed_seed(observations, drift):
    rng = np.random.default_rng(7)
    particles = rng.normal(size=6)
    weights = np.full(6, 1 / 6)
    likelihood = 0.0
    for y in observations:
        particles *= drift
        particles += 0.3 * rng.normal(size=6)
        weights *= np.exp(-0.5 * (y - particles) ** 2)
        likelihood += np.log(weights.sum())
        weights /= weights.sum()
        chosen = np.searchsorted(np.cumsum(np.linspace(0.1, 0.3, 6)), rng.random(6))
        particles[:] = particles[chosen]
        weights[:] = weights[chosen] / weights[chosen].sum()
    return likelihood + particles @ weights


@programs(draw(0.2, 1, (3, 3)), draw(0.2, 1, (3, 2)))
def forward_backward(transition, emission):
    transition /= transition.sum(axis=1, keepdims=True)
    emission /= emission.sum(axis=1)[:, None]
    seen = [0, 1, 1, 0, 1]
    alpha, beta = np.zeros((5, 3)), np.ones((5, 3))
    scale = np.empty(5)
    alpha[0] = emission[:, seen[0]] / 3
    for t in range(5):
        if t:
            np.dot(alpha[t - 1], transition, out=alpha[t])
            alpha[t] *= emission[:, seen[t]]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    for t in range(3, -1, -1):
        beta[t] = transition @ (emission[:, seen[t + 1]] * beta[t + 1]) / scale[t + 1]
    return np.sum(np.log(scale)) + np.sum((alpha * beta) ** 2)


@programs(draw(-2, 0, (3, 3)), draw(-2, 0, (3, 2)))
def viterbi(transition, emission):
    seen = (0, 1, 0, 0)
    score = np.full(3, -np.log(3)) + emission[:, seen[0]]
    back = np.zeros((4, 3), int)
    for t in range(1, 4):
        candidates = score[:, None] + transition
        back[t] = candidates.argmax(axis=0)
        score = candidates.max(axis=0) + emission[:, seen[t]]
    state, path = int(np.argmax(score)), []
    for t in range(3, -1, -1):
        path.append(state)
        state = back[t, state]
    return np.max(score) + sum(emission[s, 0] for s in path)


@programs(draw(-1, 1, (8, 2)))
def k_means(points):
    centres = points[:2].copy()
    for _ in range(3):
        d = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
        label = np.argmin(d, axis=1)
        for k in range(2):
            members = points[label == k]
            if len(members):
                centres[k] = members.mean(axis=0)
    return np.sum(np.min(d, axis=1)) + np.sum(centres**2)


@programs(draw(-1, 1, 8), np.array([-0.5, 0.6]), np.array([0.5, 0.7]))
def mixture_by_expectation_maximisation(x, mean, width):
    share = np.array([0.5, 0.5])
    r = np.empty((2, len(x)))
    for _ in range(3):
        for k in range(2):
            r[k] = share[k] * np.exp(-0.5 * ((x - mean[k]) / width[k]) ** 2) / width[k]
        r /= r.sum(axis=0)
        n = r.sum(axis=1)
        share[:] = n / len(x)
        mean[:] = (r @ x) / n
        width[:] = np.sqrt((r * (x - mean[:, None]) ** 2).sum(axis=1) / n)
    return np.sum(mean * share) + np.sum(width)


@programs(draw(-1, 1, (4, 3)), draw(-1, 1, 4), 0.1)
def adam_unrolled(x, y, rate):
    w, m, v = np.zeros(3), np.zeros(3), np.zeros(3)
    for t in range(1, 6):
        g = 2 * x.T @ (x @ w - y) / len(y)
        m *= 0.9
        m += 0.1 * g
        v *= 0.999
        v += 0.001 * g * g
        w -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-3)
    return np.sum((x @ w - y) ** 2)


@programs(draw(-0.5, 0.5, (3, 3)), draw(-0.5, 0.5, (3, 2)), draw(-1, 1, (4, 2)))
def recurrent_network_with_its_own_backpropagation(w, u, inputs):
    steps = len(inputs)
    h = np.zeros((steps + 1, 3))
    for t in range(steps):
        h[t + 1] = np.tanh(w @ h[t] + u @ inputs[t])
    dw, dh = np.zeros_like(w), 2 * h[-1]
    for t in reversed(range(steps)):
        da = dh * (1 - h[t + 1] ** 2)
        dw += np.outer(da, h[t])
        dh = w.T @ da
    w -= 0.1 * dw
    return np.sum(np.tanh(w @ h[-1]) ** 2)


@programs(draw(-1, 1, 5), draw(-1, 1, 6))
def dynamic_time_warping(a, b):
    d = np.full((len(a) + 1, len(b) + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[-1, -1]


@programs(draw(0, 1, (4, 3)), 0.5)
def soft_edit_distance_in_two_rows(costs, gap):
    before = gap * np.arange(4.0)
    row = np.empty(4)
    for i in range(4):
        row[0] = before[0] + gap
        for j in range(1, 4):
            options = np.array([before[j] + gap, row[j - 1] + gap, before[j - 1] + costs[i, j - 1]])
            row[j] = -np.log(np.sum(np.exp(-5 * options))) / 5
        before, row = row, before
    return before[-1]


@programs(np.array([0.2, 0.5]), 1.3)
def monte_carlo_with_a_fixed_seed(volatility, strike):
    rng = np.random.default_rng(11)
    prices = np.ones((2, 50))
    for _ in range(4):
        shocks = rng.standard_normal((2, 50))
        prices *= np.exp(volatility[:, None] * shocks * 0.5 - 0.125 * volatility[:, None] ** 2)
    payoff = np.maximum(prices.sum(axis=0) - strike, 0.0)
    return payoff.mean() + payoff.std()


@programs(draw(0, 1, 6), draw(-1, 1, 6), 0.4)
def gaussian_process(x, y, scale):
    k = np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / scale**2)
    k[np.diag_indices_from(k)] += 0.1
    low = np.linalg.cholesky(k)
    alpha = np.linalg.solve(low.T, np.linalg.solve(low, y))
    return 0.5 * y @ alpha + np.log(np.diag(low)).sum()


@programs(draw(0.5, 1.5, (4, 4)))
def sinkhorn(kernel):
    u, v = np.ones(4), np.ones(4)
    for _ in range(5):
        np.divide(0.25, kernel @ v, out=u)
        np.divide(0.25, kernel.T @ u, out=v)
    plan = u[:, None] * kernel * v
    return np.sum(plan * np.log(plan))


@programs(draw(0.1, 1, (4, 4)))
def floyd_warshall(d):
    d[np.arange(4), np.arange(4)] = 0.0
    for k in range(4):
        d[:] = np.minimum(d, d[:, k, None] + d[k])
    return np.sum(d**2)


@programs(draw(0.2, 1, 7))
def bellman_ford(weights):
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
    dist = [0.0] + [float("inf")] * 4
    for _ in range(4):
        for (a, b), w in zip(edges, weights, strict=True):
            if dist[a] + w < dist[b]:
                dist[b] = dist[a] + w
    return sum(d * d for d in dist)


@programs(draw(0.1, 1, (4, 4)))
def page_rank(links):
    links /= links.sum(axis=0)
    rank = np.full(4, 0.25)
    for _ in range(10):
        new = 0.15 / 4 + 0.85 * links @ rank
        if np.abs(new - rank).sum() < 1e-14:
            break
        rank[:] = new
    return rank @ np.arange(4)


@programs(draw(-1, 1, (3, 2)), draw(-1, 1, (4, 2)))
def attention_with_a_running_softmax(queries, keys):
    out = np.zeros_like(queries)
    for i, q in enumerate(queries):
        largest, total = -np.inf, 0.0
        for k in keys:
            score = q @ k
            new = max(largest, score)
            total = total * np.exp(largest - new) + np.exp(score - new)
            out[i] = out[i] * np.exp(largest - new) + np.exp(score - new) * k
            largest = new
        out[i] /= total
    return np.sum(out**2)


@programs(draw(0.1, 1.0, 6), draw(0.2, 0.9, 6))
def reservoir_storage(inflow, demand):
    storage, spilled = np.zeros(7), []
    for t in range(6):
        level = storage[t] + inflow[t] - demand[t] * min(1.0, storage[t] + 0.4)
        if level > 0.9:
            spilled.append(level - 0.9)
            level = 0.9
        storage[t + 1] = max(level, 0.05)
    return storage.sum() + sum(s * s for s in spilled)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
