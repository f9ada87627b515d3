"""The text of some loops on slices, in files: a change is seen in review.

``pytest tests/compiler/slices --update-golden`` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mooncake_py.compiler.slices.site import SlicedSite
from tests.compiler.regions_of import pattern_of, region_of

FOLDER = Path(__file__).parent / "golden"

# For each loop its body, what stands before it, the active inputs, the functions that it calls, and
# the arrays that have two axes.
LOOPS: dict[str, tuple[str, str, str, tuple[object, ...], str]] = {
    "triangular": (
        "for j in range(n):\n    b[i, j] += np.dot(m[i + 1 :, i], b[i + 1 :, j])\nb[i, :] *= 1.5",
        "pass", "b m", (np.dot,), "b m",
    ),
    "solve": ("x[i] = (x[i] - m[i, :i] @ x[:i]) / m[i, i]", "pass", "x m", (), "m"),
    "elimination": (
        "m[i + 1 :, i] /= m[i, i]\nm[i + 1 :, i + 1 :] -= m[i + 1 :, i, None] * m[i, i + 1 :]",
        "pass", "m", (), "m",
    ),
    "numbers": (
        "s = (x[i] - np.sum(x[:i] * y[:i])) * a\nx[i:] *= s\ny[i] = s * s",
        "s = 0.0", "x y a", (np.sum,), "",
    ),
    "constants": (
        "x[i:] = np.exp(y[i:]) * y[: n - i]\ns = np.sum(y[i:])",
        "pass", "x", (np.exp, np.sum), "",
    ),
    "extrema": ("y[:] += np.max(m[:, i:], axis=1) * x[:]", "pass", "x y m", (np.max,), "m"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    body, before, active, functions, matrices = LOOPS[name]
    region = region_of(body, before)
    assert region.sliced
    pattern = pattern_of(region, set(active.split()), functions, n="int")
    arrays = [array for array in region.inputs if array in region.arrays]
    axes = tuple(2 if array[2:] in matrices.split() else 1 for array in arrays)
    form = SlicedSite(region).made(pattern._replace(axes=axes))
    assert form is not None
    golden(FOLDER / f"{name}.txt", form.text)
