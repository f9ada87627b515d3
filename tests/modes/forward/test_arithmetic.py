"""Arithmetic on numbers is quick, and gives what the general way gives, whatever the operands."""

from __future__ import annotations

import itertools
import operator
import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp
from mooncake_py.modes.forward.operations import Operations

OPERATORS = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv")}
OPERANDS: list[Any] = [
    0.0, -0.0, 1.3, -2.5, 1e308, -1e-320, float("inf"), float("nan"), 3, 0, True, 2 + 1j,
    np.float64(0.7), np.float64(0.0), np.float64(-1e308), np.float32(1.5), 10**400,
]  # fmt: skip


def outcome(f: Any, values: Any, slope: float) -> tuple[str, str]:
    """Return the result of `jvp`, to the bit, or its exception."""
    tangents = tuple(np.asarray(v).dtype.type(slope) for v in values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", repr(jvp(f, values, tangents))
        except Exception as error:
            return type(error).__name__, str(error).partition("\n")[0]


def programs(name: str) -> Any:
    """Yield functions of active operands, and these."""
    run = OPERATORS[name]
    for a, b in itertools.product(OPERANDS, OPERANDS):
        if isinstance(a, (float, complex, np.inexact)):
            yield lambda x, b=b: run(x, b), (a,)
            yield lambda x, a=a: run(a, x), (b,) if isinstance(b, float) else (a,)
            if isinstance(b, (float, np.inexact)):
                yield run_both(run), (a, b)


def run_both(run: Any) -> Any:
    return lambda x, y: run(x, y)


@pytest.mark.parametrize("name", OPERATORS)
def test_quick_arithmetic_is_that_of_the_general_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [(f, values, slope) for f, values in programs(name) for slope in (0.0, 2.5)][::3]
    found = [outcome(*case) for case in cases]
    monkeypatch.delattr(Operations, name)
    general = [outcome(*case) for case in cases]
    assert found == general
