"""Jacobians and Hessians: structures, modes, products, errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    forwarddiff,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    rrule,
    value_and_hvp,
    value_and_jacobian,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.errors import (
    InvalidModeError,
    InvalidTangentError,
    MissingRuleError,
    NestedDerivativeError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
)
from mooncake_py.modes.forward.several import AT_ONCE
from tests.support.directions import sixth_order
from tests.support.runs import Runs

X = np.array([0.3, -1.2, 0.7])
MODES = ("forward", "reverse", "auto")


def columns(f: Any, x: Any) -> Any:
    """Return the Jacobian by differences."""
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([sixth_order(lambda t, e=e: f(x + t * e)) for e in units], axis=-1).reshape(
        np.shape(f(x)) + x.shape
    )


def in_place(x):
    x = x.copy()
    x[1:] *= x[:-1]
    return np.concatenate([x, [np.sum(x**2)]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [np.cumprod, in_place, lambda x: np.outer(x, x), lambda x: np.sum(x**3), lambda x: x[:0]],
    ids=["vector", "in place", "matrix", "number", "empty"],
)
def test_jacobian_of_arrays(f, mode):
    np.testing.assert_allclose(jacobian(f, mode=mode)(X.copy()), columns(f, X), atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_with_respect_to_a_matrix_a_number_and_nothing(mode):
    a = np.arange(1.0, 5.0).reshape(2, 2)
    f = lambda a: np.linalg.inv(a) @ a.T  # noqa: E731
    np.testing.assert_allclose(jacobian(f, mode=mode)(a), columns(f, a), atol=1e-8)
    np.testing.assert_allclose(jacobian(lambda s: X * s**2, mode=mode)(3.0), 6 * X)
    assert jacobian(lambda s: s**3, mode=mode)(2.0) == 12.0
    assert jacobian(lambda x: np.sum(x) + X, mode=mode)(np.zeros((0, 2))).shape == (3, 0, 2)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_structures(mode):
    def f(d, s):
        return {"y": d["x"] * s, "z": (d["x"][0] * d["t"], 3)}

    found = jacobian(f, argnums=(0, 1), mode=mode)({"x": X, "t": 2.0}, 5.0)
    by_d, by_s = found["y"]
    np.testing.assert_allclose(by_d["x"], 5.0 * np.eye(3))
    np.testing.assert_allclose(by_d["t"], np.zeros(3))
    np.testing.assert_allclose(by_s, X)
    by_d, by_s = found["z"][0]
    np.testing.assert_allclose(by_d["x"], [2.0, 0.0, 0.0])
    assert by_d["t"] == X[0]
    assert by_s == 0.0
    assert found["z"][1] is None


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_by_name_and_keyword(mode):
    f = lambda x, scale=1.0: x * scale**2  # noqa: E731
    np.testing.assert_allclose(jacobian(f, argnums="scale", mode=mode)(X, scale=3.0), 6 * X)


def test_jacobian_leaves_arguments():
    x = X.copy()

    def f(x):
        x[:] = np.sin(x)
        return x

    for mode in MODES:
        np.testing.assert_allclose(jacobian(f, mode=mode)(x), np.diag(np.cos(X)))
        np.testing.assert_array_equal(x, X)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("mode", MODES)
def test_value_comes_with_the_jacobian_from_no_run_of_its_own(mode):
    runs = []

    def f(x):
        runs.append(None)
        x[1:] *= x[:-1]
        return {"y": x, "n": "text"}

    x = X.copy()
    value, found = value_and_jacobian(f, mode=mode)(x)
    both = len(runs)
    runs.clear()
    only = jacobian(f, mode=mode)(x)
    assert both == len(runs)
    np.testing.assert_array_equal(value["y"], f(X.copy())["y"])
    assert value["n"] == "text"
    np.testing.assert_array_equal(found["y"], only["y"])
    np.testing.assert_array_equal(x, X)
    assert not np.shares_memory(value["y"], x)


@pytest.mark.parametrize("mode", MODES)
def test_auxiliary_output_of_any_kind_stands_beside_the_jacobian(mode):
    def f(x):
        return np.cumprod(x), {"x": x, "text": "t", "kept": {1, 2}}

    x = X.copy()
    found, aux = jacobian(f, mode=mode, has_aux=True)(x)
    np.testing.assert_allclose(found, jacobian(np.cumprod)(X))
    assert (aux["text"], aux["kept"]) == ("t", {1, 2})
    np.testing.assert_array_equal(aux["x"], X)
    assert not np.shares_memory(aux["x"], x)
    (value, aux), again = value_and_jacobian(f, mode=mode, has_aux=True)(x)
    np.testing.assert_array_equal(value, np.cumprod(X))
    np.testing.assert_array_equal(again, found)
    np.testing.assert_array_equal(aux["x"], X)
    (value, aux), empty = value_and_jacobian(f, mode=mode, has_aux=True)(X[:0])
    assert value.shape == aux["x"].shape == (0,)
    assert empty.shape == (0, 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
def test_value_and_jacobian_are_both_differentiated(mode):
    def total(x):
        value, found = value_and_jacobian(in_place, mode=mode)(x)
        (_, aux), _ = value_and_jacobian(lambda x: (x**2, x**3), mode=mode, has_aux=True)(x)
        return np.sum(value**2) + np.sum(np.sin(found)) + np.sum(aux)

    def plain(x):
        return np.sum(in_place(x) ** 2) + np.sum(np.sin(jacobian(in_place)(x))) + np.sum(x**3)

    np.testing.assert_allclose(grad(total)(X), columns(plain, X), rtol=1e-7)


@pytest.mark.parametrize("count", [2, 5, 12])
@pytest.mark.parametrize("size", [1, 4, 5, 20])
def test_auto_is_right_for_few_and_many_inputs_and_outputs(size, count):
    x = np.linspace(0.2, 1.0, size)
    weights = np.sin(np.arange(count * size)).reshape(count, size)
    f = lambda x: np.sin(weights @ (x * x))  # noqa: E731
    np.testing.assert_allclose(jacobian(f)(x), columns(f, x), atol=1e-9)


@pytest.mark.parametrize("size", [1, 4, 5, 20])
def test_columns_run_the_function_once_for_many_of_them(size):
    runs = Runs()

    def f(x):
        runs.note()
        return np.cumsum(x * x)

    x = np.linspace(0.2, 1.0, size)
    np.testing.assert_allclose(
        jacobian(f, mode="forward")(x), np.tril(np.ones((size, size))) * 2 * x
    )
    assert runs.count() == (1 if size <= AT_ONCE else 2)


def test_auto_takes_rows_if_there_are_rules_for_reverse_mode_only():
    def half(x):
        return x * 0.5

    @rrule.register(half)
    def half_rrule(_, x):
        def pullback(dy):
            return NoRData(), 0.5 * dy

        return CoDual(half(x.primal), NoFData()), pullback

    np.testing.assert_array_equal(jacobian(lambda s: [half(s), half(s * s)])(3.0), [0.5, 3.0])
    with pytest.raises(MissingRuleError, match="reverse mode only"):
        jacobian(lambda s: half(s) * X, mode="forward")(3.0)


def test_what_stands_beside_the_value_may_differ_from_run_to_run():
    items = iter(range(100))

    def f(x):
        for i in range(len(x)):
            x[i] = x[i] * x[i]
        return x, next(items)

    found, aux = jacobian(f, mode="forward", has_aux=True)(X.copy())
    np.testing.assert_allclose(found, np.diag(2 * X))
    assert aux in range(len(X))


def test_hessian_and_its_products():
    expected = columns(grad(rosenbrock), X)
    h = hessian(rosenbrock)(X)
    np.testing.assert_allclose(h, expected, rtol=1e-8)
    np.testing.assert_allclose(h, h.T)
    np.testing.assert_allclose(hvp(rosenbrock, (X,), X), h @ X)
    np.testing.assert_allclose(hessian_diagonal(rosenbrock)(X), np.diag(h))
    value, gradient, again = value_grad_and_hessian(rosenbrock)(X)
    assert value == rosenbrock(X)
    np.testing.assert_array_equal(gradient, grad(rosenbrock)(X))
    np.testing.assert_array_equal(again, h)


def test_value_gradient_and_hessian_are_of_the_same_draws():
    rng = np.random.default_rng(0)
    f = lambda x: np.sum(x**2 * rng.normal(size=3))  # noqa: E731
    value, gradient, second = value_grad_and_hessian(f)(X)
    after = rng.random()
    rng = np.random.default_rng(0)
    weights = rng.normal(size=3)
    assert after == rng.random()
    np.testing.assert_allclose(value, np.sum(X**2 * weights))
    np.testing.assert_allclose(gradient, 2 * X * weights)
    np.testing.assert_allclose(second, np.diag(2 * weights))


def test_direction_may_be_the_argument_itself():
    x = X.copy()
    np.testing.assert_allclose(hvp(rosenbrock, (x,), x), hessian(rosenbrock)(X) @ X)
    np.testing.assert_allclose(
        hvp(lambda d: np.sum(d["x"] ** 3), ({"x": x},), {"x": x})["x"], 6 * X**2
    )


def test_hessian_with_respect_to_several_arguments():
    f = lambda x, s: np.sum(x**2) * s**3  # noqa: E731
    (xx, xs), (sx, ss) = hessian(f, argnums=(0, 1))(X, 2.0)
    np.testing.assert_allclose(xx, 16 * np.eye(3))
    np.testing.assert_allclose(xs, 24 * X)
    np.testing.assert_allclose(sx, 24 * X)
    np.testing.assert_allclose(ss, 12 * np.sum(X**2))
    dx, ds = hvp(f, (X, 2.0), (X, 1.0), argnums=(0, 1))
    np.testing.assert_allclose(dx, xx @ X + xs)
    np.testing.assert_allclose(ds, sx @ X + ss)


def test_hessian_of_a_matrix_and_of_a_number():
    a = np.arange(1.0, 5.0).reshape(2, 2) + np.eye(2)
    f = lambda a: np.linalg.slogdet(a)[1]  # noqa: E731
    np.testing.assert_allclose(hessian(f)(a), columns(grad(f), a), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        hessian_diagonal(f)(a), np.diag(hessian(f)(a).reshape(4, 4)).reshape(2, 2)
    )
    assert hessian(lambda s: s**4)(2.0) == 48.0
    assert hessian_diagonal(lambda s: s**4)(2.0) == 48.0


@pytest.mark.thorough
def test_derivatives_of_hessians():
    np.testing.assert_allclose(
        grad(lambda x: np.trace(hessian(lambda z: np.sum(z**4) * z[0])(x)))(X),
        sixth_order_gradient(lambda x: np.trace(hessian(lambda z: np.sum(z**4) * z[0])(x))),
        rtol=1e-7,
    )


def sixth_order_gradient(f: Any) -> Any:
    return np.array([sixth_order(lambda t, e=e: f(X + t * e)) for e in np.eye(3)])


def test_forwarddiff_is_the_function_and_its_derivative():
    def iterated(x):
        y = x * 1.0
        for _ in range(10):
            y = np.sin(y) + x[::-1] * 0.1
        return y

    assert np.array_equal(forwarddiff(iterated, X), iterated(X))
    f = lambda x: np.sum(forwarddiff(iterated, x * 2) ** 2)  # noqa: E731
    np.testing.assert_allclose(grad(f)(X), sixth_order_gradient(f), rtol=1e-8)
    np.testing.assert_allclose(hessian(f)(X), columns(grad(f), X), rtol=1e-6, atol=1e-8)
    g = lambda s: forwarddiff(lambda t: np.exp(t) * X, s)[1]  # noqa: E731
    np.testing.assert_allclose(grad(g)(0.5), np.exp(0.5) * X[1])


def test_forwarddiff_must_not_capture():
    with pytest.raises(NestedDerivativeError):
        grad(lambda x: np.sum(forwarddiff(lambda z: z * x, x * 2)))(X)
    with pytest.raises(InvalidTangentError, match="tuple"):
        grad(lambda x: forwarddiff(lambda z: (z, z), x * 2)[0][0])(X)


def test_errors():
    with pytest.raises(InvalidModeError, match=r'"forward", mode="reverse" or mode="auto"'):
        jacobian(np.sin, mode="backward")  # pyright: ignore[reportArgumentType]
    with pytest.raises(NonScalarOutputError, match="must return"):
        jacobian(np.sin, has_aux=True)(X)
    with pytest.raises(NonDifferentiableArgumentError, match=r"pass a float: 3\.0"):
        jacobian(np.sin)(3)
    with pytest.raises(NonDifferentiableArgumentError, match="complex"):
        jacobian(np.sin)(1j)
    with pytest.raises(NonScalarOutputError):
        hessian(lambda x: x * 2)(X)
    with pytest.raises(NonScalarOutputError, match="one real number"):
        hvp(lambda x: x * 2, (X,), X)
    with pytest.raises(InvalidTangentError, match="shape"):
        hvp(rosenbrock, (X,), X[:2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_outputs(mode: Any, dtype: type) -> None:
    matrix = np.array([[1 + 2j, 3.0, -1j], [0.5j, 1.0, 2 - 1j]], dtype)
    tolerance = 1e-12 if dtype is np.complex128 else 1e-6

    def f(a: Any) -> Any:
        a = np.exp(a).astype(matrix.real.dtype)
        return matrix @ a, [complex(a[0], a[1])], {"real": a * 2, "outer": 1j * np.outer(a, a)}

    value, found = value_and_jacobian(f, mode=mode)(X)
    e = np.exp(X)
    np.testing.assert_allclose(value[0], matrix @ e, rtol=tolerance)
    np.testing.assert_allclose(found[0], matrix * e, rtol=tolerance)
    np.testing.assert_allclose(found[1][0], [e[0], 1j * e[1], 0], rtol=tolerance)
    np.testing.assert_allclose(found[2]["real"], np.diag(2 * e), rtol=tolerance)
    assert not np.iscomplexobj(found[2]["real"])
    slope = np.einsum("ik,j->ijk", np.diag(e), e)
    expected = 1j * (slope + slope.transpose(1, 0, 2))
    np.testing.assert_allclose(found[2]["outer"], expected, rtol=tolerance)


@pytest.mark.parametrize("mode", MODES)
def test_complex_outputs_inside_another_derivative(mode: Any) -> None:
    def f(v: Any) -> Any:
        return jacobian(lambda a: np.exp(1j * a * v), mode=mode)(X)[0, 0].imag

    expected = np.cos(0.4 * X[0]) - 0.4 * X[0] * np.sin(0.4 * X[0])
    np.testing.assert_allclose(grad(f)(0.4), expected)
    np.testing.assert_allclose(grad(f, mode="forward")(0.4), expected)


def powers(x: Any, y: Any = 2.0, *, c: Any = 1.0) -> Any:
    return np.sum(x**3) * y**2 * c**4


@pytest.mark.parametrize(
    ("argnum", "keywords"),
    [
        (0, {}),
        (0, {"c": 2.0}),
        (-1, {}),
        (1, {"y": 3.0}),
        ("x", {"y": 3.0}),
        ("y", {"y": 3.0}),
        ("c", {"c": 2.0}),
        ((0, "c"), {"c": 2.0}),
        (("y", "x"), {"y": 3.0, "c": 0.5}),
    ],
)
def test_hessian_diagonals_take_names_and_keywords(argnum: Any, keywords: Any) -> None:
    found = hessian_diagonal(powers, argnum)(X, **keywords)
    full = hessian(powers, argnum)(X, **keywords)
    if not isinstance(argnum, tuple):
        found, full = (found,), ((full,),)
    for k, part in enumerate(found):
        diagonal = full[k][k] if np.ndim(part) == 0 else np.diag(full[k][k])
        np.testing.assert_allclose(part, diagonal)


def test_hessian_diagonals_in_structures() -> None:
    def f(p: Any) -> Any:
        return p["a"] ** 3 * np.sum(p["b"][0] ** 2) * p["k"]

    found = hessian_diagonal(f)({"a": 2.0, "b": [X, 1], "k": 3})
    assert found["a"] == pytest.approx(36 * np.sum(X**2))
    np.testing.assert_allclose(found["b"][0], 48.0)
    assert found["b"][1] is found["k"] is None


def test_errors_of_hessian_diagonals() -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="complex"):
        hessian_diagonal(lambda z: np.sum(abs(z) ** 2 * z.imag**2))(np.array([1 + 1j]))
    with pytest.raises(NonDifferentiableArgumentError, match="out of range"):
        hessian_diagonal(powers, 5)(X)
    with pytest.raises(NonDifferentiableArgumentError, match="'z'"):
        hessian_diagonal(powers, "z")(X)
    with pytest.raises(NonDifferentiableArgumentError, match=r"argument 0 \('x'\): .* dtype int64"):
        hessian_diagonal(powers)(np.array([1, 2]))


SHARED = [3.0]
WEIGHTS = {"a": 3.0, "b": 2.0}
ONE = {
    "list": (lambda p: p[0][0] * p[1][0] ** 2, [SHARED, SHARED]),
    "dict": (lambda p: p[0]["a"] * p[1][0]["a"] * p[0]["b"], [WEIGHTS, [WEIGHTS]]),
    "array": (lambda p: np.sum(p[0] * p[1] * p[1]), [X, X]),
    "views": (lambda p: np.sum(p[0] * p[1] ** 2), [X[:2], X[1:]]),
    "reversed": (lambda p: np.sum(p[0] ** 2 * p[1]), [X[::-1], X]),
    "broadcast": (lambda p: np.sum(p * p * X), np.broadcast_to(np.array(2.0), (3,))),
    "broadcast in a list": (lambda p: np.sum(p[0] ** 2 * X), [np.broadcast_to(X[1:2], (3,))]),
}  # fmt: skip
"""Functions of an argument in which parts are one variable."""


def numbers_in(value: Any) -> np.ndarray:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return np.concatenate([numbers_in(part) for part in value])
    return np.reshape(value, -1)


@pytest.mark.parametrize("name", ONE)
def test_parts_that_are_one_variable(name: str) -> None:
    f, p = ONE[name]
    expected = numbers_in(grad(f)(p))
    for mode in ("forward", "reverse", "auto"):
        np.testing.assert_allclose(numbers_in(jacobian(f, mode=mode)(p)), expected)
    if not name.startswith("broadcast"):
        rows = jacobian(grad(f), mode="reverse")(p)
        np.testing.assert_allclose(numbers_in(hessian(f)(p)), numbers_in(rows))


def test_hessians_of_broadcast_arrays() -> None:
    p = np.broadcast_to(np.array(2.0), (3,))
    found = hessian(lambda p: np.sum(p**3 * X))(p)
    np.testing.assert_allclose(found, np.full((3, 3), 12.0 * np.sum(X)))


def test_the_diagonal_of_a_variable_held_twice() -> None:
    found = hessian_diagonal(lambda p: p[0][0] * p[1][0] ** 2)([SHARED, SHARED])
    assert found == [[18.0], [18.0]]


@pytest.mark.parametrize("mode", MODES)
def test_parts_that_are_one_variable_inside_another_derivative(mode: Any) -> None:
    def of_list(v: Any) -> Any:
        shared = [v]
        return jacobian(lambda p: p[0][0] * p[1][0] ** 2, mode=mode)([shared, shared])[0][0]

    assert grad(of_list)(3.0) == 18.0

    def of_array(v: Any) -> Any:
        return np.sum(jacobian(lambda p: p[0] * p[1] ** 2, mode=mode)([v, v])[0])

    np.testing.assert_allclose(grad(of_array)(X), 6 * X)


@pytest.mark.parametrize("product", [hvp, value_and_hvp])
def test_errors_name_the_vector(product: Any) -> None:
    def f(x: Any, y: Any = 1.0) -> Any:
        return np.sum(x**2 * y)

    with pytest.raises(
        InvalidTangentError, match=r"^v does not fit .* shape \(3,\), got shape \(2,"
    ):
        product(f, (X,), X[:2])
    with pytest.raises(InvalidTangentError, match=r"^v\[1\] does not fit .* shape \(3,\)"):
        product(f, (X, X), (X, X[:2]), argnums=(0, 1))
    with pytest.raises(InvalidTangentError, match=r"^v\['a'\] does not fit"):
        product(lambda p: np.sum(p["a"] ** 2), ({"a": X},), {"a": X[:2]})
    with pytest.raises(InvalidTangentError, match=r"^v does not fit .* part 'a'"):
        product(lambda p: np.sum(p["a"] ** 2), ({"a": X},), {"b": X})
    with pytest.raises(InvalidTangentError, match="v holds 3 vectors"):
        product(f, (X, X), (X, X, X), argnums=(0, 1))
    slip = rf"{product.__name__}\(f, \(x, y\), \(vx, vy\), argnums=\(0, 1\)\)"
    for second in (X, 1.0, [X]):
        with pytest.raises(NonDifferentiableArgumentError, match=slip):
            product(f, (X, X), X, second)
    with pytest.raises(NonDifferentiableArgumentError, match="use a tuple"):
        product(f, (X, X), X, [0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("y", [None, "a", 3, np.arange(3)], ids=repr)
def test_results_without_numbers(y: Any, mode: Any) -> None:
    with pytest.raises(NonScalarOutputError, match=r"no floats.*\n.*is a `return` missing"):
        jacobian(lambda x: y, mode=mode)(X)
    with pytest.raises(NonScalarOutputError, match="no floats"):
        value_and_jacobian(lambda x: (y, 1), mode=mode, has_aux=True)(X)
    found = jacobian(lambda x: [y, 2.0 * x], mode=mode)(X)
    assert found[0] is None
    np.testing.assert_array_equal(found[1], 2 * np.eye(3))


def test_rows_after_the_first_print_and_warn_of_nothing(capsys):
    def f(x):
        print("called")
        warnings.warn("of something", UserWarning, stacklevel=1)
        return np.array([(x**2).sum(), x[0] * x[1]])

    x = np.array([1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="of something") as caught:
        found = jacobian(f, mode="reverse")(x)
    np.testing.assert_array_equal(found, [[2.0, 4.0, 6.0], [2.0, 1.0, 0.0]])
    assert len(caught) == 1
    assert capsys.readouterr().out == "called\n"
    with pytest.warns(UserWarning, match="of something") as caught:
        _, pullback = vjp(f, x)
    assert len(caught) == 1
    with warnings.catch_warnings(record=True) as later:
        warnings.simplefilter("always")
        for _ in range(3):
            pullback(np.ones(2))
    assert not later
    assert capsys.readouterr().out == "called\n"


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize("size", [3, 20])
def test_a_program_prints_and_warns_once_however_many_columns_there_are(
    size: int, compile: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def loud(x: Any, d: float) -> Any:
        print("here")
        for i in range(len(x)):
            x[i] *= x[i - 1]
        return x / d

    def warned(x: Any, d: float) -> Any:
        return x[0] / d + x[1]

    def along_three(f: Any, compile: bool) -> Any:
        return lambda x, d: jvp(f, (x, d), [(x, None)] * 3, compile=compile)

    x = np.ones(size)
    for f, d in ((loud, 0.5), (warned, 0.0)):
        for take in (jacobian, along_three):
            for _ in range(3):  # compiled code is ready in the second or third call
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    take(f, compile=compile)(x, d)
                assert len(caught) == (f is warned)
                assert capsys.readouterr().out == ("here\n" if f is loud else "")
