"""The IR and the text of some loops, in files: a change is seen in review.

``pytest tests/compiler --update-golden`` rewrites the files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mooncake_py.compiler.derivatives.activity import active_parts
from mooncake_py.compiler.derivatives.tangent import tangent
from mooncake_py.compiler.forms.form import bound_to, specialise
from mooncake_py.compiler.printing.show import shown
from mooncake_py.compiler.regions.region import Region
from tests.compiler.regions_of import pattern_of, region_of

FOLDER = Path(__file__).parent / "golden"

# For each loop its head, body, what stands before it, the active inputs, and types.
LOOPS: dict[str, tuple[str, str, str, str, str]] = {
    "recurrence": ("for i in range(n):", "x[i] += a * x[i - 1]", "pass", "x a", ""),
    "inner_product": ("for i in range(n):", "s += x[i] * y[i]", "s = 0.0", "x", ""),
    "matrix_vector": (
        "for i in range(n):",
        "for j in range(len(x)):\n    y[i] += m[i, j] * x[j]",
        "pass", "x", "",
    ),
    "branches_and_ints": (
        "for i in range(n):",
        "if x[i] > a:\n    s += x[i] * y[k]; k += 1\nelse:\n    for j in range(i): m[i, j] = s",
        "k = 0\ns = 0.0", "x", "k:int",
    ),
    "break_and_continue": (
        "for i in range(n):",
        "if x[i] < 0.0: continue\nif x[i] > a: break\ns += x[i] * x[i]",
        "s = 0.0", "x", "",
    ),
    "passes_of_while": ("while k < n:", "k += 1\nx[k] *= a", "k = 0", "x a", "k:int n:int"),
    "functions": (
        "for i in range(n):", "x[i] = np.tanh(x[i] / a) ** 2 - np.maximum(x[i], a)", "pass", "x a",
        "",
    ),
    "parallel": (
        "for i in range(n):", "s, t = t, s * x[i] + t", "s = t = 0.0", "x s",
        "s:float64 t:float64",
    ),
    "arrays": ("for p, q in zip(x, y):", "s += p * q", "s = 0.0", "x", ""),
    "attributes": (
        "for i in range(n):", "o.v -= a * o.x\no.x += 0.1 * o.v * b", "pass", "a", "",
    ),
    "calls": (
        "for i in range(n):", "s += saturating(x[i] * a, y[i])\nx[i] = mean(s, rate=a)",
        "s = 0.0", "x a s", "",
    ),
    "choices": ("for i in range(n):", "x[i] = max(x[i], a) if y[i] > 0 else abs(a)", "pass", "x a",
                ""),
    "index_data": (
        "for i in range(n):",
        "for k in range(y[i], y[i + 1]):\n    j = o.columns[k]\n    s += x[j] * a",
        "s = 0.0", "x a", "",
    ),
    "loops_of_functions": (
        "for i in reversed(range(n)):", "x[i] += rising(x, i, a)", "pass", "x a", "",
    ),
    "flags": (
        "for i in range(n):",
        "if b is not None and x[i] > b: x[i] = b\nif a: print(a)\nx[i] *= 2.0",
        "pass", "x", "b:None a:bool",
    ),
    "powers": ("for i in range(n):", "x[i] = x[i] ** a % 0.75", "pass", "x a", ""),
    "quotient": ("for i in range(n):", "s = s / (a + x[i])\nx[i] = -s", "s = 1.0", "s a", ""),
}  # fmt: skip


def saturating(u: float, v: float, rate: float = 2.0) -> float:
    """Return in two places."""
    if u < 0.0:
        return 0.0
    return rate * u * v / (1.0 + u)


def rising(z: np.ndarray, k: int, rate: float) -> float:
    """Go through elements, with an int of its own."""
    s, m = 0.0, 0
    for j in range(k):
        if z[j] > z[m]:
            m = j
            s += rate * z[m]
    return s


def mean(u: float, rate: float) -> float:
    """Return in one place."""
    w = u + rate
    return 0.5 * w


@pytest.mark.parametrize("name", LOOPS)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    head, body, before, active, types = LOOPS[name]
    functions = (np.tanh, np.maximum) if "np." in body else ()
    read = region_of(body, before, head, saturating=saturating, mean=mean, rising=rising)
    region = bound_to(read, functions)
    text = described(region, set(active.split()), dict(part.split(":") for part in types.split()))
    golden(FOLDER / f"{name}.txt", text)


def described(region: Region, active: set[str], kinds: dict[str, str]) -> str:
    """Return a region, its sweeps, its tangent, and the sweeps of the tangent, as text."""
    form = specialise(region, pattern_of(region, active, **kinds))
    assert form is not None
    groups = {name: name for name in region.arrays}
    given = {f"u_{name}" for name in active}
    found = tangent(region, active_parts(region.body, given, groups))
    both = given | {found.names[name] for name in found.given}
    second = specialise(found.region, pattern_of(found.region, both, **kinds))
    assert second is not None
    titles = ("the region", "its sweeps", "its tangent", "the sweeps of the tangent")
    texts = (shown(region), form.text, shown(found.region), second.text)
    return "\n".join(f"# {title}\n\n{text}" for title, text in zip(titles, texts, strict=True))
