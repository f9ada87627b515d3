"""Bodies of chosen programs in which a line of a printer of NumPy text shows.

See `chosen_programs`.
"""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS = (
    # One side of a branch adds to a cotangent, the other does not.
    """
for i in range(n):
    t = x[i] * a
    if y[i] > 0.0:
        s = s + t
    else:
        s = s * 0.5
""",
    # A loop that would make a cotangent zero does not run.
    """
t = x[0] * a
s = s + t
for j in range(c[5]):
    t = y[j] * 2.0
s = s + t * t
""",
    # Elements at places of two names, which are one in some passes.
    """
for i in range(n):
    k = c[i] - 1
    s = s + x[i] * a
    x[i] = x[k] * y[i]
    s = s + x[i] * x[k]
    x[k] = y[i] * a
    s = s + x[i] * x[k]
""",
    """
for i in range(n):
    k = c[i] - 1
    s = s + x[i] * a
    x[k] = y[i] * 2.0
    x[i] = y[k] * 3.0
""",
    # The name of an element is bound again.
    """
t = a
for i in range(n):
    s += t
    t = x[i]
    s = s + t * t
    t = t * 2.0
    s += x[i] * t
""",
    # A test of something other than an element.
    """
for i in range(8):
    q = np.logical_and(i < 6, x[i] > 0.0)
    s = s + a * q
""",
    # Loops whose passes are not in any order.
    """
for j in range(n):
    u[j] = u[n - 1 - j] * a
for j in range(n - 1):
    u[j + 1] += 0.5 * u[j]
""",
    # Whole arrays in another order.
    """
w = np.zeros(n)
w[::-1] = x * y
s += np.sum(w * y)
b = np.zeros((n, n))
b.T[:] = m * 2.0
s += np.sum(b * m)
d = np.zeros((n, n))
d.T[:] = m * x
d[0] = x
s += np.sum(d * m)
""",
    # New arrays that are copies, or are added to.
    """
w = np.empty(n)
w[:] = x
w[0] = a * a
s += np.sum(w * x)
w = np.zeros(n)
w += x
w[:] = w * y
s += np.sum(w * w)
w = np.sum(m, axis=())
w[0] = x
s += np.sum(w * m)
""",
    # A place within an array, but not within its part.
    """
v = x[:3]
s += np.sum(v[c])
""",
    # Sums of products.
    """
w = m @ (m * x)
s += np.sum(w * w)
w = m * x[:, None] * y[:, None]
s += np.sum(w * w)
u = s * x - y * s + u
u = u + s * x * y
""",
    # Slices that end before the array does, and leave elements out.
    """
s += np.sum(x[::2] * x[::2])
s += np.sum(y[1:4] * y[1:4])
""",
    # The greater and the lesser of equal elements.
    """
y[2] = x[2]
u = np.maximum(x, y) * u
u = np.minimum(x, y) * u
""",
    # A loop that one statement for all indices is not.
    """
for j in range(n - 1):
    u[j + 1] += u[j] * a
""",
    # A square of numbers that an array has otherwise.
    """
x[0] = 2.759
u[0] = 0.0
for j in range(n):
    u[j] += x[j] ** 2
s = (u[0] - 7.612081) * 1e12
""",
    # A part that is written is not the whole; elements of a diagonal receive.
    """
w = np.zeros(n)
w[:3] = x[:3] * y[:3]
s += np.sum(np.cos(w))
for j in range(n):
    s += m[j, j] * a
""",
    # Whole arrays that are given are overwritten.
    """
for i in range(3):
    x[:] = y * a
""",
    # Zero times infinity, of arrays and in loops; what was put back by then is undone.
    """
y[3] = np.inf
q = np.sum(x * y)
y[3] = 0.5
s += min(q, 1.0)
for i in range(3):
    x[:] = np.sin(x) * y
s += np.sum(x * x)
""",
    """
y[3] = np.inf
q = 0.0
for j in range(n):
    q += u[j] * x[j] * y[j]
y[3] = 0.5
s += min(q, 1.0)
""",
    """
y[3] = np.inf
q = 0.0
for j in range(n):
    q += x[j] * y[j]
    x[j] = math.sin(x[j])
y[3] = 0.5
s += min(q, 1.0)
""",
    """
y[3] = np.inf
q = np.sum(x * y)
y[3] = 0.5
s += min(q, 1.0)
for i in range(3):
    u[:] = u * x
    u[1:3] = u[1:3] * u[1:3]
""",
    """
z = np.abs(y) * 0.0
z[2] = 1.0
u = u + np.sqrt(z) * 0.0
""",
    # A loop from the second element on.
    """
for j in range(1, n):
    u[j] += x[j] * a
""",
    # A number is stored under its name, and read again.
    """
for i in range(n):
    t = x[i] * y[i]
    u[i] = t
    s += t * a
""",
    # Factors and determinants of matrices.
    """
w = m @ m.T + 4.0 * np.eye(n)
s += np.sum(np.linalg.cholesky(w)) + 0.001 * np.linalg.det(m + 2.0 * np.eye(n))
u = np.linalg.solve(w, x)
""",
    # Loops in steps, of which the last one is shorter.
    """
for i in range(0, n - 1, 2):
    s = s * x[i]
    x[i + 1] = s
""",
    # A loop that goes down overwrites what was read, but not in its first pass.
    """
for j in range(n - 1):
    s = s * x[j]
for i in range(n - 1, -1, -1):
    x[i] = a * y[i]
""",
)
