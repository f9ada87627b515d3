"""Lists of numbers that are joined, and in the place of arrays, in compiled functions."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(np.diag(np.array([x[0], y[0]] + [0.0] * 3)) @ A * B)",
        "v = [x[0]] * 3; w = v + [y[1]]; x[0] = 5.0; np.sum(np.square(w)) + np.sum(np.exp(v))",
        "v = [x[0]] * 5; np.sum(A * v) + np.sum(v * y) + np.hypot(v, [1.0, 2, 3, 4, y[0]])[3]",
    ],
)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def test_unknown_lengths_are_refused(tried: list[bool]) -> None:
    f = function("v = [x[0]] * len(x); np.sum(np.array(v + [1.0]))")
    agree(f)
    assert "length is known only when it runs" in report(f)[0].why
