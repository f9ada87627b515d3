"""Ten small functions that `doctor` has LLVM compile, and what they and their gradients are."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np

from mooncake_py.errors import MooncakeWarning
from mooncake_py.first_order import value_and_grad
from mooncake_py.modes.reverse.settings import compile_mode
from mooncake_py.reflection.compiled import compiled_outcomes

__all__ = ["REGIONS", "differences"]

TEXT: str = """\
import math

import numpy as np


def numbers(x):
    a = x[0]
    for k in range(1, 6):
        a = a * math.sin(a) + x[k] / k
    return a


def arrays(x):
    y = np.exp(-x) * np.sqrt(x) + x**3
    return (y * x).sum()


def slices(x):
    for _ in range(4):
        x[1:-1] += 0.25 * (x[2:] - 2.0 * x[1:-1] + x[:-2])
    return x @ x


def branches(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.5 and i > 0:
            s += x[i] * x[i - 1]
        elif i % 2:
            s -= math.tan(x[i])
    return s


def searches(x):
    a, n = x[0], 0
    while a < 20.0 and n < 50:
        a = a * 1.5 + x[n % 6]
        n += 1
    return a * n


def products(x):
    a = x.reshape(3, 4)
    return (a @ a.T @ a).sum()


def sums(x):
    a = x.reshape(3, 4)
    return (a.sum(axis=0) * a.max(axis=0)).sum() + np.cumsum(x)[-2]


def singles(x):
    y = x.astype(np.float32)
    s = np.float32(0.0)
    for i in range(len(y)):
        s = s + y[i] * y[i]
    return s


def lists(x):
    found = []
    for i in range(len(x)):
        found.append(x[i] * x[i])
    s = 0.0
    for v in found:
        s = s * 0.5 + v
    return s


def special(x):
    return (np.tanh(x) + np.log1p(x) + np.arctan(x)).sum() + math.atan2(x[0], x[1])
"""
REGIONS = (
    "numbers", "arrays", "slices", "branches", "searches", "products", "sums", "singles", "lists",
    "special",
)  # fmt: skip
FILE = "<regions>"


def differences() -> list[str]:
    """Return a line for each function that is not compiled, or otherwise than it runs plainly."""
    linecache.cache[FILE] = len(TEXT), None, TEXT.splitlines(keepends=True), FILE
    scope: dict[str, Any] = {"__name__": "regions"}
    exec(compile(TEXT, FILE, "exec"), scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MooncakeWarning)  # that something is not compiled
        found = [(name, difference(scope[name])) for name in REGIONS]
    return [f"{name}: {text}" for name, text in found if text]


def difference(f: Any) -> str:
    """Return the error of a compiled function, or an empty string."""
    x = np.linspace(0.2, 1.3, 12)
    try:
        plain = value_and_grad(f, compile=False)(x.copy())
        found = value_and_grad(f, compile=True)(x.copy())
        for a, b in zip(found, plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6 if f.__name__ == "singles" else 1e-11)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    with compile_mode():
        lines = [str(outcome) for outcome in compiled_outcomes([f])]
    if not lines or not all(line.endswith(": compiled") for line in lines):
        return "; ".join(lines) or "not compiled"
    return ""
