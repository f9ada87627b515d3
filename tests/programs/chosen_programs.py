"""Programs that were chosen because one line of a pass, or of a printer, shows in them.

Each is the body of a function ``f(x, y, m, a)`` of two vectors of six numbers, a matrix and a
number, which returns a number made of what it leaves.
"""

from __future__ import annotations

from tests.programs.chosen_loops import LOOPS
from tests.programs.chosen_sweeps import SWEEPS
from tests.programs.chosen_texts import TEXTS

__all__ = ["chosen_loops", "chosen_program"]

HEAD = """import math
import numpy as np

def f(x, y, m, a):
    n = len(x)
    s = a * 0.5
    c = np.array([1, 2, 3, 2, 1, 0])
    u = x * 1.0
"""
TAIL = "    return s + np.sum(x * y) + np.sum(m * m) + np.sum(np.sin(u) * x) + 0.1 * np.sum(c)\n"

BODIES = (
    # The divisor is what the quotient overwrites.
    """
for i in range(n):
    x[i] = y[i] / (x[i] + 3.0)
""",
    """
for i in range(3):
    x[:] = y / (x + 3.0)
    u = y / (u + 3.0)
""",
    # A result that the way back reads again is overwritten by a statement that reads nothing.
    """
for i in range(1, n):
    x[i] = np.exp(0.3 * y[i])
    s = s + x[i] * y[i - 1]
    x[i] = 0.5 * a
""",
    """
for i in range(1, n):
    x[i] = np.exp(0.3 * y[i])
    x[i] = 0.5 * a
    u[i] = math.exp(0.2 * u[i - 1])
    u[i - 1] = a
""",
    """
for i in range(3):
    u[1:] = np.exp(0.3 * u[:-1])
    u[:3] = 0.5 * a
    x[:] = np.tanh(x)
    x[2:4] = a * a
""",
    # Extents, tests and bounds are asked again, and change.
    """
for i in range(5):
    x[:c[i]] *= y[:c[i]]
    c[i] = c[i + 1]
    s += x[0] * x[1]
""",
    """
for i in range(5):
    if c[i] % 2 == 0:
        s = s + x[i] * y[i] * s
    c[i] = 1
""",
    """
k = 1
for i in range(4):
    for j in range(k):
        x[j] = x[j] * y[i] + a
    k = k + 1
    if k > 2:
        s = s * x[k]
    k = k - 1 + i % 2
""",
    """
k = 0
for i in range(5):
    x[k] = x[k] * y[i] * a
    k = (k + 2) % n
    x[c[k]] *= x[k]
    c[k] = (c[k] + 1) % n
""",
    # What an earlier pass has read is overwritten by the next one.
    """
for i in range(n - 1):
    s = s + x[i + 1] * x[i + 1]
    x[i] = 0.5 * a
""",
    """
for i in range(n - 2, -1, -1):
    s = s + x[i] * x[i]
    x[i + 1] = 0.5 * a
""",
    """
for i in range(n - 1):
    s = s + x[i] * x[i]
    x[i + 1] = 0.5 * a * x[i + 1]
    m[i, :] = m[i + 1, :] * x
    s += np.sum(m[i + 1] * m[i + 1])
""",
    # Systems of equations read what is overwritten afterwards.
    """
w = m + 4.0 * np.eye(n)
for i in range(3):
    u = np.linalg.solve(w, x)
    w[i] = w[i] * 0.5 + 1.0
    w[i, i] += 3.0
    x[:] = u * y
""",
    """
w = m + 4.0 * np.eye(n)
for i in range(3):
    x[:] = np.linalg.solve(w, x)
    w[:] = w * 0.9 + 0.2 * np.eye(n)
""",
    # Where a test holds, and how often, changes from pass to pass.
    """
for i in range(3):
    x[x > 0.5] *= 0.5 * a
    s += np.sum(x[y > 0.0]) * len(x[x > 0.3])
    y[1:] = y[:-1] * a
""",
    """
for i in range(4):
    u = np.cumsum(u) * 0.3
    u = np.cumsum(u[::-1]) * y
    m = np.cumsum(m, axis=0) * 0.2 + np.cumsum(x * m, axis=1) * a
""",
    """
for i in range(3):
    t = np.max(u)
    u[:] = u * t * 0.5
    u = u - np.min(m, axis=0) * t
    m[:, :] = m * np.max(m, axis=1)
""",
    """
for i in range(3):
    s = np.max(np.array([s, a, s])) + np.max(np.maximum(x, y))
    x[1] = x[0]
    y[2] = y[0]
    u = np.minimum(x, x[0]) + np.max(x) * u
""",
    # Loops that are left, with numbers that live in them.
    """
for i in range(6):
    t = x[i] * s
    k = c[i]
    if t > 0.4:
        u = u * t
        break
    w = t * x[k]
    s = s + w * t
    t = w * w
    x[k] = t
""",
    """
for i in range(6):
    for j in range(6):
        t = x[j] * s
        if t > 0.3:
            break
        s = s + t * y[j]
        x[j] = t * t
    s = s * 0.9
""",
    """
i = 0
while s < 3.0 and i < 5:
    t = s * x[i]
    s = s + t * t + 0.1
    x[i] = t
    i += 1
""",
    # Numbers to which something is added on one side of a branch only.
    """
for i in range(n):
    t = x[i] * a
    if y[i] > 0.0:
        t = t * t
        w = t
    else:
        w = 0.5 * a
    s = s + w * t
    if i > 2:
        s = s + t
""",
    """
t = a
for i in range(n):
    w = t
    t = x[i]
    s = s + w * t
    if t > 0.5:
        w = t
    s += w * x[i]
""",
    # Elements that are read and written in one pass.
    """
for i in range(1, n - 1):
    x[i] = x[i - 1] * x[i + 1]
    x[i - 1] = x[i] * y[i]
    t = x[i]
    x[i + 1] = t * x[i - 1]
    t = t + x[i]
    s = s + t * x[i]
    k = c[i]
    x[k] = x[i] * 0.5
    s = s + x[i] * x[k]
    k = k + 1
    s = s + x[k]
""",
    """
for i in range(1, n):
    k = i
    x[k] = x[k] * a
    s += x[k] * x[k - 1]
    k = k - 1
    s += x[k] * x[k - 1]
    x[k] += s
    x[k - 1] += x[k] if x[k] > 0.5 else y[k] * x[k - 1]
""",
    # Parts of arrays that are transposed, turned, in steps, diagonal or gathered.
    """
for i in range(2):
    m = 0.3 * (m.T @ m) + m[::-1].T * 0.1
    u = m.T @ u + x[::-1] * m[:, i] + m[::2, 1:4].sum() * u
    s += np.sum(x[::2] * y[1::2]) + np.sum(x[4:0:-1] * y[:4]) + m[c, c - 1].sum()
    u = u * x[c] + u[c - 1]
    m[c[:3], i] += y[:3]
    u[c] += x
    s += np.trace(m) + np.sum(np.diagonal(m) * u)
""",
    """
for i in range(3):
    for j in range(n):
        x[j] += m[j, j] * y[i]
    for j in range(n):
        m[j, j] *= 0.5
    for j in range(n):
        x[c[j]] += y[j] * x[j]
    for j in range(n - 1):
        u[j + 1] += u[j] * a
    for j in range(n):
        u[j] = np.sin(u[n - 1 - j])
""",
    """
for i in range(2):
    for j in range(n):
        for k in range(n):
            s += m[j, k] * x[j] * y[k]
            u[j] += m[k, j] * m[j, k] * x[k] * a
    for j in range(n):
        for k in range(n):
            m[k, j] = m[j, k] * 0.5 + x[k]
""",
    # Names of views, and arrays that are written in place of new ones.
    """
v = m[1]
w = np.ones(n)
for i in range(3):
    t = x * w
    w[:] = t * y
    u[:] = w
    w[1:] = t[:-1] * a
    v[2:] = v[:-2] * w[1:5]
    u[1:] -= u[:-1] * v[1:]
    u *= u[0]
    s -= u @ w
""",
    """
for i in range(3):
    v = u
    u = u * x
    u[0] = v[1]
    x[:] = x[::-1] * a
    x[1:-1] = x[2:] - x[:-2]
    w = -u
    w[2] = w[3] * u[1]
    u = w
    u /= 1.5 + u[0] * u[0]
""",
    # Zeros next to infinite numbers.
    """
x[2] = 0.0
y[3] = 0.0
for i in range(2):
    r = np.sqrt(np.abs(y))
    u = np.where(y > 0.0, r, 0.0) * u
    t = math.sqrt(abs(y[3]))
    s += t if y[3] > 0.0 else a
    x[:] = np.where(x > 0.1, a / np.maximum(x, 1e-300), 0.0)
""",
    """
y[3] = 0.0
z = np.zeros(n)
for i in range(n):
    z[i] = math.sqrt(y[i] * y[i]) * 0.0
    s += z[i] + x[i]
for i in range(3):
    z = np.sqrt(y * y) * 0.0
    s += np.sum(z * x)
""",
)
CALLS = (
    # Functions that compiled code calls, of two operands that are active.
    """
q = m.T @ m + 3.0 * np.eye(m.shape[1])
for i in range(3):
    w = np.linalg.lstsq(q, q[0] * u[i] * a)[0]
    s += np.sum(w * w)
""",
)

EVERY = (*BODIES, *SWEEPS, *TEXTS, *CALLS)


def chosen_program(seed: int) -> str:
    """Return the text of one of them."""
    return with_body(EVERY[seed % len(EVERY)])


def chosen_loops(seed: int) -> str:
    """Return the text of one with loops of which the way in and out shows."""
    return with_body(LOOPS[seed % len(LOOPS)])


def with_body(text: str) -> str:
    body = text.strip("\n")
    return HEAD + "".join(f"    {line}\n" for line in body.split("\n")) + TAIL
