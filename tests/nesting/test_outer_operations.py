"""Operations of the outer call that an inner function triggers, when it runs again too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, jvp, value_and_grad, vjp
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are tried here")


class Weights:
    def __init__(self, v: Any) -> None:
        self.number = complex(0.5, v) * 1j
        self.scalar = np.complex128(v * 1j)
        self.items = map(lambda w: w * v, [v, 2.0 * v, v, 1.0, v, 2.0, v, v])  # noqa: C417
        self.more = (w * v for w in [v, 2.0 * v, v, 1.0, v, 2.0, v, v])


READS: dict[str, Callable[[Weights], Any]] = {
    "real": lambda o: o.number.real,
    "imag": lambda o: o.scalar.imag,
    "function": lambda o: np.imag(o.scalar),
    "map": lambda o: next(o.items),
    "generator": lambda o: next(o.more),
}


DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "second": lambda f: grad(grad(f))(1.5),
    "product": lambda f: hvp(f, (1.5,), 1.0),
    "over forward": lambda f: grad(lambda z: jvp(f, (z,), (1.0,))[1])(1.5),
    "pullback": lambda f: grad(lambda z: vjp(f, z)[1](1.0)[0])(1.5),
    "checkpointed": lambda f: grad(grad(lambda z: checkpoint(f, z) * 1.0))(1.5),
}


@pytest.mark.parametrize(
    ("read", "derivative"), rotating(READS.values(), DERIVATIVES.values(), times=2)
)
def test_numbers_of_the_outer_call_get_their_cotangents_once(read: Any, derivative: Any) -> None:
    if derivative is DERIVATIVES["checkpointed"] and read in (READS["map"], READS["generator"]):
        pytest.skip("a checkpointed part cannot move on what computes outside of it")

    def program(v: float) -> Any:
        o = Weights(v)
        return derivative(lambda z: z * z * z * read(o) / 6.0) * v

    def plain(v: float) -> Any:
        return derivative(lambda z: z * z * z * w / 6.0) * v if (w := read(Weights(v))) else 0.0

    slope = (plain(2.0 + 1e-6) - plain(2.0 - 1e-6)) / 2e-6
    value, gradient = value_and_grad(program)(2.0)
    assert value == pytest.approx(plain(2.0))
    assert gradient == pytest.approx(slope, rel=1e-7)
