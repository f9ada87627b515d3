"""Programs of loops over elements as users write them; each takes two vectors of six, positive."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["PROGRAMS"]


def thomas(x, y):
    n = len(x)
    c, d = np.zeros(n), np.zeros(n)
    c[0] = 0.5 / (4.0 + x[0])
    d[0] = y[0] / (4.0 + x[0])
    for i in range(1, n):
        m = 4.0 + x[i] - 0.5 * c[i - 1]
        c[i] = 0.5 / m
        d[i] = (y[i] - 0.5 * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return np.sum(d * d)


def crank_nicolson(x, y):
    n = len(x)
    a = np.empty(n)
    for _ in range(3):
        for i in range(n):
            left = x[i - 1] if i > 0 else 0.0
            right = x[i + 1] if i < n - 1 else 0.0
            a[i] = x[i] + 0.1 * y[i] * (left - 2.0 * x[i] + right)
        c = np.zeros(n)
        for i in range(n):
            m = 1.0 + 0.2 * y[i]
            if i > 0:
                m -= 0.1 * y[i] * c[i - 1]
                a[i] += 0.1 * y[i] * a[i - 1]
            c[i] = 0.1 * y[i] / m
            a[i] /= m
        for i in range(n - 2, -1, -1):
            a[i] += c[i] * a[i + 1]
        for i in range(n):
            x[i] = a[i]
    return np.sum(x * x)


def cholesky(x, y):
    a = np.outer(x, y) + np.outer(y, x) + 6.0 * np.eye(6)
    n = 6
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
    s = 0.0
    for i in range(n):
        s += math.log(a[i, i]) * (i + 1)
    return s


def pivoted_elimination(x, y):
    n = 4
    a = np.zeros((n, n))
    b = np.zeros(n)
    for i in range(n):
        b[i] = y[i]
        for j in range(n):
            a[i, j] = x[(i * j) % 6] * (1 + (i + j) % 3) + (3.0 if i == n - 1 - j else 0.0)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                t = a[k, j]
                a[k, j] = a[p, j]
                a[p, j] = t
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= m * a[k, j]
            b[i] -= m * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]
    return b[0] * b[1] + b[2] - b[3] * b[3]


def kalman(x, y):
    mean, variance, loss = 0.0, 1.0, 0.0
    for i in range(len(x)):
        variance = variance + y[1] * 0.1
        innovation = x[i] - mean
        total = variance + y[0]
        gain = variance / total
        mean = mean + gain * innovation
        variance = (1.0 - gain) * variance
        loss += 0.5 * (innovation**2 / total + math.log(total))
    return loss + mean * variance


def newton(x, y):
    s = 0.0
    for i in range(6):
        z = 1.0
        for _ in range(5):
            z -= (z**3 + x[i] * z - y[i] - 1.0) / (3.0 * z**2 + x[i])
        s += z * z
    return s


def runge_kutta(x, y):
    u, v, h = x[0], x[1], 0.05
    for _ in range(10):
        a1, b1 = v, y[0] * (1 - u * u) * v - u
        a2 = v + 0.5 * h * b1
        b2 = y[0] * (1 - (u + 0.5 * h * a1) ** 2) * (v + 0.5 * h * b1) - (u + 0.5 * h * a1)
        a3 = v + 0.5 * h * b2
        b3 = y[0] * (1 - (u + 0.5 * h * a2) ** 2) * (v + 0.5 * h * b2) - (u + 0.5 * h * a2)
        a4 = v + h * b3
        b4 = y[0] * (1 - (u + h * a3) ** 2) * (v + h * b3) - (u + h * a3)
        u += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        v += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return u * v


def lotka_volterra(x, y):
    prey, predators = x[0], y[0]
    history = np.zeros((20, 2))
    for k in range(20):
        prey, predators = (
            prey + 0.1 * (x[1] * prey - x[2] * prey * predators),
            predators + 0.1 * (y[1] * prey * predators - y[2] * predators),
        )
        history[k, 0] = prey
        history[k, 1] = predators
    return np.sum(history * history)


def time_warping(x, y):
    n, m = len(x), len(y)
    d = np.full((n + 1, m + 1), 1e3)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = d[i - 1, j]
            if d[i, j - 1] < best:
                best = d[i, j - 1]
            if d[i - 1, j - 1] < best:
                best = d[i - 1, j - 1]
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + best
    return d[n, m]


def soft_alignment(x, y):
    d = np.zeros((7, 7))
    for i in range(1, 7):
        for j in range(1, 7):
            a, b, c = d[i - 1, j], d[i, j - 1], d[i - 1, j - 1]
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 - math.log(
                math.exp(-a) + math.exp(-b) + math.exp(-c)
            )
    return d[6, 6]


def cubic_spline(x, y):
    n = len(x)
    second, u = np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        h0, h1 = 1.0 + x[i], 1.0 + x[i + 1]
        ratio = h0 / (h0 + h1)
        p = ratio * second[i - 1] + 2.0
        second[i] = (ratio - 1.0) / p
        u[i] = (y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0
        u[i] = (6.0 * u[i] / (h0 + h1) - ratio * u[i - 1]) / p
    for k in range(n - 2, -1, -1):
        second[k] = second[k] * second[k + 1] + u[k]
    return np.sum(second * y)


def binomial_option(x, y):
    n = 5
    up = math.exp(x[0] * 0.2)
    q = (math.exp(0.02) - 1 / up) / (up - 1 / up)
    values = np.zeros(n + 1)
    for i in range(n + 1):
        price = y[0]
        for _ in range(i):
            price = price * up
        for _ in range(n - i):
            price = price / up
        if price > 0.3:
            values[i] = price - 0.3
    for step in range(n, 0, -1):
        for i in range(step):
            values[i] = 0.98 * (q * values[i + 1] + (1.0 - q) * values[i])
    return values[0]


def mean_field(x, y):
    m = np.zeros(6)
    for _ in range(4):
        for i in range(6):
            field = y[i] + x[i] * m[(i + 1) % 6] + x[(i - 1) % 6] * m[i - 1]
            m[i] = np.tanh(field)
    return np.sum(m * y)


def limited_advection(x, y):
    n = len(x)
    new = np.zeros(n)
    for _ in range(3):
        for i in range(n):
            a = x[i] - x[i - 1]
            b = x[(i + 1) % n] - x[i]
            if a * b <= 0.0:
                slope = 0.0
            elif abs(a) < abs(b):
                slope = a
            else:
                slope = b
            new[i] = x[i] - 0.3 * y[i] * (a + 0.35 * slope)
        for i in range(n):
            x[i] = new[i]
    return np.sum(x * y)


def prefix_sums_and_products(x, y):
    sums, products, largest = np.zeros(6), np.ones(6), np.zeros(6)
    running = -10.0
    for i in range(6):
        sums[i] = sums[i - 1] + x[i]
        products[i] = products[i - 1] * y[i]
        if x[i] > running:
            running = x[i]
        largest[i] = running
    return np.sum(sums * products * largest)


def polynomials(x, y):
    horner, power = 0.0, 0.0
    for i in range(5, -1, -1):
        power = power * y[0] + horner
        horner = horner * y[0] + x[i]
    b1 = b2 = 0.0
    for k in range(5, 0, -1):
        b1, b2 = 2.0 * y[1] * b1 - b2 + x[k], b1
    return horner * power + y[1] * b1 - b2 + x[0]


def bilinear_interpolation(x, y):
    grid = np.outer(x, y)
    s = 0.0
    for k in range(5):
        u, v = x[k] * 2.5, y[k] * 2.0
        i = int(x[k] * 2.5)
        j = int(y[k] * 2.0)
        p, q = u - i, v - j
        s += (1 - p) * (1 - q) * grid[i, j] + p * (1 - q) * grid[i + 1, j]
        s += (1 - p) * q * grid[i, j + 1] + p * q * grid[i + 1, j + 1]
    return s


def deposit(x, y):
    density = np.zeros(8)
    for k in range(6):
        cell = int(x[k] * 5.0)
        w = x[k] * 5.0 - cell
        density[cell] += (1.0 - w) * y[k]
        density[cell + 1] += w * y[k]
    s = 0.0
    for i in range(1, 8):
        s += density[i] * density[i - 1]
    return s


def matrix_product(x, y):
    a, b = np.outer(x, y), np.outer(y, x) + np.eye(6)
    c = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            for k in range(6):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c) * 0.01


def game(x, y):
    score = 0.0
    wins = losses = streak = 0
    for i in range(6):
        if x[i] > y[i]:
            wins += 1
            streak += 1
            score += x[i] * streak
            x[wins % 6] *= 1.1
        elif x[i] > 0.5 * y[i] and wins < 3:
            losses += 2
            streak = 0
        else:
            score -= y[(losses + i) % 6] * losses
            losses += 1
            streak -= 1
            if losses > wins:
                wins = losses - wins
    return score * (1 + wins) + losses * x[streak] + streak * y[0]


def sorting(x, y):
    for i in range(6):
        for j in range(5 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                t = y[j]
                y[j] = y[j + 1]
                y[j + 1] = t
    s = 0.0
    for i in range(6):
        s += x[i] * i + y[i] * i * i
    return s


def logistic_maps(x, y):
    s = 0.0
    for i in range(6):
        z = x[i]
        for k in range(8):
            z = (2.0 + y[i]) * z * (1.0 - z)
            if k % 2:
                s += z
    return s


def leapfrog_lattice(x, y):
    n, energy = 6, 0.0
    for _ in range(3):
        for i in range(n):
            y[i] += 0.1 * (x[i - 1] - 2 * x[i] + x[(i + 1) % n] - x[i] ** 3)
        for i in range(n):
            x[i] += 0.1 * y[i]
    for i in range(n):
        energy += 0.5 * y[i] ** 2 + 0.25 * x[i] ** 4
    return energy


def hidden_markov(x, y):
    alpha = np.array([0.5, 0.3, 0.2])
    new = np.zeros(3)
    loglik = 0.0
    for t in range(6):
        scale = 0.0
        for j in range(3):
            total = 0.0
            for i in range(3):
                total += alpha[i] * (0.6 if i == j else 0.2)
            new[j] = total * np.exp(-((x[t] - j * y[0]) ** 2))
            scale += new[j]
        loglik += np.log(scale)
        for j in range(3):
            alpha[j] = new[j] / scale
    return loglik


def convolution(x, y):
    out = np.zeros(11)
    for i in range(6):
        for j in range(6):
            out[i + j] += x[i] * y[j]
    s = 0.0
    for k in range(11):
        s += out[k] * out[10 - k]
    return s


def bisection(x, y):
    low, high = 0.0, 2.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if middle * middle > x[0] + y[0]:
            high = middle
        else:
            low = middle
    z = low + 0.0 * x[0]
    while True:
        step = (z * z - x[0] - y[0]) / (2.0 * z)
        z -= step
        if abs(step) < 1e-14:
            break
    return z


def insertion_sort(x, y):
    for i in range(1, 6):
        k = i
        while k > 0 and x[k] < x[k - 1]:
            x[k], x[k - 1] = x[k - 1], x[k]
            y[k], y[k - 1] = y[k - 1] * y[k], y[k]
            k -= 1
    s = 0.0
    for i in range(6):
        s += x[i] * i + y[i] * i * i
    return s


def adaptive_euler(x, y):
    t, h, u = 0.0, 0.1, x[0]
    steps = 0
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        slope = y[0] - x[1] * u
        middle = u + 0.5 * h * slope
        error = 0.5 * h * (slope - y[0] + x[1] * middle)
        if abs(error) > 2e-3:
            h = 0.5 * h
            continue
        u = middle + 0.5 * h * (y[0] - x[1] * middle)
        t += h
        steps += 1
        if steps > 100:
            break
        h = 1.2 * h
    return u * u


def first_crossing(x, y):
    level = 0.0
    found = 0
    for i in range(6):
        if y[i] < 0.3:
            continue
        level += x[i] * y[i]
        if level > 1.0:
            found = i
            break
        for j in range(i):
            if x[j] > 0.8:
                break
            level += 0.1 * x[j]
    return level * (1 + found) + x[found]


def fibonacci(x, y):
    a, b = x[0], y[0]
    for i in range(1, 6):
        a, b = b * x[i], a + b * y[i]
    return a * b


PROGRAMS = [f for name, f in sorted(globals().items()) if getattr(f, "__module__", "") == __name__]
