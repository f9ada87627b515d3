"""Arguments made from one buffer by several calls: no array says how they overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.errors import DerivativeDropError, SharedArgumentsError

X = np.array([1.5, -0.75, 2.0, 0.25])
VIEWS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "the same": lambda buffer: (np.frombuffer(buffer), np.frombuffer(buffer)),
    "a part": lambda buffer: (np.frombuffer(buffer), np.frombuffer(buffer, offset=8)),
    "more": lambda buffer: (np.frombuffer(buffer, offset=8), np.frombuffer(buffer)),
    "in part": lambda buffer: (np.frombuffer(buffer)[:3], np.frombuffer(buffer)[1:]),
    "float32": lambda buffer: (np.frombuffer(buffer), np.frombuffer(buffer, "f4")),
    "complex": lambda buffer: (np.frombuffer(buffer, "c16"), np.frombuffer(buffer)),
}
views = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
kinds = pytest.mark.parametrize("kind", [bytes, bytearray])
DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, a: value_and_grad(f)(a)[0],
    "vjp": lambda f, a: vjp(f, a)[0],
    "jvp": lambda f, a: jvp(f, (a,), ([*map(np.ones_like, a)] if type(a) is list else a,))[0],
}
derivatives = pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)


def squares(a: Any, b: Any) -> Any:
    return np.sum(np.abs(a) ** 2) + np.sum(np.abs(b[:1]) ** 2)


def writes(a: Any, b: Any) -> Any:
    a[1:] *= 3.0
    return np.sum(np.abs(b) ** 2)


@kinds
@views
@derivatives
def test_one_argument_that_holds_both_is_refused(kind: Any, view: Any, derivative: Any) -> None:
    a, b = view(kind(X.tobytes()))
    with pytest.raises(DerivativeDropError, match="different views of one buffer"):
        derivative(lambda pair: squares(*pair), [a, b])


@kinds
@views
def test_separate_arguments_are_separate_variables(kind: Any, view: Any) -> None:
    a, b = view(kind(X.tobytes()))
    of_a, of_b = grad(squares, (0, 1))(a, b)
    np.testing.assert_allclose(of_a, 2 * a)
    np.testing.assert_allclose(of_b, np.where(np.arange(b.size) < 1, 2 * b, 0))
    np.testing.assert_allclose(grad(lambda a: squares(a, b))(a), 2 * a)


@views
@derivatives
def test_a_write_into_what_a_captured_name_shares_is_refused(view: Any, derivative: Any) -> None:
    buffer = bytearray(X.tobytes())
    a, b = view(buffer)
    with pytest.raises(SharedArgumentsError, match="a captured or global name"):
        derivative(lambda a: writes(a, b), a)
    assert buffer == X.tobytes()


def test_a_write_that_shows_in_ints_is_refused() -> None:
    buffer = bytearray(X.tobytes())
    numbers = [np.frombuffer(buffer), np.frombuffer(buffer, "i8")]
    with pytest.raises(DerivativeDropError, match="different views of one buffer"):
        vjp(lambda pair: writes(pair[0], pair[1] * 1.0), numbers)


@kinds
@derivatives
def test_parts_that_share_no_number_are_taken(kind: Any, derivative: Any) -> None:
    buffer = kind(X.tobytes())
    parts = [np.frombuffer(buffer, count=2), np.frombuffer(buffer, offset=16)]
    assert derivative(lambda pair: squares(*pair), parts) == squares(*parts)


def test_parts_of_bytes_read_twice_are_taken_where_they_share_no_number() -> None:
    message = X.tobytes()
    pair = [np.frombuffer(message)[:2], np.frombuffer(message)[2:]]
    found = grad(lambda pair: squares(*pair))(pair)
    np.testing.assert_array_equal(found[0], 2 * X[:2])
    np.testing.assert_array_equal(found[1], [2 * X[2], 0.0])
