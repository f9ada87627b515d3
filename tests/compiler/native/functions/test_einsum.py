"""``np.einsum`` and other shapes of vectors in compiled code, compared with the plain run."""

from __future__ import annotations

import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.einsum('i,i->', x, y) * np.einsum('i,i', x, x) + np.einsum('ij->', A)",
    "np.einsum('ij,j->i', A, x) @ np.einsum('ij,j', B, y)",
    "np.sum(np.einsum('ij,jk->ik', A, B) ** 2 + np.einsum('ij,kj->ki', A, B))",
    "np.einsum('ij,ij', A, B) + np.einsum('ij,ji->', A, B) + np.einsum('ii', A) * x[0]",
    "np.sum(np.einsum('ijk,k->ij', T, x) * A) + np.sum(np.einsum('ijk->ki', T) ** 2)",
    "np.sum(np.einsum('i, j -> ij', x, y) ** 2) + np.sum(np.einsum('ii,i->i', A, x) ** 3)",
    "np.einsum('i,ij,j->', x, A, y) * np.einsum('ijk,ij,k', T, A, x)",
    "np.sum(np.einsum('ij,jk', A[:, ::2], B.T[:3] * 2) ** 2) + np.einsum('i,i->', x[:0], y[:0])",
    "np.sum(np.einsum('ij,j->i', A[:, :1], x, optimize=True) ** 2)",
    "z = np.concatenate((x, y)); C = z.reshape(2, 5); C[0] *= C[1]; np.sum(C ** 2) + z[:5] @ y",
    "C = x[1:].reshape((2, -1)); C -= C[::-1] * y[0]; x @ y + np.sum(C @ A[:2, :2])",
    "np.sum(np.reshape(x * y, (5, 1)) * A) + np.sum((A * B).reshape(-1) * (B - A).ravel())",
    "s = 0.0; C = (A * 1.5).ravel().reshape(-1, 5)\n    for k in range(5): s += C[k, 0] * x[k]; s",
    "A.ravel() @ B.ravel() + np.sum(A.reshape(25) ** 2)",
    "x[:0].reshape(0, 3).sum() + np.ravel(x) @ y.reshape(-1) + x.reshape(5)[1]",
]  # fmt: skip
REFUSED = [
    "np.sum(np.einsum('ii->i', A))",
    "np.sum(np.einsum('...i->...', A))",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", COMPILED)
def test_compiled(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    assert report(f)[0].found == "not compiled"


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(np.einsum('ij,j->i', A[:, 1:], x))",
        "x.reshape(2, -1).sum()",
        "x.reshape(2, 3).sum()",
    ],
)
def test_shapes_that_do_not_fit(text: str, tried: list[bool]) -> None:
    f = function(text)
    with pytest.raises(ValueError) as plain:
        f(*copies())
    with pytest.raises(ValueError) as found:
        value_and_grad(f, compile=True)(*copies())
    assert str(plain.value)[:20] in str(found.value)
    assert tried == [False]
