"""Functions that are linear in both operands, of constants: the plain call, with its types."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import BilinearRule

MATRIX = (np.eye(3) + np.arange(3) * 0.5).view(np.matrix)
VECTOR = np.arange(3.0)
FUNCTIONS = [
    f for f, rule in registry.registered() if isinstance(rule, BilinearRule) and callable(f)
]
OPERANDS = (VECTOR, MATRIX), (MATRIX, VECTOR), (MATRIX, MATRIX), (MATRIX, [1.0, 0.5, 2.0])


@pytest.mark.without_modes("vjp differentiates the constants too")
@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: getattr(f, "__name__", repr(f)))
def test_constants_of_other_classes_stay_as_they_are(f: Any) -> None:
    def program(x: float, a: Any, b: Any) -> float:
        y = f(a, b)
        return x * (len(type(y).__name__) + 100 * np.ndim(y) + np.size(y)) + float(np.sum(y))

    for a, b in OPERANDS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = program(1.0, a, b)
        except Exception:
            continue
        assert value_and_grad(program)(1.0, a, b)[0] == expected
        assert jvp(lambda x, a=a, b=b: program(x, a, b), (1.0,), (1.0,))[0] == expected
