"""Pullbacks of `vjp`: cotangents that they refuse, and runs of the function in later calls."""

from typing import Any

import numpy as np
import pytest

from mooncake_py import InvalidTangentError, NestedDerivativeError, grad, vjp

X = np.array([1.0, 2.0])


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize(
    ("f", "dy", "path"),
    [
        (lambda x: np.sum(x * x), 1j, "dy"),
        (lambda x: np.sum(x * x), np.complex128(1.0), "dy"),
        (lambda x: x * x, X * 1j, "dy"),
        (lambda x: [x * x, x[0]], [X, 1j], r"dy\[1\]"),
        (lambda x: (x * x, 1j * x), (X * 1j, X * 1j), r"dy\[0\]"),
    ],
)
def test_a_complex_cotangent_of_a_real_output_is_refused(f: Any, dy: Any, path: str, compile: bool):
    if compile:
        pytest.importorskip("numba")
    _, pullback = vjp(f, X, compile=compile)
    with pytest.raises(InvalidTangentError, match=rf"{path}.* real numbers(.|\n)*{path}\.real"):
        pullback(dy)


def test_a_complex_cotangent_is_refused_inside_a_derivative():
    with pytest.raises(InvalidTangentError, match=r"real numbers(.|\n)*test_pullback\.py"):
        grad(lambda x: np.sum(vjp(np.square, x)[1](x * 1j)[0].real))(X)


def test_a_real_cotangent_of_a_complex_output_is_complex():
    _, pullback = vjp(lambda x: (1 + 2j) * x, X)
    np.testing.assert_array_equal(pullback(X)[0], X)


@pytest.mark.without_modes("what is compiled keeps what it read", "compiled")
def test_a_name_bound_to_something_else_before_a_later_call():
    w = np.array([3.0, 4.0])

    def f(x: Any) -> Any:
        return np.sum(x * w)

    _, pullback = vjp(f, X)
    w = np.array([5.0, 6.0])
    np.testing.assert_array_equal(pullback(1.0)[0], [3.0, 4.0])
    with pytest.raises(NestedDerivativeError, match=r"call of the pullback(.|\n)*call vjp again"):
        pullback(1.0)
