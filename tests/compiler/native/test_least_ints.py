"""The least int over -1, and chains of comparisons, are those of the plain call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad, vjp
from tests.support.pairs import pairwise

LEAST = -(2**63)
X = np.array([1.5, 2.0])
INTS = np.array([LEAST, -1, 7, 0, LEAST])


def of_elements(x: Any, c: Any) -> Any:
    return (c[0] // c[1]) * x[0] + (c[0] % c[1]) * x[1] + divmod(c[4], c[1])[0] * x[1]


def of_arrays(x: Any, c: Any) -> Any:
    d = c.copy()
    d //= -1
    return ((c // -1) * 1.0)[4] * x[0] + d[0] * x[1] + d[2]


def in_a_loop(x: Any, c: Any) -> Any:
    total = 0.0
    for i in range(len(c)):
        total += (c[i] // c[1]) * x[0] + c[i] % c[1]
    return total


def of_python(x: Any, k: Any, n: Any) -> Any:
    return (k // n) * x[0] + (k // 3) * x[1]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (of_elements, (INTS,)), (of_arrays, (INTS,)), (in_a_loop, (INTS,)),
        (of_python, (LEAST, -1)), (of_python, (7, -2)),
    ],
)  # fmt: skip
def test_the_least_int(f: Any, rest: Any) -> None:
    value, gradient = value_and_grad(f, compile=True)(X, *rest)
    expected, slopes = value_and_grad(f)(X, *rest)
    assert value == expected == f(X, *rest)
    assert gradient.tolist() == slopes.tolist()


def compared(t: Any, k: Any, q: Any) -> Any:
    return k < t < q


def multiplied(t: Any, k: Any, q: Any) -> Any:
    return (k < t < q) * t


def branched(t: Any, k: Any, q: Any) -> Any:
    return t * 2 if k < t < q else t * 3


@pytest.mark.parametrize(
    ("f", "k", "q"),
    pairwise(
        [compared, multiplied, branched],
        [3, 0, np.int64(3)],
        [5, 0, np.int64(5), np.int64(0), np.float64(5.0)],
    ),
)
def test_types_of_chains(f: Any, k: Any, q: Any) -> None:
    value = vjp(f, 0.7, k, q, compile=True)[0]
    assert repr(value) == repr(f(0.7, k, q))
