"""The options of `np.clip` that convert numbers."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad

X = np.array([0.7, 1.3, 1.9])
CALLS = {
    "dtype": lambda x: np.clip(x, 1, 2, dtype="f8").sum(),
    "lower precision": lambda x: np.clip(x, 1, 2, dtype="f4").sum(),
    "one bound": lambda x: np.clip(x, 1, None, dtype="f4", casting="unsafe").sum(),
    "number": lambda x: np.clip(x[1], 1, 2, dtype="f4") * 1.0,
    "casting": lambda x: np.clip(x, 1, 2, out=np.zeros(3, "f4"), casting="unsafe").sum(),
    "output": lambda x: np.clip(x, 1, 2, dtype="f4", out=np.zeros(3)).sum(),
    "larger output": lambda x: np.clip(x, 1, 2, dtype="f8", out=np.zeros((2, 3))).sum(),
    "method": lambda x: x.clip(1, 2, dtype="f8").sum(),
    "mask": lambda x: np.clip(x, 1, 2, dtype="f4", where=x > 1.5, out=np.zeros(3, "f4")).sum(),
}
REFUSED = {
    "integers": lambda x: np.clip(x, 1, 2, dtype="i8").sum(),
    "safe casting": lambda x: np.clip(x, 1, 2, dtype="f4", casting="safe").sum(),
    "no casting": lambda x: np.clip(x, 1, 2, casting="bad").sum(),
    "output": lambda x: np.clip(x, 1, 2, out=np.zeros(3, "f4"), casting="safe").sum(),
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS)
def test_options_of_clip(f) -> None:
    value, dx = value_and_grad(f)(X)
    assert type(value) is type(f(X))
    assert value == f(X)
    step = 1e-2  # the function is linear there, up to single precision
    units = np.eye(3) * step
    np.testing.assert_allclose(
        dx, [(float(f(X + e)) - float(f(X - e))) / (2 * step) for e in units], atol=1e-4
    )
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.vdot(dx, X), rtol=1e-6)


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses(f) -> None:
    with pytest.raises((TypeError, ValueError)) as plain:
        f(X)
    with pytest.raises(type(plain.value)) as found:
        grad(f)(X)
    assert str(found.value) == str(plain.value)
