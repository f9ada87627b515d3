"""Small regions of all kinds, and values for their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["REGIONS", "given"]

X = np.array([0.3, 1.2, -0.7, 0.9, 2.1])
Y = np.array([1.1, -0.4, 0.6, 0.5, -1.3])
M = np.array([[0.4, -1.0, 0.3, 0.7, 0.2], [0.9, 0.6, -0.5, 1.3, 0.1], [0.2, 0.8, 1.1, -0.6, 0.5]])
GIVEN = {
    "x": X, "y": Y, "m": M, "a": np.float64(0.7), "b": np.float64(-1.3), "n": 5, "k": 2,
    "idx": np.array([3, 0, 3, 1, 4]),
}  # fmt: skip

# For each region its text, its inputs, its results, and which inputs are active.
REGIONS: dict[str, tuple[str, str, str, str]] = {
    "recurrence": (
        "for i in range(1, len(x)): x[i] += a * x[i - 1]", "x:1 a", "", "x a",
    ),
    "product": (
        """
        s = 1.0
        for i in range(len(x)): s = s * x[i] + np.sin(x[i])
        s = s * s
        """,
        "x:1", "s", "x",
    ),
    "number_input": ("a = a * x[0]\nx[1] = a * a\na = a * x[1]", "x:1 a", "a", "x a"),
    "element_by_itself": (
        "x[0] = x[0] * x[1]\nx[k] += x[2] * x[k]\nx[1] = -x[1]\nx[1] -= x[1] * 3.0",
        "x:1 k:int", "", "x",
    ),
    "elementwise": (
        "with all(i=n): y[i] = np.exp(x[i]) * y[i] / (a + x[i] * x[i])",
        "x:1 y:1 a n:int", "", "x y a",
    ),
    "outer_product": (
        "with all(i=3, j=5): m[i, j] = m[i, j] * y[j] + x[i] * m[i, j]", "m:2 x:1 y:1", "", "m x y",
    ),
    "sums": (
        """
        s = 0.0
        with all(i=3, j=5): s = s + m[i, j] * x[j] * x[j]
        with all(i=3, j=5): y[i] = y[i] - m[i, j] * x[j]
        with all(i=3, j=5): a = a + y[i] * x[j]
        x[0] = s * a
        """,
        "m:2 x:1 y:1 a", "s a", "m x y a",
    ),
    "stencil": (
        """
        for t in range(3):
            w = empty(n - 2)
            with all(i=n - 2): w[i] = x[i] * np.tanh(x[i + 2]) - x[i + 1]
            with all(j=n - 2): x[j + 1] = x[j + 1] + a * w[j]
        """,
        "x:1 a n:int", "", "x a",
    ),
    "products_with_temporaries": (
        """
        for t in range(3):
            h = n - t
            w = zeros(h, 2)
            with all(i=h): w[i, 1] = x[i] * x[i]
            for j in range(1, h): w[j, 0] = w[j - 1, 1] * w[j, 1] + w[j - 1, 0]
            with all(q=h): x[q] = w[q, 0] * w[q, 1]
        """,
        "x:1 n:int", "", "x",
    ),
    "array_result": (
        """
        z = zeros(len(x))
        for i in range(1, len(x)): z[i] = z[i - 1] * x[i] + a
        w = empty(2)
        w[0] = z[1] * z[2]
        w[1] = z[3] + w[0]
        """,
        "x:1 a", "w z", "x a",
    ),
    "while_with_break": (
        """
        k = 0
        s = 1.0
        while k < len(x):
            if x[k] > 1.5: break
            if x[k] < 0.0:
                s = s * 2.0
                x[k] = s * x[k]
            else:
                s = s * x[k]
            k += 1
        """,
        "x:1", "s k", "x",
    ),
    "break_of_temporaries": (
        """
        for i in range(len(x)):
            w = empty(2)
            w[0] = x[i] * s
            t = w[0] * x[i]
            if t > 0.1:
                v = t * w[0]
                w[1] = v * v
                if v > 1.0: break
                w[0] = w[0] * w[1]
            s = s + w[0] * t
        """,
        "x:1 s", "s", "x s",
    ),
    "counter_read_after": (
        """
        s = 1.0
        for i in range(4, -1, -1):
            if s > a: break
            s = s * (1.0 + x[i] * x[i])
        x[i] = s * x[i]
        """,
        "x:1 a", "s", "x a",
    ),
    "range_that_changes": (
        """
        s = 1.0
        for i in range(0, n, k):
            n = n - 1
            k = k + 5
            s = s * x[i]
        s = s * x[n] * x[k - 17]
        """,
        "x:1 n:int k:int", "s n k", "x",
    ),
    "negative_steps": (
        """
        for i in range(n - 1, -1, 0 - k):
            for j in range(n - 1, 0, -3): x[i] = x[i] * x[j] + x[j - 1]
        """,
        "x:1 n:int k:int", "", "x",
    ),
    "ints_bound_again": (
        """
        j = 0
        for i in range(len(x)):
            j = (2 * j + 1) % 5
            x[j] = x[j] * y[i]
            if y[i] > 0.0: j = j + 1
            x[j % 5] += y[i] * x[j % 5]
        """,
        "x:1 y:1", "j", "x y",
    ),
    "ints_of_arrays": (
        """
        w = ints(5)
        for i in range(5): w[i] = idx[4 - i]
        for i in range(5):
            l = w[i]
            x[l] = x[l] * y[i]
            w[(i + 1) % 5] = l
        with all(q=5): y[q] = x[idx[q]] * y[q]
        """,
        "x:1 y:1 idx:int:1", "", "x y",
    ),
    "scatter": (
        "with all(i=5): x[idx[i]] = x[idx[i]] + y[i] * y[i]", "x:1 y:1 idx:int:1", "", "x y",
    ),
    "ints_of_floats": (
        """
        for i in range(5):
            l = int(abs(x[i]) * 2.0)
            f = x[i] > 0.5
            x[l] = x[l] * x[i]
            if f: x[i] = x[i] * y[l]
        """,
        "x:1 y:1", "", "x y",
    ),
    "masks": (
        """
        f = bools(5)
        with all(i=5): f[i] = x[i] > a
        with all(j=5): x[j] = x[j] * y[j] if f[j] else y[j]
        with all(l=5): f[l] = x[l] > y[l]
        with all(r=5): y[r] = x[r] * y[r] if f[r] else y[r]
        """,
        "x:1 y:1 a", "", "x y",
    ),
    "choices": (
        """
        with all(i=5): y[i] = max(x[i] * x[i], y[i], a) - min(x[i], b * y[i])
        for j in range(5): x[j] = np.maximum(x[j], y[j]) * abs(x[j]) if y[j] > 0.2 else x[j] ** 3
        """,
        "x:1 y:1 a b", "", "x y a b",
    ),
    "functions": (
        """
        with all(i=5): y[i] = np.sqrt(np.exp(x[i]) + a * a)
        with all(j=5): x[j] = math.atan2(y[j], 1.0 + x[j] ** 2) + np.log(y[j]) ** 1.5
        with all(l=5): x[l] = np.exp(x[l])
        with all(q=5): x[q] = y[q] ** x[q] + np.hypot(x[q], b) + x[q] % 0.75 + x[q] // 0.5
        """,
        "x:1 y:1 a b", "", "x y a b",
    ),
    "results_reused_and_killed": (
        """
        for i in range(1, 5):
            x[i] = np.exp(x[i] * 0.1)
            x[i] = np.sqrt(x[i] * x[i - 1] * x[i - 1]) / (1.0 + x[i])
            s = np.tanh(x[i])
            s = np.exp(s)
            x[i] = s / x[i]
        """,
        "x:1", "", "x",
    ),
    "inactive_floats": (
        """
        for i in range(5):
            b = b * 1.5
            y[i] = b + y[i]
            x[i] = x[i] * y[i] * b
            y[i] = 2.0
        """,
        "x:1 y:1 b", "", "x",
    ),
    "branches_of_ints": (
        """
        for i in range(5):
            if i % 2 == 0 and i < n: x[i] = x[i] * x[0]
            else:
                t = x[i] * a
                n = n - 1
                x[i] = t * t
        """,
        "x:1 a n:int", "", "x a",
    ),
    "names_in_branches": (
        """
        for i in range(5):
            if x[i] > 0.5:
                t = x[i] * x[i]
                l = i
            x[l] = x[l] * t
            x[i] = x[i] + t
        """,
        "x:1 t l:int", "t", "x t",
    ),
    "nothing_runs": (
        """
        s = a
        for i in range(3, n - 5): s = s * x[i]
        with all(i=n - 5): x[i] = s
        while s < -10.0: s = s + 1.0
        """,
        "x:1 a n:int", "s", "x a",
    ),
    "constants": (
        """
        r = 0.4
        for t in range(2):
            h = r / float(n - t)
            g = 1.0 + 2.0 * r
            e = np.exp(b * h)
            for i in range(1, n): x[i] = x[i] * x[i - 1] * h / g + r * x[i] * e
            with all(j=n): x[j] = x[j] * g + h * b * x[j] * x[j]
        """,
        "x:1 b n:int", "r", "x",
    ),
    "lengths": (
        """
        w = zeros(len(x) + 1)
        for i in range(len(w) - 1): w[i + 1] = w[i] * x[i] + a
        with all(j=len(w) - 1): x[j] = w[j + 1] * x[j]
        for t in range(2):
            v = empty(len(w))
            with all(q=len(v)): v[q] = w[q] * w[q]
            with all(r=len(v)): w[r] = v[r] * v[r]
        """,
        "x:1 a", "", "x a",
    ),
    "zero_beside_infinity": (
        """
        with all(i=5): y[i] = np.sqrt(x[i] * 0.0) * 0.0 + x[i]
        s = 1.0 / (a - 0.7)
        s = 0.0
        """,
        "x:1 y:1 a", "s", "x",
    ),
    "growing": (
        """
        s = 0.5
        g = empty(2)
        e = ints(1)
        for t in range(2):
            n = 0
            for i in range(len(x)):
                grow(g, n + 1)
                g[n] = x[i] * a
                n = n + 1
                if k < i:
                    grow(g, n + 1)
                    g[n] = g[n - 1] * np.sin(g[0])
                    n = n + 1
                grow(e, i + 1)
                e[i] = n
            with all(j=n): s = s + g[j] * g[j]
            x[t] = s * g[e[2] - 1]
        """,
        "x:1 a k:int", "s", "x a",
    ),
    "lu": (
        """
        for i in range(n):
            for j in range(i):
                s = 0.0
                with all(p=j): s = s + m[i, p] * m[p, j]
                m[i, j] = (m[i, j] - s) / m[j, j]
            for l in range(i, n):
                t = 0.0
                with all(q=i): t = t + m[i, q] * m[q, l]
                m[i, l] = m[i, l] - t
        """,
        "m:2 n:int", "", "m",
    ),
}  # fmt: skip


def given(name: str) -> dict[str, Any]:
    """Return values for the inputs of a region."""
    if name == "lu":
        return {"m": np.eye(4) * 3.0 + M[:, :4].T @ M[:, :4], "n": 4}
    return GIVEN | ({"s": 0.5} if name == "break_of_temporaries" else {"t": 0.4, "l": 3})
