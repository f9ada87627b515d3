"""Axes that NumPy takes in compiled code, and those that it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain

X = np.array([[0.7, 1.2, 0.3], [-0.5, 0.2, 2.0]])
CALLS = [
    "np.cumsum(x, axis={})", "x.cumsum({})", "np.cumprod(x, {})", "np.argmax(x, axis={})",
    "x.argmin({})", "np.diff(x, axis={})", "np.concatenate([x, x], axis={})",
    "np.stack([x, x], {})", "np.sum(x, axis={})", "x.mean({})", "np.max(x, axis={})",
    "np.min(x, {})", "np.prod(x, axis={})", "np.std(x, axis={})", "np.flip(x, {})",
    "np.roll(x, 1, {})",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("axis", "call"),
    rotating(["(0,)", "[1]", "()", "[]", "(0, 1)", "1", "-2", "True"], CALLS, times=3),
)
def test_an_axis_is_taken_where_numpy_takes_it(call: str, axis: str) -> None:
    source = (
        f"import numpy as np\ndef f(x):\n    return np.sum({call.format(axis)}) * np.sum(x * x)\n"
    )
    f = function_of(source, f"<{call} {axis}>")
    try:
        value = f(X)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            value_and_grad(f, compile=True)(X)
        return
    found, dx = value_and_grad(f, compile=True)(X)
    assert_allclose(found, value, rtol=1e-14)
    assert_allclose(dx, value_and_grad(f)(X)[1], rtol=1e-12, atol=1e-14)
