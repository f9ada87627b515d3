"""Results of functions that are replaced own their memory, and are laid out, as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad

X = np.array([0.7, 1.2, 0.3])


def generator() -> Any:
    return np.random.default_rng(3)


RESULTS = {
    "permutation": lambda x: generator().permutation(x),
    "legacy-permutation": lambda x: np.random.RandomState(1).permutation(x),
    "normal": lambda x: generator().multivariate_normal(x, np.eye(3)),
    "normal-rows": lambda x: generator().multivariate_normal(x, np.eye(3), 4),
    "legacy-normal": lambda x: np.random.RandomState(1).multivariate_normal(x, np.eye(3), 4),
    "tensorsolve": lambda x: np.linalg.tensorsolve(np.eye(3) * 2, x),
    "ints": lambda x: np.minimum.accumulate(np.asfortranarray(np.outer(x, x)), dtype=int),
    "rounded": lambda x: np.maximum.accumulate(np.asfortranarray(np.outer(x, x)), dtype="f4"),
}
OF_SCIPY = {
    "ppf": lambda st, x: st.norm.ppf(x / 2),
    "isf-of-a-matrix": lambda st, x: st.norm.isf(np.outer(x, x) / 2, loc=x),
    "pdf": lambda st, x: st.t.pdf(x, 3.0),
    "logpdf-of-a-matrix": lambda st, x: st.skewnorm.logpdf(np.outer(x, x), 0.4),
}


def check(f: Any) -> None:
    plain = f(X)
    (_, found), _ = value_and_grad(lambda x: (np.sum(f(x) * 1.0), f(x)), has_aux=True)(X)
    for y in (found, jvp(f, (X,), (X,))[0]):
        np.testing.assert_array_equal(y, plain)
        assert y.strides == plain.strides

    def owns(x: Any) -> Any:
        y = f(x)
        assert y.flags.owndata
        assert y.base is None
        return np.sum(y * 1.0)

    value_and_grad(owns)(X)
    jvp(owns, (X,), (X,))


@pytest.mark.parametrize("f", RESULTS.values(), ids=RESULTS)
def test_results_of_numpy(f: Any) -> None:
    check(f)


@pytest.mark.parametrize("f", OF_SCIPY.values(), ids=OF_SCIPY)
def test_results_of_scipy(f: Any) -> None:
    st = pytest.importorskip("scipy.stats")
    check(lambda x: f(st, x))
