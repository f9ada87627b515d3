"""The sign of zero in what compiled functions compare."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.programs.comparing import function_of

pytestmark = pytest.mark.plain

TEXTS = [
    "np.sign(x)", "np.sign(x[0])", "np.sign(np.float32(1) * x)", "np.maximum(x, y)",
    "np.minimum(x, y)", "np.maximum(x[0], y[0])", "np.minimum(x[0], y[0])", "np.maximum(x, 0.0)",
    "np.minimum(-0.0, x)", "np.maximum(x, -0.0)", "np.clip(x, y, 2.0)", "np.clip(x, -1.0, y)",
    "np.clip(x, 0.0, -0.0 * y)", "np.clip(x, None, y)", "np.clip(x, y[:1], 2.0)",
    "np.clip(x[:, None], y, 2.0)[:, 0]", "np.clip(x[:1], y[:1], 2.0)",
    "np.clip(x[:, None], y[:1], 2.0)[:, 0]", "np.clip(x, y, None)", "x.clip(0.0, 1.0)",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zeros_have_the_signs_of_numpy(dtype: Any) -> None:
    lines = [
        f"    s = s + {2**k} * np.sum(np.copysign(np.ones(5), {text})) * y[-1]\n"
        for k, text in enumerate(TEXTS)
    ]
    text = f"import numpy as np\ndef f(x, y):\n    s = 0.0\n{''.join(lines)}    return s\n"
    f = function_of(text, f"<zeros {dtype.__name__}>")
    for a, b in product((0.0, -0.0), repeat=2):
        x, y = (np.array([v] * 4 + [1.5], dtype) for v in (a, b))
        want = f(x, y)
        value, g = value_and_grad(f, (0, 1), compile=True)(x, y)
        assert value == want
        assert g[1][-1] == want / y[-1]
        assert jvp(f, (x, y), (x, y * 0 + 1), compile=True) == (want, g[1].sum())
    assert report(f)[0].found == "compiled", report(f)
