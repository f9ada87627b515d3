"""Functions of vectors and matrices, of which derivatives agree without and with compilation."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.programs.comparing import function_of

__all__ = ["ARGUMENTS", "FLOATS", "agree", "copies", "function", "require_compiled"]

rng = np.random.default_rng(1)
ARGUMENTS = (
    *rng.standard_normal((2, 5)),
    *rng.standard_normal((2, 5, 5)),
    rng.standard_normal((5, 5, 5)),
    rng.integers(0, 3, (5, 5)),
)
FLOATS = (0, 1, 2, 3, 4)


def function(text: str, imports: str = "") -> Any:
    """Return a function of all arguments."""
    *before, result = text.split("; ")
    lines = [*before, f"return {result}"]
    body = "".join(f"    {line}\n" for line in lines)
    return function_of(
        f"{imports}\nimport numpy as np\ndef f(x, y, A, B, T, I):\n{body}", f"<product {text}>"
    )


def require_compiled(f: Any, tried: list[bool]) -> None:
    """Require that the last call of a function was compiled whole, and every region that ran."""
    assert report(f)[0].found == "compiled", report(f)
    assert tried
    assert all(tried)


def copies() -> Any:
    return tuple([a.copy() for a in ARGUMENTS])


def agree(f: Any) -> None:
    """Require gradient, `jvp` and `hvp` to be the same without and with compilation."""
    with catch_warnings():
        simplefilter("ignore")
        ways = [value_and_grad(f, FLOATS, compile=way)(*copies()) for way in (False, True)]
        (value, g), (compiled, h) = ways
        assert_allclose(compiled, value, rtol=1e-12)
        for a, b in zip(g, h, strict=True):
            assert_allclose(b, a, rtol=1e-11, atol=1e-11)
        ways = [value_and_grad(f, compile=way)(*copies())[1] for way in (False, True)]
        assert_allclose(ways[1], ways[0], rtol=1e-11, atol=1e-11)
        tangents = tuple(np.cos(a) for a in ARGUMENTS[:5])

        def without_ints(*args: Any) -> Any:
            return f(*args, ARGUMENTS[5])

        pushed = [jvp(without_ints, copies()[:5], tangents, compile=way) for way in (False, True)]
        assert_allclose(pushed[1], pushed[0], rtol=1e-11)

        def of_matrix(A: Any) -> Any:
            x, y, _, B, T, I = copies()  # noqa: E741
            return f(x, y, A, B, T, I)

        v = tangents[2]
        second = [hvp(of_matrix, (copies()[2],), v, compile=way) for way in (False, True)]
        assert_allclose(second[1], second[0], rtol=1e-11, atol=1e-11)
