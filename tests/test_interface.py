"""`value_and_grad`, `grad` and `vjp`: arguments, structure of gradients, restored state."""

from __future__ import annotations

import collections
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from mooncake_py import MutableTangent, NoTangent, grad, jvp, value_and_grad, vjp
from mooncake_py.errors import NonScalarOutputError
from mooncake_py.rules.declare import from_vjp
from tests.support.gradients import bits, check

X = np.array([0.3, -1.2, 0.7])


def weighted(x, y, *, power=2, scale=1.0):
    return np.sum(x**power) * scale + np.sum(x * y)


# argnums


def test_argnums_position_negative_tuple_and_name_agree():
    x, y = X.copy(), X + 1.0
    dx, dy = 2 * x + y, x
    np.testing.assert_allclose(grad(weighted)(x, y), dx)
    np.testing.assert_allclose(grad(weighted, 1)(x, y), dy)
    np.testing.assert_allclose(grad(weighted, -2)(x, y), dx)
    np.testing.assert_allclose(grad(weighted, "y")(x, y), dy)
    got = grad(weighted, (1, "x", -1))(x, y)
    assert type(got) is tuple
    for g, expected in zip(got, (dy, dx, dy), strict=True):
        np.testing.assert_allclose(g, expected)


def test_argnums_of_keyword_arguments():
    x, y = X.copy(), X + 1.0
    assert grad(weighted, "scale")(x, y, scale=3.0) == pytest.approx(np.sum(x**2))
    np.testing.assert_allclose(grad(weighted, 1)(x, y=y), x)
    np.testing.assert_allclose(grad(weighted, "y")(y=y, x=x), x)


def test_argnums_same_argument_twice_has_one_gradient():
    assert grad(lambda x: x * x, (0, 0, "x"))(3.0) == (6.0, 6.0, 6.0)


def test_argnums_tuple_of_one_gives_tuple():
    assert grad(lambda x: x * x, (0,))(3.0) == (6.0,)


def test_argnums_among_variable_arguments():
    assert grad(lambda *a, **k: a[1] * k["z"], (1, "z"))(1.0, 2.0, z=5.0) == (5.0, 2.0)


# has_aux, kwargs, values


def test_has_aux_is_plain_and_copied():
    def f(x):
        x *= 2
        return np.sum(x * x), {"x": x, "parts": [x[0], (x[1] * 2,)], "n": 3}

    x = X.copy()
    (value, aux), g = value_and_grad(f, has_aux=True)(x)
    assert value == pytest.approx(4 * np.sum(X**2))
    np.testing.assert_array_equal(aux["x"], 2 * X)
    assert type(aux["parts"][0]) is np.float64
    assert type(aux["parts"][1][0]) is np.float64
    np.testing.assert_allclose(g, 8 * X)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(grad(f, has_aux=True)(x)[0], 8 * X)


def test_value_that_aliases_an_argument_is_a_copy():
    def f(x):
        x *= 3
        return x

    x = np.array(2.0)
    value, g = value_and_grad(f)(x)
    assert (float(value), float(g), float(x)) == (6.0, 3.0, 2.0)
    assert not np.shares_memory(value, x)


def test_gradient_is_new_memory():
    x = X.copy()
    g = grad(lambda a: np.sum(a))(x)
    assert not np.shares_memory(g, x)
    assert g.flags.writeable
    h = grad(lambda a: np.sum(a))(x)
    g += 1
    np.testing.assert_array_equal(h, 1.0)


@pytest.mark.without_modes("the second derivative of abs at zero is the subgradient's", "inside")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_gradient_has_dtype_and_shape_of_the_argument(dtype):
    x = np.arange(6, dtype=dtype).reshape(2, 3).T
    g = grad(lambda a: np.sum(abs(a * a)))(x)
    assert g.dtype == x.dtype
    assert g.shape == x.shape
    assert type(grad(lambda a: abs(a) * 2)(dtype(1.5))) is dtype


def test_gradient_of_complex_argument_is_dx_plus_i_dy():
    z = np.array([1.0 + 2.0j])
    np.testing.assert_allclose(grad(lambda a: np.sum(a.real**2 + 3 * a.imag))(z), [2.0 + 3.0j])


def test_function_is_wrapped():
    assert grad(weighted).__name__ == "weighted"
    assert value_and_grad(weighted).__wrapped__ is weighted


# Structure of gradients

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Box:
    a: Any
    label: str = "box"


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    n: int = 2


class Plain:
    def __init__(self, a):
        self.a = a
        self.name = "plain"


def total(value):
    """Sum of squares of everything inside."""
    if isinstance(value, (list, tuple)):
        return sum(total(v) for v in value)
    if isinstance(value, dict):
        return sum(total(v) for v in value.values())
    if isinstance(value, (Box, Frozen, Plain)):
        return total(value.a)
    return 0.0 if isinstance(value, (str, int)) else np.sum(value * value)


def test_gradient_looks_like_the_argument():
    argument = {
        "list": [1.0, X.copy(), "text", 3],
        "tuple": (2.0, (X + 1,)),
        "named": Pair(1.5, X + 2),
        "box": Box(2.5),
        "frozen": Frozen(X + 3),
        "plain": Plain([4.0]),
    }
    g = grad(total)(argument)
    assert list(g) == list(argument)
    assert g["list"][0] == 2.0
    np.testing.assert_allclose(g["list"][1], 2 * X)
    assert g["list"][2:] == [NoTangent(), NoTangent()]
    np.testing.assert_allclose(g["tuple"][1][0], 2 * (X + 1))
    assert type(g["named"]) is Pair
    np.testing.assert_allclose(g["named"].b, 2 * (X + 2))
    assert type(g["box"]) is Box
    assert (g["box"].a, g["box"].label) == (5.0, NoTangent())
    assert type(g["frozen"]) is Frozen
    np.testing.assert_allclose(g["frozen"].a, 2 * (X + 3))
    assert type(g["plain"]) is MutableTangent
    assert (g["plain"].a, g["plain"].name) == ([8.0], NoTangent())


def test_gradient_of_a_closure_is_that_of_what_it_captured():
    a = 2.0

    def scaled(x):
        return a * x

    def apply(f, x):
        return f(x) * x

    df, dx = grad(apply, (0, 1))(scaled, 3.0)
    assert df.a == 9.0
    assert dx == 12.0
    assert a == 2.0


def test_gradient_of_a_closure_that_calls_itself():
    def power_of(weight):
        def power(x, n):
            return 1.0 if n == 0 else weight[0] * x * power(x, n - 1)

        return power

    df, dx = grad(lambda f, x: f(x, 3), (0, 1))(power_of(np.array([2.0])), 3.0)
    np.testing.assert_allclose(df.weight, [324.0])
    assert df.power.weight is df.weight
    assert dx == 216.0


def test_gradient_of_a_bound_method_is_that_of_its_object():
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def at(self, x):
            return self.slope * x

    line = Line(2.0)
    g = grad(lambda f, x: f(x))(line.at, 3.0)
    assert g["__self__"].slope == 3.0
    assert line.slope == 2.0


def test_gradient_of_shared_and_cyclic_containers():
    inner = [2.0]
    g = grad(lambda p: p[0][0] * p[1][0])([inner, inner])
    assert g == [[4.0], [4.0]]
    assert g[0] is g[1]
    cyclic: list[Any] = [3.0]
    cyclic.append(cyclic)
    g = grad(lambda p: p[1][0] * p[0])(cyclic)
    assert g[0] == 6.0
    assert g[1] is g
    assert cyclic[0] == 3.0


# What one argument holds twice; of several arguments see derive/crossing/test_separation.py


def test_same_array_twice():
    x = X.copy()
    for g in grad(lambda p: np.sum(p[0] * p[1]))([x, x]):
        np.testing.assert_allclose(g, 2 * X)


def test_overlapping_views():
    x = X.copy()
    dx, dy = grad(lambda p: np.sum(p[0]) * 3 + np.sum(p[1] ** 2))([x, x[1:]])
    expected = 3 + np.array([0, 2 * X[1], 2 * X[2]])
    np.testing.assert_allclose(dx, expected)
    np.testing.assert_allclose(dy, expected[1:])


def test_lists_that_share_an_array():
    def f(lists):
        p, q = lists
        p[0] *= 2
        return np.sum(p[0] * q[1])

    x = X.copy()
    dp, dq = grad(f)(([x], [1.0, x]))
    np.testing.assert_allclose(dp[0], 8 * X)
    np.testing.assert_allclose(dq[1], 8 * X)
    np.testing.assert_array_equal(x, X)


def test_writes_through_an_alias_are_seen():
    def f(pair):
        a, b = pair
        b[0] = a[2] * 5
        return a[0] * a[1]

    x = X.copy()
    for g in grad(f)((x, x)):
        np.testing.assert_allclose(g, [0.0, 5 * X[2], 5 * X[1]])
    np.testing.assert_array_equal(x, X)


# Arguments are restored


def spoil(x, state):
    x *= 2
    state["list"].append(x[0])
    state["list"][0] = 7.0
    state["new"] = x
    state["box"].a = x[1]
    state["deque"].appendleft(x[2])
    state["set"].add(5)
    del state["gone"]
    return state


def fresh_state():
    return {
        "list": [1.0, 2.0], "box": Box(3.0), "deque": collections.deque([1.0], maxlen=1),
        "set": {1}, "gone": 4.0, "order": collections.OrderedDict(a=1.0),
    }  # fmt: skip


def raising_in_forward(x, state):
    spoil(x, state)
    raise RuntimeError("stop")


def raising_in_reverse(x, state):
    spoil(x, state)
    y = failing(x[0])
    x[:] = 0.0
    state.clear()
    return y


def failing(v):
    return v * 1.0


@from_vjp(failing)
def failing_rule(v):
    def pullback(dy):
        raise ArithmeticError("in the pullback")

    return v * 1.0, pullback


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_arguments_are_restored_after_an_exception_in_the_forward_pass(argnums):
    x, state = X.copy(), fresh_state()
    with pytest.raises(RuntimeError, match="stop"):
        grad(raising_in_forward, argnums)(x, state)
    assert bits((x, state)) == bits((X, fresh_state()))


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_arguments_are_restored_after_an_exception_in_the_reverse_pass(argnums):
    x, state = X.copy(), fresh_state()
    with pytest.raises(ArithmeticError, match="in the pullback"):
        grad(raising_in_reverse, argnums)(x, state)
    assert bits((x, state)) == bits((X, fresh_state()))


def test_arguments_are_restored_after_a_result_that_is_no_number():
    x, state = X.copy(), fresh_state()
    with pytest.raises(TypeError, match="returned"):
        grad(spoil, (0, 1))(x, state)
    assert bits((x, state)) == bits((X, fresh_state()))


def test_constant_arguments_are_restored():
    def f(x, buffer, log):
        buffer[:] = x
        log.append("called")
        return np.sum(buffer * x)

    buffer, log = np.ones(3), ["start"]
    np.testing.assert_allclose(grad(f)(X.copy(), buffer, log), 2 * X)
    np.testing.assert_array_equal(buffer, 1.0)
    assert log == ["start"]


# vjp


def test_vjp_of_structured_output():
    y, pullback = vjp(lambda x, k: {"a": [x * k, (np.sum(x),)], "n": 3}, X, 2.0)
    np.testing.assert_allclose(y["a"][0], 2 * X)
    dy = {"a": [np.array([1.0, 0.0, 2.0]), (5.0,)], "n": None}
    dx, dk = pullback(dy)
    np.testing.assert_allclose(dx, [7.0, 5.0, 9.0])
    assert dk == pytest.approx(X[0] + 2 * X[2])


def test_vjp_pullback_is_reusable_and_arguments_never_change():
    def f(x):
        x *= 2
        x[0] = x[1] * x[2]
        return x

    x = X.copy()
    y, pullback = vjp(f, x)
    np.testing.assert_array_equal(x, X)
    expected_y = np.array([4 * X[1] * X[2], 2 * X[1], 2 * X[2]])
    np.testing.assert_allclose(y, expected_y)
    (first,) = pullback(np.array([1.0, 0.0, 0.0]))
    (second,) = pullback(np.array([0.0, 1.0, 0.0]))
    (again,) = pullback(np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(first, [0.0, 4 * X[2], 4 * X[1]])
    np.testing.assert_allclose(second, [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(y, expected_y)


def test_vjp_of_aliasing_parts():
    x = X.copy()
    _, pullback = vjp(lambda p: np.sum(p[0] * p[1]), (x, x[::-1]))
    ((da, db),) = pullback(1.0)
    np.testing.assert_allclose(da, 2 * X[::-1])
    np.testing.assert_allclose(db, 2 * X)


def test_vjp_after_a_wrong_cotangent_still_works():
    _, pullback = vjp(lambda a: a * 2, X)
    with pytest.raises(TypeError, match="shape"):
        pullback(np.ones(2))
    np.testing.assert_array_equal(pullback(np.ones(3))[0], 2.0)


# Nested derivatives, threads, processes


def test_nested_derivatives():
    assert grad(lambda x: grad(lambda z: z * z * x)(3.0))(2.0) == 6.0
    assert grad(grad(lambda x: x**3))(2.0) == 12.0
    assert grad(lambda x: vjp(np.sin, x)[0])(2.0) == np.cos(2.0)


table = np.zeros(1)


def test_nested_derivative_that_reads_an_active_global():
    def f(x):
        table[0] = x
        return grad(lambda z: z * table[0])(3.0)

    assert grad(f)(2.0) == 1.0
    assert table[0] == 0.0

    def by_vjp(x):
        table[0] = x
        return vjp(lambda z: z * table[0], 3.0)[0]

    assert grad(by_vjp)(2.0) == 3.0


def test_nested_derivative_of_constants_is_a_constant():
    check(lambda x: grad(lambda z: z * z)(3.0) * x, 2.0)
    check(lambda x: x * np.sum(value_and_grad(np.sum)(np.ones(3))[1]), 2.0)


def test_threads_may_share_a_list_of_floats():
    def f(p):
        y = 0.0
        for _ in range(50):
            y = y + p["w"][0] * p["w"][1] + p["b"] * y * 0.01
        return y

    argument = {"w": [1.5, 2.5], "b": 0.5}
    expected = value_and_grad(f)(argument)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: value_and_grad(f)(argument), range(64)))
    for value, g in results:  # in debug mode sums have another order than in one entry
        np.testing.assert_allclose(
            [value, *g["w"], g["b"]], [expected[0], *expected[1]["w"], expected[1]["b"]]
        )
    assert argument == {"w": [1.5, 2.5], "b": 0.5}


def test_threads_do_not_share_tapes():
    def f(x, k):
        for _ in range(20):
            x = x * 1.01 + k
        return np.sum(x * x)

    expected = [grad(f)(X, k) for k in range(16)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda k: grad(f)(X, k), range(16)))
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_array_equal(g, e)


def test_gradient_pickles():
    g = grad(total)({"a": Plain(2.0)})
    assert pickle.loads(pickle.dumps(g)) == g


def test_a_missing_return_in_forward_mode():
    def f(x):
        x * 2.0

    for tangents in ((1.0,), [(1.0,), (2.0,)], [], (None,)):
        with pytest.raises(
            NonScalarOutputError, match=r"returned None(.*\n.*)is a `return` missing"
        ):
            jvp(f, (3.0,), tangents)
    with pytest.raises(NonScalarOutputError, match="returned None"):
        grad(lambda x: jvp(f, (x,), (1.0,))[1])(3.0)
    assert jvp(lambda x: [x, None], (3.0,), (1.0,))[0] == [3.0, None]
