"""Functions that take only some types of arrays as `out` raise for others, as in the plain call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad

X = np.array([1.0, 2.0, 3.0])

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "dot": lambda x, out: np.dot(np.outer(x, x), np.outer(x, x), out=out),
    "method dot": lambda x, out: np.outer(x, x).dot(np.outer(x, x), out=out),
    "take": lambda x, out: np.take(np.outer(x, x), [0, 2, 1], axis=0, out=out),
    "einsum": lambda x, out: np.einsum("i,j->ij", x, x, out=out),
    "einsum of one": lambda x, out: np.einsum("ij->ji", np.outer(x, x), out=out),
    "sum": lambda x, out: np.sum(x[:, None, None] * np.outer(x, x), 0, out=out),
    "max": lambda x, out: np.max(x[:, None, None] * np.outer(x, x), 0, out=out),
    "add": lambda x, out: np.add(x[:, None], x, out=out),
}
OUTPUTS: dict[str, Callable[[], Any]] = {
    "same": lambda: np.zeros((3, 3)),
    "by columns": lambda: np.zeros((3, 3), order="F"),
    "single": lambda: np.zeros((3, 3), np.float32),
    "complex": lambda: np.zeros((3, 3), complex),
    "int": lambda: np.zeros((3, 3), int),
    "row": lambda: np.zeros((1, 9)),
}


# NumPy 2.5 warns in `take`, and keeps to what earlier versions return.
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.filterwarnings("ignore:Implicit casting of output:DeprecationWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_are_accepted_as_in_the_plain_call(call: str, output: str) -> None:
    def program(x: Any) -> Any:
        out = OUTPUTS[output]()
        CALLS[call](x, out)
        return np.sum(out.real) + x[0]

    expected, found = (outcome(f) for f in (program, lambda x: value_and_grad(program)(x)[0]))
    assert found == expected


def outcome(f: Callable[[Any], Any]) -> Any:
    """Return what a function returns or raises."""
    try:
        return float(f(X))
    except (TypeError, ValueError) as error:
        return type(error), str(error)
