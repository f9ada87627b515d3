"""Views that are written from others of the same memory: NumPy copies these first."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    "text",
    [
        "x[1:] = x[:-1]; x[:-1] = x[1:] * 2.0; np.sum(x * y * x)",
        "A[1:] = A[:-1]; A[:, :-1] = A[:, 1:]; np.sum(A * A * B)",
        "x[::-1] = x; y[:] = y[::-1]; np.sum(x * x * y)",
        "A[:] = A.T; np.sum(A * A * B)",
    ],
)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def test_different_steps_are_left_to_numpy(tried: list[bool]) -> None:
    f = function("x[::2] = x[:3]; np.sum(x * y)")
    agree(f)
    assert "onto itself" in report(f)[0].why
