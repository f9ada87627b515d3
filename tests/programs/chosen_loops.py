"""Bodies of chosen programs in which the way into a loop, and out of it, shows.

See `chosen_programs`: what loops need and give back, what is guarded, undone and put back.
"""

from __future__ import annotations

__all__ = ["CALLING", "LOOPS"]

LOOPS = (
    # What is read after loops: where they do not run, where only some passes bind it.
    """
t = a
w = a
for i in range(int(c[5])):
    t = x[i] * 2.0
s = s * t
for i in range(n):
    t = x[i] * a
for i in range(int(c[5])):
    t = 1.0
s = s * t
for i in range(n):
    if x[i] < 100.0:
        break
    w = x[i]
s = s * w
""",
    """
for i in range(n):
    t = x[i] * a
if a > 100.0:
    t = 2.0
s = s * t
for i in range(n):
    t = y[i] * s
t *= a
s = s * t
for t in x:
    s = s + t * t
s = s * t + i
""",
    # What the next pass, and a handler, of something around a loop reads.
    """
t = a
g = a
for k in range(3):
    try:
        for i in range(n):
            s = s + t * x[i]
            t = s * 0.1
    finally:
        s = s * 0.9
for k in range(3):
    d = {"k": k}
    for i in range(n):
        s = s * 0.5 + g * x[i]
        g = s * 0.1
    if k > 5:
        u = u * len(d)
try:
    for i in range(n):
        t = t * x[i] + 0.5
    raise ValueError
except ValueError:
    s = s * t
""",
    # What other functions read, or bind.
    """
t = a
def held():
    return t
for i in range(n):
    t = t * x[i] + 0.5
s = s * held()
""",
    """
t = a
def turned(v):
    nonlocal t
    t = t * v
    return t
for i in range(n):
    s = s + turned(x[i])
s = s * t
""",
    # A comprehension that reads nothing has no need of what it captures.
    """
e = []
for late in e:
    s = s * 2.0
r = [late * v for v in e]
s = s + len(r) + sum([v * s for v in x]) * sum(v * v for v in y if v > 0.0)
""",
    # Arrays that share memory, and the cotangents of such.
    """
v = x[1:]
w = x[:-1]
for i in range(n - 1):
    s = s + v[i] * w[i]
for i in range(n - 1):
    v[i] = v[i] * 0.5 + w[i] * a
v = u
w = u
for i in range(1, n):
    v[i] = w[i - 1] * v[i]
s = s + np.sum(w * y)
""",
    """
v = np.broadcast_to(x[:1], (5,))
for i in range(5):
    s = s + v[i] * y[i]
w = y[::2]
for i in range(3):
    w[i] = w[i] * a + x[i]
w = m.T
for i in range(n):
    u = u + w[i] * a
    s = s + np.sum(w) * x[i]
for i in range(2):
    w[i] = w[i + 1] * u
""",
    # What a loop has read is overwritten after it.
    """
for i in range(n):
    s = s + x[i] * x[i] * s
x[:] = 0.5 * a
for i in range(3):
    u = u * y
u *= 0.1
y[2] = a
""",
    # Numbers that are infinite make the loop run as it is written.
    """
z = np.zeros(n)
for i in range(n):
    x[i] = x[i] * 2.0
    z[i] = y[i] / np.float64(i)
z[0] = 1.0
s = s + np.sum(z * x)
q = [a, 0.5, a]
for i in range(3):
    q[i] = q[i] * 2.0
    t = np.log(np.float64(i)) * q[i]
s = s + q[1] * q[2] + t
""",
    # A loop runs for values of other kinds, and again for the first ones.
    """
def total(v, k):
    r = 0.0
    for i in range(len(v)):
        r = r + v[i] * k
    return r
s = s + total(x, a) + total(x, a) + total(x, a)
s = s + total(x, 0.5) + total(x, 0.25) + total(x, a)
s = s + total(x, a) + total(np.broadcast_to(x[:1], (4,)), a)
s = s + total(np.ones(3), a) + total(np.ones(2), a) + total(x, a)
s = s + total(x[::2], s) + total(m[:, 1], s) + total(x, s) + total(x, 2) + total(c, a)
""",
    """
def moved(v, w, k):
    for i in range(len(v)):
        v[i] = v[i] * k + w[i]
moved(x, y, a)
moved(x, y, a)
moved(x, y, a)
moved(x[1:], x[:-1], a)
moved(x, x, 0.5)
moved(u, x, a)
moved(x[::2], y, a)
moved(m[0], m[:, 0], a)
s = s * a
""",
    """
LIMIT = [2.0]
def scaled(v, k, g):
    r = 0.0
    for i in range(len(v)):
        r = r + g(v[i]) * k
    return r
half = lambda e: 0.5 * e
square = lambda e: e * e
s = s + scaled(x, a, half) + scaled(x, a, half) + scaled(x, a, half) + scaled(x, a, square)
s = s + scaled(x, a, half) + scaled(x, a, square)
""",
    # Names of arrays after a loop: which are one array, and which are inputs.
    """
w = y * 1.0
for i in range(3):
    u = x * a
    w = u
w[1] = 3.0
s = s + u[1] * np.sum(w)
w = x
for i in range(n):
    if i > 10:
        w = w * 2.0
w[0] = a * a
w = y
for i in range(3):
    w[0] = w[0] * a
    w = w * 0.5
s = s + np.sum(w) * y[0]
""",
    """
w = y
for i in range(2):
    w = m[i]
w *= a
""",
    """
h = object()
w = h
for i in range(n):
    if x[i] > 100.0:
        h = a
    s = s + x[i] * y[i]
u = u * (h is w)
""",
    # Lists of numbers, their types, and numbers whose types depend on how a loop runs.
    """
q = [a, 0.5, a * a, 1.0]
p = [x[0], x[1], x[2]]
for k in range(2):
    for i in range(1, 4):
        q[i] = q[i - 1] * q[i] + 0.1
    for i in range(2):
        p[i] = p[i + 1] * p[i]
s = s + sum(q) * q[2] + p[0] * p[1] + (type(p[1]) is np.float64) + (type(q[1]) is float)
""",
    """
r = 0
for i in range(n):
    if x[i] > 100.0:
        r = r + x[i]
s = s + r * a + (type(r) is int)
for i in range(n):
    if x[i] < 100.0:
        r = r + x[i]
s = s + r * a + (type(r) is np.float64)
""",
    # Lists next to arrays: what is written, put back, and read again.
    """
q = [x[0], y[1], x[2]]
w = y[::2]
for i in range(3):
    q[i] = q[i] * x[i]
    x[i] = q[i] * a
    w[i] = w[i] * q[i]
    s = s + x[i] * a
x[1] = 2.0
w[1] = a
s = s + q[0] * w[2] * q[1]
""",
    """
q = [a, 0.5, a]
z = np.zeros(n)
for i in range(3):
    q[i] = q[i] * 2.0
    x[i] = x[i] * 2.0 + q[i]
    z[i] = y[i] * x[i] * 1e200 * 1e200
z[:3] = 1.0
for i in range(3):
    x[i] = x[i] * 2.0 + z[i]
    z[i] = y[i] * x[i] * 1e200 * 1e200
z[:3] = a
s = s + q[1] * np.sum(z)
""",
    """
z = np.zeros(n)
for i in range(3):
    x[i] = x[i] * 2.0
    z[i] = y[i] * x[i] * 1e200 * 1e200
z[:3] = 1.0
t = a
for i in range(3):
    t = x[i] * 1e200 * 1e200
s = s + x[0] * z[1] * (t > 1.0)
""",
    """
w = m.T
for i in range(n):
    s = s + np.sum(w) * x[i]
    u = u + w @ y * 0.1
""",
    # What a function reads changes, and numbers are those of other derivatives.
    """
global RATE
def rated(v):
    r = 0.0
    for i in range(len(v)):
        r = r + v[i] * RATE
    return r
for k in range(5):
    RATE = 0.5 if k < 3 else 2.0
    s = s + rated(x)
""",
    """
from mooncake_py import grad
def inner(v, k):
    r = 0.0
    for i in range(len(v)):
        r = r + v[i] * v[i] * k
    return r
for k in range(3):
    s = s + np.sum(grad(inner)(x, 2.0)) + inner(x, a)
    s = s + np.sum(grad(inner)(x, a)) + inner(x, a)
    s = s + grad(inner, 1)(x, a) + np.sum(grad(inner)(y, a))
""",
    """
def counted(v):
    told = None
    for i in range(len(v)):
        told = "on"
        t = v[i]
        k = 3
    return k * t if told == "on" and type(t) is np.float64 else 0.5
s = s + counted(x) + counted(y) + counted(x) + counted(y)
""",
    # Results of which some only have a cotangent.
    """
for i in range(n):
    u[i] = x[i] * a
    t = x[i] * y[i]
    w = s * t
for i in range(n):
    t = a * a
for i in range(n):
    w = w * t
s = s + w
""",
    """
z = a * (1.0 + 2.0j)
w = x * (0.5 + 1.0j)
for i in range(3):
    z = z * 0.5j + x[i]
    w = w * z
s = s + z.real + np.sum(w.imag)
""",
)
CALLING = """
import math
import numpy as np
STEP = 0.5
TABLE = [0.5, 1.5, 0.75]

class Plain:
    step = 0.25

class Halved(Plain):
    pass

def limited(u, top=0.9):
    return math.tanh(u) * top

def blend(u, v, *, weight=0.25):
    return v + limited(u - v) * weight

def relax(z, k, u, share=0.3):
    z[k] = 0.5 * z[k] + share * u

def turned(u, v):
    return v, 0.5 * u

def at(z, k, u):
    return z[k] * u - z[k - 1]

def f(x, y, m, a):
    s, t, o = a * 0.5, a, Halved()
    for i in range(len(x)):
        s = limited(s * x[i]) + blend(s, y[i]) * STEP + abs(s - 0.4) * 0.1
        s, t = turned(s, at(x, i, t))
        relax(x, i, s)
    for i in range(len(y)):
        t = t * o.step + y[i]
    for i in range(len(x)):
        s = s + TABLE[i % 3] * x[i]
    return s + t + np.sum(x * y)
"""
"""Loops that call functions, which are changed between calls."""
