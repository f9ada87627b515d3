"""Debug mode compares each operation with the plain one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    debug_mode,
    from_vjp,
    grad,
    hvp,
    jacobian,
    jvp,
    local_rules,
    value_and_grad,
    vjp,
    zero_derivative,
)
from mooncake_py.errors import DifferentResultError, UntrackedWriteError
from mooncake_py.modes.debug.beside import Change, compare
from mooncake_py.modes.reverse.context import ReverseContext
from tests.support.pairs import rotating

X = np.array([0.5, -1.25])


def found(f: Any, args: Any, y: Any, **options: Any) -> str:
    """Return the difference between a result and that of the plain call."""
    with pytest.raises(DifferentResultError) as caught:
        compare(ReverseContext(), "f", f, args, {}, y, **options)
    return str(caught.value)


READ_ONLY = np.array([1.0, 2.0])
READ_ONLY.flags.writeable = False
DIFFERENT = {
    "bool-for-int": (operator.add, (True, True), True, "another type"),
    "numpy-bool-for-bool": (operator.gt, (2.0, 1.0), np.True_, "another type"),
    "float-for-numpy-float": (np.sin, (1.0,), float(np.sin(1.0)), "another type"),
    "array-for-number": (np.sin, (1.0,), np.sin([1.0])[:1].reshape(()), "another type"),
    "dtype": (np.sin, (X,), np.sin(X).astype(np.float32), "another dtype"),
    "shape": (np.sin, (X,), np.sin(X)[None], "another shape"),
    "last-bit": (operator.mul, (0.1, 3.0), 0.3, "another value"),
    "sign-of-zero": (operator.mul, (-1.0, 0.0), 0.0, "another value"),
    "writeable": (operator.mul, (1.0, READ_ONLY), READ_ONLY, "another flag 'writeable'"),
    "copy-for-view": (operator.getitem, (X, slice(1)), X[:1].copy(), "another memory"),
    "view-for-copy": (operator.getitem, (X, [0]), X[:1], "another memory"),
    "list-for-tuple": (divmod, (3.5, 2.0), [1.0, 1.5], "another type"),
    "part-of-tuple": (divmod, (3.5, 2.0), (1, 1.5), "another type"),
    "no-error": (operator.truediv, (1.0, 0.0), np.inf, "another result"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_found(name: str) -> None:
    f, args, y, what = DIFFERENT[name]
    assert what in found(f, args, y)


def test_equal_results_pass() -> None:
    ctx = ReverseContext()
    for f, args in (
        (operator.add, (True, True)),
        (operator.gt, (2.0, 1.0)),
        (np.sin, (X,)),
        (operator.getitem, (X, slice(1))),
        (np.divide, (X, 0.0)),
        (np.sqrt, (X,)),
        (divmod, (3.5, 2.0)),
        (np.broadcast_to, (X, (3, 2))),
        (np.asarray, (X,)),
    ):
        with np.errstate(all="ignore"):
            compare(ctx, "f", f, args, {}, f(*args))


def test_rounding_is_allowed_for_replacements() -> None:
    compare(ReverseContext(), "f", operator.mul, (0.1, 3.0), {}, 0.3, exactly=False)
    assert "another value" in found(operator.mul, (0.1, 3.0), 0.31, exactly=False)


def test_what_is_not_plain_is_not_run() -> None:
    ran = []
    itself: list[Any] = []
    itself.append(itself)
    for value in (object(), iter([1]), np.array([None]), lambda: 0, itself):
        compare(ReverseContext(), "f", ran.append, (value,), {}, None)
    assert not ran


def test_a_write_is_made_in_a_copy() -> None:
    o = X.copy()
    change = Change(o, operator.setitem, (0, 2.0))
    np.testing.assert_array_equal(o, X)
    o[0] = 2.0
    change.check(ReverseContext(), "f")
    o[1] = 3.0
    with pytest.raises(DifferentResultError, match="another value"):
        change.check(ReverseContext(), "f")


def jvp_inside(f: Any) -> Any:
    return grad(lambda x: jvp(f, (x,), (1.0,))[1])


def test_forward_mode_gives_the_same_in_debug_mode() -> None:
    def f(x: Any, n: int) -> Any:
        for i in range(1, n):
            x[i % 2] += np.sin(x[0]) * x[1]
        x *= 2.0
        return np.sum(x * x), {"x": x}

    expected = jvp(f, (X, 5), (X, None))
    with debug_mode():
        found = jvp(f, (X, 5), (X, None))
    assert found[0][0] == expected[0][0]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a[0], b[0], rtol=1e-14)
        np.testing.assert_allclose(a[1]["x"], b[1]["x"], rtol=1e-14)


def test_forward_mode_finds_writes_that_nobody_has_seen_in_debug_mode() -> None:
    kept = X.copy()

    def poke(x: Any) -> None:
        kept[0] = 9.0

    zero_derivative(poke, because="it says so")

    def f(x: Any) -> Any:
        poke(x)
        return np.sum(x * kept)

    with debug_mode(), pytest.raises(UntrackedWriteError):
        jvp(f, (X,), (X,))


def test_the_error_names_operation_and_line() -> None:
    with local_rules():

        @from_vjp(np.tan, replace=True)
        def tan_rule(x: Any) -> Any:
            return np.float32(np.tan(x)), lambda dy: (dy,)

        def f(x: Any) -> Any:
            y = x * x
            return np.tan(y)

        for derivative in (jacobian(f, mode="reverse"), lambda x: hvp(f, (x,), x), jvp_inside(f)):
            with debug_mode(), pytest.raises(DifferentResultError, match=r"numpy\.tan"):
                derivative(np.float64(0.5))
        for derivative in (grad(f, debug=True), lambda x: vjp(f, x, debug=True)):
            with pytest.raises(DifferentResultError, match=r"numpy\.tan") as caught:
                derivative(np.float64(0.5))
            assert caught.value.where is not None
            assert "return np.tan(y)" in str(caught.value)


def test_nothing_happens_twice() -> None:
    generator, printed = np.random.default_rng(0), []

    def f(x: Any) -> Any:
        printed.append(1.0)
        noise = generator.normal(size=2)
        order = sorted([3, 1, 2], key=lambda i: printed.append(2.0) or i)
        return np.sum(x * noise) + order[0]

    value, _ = value_and_grad(f)(X)
    generator, written = np.random.default_rng(0), list(printed)
    printed.clear()
    assert value_and_grad(f, debug=True)(X)[0] == value
    assert printed == written


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize(
    ("dtype", "exponent"),
    rotating(
        [np.complex64, np.complex128, np.float32, float], [2, 2.0, -1, -1.0, 0.5, 1.0], times=2
    ),
)
def test_powers_in_place_have_every_bit_of_numpy(exponent: float, dtype: Any) -> None:
    x = (np.linspace(0.1, 7.3, 50) * (1 + 0.3j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)

    def powers(x: Any) -> Any:
        y = x * 1
        y **= exponent
        return y

    value, _ = vjp(powers, x)
    assert value.tobytes() == powers(x).tobytes()


def test_a_numpy_type_called_with_an_array_of_that_type_returns_it() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        z = np.float64(y)
        z[0] = 3.0
        return np.sum(y * y) + 0.0 * np.sum(np.float32(y))

    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, [0.0, 2 * X[1]])
