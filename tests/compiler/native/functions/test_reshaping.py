"""``ravel`` and ``reshape`` of vectors in memory: views or copies, as NumPy decides."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain

COPIES = ["x[::2].ravel()", "np.ravel(x[::-1])", "x.reshape(4, 2)[:, 0].ravel()", "A[:, 1].ravel()",
          "A.T[1].ravel()", "np.diagonal(A[:3, :3]).copy()[::2].ravel()", "A[::-1, 0].ravel()",
          "(x * 2)[::3].ravel()", "np.stack([x, x])[:, 3].ravel()", "A.T.ravel()",
          "A.T.reshape(-1)"]  # fmt: skip
VIEWS = ["x.ravel()", "x[2:6].ravel()", "A[1].ravel()", "x.T.ravel()", "x[::2].reshape(-1)",
         "x[::-1].reshape(8)", "A[:, 1].reshape(-1)", "x.reshape(4, 2)[1].ravel()",
         "x[:, None][:, 0].ravel()", "A.ravel()", "np.reshape(A, -1)", "A[1:].ravel()",
         "np.outer(x, x[:4]).reshape(-1)"]  # fmt: skip
UNKNOWN = ["x[: len(A) - 2 : 2].ravel()", "np.zeros((3, len(A) - 2))[:, 0].ravel()"]
LAYOUTS = {
    "C": lambda a: a.copy(),
    "F": lambda a: a.copy(order="F"),
    "strided": lambda a: a.repeat(2, axis=-1)[..., ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
}


def written_after(text):
    """Return a function that writes to what an expression gives, and to what that is made of."""
    lines = [
        f"y = {text}",
        "y[0] = 5.0 * x[1] * A[1, 1]",
        "x[4] = x[0] * x[4] + y[-1]",
        "A[2, 1] = A[2, 1] * A[0, 1]",
        "return np.sum(y * y) + x @ x * A[0, 1] + np.sum(A)",
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return function_of(f"import numpy as np\ndef f(x, A):\n{body}", f"<written {text}>")


def arrays(layout):
    rng = np.random.default_rng(5)
    return tuple([LAYOUTS[layout](a) for a in (rng.uniform(1, 2, 8), rng.uniform(1, 2, (3, 4)))])


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "layout"), rotating(COPIES + VIEWS + UNKNOWN, LAYOUTS, times=2))
def test_writes_show_where_numpy_gives_a_view(text, layout, tried):
    f = written_after(text)
    given = arrays(layout)
    value, g = value_and_grad(f, (0, 1), compile=True)(*given)
    for a, b in zip(given, arrays(layout), strict=True):
        assert a.tobytes() == b.tobytes()
    tangents = tuple([np.cos(a) for a in given])
    _, push = jvp(f, given, tangents, compile=True)
    second = hvp(f, given, tangents, (0, 1), compile=True)
    assert value == pytest.approx(f(*arrays(layout)), rel=1e-12)
    want = value_and_grad(f, (0, 1))(*given)[1]
    for a, b in zip(g, want, strict=True):
        assert_allclose(a, b, rtol=1e-12)
    slope = sum(np.sum(a * t) for a, t in zip(want, tangents, strict=True))
    assert push == pytest.approx(slope, rel=1e-12)
    for a, b in zip(second, hvp(f, given, tangents, (0, 1)), strict=True):
        assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("text", COPIES + VIEWS)
def test_arrays_in_order_are_compiled(text, tried):
    value_and_grad(written_after(text), (0, 1), compile=True)(*arrays("C"))
    assert tried == [True]
