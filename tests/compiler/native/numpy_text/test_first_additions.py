"""Cotangents of numbers that are bound where something is added to them for the first time."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native.numpy_text.first_additions import with_first_additions
from tests.compiler.native.writing import written


def in_loop(*lines: str, first: str = "d_s = 0.0") -> str:
    return "\n".join([first, "for i in range(n):", *(f"    {line}" for line in lines)])


FROM_A = in_loop("d_s += y[i]", "x[i] = d_s", "d_s = 0.0", first="d_s = a")
GOING_ON = in_loop("d_s += y[i]") + "\nx[0] = d_s"
IN_BRANCH = in_loop("d_s += y[i]", "if a > 0.0:", "    x[i] = d_s", "    d_s = 0.0")
CASES = {
    "in a loop": (
        in_loop("d_s += y[i]", "v = d_s", "d_s = 0.0", "x[i] = v"),
        "for i in range(n):\n    d_s = y[i]\n    x[i] = d_s",
    ),
    "in a loop in another one": (
        in_loop(
            "for j in range(n):", "    d_s += a", "    v = d_s", "    d_s = 0.0", "    x[j] = v"
        ),
        "for i in range(n):\n    for j in range(n):\n        x[j] = a",
    ),
    "not zero before a loop": (FROM_A, FROM_A),
    "a sum that goes on": (GOING_ON, GOING_ON),
    "cleared in one branch": (IN_BRANCH, IN_BRANCH),
    "read where nothing was added": (
        in_loop("if a > 0.0:", "    d_s += y[i]", "x[i] = d_s", "d_s = 0.0"),
        in_loop("if a > 0.0:", "    d_s = y[i]", "x[i] = d_s", "d_s = 0.0"),
    ),
    "the other name is bound again": ("v = a\na = y[0]\nx[0] = v * a", None),
    "what is taken from the stack": ("v = pop()\nw = pop()\nx[0] = w", None),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=list(CASES))
def test_first_additions(before: str, after: str | None) -> None:
    found = with_first_additions(written(before), {}, ())
    assert found == written(before if after is None else after)


def test_results_are_kept() -> None:
    text = "d_s = 0.0\nfor i in range(n):\n    d_s += y[i]\n    x[i] = d_s\n    d_s = 0.0"
    (_, loop) = with_first_additions(written(text), {}, ("d_s",))
    assert len(loop.body) == 3  # type: ignore[union-attr]
    (loop,) = with_first_additions(written(text), {}, ())
    assert len(loop.body) == 2  # type: ignore[union-attr]
