"""The form from which regions are differentiated."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native.sweeps.normal import normal
from tests.compiler.native.writing import region

INPUTS = "x:1 a b k:int idx:int:1"
CASES = {
    "the greater": ("s = max(a, b)", "s = b if b > a else a"),
    "the lesser": ("s = min(a, b)", "s = b if b < a else a"),
    "an index of what is stored": ("idx[idx[k]] = 3", "h0 = idx[k]\nidx[h0] = 3"),
    "an index of something else": ("x[idx[k]] = a", "x[idx[k]] = a"),
    "what follows a break": (
        "for i in range(3):\n    if a > 0.0:\n        break\n    s = s + a",
        "for i in range(3):\n    if a > 0.0:\n        break\n    else:\n        s = s + a",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=list(CASES))
def test_normal_form(before: str, after: str) -> None:
    assert normal(region(before, INPUTS, "k")) == region(after, INPUTS, "k").body
