"""Hooks: what they are called with, what they may return, and where they stand."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    DerivativeDropError,
    InvalidTangentError,
    MutableTangent,
    NoTangent,
    clip_gradient,
    debug_mode,
    grad,
    gradient,
    hook,
    jvp,
    value_and_grad,
    vjp,
)
from tests.support.carriers import CARRIERS, read_from
from tests.support.pairs import rotating
from tests.utilities.support import WAYS

pytestmark = pytest.mark.without_modes(
    "a hook changes the cotangent alone", "forward", "inside", "other", "compiled"
)

X = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("x", "slope", "way"),
    [
        (*given, way)
        for given, way in rotating(
            [(2.0, 12.0), (X, 6.0 * X), (np.float32(2.0), np.float32(12.0)), (np.array(2.0), 12.0)],
            WAYS,
            times=2,
        )
    ],
)
def test_cotangent_passes_through_the_function(way: Any, x: Any, slope: Any) -> None:
    got = way(lambda x: np.sum(hook(lambda g: 3.0 * g, x) ** 2), x)
    np.testing.assert_allclose(got, slope)
    assert np.asarray(got).dtype == np.asarray(x).dtype


def test_complex_cotangents() -> None:
    seen: list[Any] = []
    z = np.array([1 + 2j, 3 - 1j])
    got = grad(lambda z: np.sum(np.abs(hook(seen.append, z)) ** 2))(z)
    np.testing.assert_allclose(got, 2 * z)
    np.testing.assert_allclose(seen[0], 2 * z)
    assert grad(lambda z: abs(hook(lambda g: 1j * g, z)) ** 2)(1 + 2j) == 1j * (2 + 4j)


def test_manual_examples() -> None:
    assert gradient(lambda a, b: hook(lambda g: -g, a) * b, 2.0, 3.0) == (-3.0, 2.0)
    seen: list[float] = []
    assert gradient(lambda a: hook(seen.append, a) * a, 2.0) == (4.0,)
    assert seen == [2.0]


def test_unused_value_has_a_zero_cotangent() -> None:
    seen: list[Any] = []

    def f(a: float, x: np.ndarray) -> float:
        hook(seen.append, a)
        hook(seen.append, x)
        return a + x.sum()

    gradient(f, 2.0, X)
    np.testing.assert_equal(seen, [np.zeros(3), 0.0])


def test_constants_are_never_hooked() -> None:
    def refuse(g: Any) -> Any:
        raise AssertionError(g)

    assert grad(lambda a, b: hook(refuse, b) * hook(refuse, X)[0] * a)(2.0, 3.0) == 3.0


def test_plain_call_returns_a_copy() -> None:
    x = {"a": [X.copy(), 1.0], "s": "text"}
    y = hook(print, x)
    np.testing.assert_equal(y, x)
    y["a"][0][0] = 7.0
    y["a"].append(2.0)
    assert x["a"][0][0] == 1.0
    assert len(x["a"]) == 2


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_writes_into_the_copy_leave_the_value_alone(way: Any) -> None:
    def f(x: np.ndarray) -> Any:
        y = hook(lambda g: 10.0 * g, x)
        y *= 2.0
        y[0] = 0.0
        return np.sum(x * x) + np.sum(y * y)

    expected = 2 * X + 10.0 * np.array([0.0, 8 * X[1], 8 * X[2]])
    x = X.copy()
    np.testing.assert_allclose(way(f, x), expected)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_memory_in_use_is_hooked_by_writing_back(way: Any) -> None:
    def f(u: np.ndarray) -> Any:
        for _ in range(3):
            u *= 3.0
            u[...] = hook(lambda g: np.minimum(g, 2.0), u)
        return np.sum(u)

    # 1 -> 1 (bounded) -> 3 -> 2 -> 6 -> 2 -> 6
    np.testing.assert_allclose(way(f, X.copy()), np.full(3, 6.0))


def test_views_and_layouts() -> None:
    a = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    shapes: list[Any] = []

    def f(a: np.ndarray) -> Any:
        v = hook(lambda g: shapes.append(g.shape), a[::-1, 1:3])
        w = hook(lambda g: 2.0 * g, a.T)
        return np.sum(v * v) + np.sum(w)

    expected = np.full((3, 4), 2.0)
    expected[:, 1:3] += 2 * a[:, 1:3]
    np.testing.assert_allclose(grad(f)(a), expected)
    assert shapes == [(3, 2)]


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    scale: float
    name: str = "layer"


class Model:
    def __init__(self) -> None:
        self.layers = [Layer(X.copy(), 2.0), Layer(2 * X, 3.0)]
        self.options = {"bias": 1.0, "steps": 2}

    def __call__(self) -> Any:
        return sum(np.sum(one.w) * one.scale for one in self.layers) + self.options["bias"] ** 2


def test_structures_come_as_gradients_do() -> None:
    seen: list[Any] = []

    def f(m: Model) -> Any:
        return hook(seen.append, m)()

    m = Model()
    g = grad(f)(m)
    (h,) = seen
    assert type(h) is type(g) is MutableTangent
    assert type(h.layers[0]) is Layer
    np.testing.assert_array_equal(h.layers[1].w, np.full(3, 3.0))
    assert h.layers[0].scale == X.sum()
    assert h.layers[0].name is NoTangent()
    assert h.options == {"bias": 2.0, "steps": NoTangent()}
    np.testing.assert_array_equal(g.layers[1].w, h.layers[1].w)


@pytest.mark.parametrize("debug", [False, True])
def test_structures_are_changed_in_place_or_replaced(debug: bool) -> None:
    def halve(g: Any) -> None:
        g.layers[0].w[...] *= 0.5
        g.layers[1].scale = 100.0
        g.options["bias"] = -1.0

    g = grad(lambda m: hook(halve, m)(), debug=debug)(Model())
    np.testing.assert_array_equal(g.layers[0].w, np.full(3, 1.0))
    assert g.layers[1].scale == 100.0
    assert g.options["bias"] == -1.0
    t = grad(lambda p: math.prod(hook(lambda g: (g[1], g[0]), p)), debug=debug)((2.0, 5.0))
    assert t == (2.0, 5.0)


def test_containers_that_change_after_the_hook() -> None:
    seen: list[Any] = []

    def f(d: dict[str, Any]) -> Any:
        e = hook(seen.append, d)
        e["w"][0] *= e["k"]
        e["k"] += 1.0
        e["new"] = e["w"] * 2.0
        del e["w"]
        return np.sum(e["new"]) * e["k"]

    d = {"w": np.array([1.0, 2.0]), "k": 3.0}
    value, g = value_and_grad(f)(d)
    assert value == 2 * (3.0 + 2.0) * 4.0
    assert seen[0].keys() == {"w", "k"}
    np.testing.assert_allclose(seen[0]["w"], [24.0, 8.0])
    assert seen[0]["k"] == g["k"] == 10.0 + 8.0
    np.testing.assert_array_equal(g["w"], seen[0]["w"])
    assert d.keys() == {"w", "k"}


def test_one_array_under_two_names_has_one_cotangent() -> None:
    def f(x: np.ndarray) -> Any:
        a, b = hook(lambda g: (2 * g[0], 2 * g[1]), (x, x))
        assert a is b
        return np.sum(a) + np.sum(b * b)

    np.testing.assert_allclose(grad(f)(X), 2 * (1 + 2 * X))


def test_cyclic_object() -> None:
    class Node:
        def __init__(self, value: float) -> None:
            self.value = value
            self.next = self

    assert grad(lambda n: hook(lambda g: g, n).next.next.value ** 2)(Node(3.0)).value == 6.0


def test_hooks_run_last_to_first_and_once_for_each_pass() -> None:
    order: list[int] = []

    def f(x: float) -> float:
        for i in range(3):
            x = hook(lambda g, i=i: order.append(i), x) * 2.0
        return x

    _, pullback = vjp(f, 1.0)
    assert order == []
    assert pullback(1.0) == (8.0,)
    assert pullback(1.0) == (8.0,)
    assert order == [2, 1, 0, 2, 1, 0]


def test_debug_mode_leaves_alone_what_a_hook_stores() -> None:
    stored: list[Any] = []
    store = np.zeros(3)

    def keep(g: Any) -> None:
        stored.append(g)
        store[...] = g

    with debug_mode():
        grad(lambda x: np.sum(hook(keep, hook(keep, x)) ** 2))(X)
    np.testing.assert_array_equal(stored, [2 * X, 2 * X])
    np.testing.assert_array_equal(store, 2 * X)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (lambda g: g[:1], "float64[3], got float64[1]"),
        (lambda g: 1.0, "float64[3], got float 1.0"),
        (lambda g: 1j * g, "float64[3], got complex128[3]"),
        (lambda g: "no", "float64[3], got str 'no'"),
    ],
    ids=["shape", "number", "complex", "text"],
)
def test_cotangent_that_does_not_fit(returned: Any, expected: str, debug: bool) -> None:
    x = X.copy()

    def f(x: np.ndarray) -> Any:
        x *= 2.0
        return np.sum(hook(returned, x))

    with pytest.raises(InvalidTangentError) as caught:
        grad(f, debug=debug)(x)
    assert expected in str(caught.value)
    assert "test_hooks.py" in str(caught.value)
    np.testing.assert_array_equal(x, X)


def test_part_that_does_not_fit_is_named() -> None:
    with pytest.raises(InvalidTangentError, match=r"for its part \['a'\]\[1\]: expected a float"):
        grad(lambda d: hook(lambda g: {"a": [1.0, X]}, d)["a"][1])({"a": [1.0, 2.0]})
    with pytest.raises(InvalidTangentError, match=r"something with the part .a."):
        grad(lambda d: hook(lambda g: 1.0, d)["a"][1])({"a": [1.0, 2.0]})


def test_complex_cotangent_of_a_real_number() -> None:
    with pytest.raises(InvalidTangentError, match="expected a float, got complex 1j"):
        grad(lambda z: abs(hook(lambda g: g * 1j, abs(z))))(1 + 2j)


@pytest.mark.parametrize("f", [hook, lambda fn, x: grad(lambda x: hook(fn, x))(x)])
def test_function_and_value_in_the_wrong_order(f: Any) -> None:
    with pytest.raises(TypeError, match="takes a function first, not a float"):
        f(1.0, 2.0)


def test_exception_in_a_hook_names_the_place_and_restores() -> None:
    x = X.copy()

    def f(x: np.ndarray) -> Any:
        x *= 2.0
        return np.sum(hook(lambda g: 1 / 0, x))

    with pytest.raises(ZeroDivisionError) as caught:
        grad(f)(x)
    assert "in the adjoint of mooncake_py.hook, run at" in caught.value.__notes__[0]
    np.testing.assert_array_equal(x, X)


def test_number_in_a_set_cannot_be_hooked() -> None:
    with pytest.raises(InvalidTangentError, match="a set cannot have a tangent"):
        grad(lambda x: hook(print, {x}).pop())(1.0)


@pytest.mark.parametrize("debug", [False, True])
def test_function_may_capture_active_values(debug: bool) -> None:
    def f(x: np.ndarray) -> Any:
        k = x[0] * 2.0
        y = x * 3.0
        z = hook(lambda g, j=x[1]: g * k * j * y[2], x)
        y[2] = 0.0
        return np.sum(z)

    np.testing.assert_allclose(grad(f, debug=debug)(X), np.full(3, 2.0 * -2.0 * 9.0))


def test_active_number_in_an_array_of_objects_is_refused() -> None:
    def f(x: float) -> float:
        a = np.empty(1, object)
        a[0] = [x]
        return hook(lambda g: g, a)[0][0]

    with pytest.raises((InvalidTangentError, DerivativeDropError)):
        grad(f)(1.0)


# Clipping.


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_clip_by_value(way: Any) -> None:
    got = way(lambda x: np.sum(clip_gradient(x, value=3.0) ** 2), X)
    np.testing.assert_allclose(got, [2.0, -3.0, 3.0])


def test_clip_by_value_of_complex_numbers_bounds_the_magnitude() -> None:
    z = np.array([3 + 4j, 0.1j, 0j])
    got = grad(lambda z: np.sum(np.abs(clip_gradient(z, value=1.0)) ** 2))(z)
    np.testing.assert_allclose(got, [0.6 + 0.8j, 0.2j, 0j])


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_clip_by_norm(way: Any) -> None:
    got = way(lambda x: np.sum(clip_gradient(x, norm=1.0) ** 2), X)
    np.testing.assert_allclose(got, X / np.linalg.norm(X))
    got = way(lambda x: np.sum(clip_gradient(x, norm=1e3) ** 2), X)
    np.testing.assert_allclose(got, 2 * X)


def test_clip_by_norm_is_of_all_parts_together() -> None:
    def f(d: dict[str, Any]) -> Any:
        d = clip_gradient(d, norm=5.0)
        return 6.0 * d["a"] + np.sum(8.0 * d["b"])

    g = grad(f)({"a": 1.0, "b": np.ones(1), "n": 3})
    assert math.isclose(g["a"], 3.0)
    np.testing.assert_allclose(g["b"], [4.0])
    assert g["n"] is NoTangent()


def test_clip_by_norm_of_infinite_cotangents() -> None:
    x = np.array([0.0, 1.0, 0.0])
    f = lambda x: np.sum(clip_gradient(x, norm=2.0) ** 0.5)  # noqa: E731
    np.testing.assert_allclose(grad(f)(x), [2.0**0.5, 0.0, 2.0**0.5])
    g = grad(lambda d: np.sqrt(clip_gradient(d, norm=1.0)["a"]) + d["b"])({"a": 0.0, "b": 1.0})
    assert g == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("options", "error"),
    [({}, TypeError), ({"value": 1.0, "norm": 1.0}, TypeError), ({"norm": -1.0}, ValueError),
     ({"value": math.nan}, ValueError)],
)  # fmt: skip
def test_bounds_that_make_no_sense(options: dict[str, float], error: type) -> None:
    with pytest.raises(error):
        clip_gradient(1.0, **options)
    with pytest.raises(error):
        grad(lambda x: clip_gradient(x, **options))(1.0)


@pytest.mark.parametrize("name", sorted(CARRIERS))
def test_forward_mode_copies_values_of_any_kind(name: str) -> None:
    f = read_from(name, lambda make, v: hook(lambda g: g, make(v)))
    _, slope = jvp(f, (np.array([2.0, 3.0]),), (np.array([1.0, 0.5]),))
    np.testing.assert_allclose(slope, 14.0)
