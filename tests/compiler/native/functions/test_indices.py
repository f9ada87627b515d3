"""Arrays of ints to index with, and counts, in compiled functions."""

from __future__ import annotations

import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, copies, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "A[np.diag_indices_from(A)] += x; A[np.diag_indices(3)] *= 2.0; np.sum(A * B)",
    "v = A[np.triu_indices(5, 1)]; B[np.tril_indices_from(B, -1)] = v; np.sum(B * B * A) + v[3]",
    "np.sum(A[np.ix_([0, 2], I[0])] ** 2) + np.sum(A[np.triu_indices(3, m=5)] ** 3)",
    "np.sum(np.take(A, I[0], axis=1) * B) + x.take(I[1]) @ y",
    "z = np.take(x, [0, 1]); z[0] = 5.0; np.sum(x * x) + np.sum(np.extract(x > 0, x) ** 2)",
    "np.bincount(I[0], weights=x, minlength=5)[:5] @ y + np.bincount(I[1])[0] * x[0]",
]


@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def test_counts_of_negative_ints_raise(tried: list[bool]) -> None:
    f = function("np.sum(np.bincount(I[0] - 3, weights=x))")
    for way in (False, True):
        with pytest.raises(ValueError, match="negative"):
            value_and_grad(f, compile=way)(*copies())
    assert True not in tried
