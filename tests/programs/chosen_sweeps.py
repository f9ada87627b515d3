"""Bodies of chosen programs in which a line of a sweep shows, or one that lowers to loops.

See `chosen_programs`.
"""

from __future__ import annotations

__all__ = ["SWEEPS"]

SWEEPS = (
    # A pass reads what one that is later by two overwrites, upwards and downwards.
    """
for i in range(n - 2):
    s = s + x[i + 2] * x[i + 2]
    x[i] = 0.5 * a
for i in range(n - 1, 1, -1):
    s = s + u[i - 2] * u[i - 2]
    u[i] = 0.5 * a
""",
    # A branch changes what its test is of.
    """
k = 0
for i in range(5):
    if k < 3:
        s = s * x[k]
        k = k + 2
    else:
        k = 0
    s = s + x[i] * s
""",
    # A number is made of what is overwritten.
    """
for i in range(n):
    t = x[i] * 2.0
    s = s * t
    x[i] = y[i]
""",
    # Partial derivatives that are negative.
    """
for i in range(n):
    x[i] = math.cos(y[i]) * x[i]
u = np.cos(u) / x
""",
    # Ties below the largest; places in a matrix; products.
    """
u[0] = a
u[1] = a
u[2] = a + 3.0
s = s + np.max(u) * np.max(u)
m[3, 1] = 2.0
s = s + x[np.argmax(m) // n]
s = s * np.prod(x)
""",
    # A test of bools that are written again.
    """
q = y > 0.0
for i in range(5):
    if q[i]:
        s = s * x[i]
    q[i] = False
    q[i + 1] = y[i] < 0.3
""",
)
