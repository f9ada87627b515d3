"""Gradients by forward mode: those of reverse mode, structures and errors included."""

from __future__ import annotations

import dataclasses
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import NoTangent, debug_mode, grad, hessian, hvp, jvp, value_and_grad, vjp
from mooncake_py.errors import (
    InvalidModeError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    SharedArgumentsError,
)
from tests.support.directions import sixth_order
from tests.support.pairs import rotating
from tests.support.runs import Runs

X = np.array([0.3, -1.2, 0.7])


@dataclasses.dataclass
class Box:
    a: Any
    label: str = "text"


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x


def in_place(x):
    x[1:] *= x[:-1]
    x += np.sin(x)
    return np.sum(x**2)


def complex_loss(z):
    return np.sum(np.abs(z) ** 2 * z.real + z.imag)


def over_parts(p):
    return np.sum(p["a"] ** 3) * p["b"][0] + p["box"].a ** 2 * p["pair"][1][0]


def overlapping(p):
    p[0][0] *= p[1][1]
    return np.sum(p[0] * p[1])


def differences(f: Any, x: Any) -> Any:
    """Return the gradient by differences."""
    return np.array([sixth_order(lambda t, e=e: f(x + t * e)) for e in np.eye(x.size)])


def same(found: Any, expected: Any) -> None:
    """Check that two gradients are of one structure, and equal up to rounding."""
    assert type(found) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            same(*pair)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, part in expected.items():
            same(found[key], part)
    elif dataclasses.is_dataclass(expected):
        same(vars(found), vars(expected))
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.flags.owndata) == (expected.dtype, True)
        assert_allclose(found, expected, rtol=1e-5 if expected.itemsize == 4 else 1e-12)
    elif not isinstance(expected, NoTangent):
        single = type(expected) is np.float32
        assert_allclose(found, expected, rtol=1e-5 if single else 1e-12)


CASES = {
    "number": (lambda x: x**3, 2.0),
    "number of NumPy": (lambda x: x * x, np.float32(1.5)),
    "complex number": (lambda z: abs(z) ** 2 * z.real, 1.0 + 2.0j),
    "array": (in_place, X),
    "Fortran order": (lambda a: np.sum(np.linalg.inv(a) ** 2), np.array([[2.0, 1], [0, 3]]).T),
    "float32": (lambda x: np.sum(np.exp(x)), X.astype(np.float32)),
    "complex": (complex_loss, X + 1j * X[::-1]),
    "0-d": (lambda x: x**2, np.array(3.0)),
    "empty": (lambda x: np.sum(x) + 1.0, np.zeros((0, 2))),
    "constant": (lambda x: 1, X),
    "array of one element": (lambda x: x[:1] * x[1], X),
    "parts": (over_parts, {"a": X, "b": [2.0, 3, "t"], "box": Box(1.5), "pair": (1, (X[0],))}),
    "overlapping views": (overlapping, [X, X[::-1]]),
    "views that repeat": (lambda p: np.sum(p**2), np.broadcast_to(X[:1], 3)),
}


@pytest.mark.sampled(3)
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize(("debug", "case"), rotating([False, True], CASES.values()))
def test_gradient_is_that_of_reverse_mode(case, debug):
    f, argument = case
    before = pickle.dumps(argument)
    value, found = value_and_grad(f, mode="forward", debug=debug)(argument)
    assert pickle.dumps(argument) == before
    expected_value, expected = value_and_grad(f)(argument)
    same(found, expected)
    assert type(value) is type(expected_value)
    assert_array_equal(value, expected_value)
    same(grad(f, mode="forward")(argument), expected)


def test_gradient_against_differences():
    assert_allclose(grad(in_place, mode="forward")(X), differences(in_place, X), rtol=1e-6)


def test_gradients_of_objects_closures_and_cycles():
    a = 2.0
    df, dx = grad(lambda f, x: f(x) * x, (0, 1), mode="forward")(lambda x: a * x, 3.0)
    assert (df.a, dx) == (9.0, 12.0)
    line = Line(2.0)
    assert grad(lambda f, x: f(x), mode="forward")(line.at, 3.0)["__self__"].slope == 3.0
    assert line.slope == 2.0
    cyclic: list[Any] = [3.0]
    cyclic.append(cyclic)
    g = grad(lambda p: p[1][0] * p[0], mode="forward")(cyclic)
    assert (g[0], g[1] is g, cyclic[0]) == (6.0, True, 3.0)


def test_arguments_by_position_name_and_twice():
    def f(x, y, *, s):
        return np.sum(x * y) * s, {"y": y}

    (value, aux), found = value_and_grad(f, (0, "s", 0), has_aux=True, mode="forward")(X, X, s=2.0)
    assert_allclose(value, 2 * np.sum(X * X))
    same(found, (2 * X, float(np.sum(X * X)), 2 * X))  # separate variables, also where they share
    assert_array_equal(aux["y"], X)
    assert not np.shares_memory(aux["y"], X)
    dx, aux = grad(f, has_aux=True, mode="forward")(X, X + 1, s=3.0)
    assert_allclose(dx, 3 * (X + 1))
    assert list(aux) == ["y"]


def test_all_runs_draw_the_same_and_the_generator_goes_on_as_after_one():
    rng = np.random.default_rng(0)
    f = lambda x: np.sum(x**2 * rng.normal(size=3))  # noqa: E731
    found = grad(f, mode="forward")(X)
    after = rng.random()
    rng = np.random.default_rng(0)
    assert_allclose(found, grad(f)(X))
    assert after == rng.random()


def test_what_the_function_changes_is_as_it_was():
    seen: list[Any] = []

    def f(x):
        seen.append(x[0])
        x[0] = 2.0 * len(seen)
        if x[2] > 5:
            raise ValueError("too large")
        return np.sum(x * x)

    x = X.copy()
    assert_allclose(grad(f, mode="forward")(x), [0.0, 2 * X[1], 2 * X[2]])
    x[2] = 6.0
    with pytest.raises(ValueError, match="too large"):
        grad(f, mode="forward")(x)
    assert_array_equal(x, [*X[:2], 6.0])
    assert seen == []


# Inside other derivatives.


def inner(x, mode):
    value, g = value_and_grad(lambda z: np.sum(z**3 * x[0]) + x[1] * z[2], mode=mode)(x + 0)
    return value * np.sum(g**2)


def inner_number(x, mode):
    return grad(lambda z: np.sin(z * x[0]) * z, mode=mode)(x[1]) * x[2]


def inner_complex(x, mode):
    g = grad(lambda z: abs(z) ** 2 * z.real, mode=mode)(x[0] + 1j * x[1])
    return g.real * x[2] + g.imag**2


def inner_structure(x, mode):
    def f(p):
        return np.sum(p["a"] ** 2) * p["s"], p["a"] * x

    g, aux = grad(f, has_aux=True, mode=mode)({"a": x * 2, "s": x[0]})
    return np.sum(g["a"] ** 2) * g["s"] + np.sum(aux)


def inner_in_place(x, mode):
    return np.sum(grad(in_place, mode=mode)(x * 1.5) ** 2)


INNER = [inner, inner_number, inner_complex, inner_structure, inner_in_place]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", INNER, ids=lambda f: f.__name__)
def test_inside_every_derivative(f):
    def program(x):
        return f(x, "forward")

    def reverse(x):
        return f(x, "reverse")

    v = np.array([1.0, -0.5, 0.25])
    expected = grad(reverse)(X)
    assert_allclose(expected, differences(reverse, X), rtol=1e-5)
    assert_allclose(grad(program)(X), expected, rtol=1e-10)
    assert_allclose(grad(program, mode="forward")(X), expected, rtol=1e-10)
    assert_allclose(jvp(program, (X,), (v,))[1], expected @ v, rtol=1e-10)
    _, pullback = vjp(program, X)
    for _ in range(2):
        assert_allclose(pullback(1.0)[0], expected, rtol=1e-10)
    assert_allclose(hvp(program, (X,), v), hvp(reverse, (X,), v), rtol=1e-9)
    with debug_mode():
        assert_allclose(grad(program)(X), expected, rtol=1e-10)


def test_perturbations_are_not_confused():
    for outer in ("forward", "reverse"):
        f = lambda x: x * grad(lambda y: x + y, mode="forward")(1.0)  # noqa: E731
        assert grad(f, mode=outer)(2.0) == 1.0


def test_hessian_of_a_function_of_forward_gradients():
    f = lambda x: np.sum(grad(lambda z: np.sum(z**4), mode="forward")(x))  # noqa: E731
    assert_allclose(hessian(f)(X), np.diag(24 * X))


# Memory and errors.


@pytest.mark.plain
@pytest.mark.parametrize(("size", "passes"), [(1, 1), (3, 1), (16, 1), (17, 2), (40, 3)])
def test_many_numbers_share_a_pass(size, passes):
    runs = Runs()

    def f(x):
        runs.note()
        return in_place(x)

    x = np.linspace(0.1, 1.0, size)
    assert_allclose(grad(f, mode="forward")(x), grad(in_place)(x), rtol=1e-12)
    assert runs.count() == passes


def test_a_loop_takes_a_pass_for_each_number():
    runs = Runs()

    def f(x, s):
        runs.note()
        for i in range(1, len(x)):
            x[i] = x[i] * x[i - 1] + s
        return x[-1]

    x = np.tile(X, 3)
    found = grad(f, argnums=(0, 1), mode="forward")(x, 0.5)
    assert runs.count() == 10
    expected = grad(f, argnums=(0, 1))(x, 0.5)
    assert_allclose(found[0], expected[0], rtol=1e-13)
    assert_allclose(found[1], expected[1], rtol=1e-13)


@pytest.mark.without_modes("elements that run in Python take minutes", "compiled")
def test_nothing_is_kept_for_a_way_back():
    def decay(rate, steps):
        y = np.ones(20_000)  # large compared with the findings of a loop's first run
        for _ in range(steps):
            y = y - 0.01 * rate * np.sin(y)
        return np.sum(y)

    def peak(steps):
        tracemalloc.start()
        grad(decay, mode="forward")(0.5, steps)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(200)
    assert peak(200) < 2 * peak(20)


def test_errors_are_those_of_reverse_mode():
    with pytest.raises(NonScalarOutputError, match=r"shape \(3,\)"):
        grad(lambda x: x, mode="forward")(X)
    with pytest.raises(NonScalarOutputError, match="must return"):
        grad(lambda x: x, has_aux=True, mode="forward")(2.0)
    with pytest.raises(NonScalarOutputError, match="complex"):
        grad(lambda x: x, mode="forward")(1j)
    with pytest.raises(NonDifferentiableArgumentError, match="pass a float"):
        grad(lambda x: x, mode="forward")(3)
    with pytest.raises(NonDifferentiableArgumentError, match="out of range"):
        grad(lambda x: x, 1, mode="forward")(3.0)
    with pytest.raises(NonDifferentiableArgumentError, match="not a function"):
        grad(3.0, mode="forward")  # pyright: ignore[reportArgumentType]

    def writes(x, y):
        x[0] = 1.0
        return np.sum(x * y)

    x = X.copy()
    with pytest.raises(SharedArgumentsError, match="share"):
        grad(writes, mode="forward")(x, x)
    with pytest.raises(InvalidModeError, match="'backward'") as raised:
        value_and_grad(np.sum, mode="backward")  # pyright: ignore[reportArgumentType]
    assert isinstance(raised.value, ValueError)


def test_gradients_pickle_and_tell_what_they_are():
    for derivative in (grad, value_and_grad):
        g = derivative(complex_loss, mode="forward")
        assert "forward mode" in repr(g)
        assert repr(pickle.loads(pickle.dumps(g))) == repr(g)
        assert g.__name__ == "complex_loss"


def test_an_array_held_twice_has_one_gradient():
    def f(p):
        return np.sum(p["a"] * p["b"] ** 2)

    p = {"a": X, "b": X, "c": X[:2]}
    found = grad(f, mode="forward")(p)
    assert found["a"] is found["b"]
    assert_array_equal(found["a"], grad(f)(p)["a"])
    of_parts = lambda x: np.sum(grad(f, mode="forward")({"a": x, "b": x})["b"] ** 2)  # noqa: E731
    assert_allclose(grad(of_parts)(X), 36.0 * X**3, rtol=1e-12)

    def partials(x):
        return np.sum(grad(lambda x, y: np.sum(x * y**2), (0, 1), mode="forward")(x, x)[1])

    assert_allclose(grad(partials)(X), 4.0 * X, rtol=1e-12)  # arguments are apart
