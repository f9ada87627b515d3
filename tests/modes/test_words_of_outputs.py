"""Outputs that NumPy refuses: every mode raises what the plain call raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.pairs import rotating

X = np.arange(16.0).reshape(4, 4) + 0.5


def scale_broadcast(x: Any) -> None:
    row = np.broadcast_to(x[0], (4, 4))
    row *= 2


def add_to_broadcast(x: Any) -> None:
    row = np.broadcast_to(x[0], (4, 4))
    row += x


def compute_into_broadcast(x: Any) -> None:
    np.sin(x, out=np.broadcast_to(x[0], (4, 4)))


def scale_read_only(x: Any) -> None:
    y = x * 1.0
    y.flags.writeable = False
    y *= x


def scale_read_only_constant(x: Any) -> None:
    y = np.ones(3)
    y.flags.writeable = False
    y *= 2.0


def assign_read_only(x: Any) -> None:
    np.broadcast_to(x[0], (4, 4))[...] = x


def compute_into_part(x: Any) -> None:
    np.add(x[1:], x, out=x[1:])


def scale_part(x: Any) -> None:
    y = x[1:]
    y *= x


def scale_rows(x: Any) -> None:
    x[[0, 1, 2]] *= x


def add_fewer(x: Any) -> None:
    x[...] += x[:3]


def raise_to_powers(x: Any) -> None:
    y = x[1:]
    y **= np.ones((4, 4))


def set_imaginary_part(x: Any) -> None:
    y = np.zeros((4, 4))
    y.imag = x


WRITES = [
    scale_broadcast, add_to_broadcast, compute_into_broadcast, scale_read_only,
    scale_read_only_constant, assign_read_only, compute_into_part, scale_part, scale_rows,
    add_fewer, raise_to_powers, set_imaginary_part,
]  # fmt: skip
WAYS = {
    "grad": lambda f: grad(f)(X.copy()),
    "debug": lambda f: grad(f, debug=True)(X.copy()),
    "forward": lambda f: grad(f, mode="forward")(X.copy()),
    "jvp": lambda f: jvp(f, (X.copy(),), (X,)),
    "nested": lambda f: jvp(lambda x: grad(f)(x), (X.copy(),), (X,)),
}


@pytest.mark.parametrize(("write", "way"), rotating(WRITES, WAYS, times=2))
def test_what_numpy_refuses_is_raised_in_its_words(write: Any, way: str) -> None:
    def program(x: Any) -> Any:
        write(x)
        return np.sum(x)

    with pytest.raises((ValueError, TypeError)) as plain:
        program(X.copy())
    with pytest.raises(plain.type) as raised:
        WAYS[way](program)
    assert str(raised.value) == str(plain.value)
