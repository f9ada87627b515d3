"""What objects of libraries note about themselves is no write that the engine has missed."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad

pd = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")
X = np.array([0.5, 1.5, 2.5])


def test_caches() -> None:
    series = pd.Series([1.0, 2.0, 3.0])
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    matrix = sparse.csr_matrix(np.eye(3))

    def f(x: Any) -> Any:
        factor = np.multiply(series, 2).sum() * np.sqrt(matrix).sum() * table["a"].mean()
        return x[0] * factor * table.groupby("a").sum()["b"].sum() * series.index.is_unique

    np.testing.assert_allclose(grad(f, debug=True)(X), [f(X) / X[0], 0.0, 0.0])
