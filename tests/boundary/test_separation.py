"""Arguments that share memory: separate variables, and no writes into what they share."""

import contextlib
import ctypes
import types
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    Params,
    SharedArgumentsError,
    build_rrule,
    checkpoint,
    debug_mode,
    grad,
    gradient,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    pullback,
    rrule,
    value_and_grad,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.boundary.separation import separation
from tests.support.pairs import rotating

X = np.array([0.5, -1.5, 2.0])
V = np.array([1.0, 0.25, -2.0])
CAPTURED = np.array([0.5, -1.5, 2.0])


def f(x, y):
    return np.sum(x * y * y)


def with_captured(x, y):
    return np.sum(x * y * y * CAPTURED)


WITH_RESPECT_TO_Y = {
    "grad": lambda f, x: grad(f, 1)(x, x),
    "grad_by_name": lambda f, x: grad(f, "y")(x, y=x),
    "grad_both": lambda f, x: grad(f, (0, 1))(x, x)[1],
    "value_and_grad": lambda f, x: value_and_grad(f, 1)(x, x)[1],
    "debug": lambda f, x: grad(f, 1, debug=True)(x, x),
    "vjp": lambda f, x: vjp(f, x, x)[1](1.0)[1],
    "gradient": lambda f, x: gradient(f, x, x)[1],
    "pullback": lambda f, x: pullback(f, x, x)[1](1.0)[1],
    "jacobian": lambda f, x: jacobian(f, 1)(x, x),
    "jacobian_forward": lambda f, x: jacobian(f, (0, 1), mode="forward")(x, x)[1],
    "jacobian_reverse": lambda f, x: jacobian(f, (0, 1), mode="reverse")(x, x)[1],
    "jvp": lambda f, x: [jvp(f, (x, x), (None, row))[1] for row in np.eye(3)],
    "jvp_both": lambda f, x: [
        jvp(f, (x, x), (V, row))[1] - jvp(f, (x, x), (V, None))[1] for row in np.eye(3)
    ],
    "value_grad_and_hessian": lambda f, x: value_grad_and_hessian(f, 1)(x, x)[1],
}


@pytest.mark.parametrize("way", WITH_RESPECT_TO_Y)
def test_an_array_passed_twice_is_two_variables(way):
    x = X.copy()
    np.testing.assert_allclose(WITH_RESPECT_TO_Y[way](f, x), 2 * X * X)
    np.testing.assert_array_equal(x, X)


def test_value_is_that_of_the_plain_call():
    x = X.copy()
    assert value_and_grad(f)(x, x)[0] == vjp(f, x, x)[0] == f(x, x)


def test_gradients_of_one_array_are_two_arrays():
    x = X.copy()
    dx, dy = grad(f, (0, 1))(x, x)
    np.testing.assert_allclose(dx, X * X)
    np.testing.assert_allclose(dy, 2 * X * X)
    assert not np.shares_memory(dx, dy)


def test_pullback_runs_again_with_arguments_apart():
    _, back = vjp(f, X, X)
    first, again = back(1.0), back(2.0)
    np.testing.assert_allclose(first[0], X * X)
    np.testing.assert_allclose(again[1], 4 * X * X)


def test_second_derivatives_are_partial():
    x = X.copy()
    np.testing.assert_allclose(hessian(f, 1)(x, x), 2 * np.diag(X))
    np.testing.assert_allclose(hvp(f, (x, x), V, 1), 2 * X * V)
    np.testing.assert_allclose(hessian_diagonal(f, 1)(x, x), 2 * X)
    mixed = hessian(f, (0, 1))(x, x)
    np.testing.assert_allclose(mixed[0][1], 2 * np.diag(X))
    np.testing.assert_array_equal(mixed[0][0], 0.0)


INSIDE = {
    "grad": (lambda z: np.sum(grad(f)(z, z)), 2 * X),
    "vjp": (lambda z: np.sum(vjp(f, z, z)[1](1.0)[0]), 2 * X),
    "views": (lambda z: np.sum(vjp(lambda a, b: np.sum(a[1:] * b * b), z, z[1:])[1](1.0)[0]),
              [0.0, 2 * X[1], 2 * X[2]]),
    "jvp": (lambda z: jvp(f, (z, z), (V, None))[1], 2 * X * V),
    "hvp": (lambda z: np.sum(hvp(f, (z, z), V, 1)), 2 * V),
    "hessian": (lambda z: np.sum(hessian(f, 1)(z, z)), [2.0, 2.0, 2.0]),
    "jacobian": (lambda z: np.sum(jacobian(lambda a, b: a * b * b, mode="reverse")(z, z)), 2 * X),
    "list": (lambda z: np.sum(grad(lambda p, y: np.sum(p[0] * y * y), 1)([z], z)), 4 * X),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("inner", INSIDE)
def test_inside_another_derivative(inner):
    function, expected = INSIDE[inner]
    np.testing.assert_allclose(grad(function)(X.copy()), expected, atol=1e-12)
    np.testing.assert_allclose(jvp(function, (X.copy(),), (V,))[1], np.dot(expected, V), atol=1e-12)


# Which memory is shared.


def test_views_that_overlap_in_part():
    x = X.copy()
    dx, dy = grad(lambda x, y: np.sum(x[1:] * y), (0, 1))(x, x[1:])
    np.testing.assert_allclose(dx, [0.0, X[1], X[2]])
    np.testing.assert_allclose(dy, X[1:])


def scale_both(x, y):
    x *= 2
    y *= 3
    return np.sum(x * y * y)


@pytest.mark.parametrize(("first", "second"), [
    (slice(3), slice(3, 6)), (slice(0, 6, 2), slice(1, 6, 2)), (slice(2, None, -1), slice(3, 6)),
])  # fmt: skip
def test_views_of_disjoint_parts_are_written_like_any_arrays(first, second):
    base = np.arange(1.0, 7.0)
    expected = grad(scale_both, (0, 1))(base[first].copy(), base[second].copy())
    found = grad(scale_both, (0, 1))(base[first], base[second])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(base, np.arange(1.0, 7.0))


def test_constants_may_share_and_be_written():
    def f(w, x, y):
        x[0] = 7.0
        return w * np.sum(y)

    x = X.copy()
    assert grad(f)(2.0, x, x) == 7.0 + X[1] + X[2]


def model():
    m = types.SimpleNamespace(w=X.copy(), k=2.0)
    return m, types.SimpleNamespace(model=m, step=0)


def product(m, outer):
    return np.sum(m.w * outer.model.w**2) * m.k * outer.model.k


def test_objects_reached_from_two_arguments():
    m, outer = model()
    dm, douter = grad(product, (0, 1))(m, outer)
    np.testing.assert_allclose(dm.w, 4 * X**2)
    np.testing.assert_allclose(douter.model.w, 8 * X**2)
    assert dm.k == douter.model.k == 2 * np.sum(X**3)
    np.testing.assert_allclose(grad(product)(m, outer).w, 4 * X**2)
    np.testing.assert_array_equal(m.w, X)
    assert outer.model is m
    assert m.k == 2.0


SHARED = {
    "dict and array": (lambda x: ({"a": x}, x), lambda p: p["a"]),
    "list twice": (lambda x: ([x],) * 2, lambda p: p[0]),
    "lists": (lambda x: ([x], [x]), lambda p: p[0]),
    "tuple": (lambda x: ((x, 1), x), lambda p: p[0]),
    "object": (lambda x: (types.SimpleNamespace(a=x), x), lambda p: p.a),
    "closure": (lambda x: ((lambda: x), x), lambda p: p()),
    "view in list": (lambda x: ([x[::-1]], x), lambda p: p[0][::-1]),
}


@pytest.mark.parametrize("case", SHARED)
def test_arrays_within_arguments(case):
    make, get = SHARED[case]
    x = X.copy()
    first, second = make(x)

    def f(p, q):
        y = q if type(q) is np.ndarray else q[0]
        return np.sum(get(p) * y * y)

    found = grad(f, 1)(first, second)
    np.testing.assert_allclose(found if type(found) is np.ndarray else found[0], 2 * X * X)
    get_array = grad(f, (0, 1))(first, second)[0]
    if case != "closure":
        np.testing.assert_allclose(get(get_array), X * X)


def test_a_list_of_numbers_passed_twice():
    numbers = [1.5, 2.0]
    f = lambda a, b: a[0] * b[0] ** 2 + a[1]  # noqa: E731
    assert grad(f, (0, 1))(numbers, numbers) == ([2.25, 1.0], [4.5, 0.0])
    assert grad(f)(numbers, numbers) == [2.25, 1.0]
    assert numbers == [1.5, 2.0]


def test_what_one_argument_holds_twice_is_one_variable():
    x = X.copy()
    (da, db), dy = grad(lambda p, y: np.sum(p[0] * p[1] * y), (0, 1))((x, x), x)
    np.testing.assert_allclose(da, 2 * X * X)
    np.testing.assert_allclose(db, 2 * X * X)
    np.testing.assert_allclose(dy, X * X)


def test_parameters_that_share_memory_are_no_separate_variables():
    x = X.copy()
    tail = x[1:]
    grads = gradient(lambda: np.sum(x * x), params=Params([x, tail]))
    np.testing.assert_allclose(grads[x], 2 * X)
    np.testing.assert_allclose(grads[tail], 2 * X[1:])


def test_rules_keep_shared_cotangents():
    x = X.copy()
    dx = np.zeros(3)
    _, back = build_rrule(f)(CoDual(f, NoFData()), CoDual(x, dx), CoDual(x, dx))
    back(1.0)
    np.testing.assert_allclose(dx, 3 * X * X)


# Writes.


def overwrite(x, y):
    x[0] = y[1] * 2
    return np.sum(x * y)


def add_in_place(x, y):
    y += x
    return np.sum(x * y)


def write_out(x, y):
    np.multiply(x, 2.0, out=y)
    return np.sum(x * y)


def write_in_a_loop(x, y):
    for i in range(1, 3):
        x[i] = x[i - 1] * y[i]
    return x[2]


def swap(x, y):
    x[[0, 2]] = y[[2, 0]]
    return np.sum(x * y)


def sort(x, y):
    x.sort()
    return np.sum(x * y)


def wait_for_the_other(x, y):
    while y[0] < 10.0:
        x[0] += 1.0
    return np.sum(x * y)


def raise_by_the_other(x, y):
    x[0] = 5.0
    if y[0] != 5.0:
        raise RuntimeError("not seen")
    return np.sum(x * y)


def swallow(x, y):
    with contextlib.suppress(Exception):
        x[0] = 5.0
    return np.sum(x * y)


WRITES = [overwrite, add_in_place, write_out, write_in_a_loop, swap, sort, wait_for_the_other,
          raise_by_the_other, swallow]  # fmt: skip
RUNS = {
    "grad": lambda f, x: grad(f)(x, x),
    "grad_of_second": lambda f, x: grad(f, 1)(x, x),
    "grad_of_both": lambda f, x: grad(f, (0, 1))(x, x),
    "debug": lambda f, x: grad(f, debug=True)(x, x),
    "vjp": lambda f, x: vjp(f, x, x),
    "jvp": lambda f, x: jvp(f, (x, x), (V, None)),
    "jvp_of_both": lambda f, x: jvp(f, (x, x), (V, V)),
    "hvp": lambda f, x: hvp(f, (x, x), V),
    "hessian": lambda f, x: hessian(f)(x, x),
    "jacobian": lambda f, x: jacobian(f, mode="reverse")(x, x),
    "inside": lambda f, x: grad(lambda z: np.sum(grad(f)(z, z)))(x),
    "inside_vjp": lambda f, x: grad(lambda z: np.sum(vjp(f, z, z)[1](1.0)[0]))(x),
    "inside_jvp": lambda f, x: jvp(lambda z: np.sum(grad(f)(z, z)), (x,), (V,)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("write", "way"), rotating(WRITES, RUNS, times=2))
def test_a_write_into_shared_memory_is_an_error(write, way):
    x = X.copy()
    with pytest.raises(SharedArgumentsError, match=r"argument 0 \('x'\) and argument 1 \('y'\)"):
        RUNS[way](write, x)
    np.testing.assert_array_equal(x, X)


def test_the_error_names_place_and_fix():
    with pytest.raises(SharedArgumentsError) as caught:
        grad(overwrite)(X, X)
    error = caught.value
    assert error.where is not None
    assert error.where.function == "overwrite"
    assert "lambda x: f(x, x)" in error.fix
    assert "x.copy()" in error.fix


@pytest.mark.parametrize("write", WRITES[:6], ids=lambda f: f.__name__)
def test_the_fixes_of_the_message(write):
    x = X.copy()
    step = 1e-6
    rows = [
        (write(*[x + step * e] * 2) - write(*[x - step * e] * 2)) / (2 * step) for e in np.eye(3)
    ]
    np.testing.assert_allclose(grad(lambda x: write(x, x))(x), rows, atol=1e-7)
    grad(write)(x, x.copy())
    np.testing.assert_array_equal(x, X)


def test_a_write_beside_the_shared_part_is_allowed():
    def f(x, y):
        x[0] *= 3.0
        return np.sum(x) * np.sum(y)

    x = X.copy()
    for argnums in (0, 1):
        expected = grad(f, argnums)(x, x[1:].copy())
        np.testing.assert_array_equal(grad(f, argnums)(x, x[1:]), expected)
        with pytest.raises(SharedArgumentsError):
            grad(f, argnums)(x, x[:2])
    np.testing.assert_array_equal(x, X)


def test_a_later_write_into_the_shared_part_is_found():
    def f(x, y):
        for i in range(3):
            x[i] = x[i] * x[i]
            y = y + 0.0
        return np.sum(x) * np.sum(y)

    x = X.copy()
    with pytest.raises(SharedArgumentsError):
        grad(f)(x, x[2:])


def test_a_write_into_a_shared_container_is_an_error():
    def change_list(a, b):
        a[0] = 3.0
        return a[0] * b[0]

    def append(a, b):
        b.append(3.0)
        return a[0] * b[0]

    numbers = [1.5, 2.0]
    for write in (change_list, append):
        for argnums in (0, 1, (0, 1)):
            with pytest.raises(SharedArgumentsError, match="argument 0"):
                grad(write, argnums)(numbers, numbers)
    assert numbers == [1.5, 2.0]


def test_a_write_into_a_shared_object_is_an_error():
    def change(m, outer):
        m.k = 3.0
        return m.k * outer.model.k

    def change_array(m, outer):
        outer.model.w *= 2.0
        return np.sum(m.w * outer.model.w)

    for write in (change, change_array):
        m, outer = model()
        for argnums in (0, 1, (0, 1)):
            with pytest.raises(SharedArgumentsError, match="argument 1"):
                grad(write, argnums)(m, outer)
        assert m.k == 2.0
        np.testing.assert_array_equal(m.w, X)


def test_a_write_into_a_container_that_holds_an_array_of_another_argument_is_an_error():
    def add_a_key(x, state):
        state["n"] = 1
        return np.sum(x * state["x"])

    x = X.copy()
    names = r"argument 1 \('state'\) and another argument share"
    with pytest.raises(SharedArgumentsError, match=names):
        grad(add_a_key)(x, {"x": x})


def test_what_shares_no_numbers_may_be_written():
    def f(m, counts):
        counts["calls"] += 1
        return m["x"] * m["counts"]["calls"]

    counts = {"calls": 1}
    assert grad(f)({"x": 3.0, "counts": counts}, counts)["x"] == 2.0
    assert counts == {"calls": 1}


# Captured and global arrays.


def test_a_captured_array_beside_arguments_that_share_it():
    np.testing.assert_allclose(grad(with_captured)(CAPTURED, CAPTURED), X**3)
    dx, dy = grad(with_captured, (0, 1))(CAPTURED, CAPTURED)
    np.testing.assert_allclose((dx, dy), (X**3, 2 * X**3))
    _, dz = jvp(with_captured, (CAPTURED,) * 2, (V, V))
    np.testing.assert_allclose(dz, np.dot(3 * X**3, V))
    found = hvp(with_captured, (CAPTURED,) * 2, (V, V), (0, 1))
    np.testing.assert_allclose(found, (2 * X**2 * V, 4 * X**2 * V))


def test_a_global_name_that_writes_into_shared_memory_is_an_error():
    def write(x, y):
        CAPTURED[0] = 3.0
        return np.sum(x * y)

    for argnums in (0, 1, (0, 1)):
        with pytest.raises(SharedArgumentsError):
            grad(write, argnums)(CAPTURED, CAPTURED)
    np.testing.assert_array_equal(CAPTURED, X)


# Handwritten rules.


def test_a_rule_that_reads_and_one_that_writes():
    def dot(x, y):
        return float(np.sum(x * y))

    def halve(x, y):
        x *= 0.5
        return float(np.sum(x * y))

    @rrule.register(dot)
    def dot_rule(_, x, y):
        def back(dz):
            x.fdata[...] += dz * y.primal
            y.fdata[...] += dz * x.primal
            return NoRData(), NoRData(), NoRData()

        return CoDual(dot(x.primal, y.primal), NoFData()), back

    @rrule.register(halve)
    def halve_rule(_, x, y):
        old = x.primal.copy()
        out = halve(x.primal, y.primal)

        def back(dz):
            x.primal[...] = old
            return NoRData(), NoRData(), NoRData()

        return CoDual(out, NoFData()), back

    np.testing.assert_allclose(grad(lambda x, y: dot(x, y))(X, X), X)
    x = X.copy()
    with pytest.raises(SharedArgumentsError):
        grad(lambda x, y: halve(x, y))(x, x)
    np.testing.assert_array_equal(x, X)


def test_debug_mode_as_a_block():
    with debug_mode():
        np.testing.assert_allclose(grad(f, (0, 1))(X, X)[1], 2 * X * X)


def test_one_tuple_as_two_arguments_is_two_variables():
    def f(p, q, r=None):
        return p[0] * p[0] * q[0] + (0.0 if r is None else r["t"][0] * p[0])

    t = (3.0,)
    assert grad(f, (0, 1))(t, t) == ((18.0,), (9.0,))
    assert grad(f, (0, 1), mode="forward")(t, t) == ((18.0,), (9.0,))
    assert grad(f, (0, "q"))(t, q=t) == ((18.0,), (9.0,))
    assert grad(f, (0, 1, 2))(t, t, {"t": t}) == ((21.0,), (9.0,), {"t": (3.0,)})
    assert vjp(f, t, t)[1](1.0) == ((18.0,), (9.0,))
    assert jacobian(f, (0, 1))(t, t) == ((18.0,), (9.0,))
    assert jvp(f, (t, t), ((1.0,), (0.0,))) == (27.0, 18.0)
    assert hvp(f, (t, t), ((1.0,), (0.0,)), argnums=(0, 1)) == ((6.0,), (6.0,))
    assert grad(lambda s: sum(g[0] for g in grad(f, (0, 1))((s,), (s,))))(3.0) == 18.0
    held = (t, 1)
    assert grad(lambda p, q: p[0][0] * q[0][0], (0, 1))(held, held)[0][0] == (3.0,)


class Pair(NamedTuple):
    a: float
    b: float


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float


@pytest.mark.parametrize("value", [Pair(3.0, 1.0), Frozen(3.0, 1.0)], ids=["named", "frozen"])
def test_so_is_any_value_that_cannot_change(value):
    def f(p, q):
        return p.a * p.a * q.a + q.b

    found = grad(f, (0, 1))(value, value)
    parts = [(g.a, g.b) for g in found]
    assert parts == [(18.0, 0.0), (9.0, 1.0)]
    _, pullback = vjp(f, value, value)
    assert [(g.a, g.b) for g in pullback(1.0)] == parts


def test_parts_of_one_array_that_are_not_differentiated_need_no_separation():
    x, both = np.ones(3), np.ones((2, 3))
    assert separation(np.sum, [0], (x, *both), {}) is None
    assert separation(np.sum, [0], ([x, 2.0], *both), {}) is None
    assert separation(np.sum, [1], (x, both[0], [both]), {}) is not None
    assert separation(np.sum, [0], (x, [both[1], x[:2]]), {}) is not None
    assert separation(np.sum, [0, "y"], ([x], *both), {"y": [x]}) is not None


def by_ctypes(a):
    return np.ctypeslib.as_array(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), (a.size,))


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
@pytest.mark.parametrize("view", [np.from_dlpack, by_ctypes])
def test_arguments_that_share_memory_behind_their_bases_are_separate(view, argnums):
    def writes(a, v):
        a[0] = a[1] * 2
        return v[0] * a[1]

    def reads(a, v):
        return np.sum(a * v)

    a = np.array([1.0, 2.0, 3.0])
    v = view(a)
    with pytest.raises(SharedArgumentsError, match=r"'a'.*'v'"):
        grad(writes, argnums)(a, v)
    with pytest.raises(SharedArgumentsError, match="captured"):
        grad(lambda x: writes(x, v))(a)
    found = grad(reads, argnums)(a, v)
    for g in found if isinstance(found, tuple) else (found,):
        np.testing.assert_array_equal(g, a)
    np.testing.assert_array_equal(a, [1.0, 2.0, 3.0])


def overlaps(a, b):
    near = 1.0 + np.shares_memory(a[1:], b[:1]) + 4.0 * np.may_share_memory(a[:1], b[-1:])
    return near * a.sum() + b.sum() * (2.0 + np.shares_memory(a, b) + 8.0 * (a is b))


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)], ids=str)
def test_programs_that_ask_whether_arguments_share_memory(argnums: Any, k: int) -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.arange(12.0).reshape(3, 4)
    a, b = [(x, x), (x, x[::-1]), (x[:2], x[1:]), (x[:1], x[2:]), (y, y.T), (x, y), (y[0], y)][k]
    expected = overlaps(a, b)
    assert value_and_grad(overlaps, argnums)(a, b)[0] == expected
    assert value_and_grad(overlaps, argnums, debug=True)(a, b)[0] == expected
    assert vjp(overlaps, a, b)[0] == jvp(overlaps, (a, b), (a, b))[0] == expected
    assert value_and_grad(lambda a, b: checkpoint(overlaps, a, b), argnums)(a, b)[0] == expected
