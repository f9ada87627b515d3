"""`jvp` along several directions: the tangents are those of one direction at a time."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import NoTangent, debug_mode, from_vjp, frule, grad, jvp
from mooncake_py.errors import InvalidTangentError, MissingRuleError
from mooncake_py.modes.forward import several
from mooncake_py.tangents import Dual
from tests.modes.forward.test_values import PROGRAMS, Point

A = np.array([[0.3, -1.2, 0.7], [0.5, 0.9, -0.4]])
S = 1.5
RANDOM = np.random.default_rng(5)
DIRECTIONS = [(RANDOM.standard_normal(A.shape), float(RANDOM.standard_normal())) for _ in range(3)]
ROUNDING = {"f": 1e-6, "F": 1e-6}  # by the character of the dtype


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the runs, those along several directions and those along one."""
    ran: list[str] = []

    def noting(name: str) -> Any:
        run = getattr(several, name)

        def noted(*args: Any) -> Any:
            ran.append(name)
            return run(*args)

        return noted

    for name in ("along_each", "push_forward"):
        monkeypatch.setattr(several, name, noting(name))
    return ran


def check(f: Any, primals: Any, directions: Any) -> None:
    """Compare with one direction at a time: values, structures, what is restored."""
    before = copy.deepcopy(primals)
    y, tangents = jvp(f, primals, directions)
    same(primals, before)
    assert len(tangents) == len(directions)
    for direction, dy in zip(directions, tangents, strict=True):
        value, expected = jvp(f, primals, direction)
        same(y, value)
        same(dy, expected)


def same(found: Any, expected: Any) -> None:
    """Compare values or tangents but for rounding: types, structures, dtypes."""
    assert type(found) is type(expected)
    if isinstance(expected, (list, tuple)):
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    elif isinstance(expected, dict):
        same(list(found.items()), list(expected.items()))
    elif isinstance(expected, Point):
        same(vars(found), vars(expected))
    elif isinstance(expected, (np.ndarray, float, complex, np.number)):
        a, b = np.asarray(found), np.asarray(expected)
        assert a.dtype == b.dtype
        rtol = ROUNDING.get(b.dtype.char, 1e-14)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def arithmetic(a, s):
    b = a * a - a / (2.0 + a * a) + s * a - a / s + (-a) + 1 / (3 - a)
    t = s * s + 2.0 / s - s**3 + abs(s) * math.exp(-s)
    return b * t, t, t * 2


def broadcasting(a, s):
    row, column = a[0], a[:, :1]
    return row * column + s, column - row, (row + column) / a, row * 2.0 + np.ones((4, 3))


def broadcasting_of_constants(a, s):
    return np.ones((3, 1)) * a[0], np.arange(3) * s, a[0] + np.zeros((2, 1)), s + np.ones((2, 2))


def layouts(a, s):
    b = a.T * 2.0
    c = np.asfortranarray(a) * s
    d = b[::-1, 1] + c[1, ::2][0]
    c[0] += d
    return b, c, c.T @ b.T, b.ravel(), np.array(a.T, order="F")


def views(a, s):
    b = a.copy()
    v = b[::-1, ::2]
    v *= s
    v[0] -= b[0, 1]
    w = b.reshape(3, 2).T[1:]
    w /= 2.0
    flat = b.ravel()
    flat[1:3] = b[1, :2]
    c = b[None, :, 1]
    return b, v, w, c, b.diagonal(), b.sum(axis=0)


def elements(a, s):
    b = np.zeros((2, 3))
    b[0, 0] = a[1, 2] * s
    b[1] = a[0]
    b[:, 1] = s
    b[0] += a[1]
    b[1, -1] *= a[0, 0]
    b[0, 1:] -= 1.0
    before, part = b[0, 2] * 1.0, b[0, 2]
    b[1, 0] = 2.0
    b[0, 2] = 7.0
    return b, b[0, 0], b[np.int64(1), 0], before, part


def index_arrays(a, s):
    b = a * s
    i = np.array([1, 0, 1])
    b[:, i] = a + 1.0
    c = b[i] * b[[0, 1, 1], [2, 0, 2]]
    b[b > 0.5] = s
    b[i[:2] > 0, 0] *= 2.0
    b[0, [True, False, True]] = a[0, :2]
    d = np.stack([b, b])[:, 0, i]
    d[[0, 1], [0, 2]] = s
    return b, c, d, b[b > 0.7], b[1, np.array(2)]


def repeated_index(a, s):
    b = np.zeros(4)
    b[np.array([1, 1, 2])] = a[0]
    b[[2, 2]] += s
    np.add.at(b, [0, 0, 3], a[1])
    return b


def in_place(a, s):
    a += a
    a *= s
    a -= a[0]
    a /= 1.0 + a * a
    a **= 2
    s += 1.0
    s *= a[0, 0]
    a[1] **= 2
    return a, s


def functions(a, s):
    b = np.sin(a) * np.hypot(a, s) + np.where(a > 0, a, s * a) + np.maximum(a, s * 0.1)
    c = np.concatenate([a, b], axis=1)
    d = np.mean(c, axis=0) + np.cumsum(c, axis=1)[1] + np.einsum("ij,ij->j", c, c)
    e = np.linalg.inv(a @ a.T + np.eye(2))
    return b, d, e, np.sort(a, axis=1), np.linalg.norm(a), np.prod(a), math.hypot(s, s), a.max()


def reductions(a, s):
    b = a * s
    c = b[:, :, None] * a[0]
    return (
        np.sum(b), b.sum(axis=1), np.mean(b, axis=0, keepdims=True), b.mean(keepdims=True),
        c.sum(axis=(0, -1)), np.sum(c, axis=(-2, 0)), np.sum(c, -1), np.sum(b.T, axis=0),
        np.sum(b, initial=2.0), np.sum(b, where=a > 0, axis=1), np.sum(s), np.sum(b[0, 0]),
        np.mean(a[:1], axis=-2), np.sum(a.astype(np.float32), axis=0), np.sum(c, axis=()),
    )  # fmt: skip


def products(a, s):
    b, v, w = a.T * s, a[0], a[:, 1] * s
    ones = np.ones((3, 2))
    return (
        a @ b, a @ v, w @ a, v @ v, w @ w, np.dot(b, a), np.dot(v, b), a.dot(v), ones @ a,
        a @ ones, np.ones(3) @ v, ones @ w, w @ np.ones((2, 3)), np.dot(a, s), np.matmul(b.T, b),
        np.stack([a, a]) @ b, np.array([1, 2]) @ a, a @ np.array([1, 2, 3]), a.T[::-1] @ a,
    )  # fmt: skip


def sequences(a, s):
    t = a[0, 0] * s
    return (
        np.array([s, 2.0, t]), np.array([[s, 1.0], [2.0, t]]), np.array([a[0], np.ones(3), a[1]]),
        np.array([s, 1], dtype=np.float32), np.array([t * 1j, 2.0]),
        np.array([[s], [t]], order="F"), np.array([np.array(s), t]), np.array([np.array(1.0), t]),
        np.array([t, 3], ndmin=2), np.asarray([s, t]),
    )  # fmt: skip


def joined(a, s):
    return np.concatenate([a, np.ones((1, 3)), a * s]), np.stack([a[0], [1.0, s, 2.0]], axis=1)


def choices(a, s):
    return np.where(a > 0, a, s), np.maximum(a, 0.2), np.clip(a, -0.5, s), np.abs(a), np.fmin(a, s)


def output_arguments(a, s):
    b = np.empty((2, 3))
    np.multiply(a, s, out=b)
    np.add(b, a, b)
    np.exp(b, out=b)
    np.sum(a * s, axis=0, out=b[0])
    return b


def masked_output(a, s):
    b = np.ones((2, 3))
    np.divide(a, s, out=b, where=a > 0)
    return b


def repeated(a, s):
    b = a
    for _ in range(4):
        b = b * s + a
    return b


def precision(a, s):
    b = a.astype(np.float32)
    c = b * np.float32(2) + b[0]
    c *= s
    return c, c[0, 0], b.sum(), a * np.ones(3, np.float32)


def complex_numbers(a, s):
    z = a * 1j + s
    z *= 1 + 2j
    w = z[0, 0] * s
    return z * z, abs(z), w, w.real, np.conj(z), np.abs(w)


def whole_numbers(a, s):
    n = np.zeros((2, 3), int)
    n[...] = a * 10
    return n * a, np.floor(a), a > 0, round(s), a * np.array([1, 2, 3])


def without_axes(a, s):
    z = np.array(s * 2.0)
    z += a[0, 0]
    z *= s
    z[...] = z * z
    return z, z + a, np.sum(a) * z


def containers(a, s):
    held = {"a": [a[0], s], "p": Point(s * 2, "name", (a,))}
    held["a"].append(a[1] * s)
    held["a"][1] *= 3.0
    held["p"].x += a[0, 0]
    return held, [s, 2, "text"], None


def not_finite(a, s):
    zero = a * 0.0
    with np.errstate(all="ignore"):
        return np.sqrt(zero), zero / zero, a / zero, np.log(zero) * a, np.float64(s) / zero[0, 0]


def calls(a, s):
    def inner(u, *, v=2.0):
        return u * v, u + s

    total = np.zeros(3)
    for row in a:
        u, v = inner(row, v=s)
        total = total + u * v
    return total, sum(list(a[0])), max(s, a[0, 0]), [x * s for x in a[0]]


def shapes_in_place(a, s):
    b = a * s
    b.shape = (3, 2)
    return b * 2.0


def own_memory(a, s):
    w = np.lib.stride_tricks.sliding_window_view(a[0], 2)
    return w * s, np.broadcast_to(a[0], (2, 3)) * a, np.triu(a), np.diag(a[:, :2]), a.T.copy()


TOGETHER = [
    arithmetic, broadcasting, broadcasting_of_constants, layouts, views, elements, index_arrays,
    repeated_index, in_place, functions, reductions, products, sequences, joined, choices,
    output_arguments, precision, complex_numbers, whole_numbers, without_axes, containers,
    not_finite, calls, own_memory, masked_output, repeated,
]  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize("program", TOGETHER, ids=lambda f: f.__name__)
def test_one_run_has_the_tangents_of_all_directions(program: Any, runs: list[str]) -> None:
    check(program, (A.copy(), S), DIRECTIONS)
    assert runs == ["along_each"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_of_every_kind(program: Any) -> None:
    x = np.array([0.3, -1.2, 0.7, 0.5])
    check(program, (x,), [(v,) for v in np.eye(4)])


def loops(a, s):
    for i in range(2):
        for j in range(1, 3):
            a[i, j] = a[i, j - 1] * s + a[i, j]
    return a


def loops_over_lists(a, s):
    held = [a[0, 0], s, a[1, 1] * s]
    for _ in range(20):
        for i in range(1, 3):
            held[i] = held[i] * 0.5 + held[i - 1]
    return held, a * held[2]


def inner_gradient(a, s):
    b = a * s
    g = grad(lambda b: np.sum(b**3) * s)(b)
    return b * g


def late_loop(a, s):
    v = (a * s)[:, ::2]
    column, number = a[:, 1] * s, s * s
    loops(a, s)
    v *= number
    return a, v, column * number, number


ONE_BY_ONE = [loops, loops_over_lists, inner_gradient, late_loop, shapes_in_place]


@pytest.mark.plain
@pytest.mark.parametrize("program", ONE_BY_ONE, ids=lambda f: f.__name__)
def test_what_takes_one_tangent_runs_once_for_each(program: Any, runs: list[str]) -> None:
    check(program, (A.copy(), S), DIRECTIONS)
    assert runs == ["along_each", "push_forward", "push_forward"]


@pytest.mark.plain
def test_more_directions_than_one_run_takes(runs: list[str]) -> None:
    x = np.linspace(0.1, 1.0, 2 * several.AT_ONCE + 1)
    check(lambda x: np.cumsum(x * x), (x,), [(e,) for e in np.eye(len(x))])
    assert runs == ["along_each", "along_each", "push_forward"]


def test_one_direction_and_none() -> None:
    y, tangents = jvp(np.square, (3.0,), [])
    assert (y, tangents) == (9.0, [])
    assert jvp(np.square, (3.0,), [(2.0,)]) == (9.0, [12.0])


def test_zero_tangents_and_constants() -> None:
    directions = [(None, 1.0, None), (A, None, None), (None, None, None)]
    check(lambda a, s, n: (a * s * n, s * n), (A.copy(), S, 3), directions)
    y, (dy, _) = jvp(lambda a: (a, 3), (A,), [(A,), (A,)])
    assert type(dy[1]) is NoTangent
    assert y[0] is not A


def test_structures_of_arguments() -> None:
    def f(d, p):
        d["a"][0] *= p.x
        p.at.append(d["a"].sum())
        return d, p, [v * 2 for v in p.at]

    d, p = {"a": A[0].copy(), "b": S}, Point(2.0, "name", [A.copy()])
    directions = [
        ({"a": k * A[1], "b": 1.0}, Point(k, None, [k * k * A])) for k in (1.0, -2.0, 0.5)
    ]
    check(f, (d, p), directions)


def test_arguments_that_are_not_dense() -> None:
    wide = np.zeros((4, 6))[::2, ::2]
    wide[...] = A
    strange = np.lib.stride_tricks.as_strided(np.zeros(20), (2, 3), (80, 16))
    for a in (wide, strange, A.T, np.asfortranarray(A)):
        directions = [(k * a + 1.0, k) for k in (1.0, -2.0)]
        check(lambda a, s: (a * s, a[:, 0] * a[:, 1]), (a, S), directions)


def test_arrays_in_no_order_take_one_direction(runs: list[str]) -> None:
    a = np.linspace(0.0, 1.0, 24).reshape(2, 3, 4).transpose(0, 2, 1).copy("K")
    assert not a.flags.forc
    directions = [(np.sin(k * a), k) for k in (1.0, -2.0)]
    check(lambda a, s: (a * s, a[:, 0] * a[:, 1]), (a, S), directions)
    check(lambda a, s: [s * a, np.ones(2)], (a, S), [(None, 1.0), (a, 2.0)])
    assert runs == ["along_each", "push_forward"] * 2


def orders_within(a, s):
    b = np.ones((2, 2, 3)).transpose(0, 2, 1).copy("K")
    b *= s
    b[0] += a[:, :1].T
    c = np.empty_like(b)
    c[...] = s
    return b, c


def test_results_in_no_order_end_the_other_directions(runs: list[str]) -> None:
    check(orders_within, (A.copy(), S), DIRECTIONS)
    assert len(runs) == 3


def test_numbers_of_every_kind() -> None:
    kinds = (1.5, np.float64(1.5), np.float32(1.5), 1.5 + 2j, np.complex64(1.5 + 2j))
    for kind in kinds:
        check(lambda s: (s * s, s / 3, 2 - s, s**2, [s]), (kind,), [(1.0,), (-2.5,)])


@pytest.mark.plain
def test_rules_of_users(runs: list[str]) -> None:
    def doubled(x):
        raise NotImplementedError

    def tripled(x):
        return 3.0 * x

    from_vjp(doubled)(lambda x: (2.0 * x, lambda dy: (2.0 * dy,)))

    @frule.register(tripled)
    def tripled_frule(_: Any, x: Dual) -> Dual:
        return Dual(3.0 * x.primal, 3.0 * x.tangent)

    check(lambda a, s: doubled(a) * s, (A.copy(), S), DIRECTIONS)
    check(lambda a, s: tripled(a * s) * s, (A.copy(), S), DIRECTIONS)
    assert len(runs) == 6


def drawing(a, s, generator):
    return a * generator.standard_normal(3) * generator.random()


def drawing_and_looping(a, s, generator):
    return loops(a * generator.standard_normal(3), s) * generator.random()


@pytest.mark.parametrize("program", [drawing, drawing_and_looping], ids=lambda f: f.__name__)
def test_all_directions_have_the_same_random_numbers(program: Any) -> None:
    directions = [(*direction, None) for direction in DIRECTIONS]
    generator = np.random.default_rng(3)
    state = generator.bit_generator.state
    y, tangents = jvp(program, (A, S, generator), directions)
    after = generator.random()
    for direction, dy in zip(directions, tangents, strict=True):
        generator.bit_generator.state = state
        value, expected = jvp(program, (A, S, generator), direction)
        same(y, value)
        same(dy, expected)
        assert generator.random() == after


@pytest.mark.parametrize("program", [arithmetic, views, loops], ids=lambda f: f.__name__)
def test_inside_other_derivatives_and_in_debug_mode(program: Any) -> None:
    def along_two(a):
        _, tangents = jvp(program, (a, S), DIRECTIONS[:2])
        return sum(np.sum(np.sin(t)) for dy in tangents for t in dy)

    def along_one(a):
        found = [jvp(program, (a, S), direction)[1] for direction in DIRECTIONS[:2]]
        return sum(np.sum(np.sin(t)) for dy in found for t in dy)

    np.testing.assert_allclose(grad(along_two)(A.copy()), grad(along_one)(A.copy()), rtol=1e-13)
    outer = jvp(along_two, (A.copy(),), [(A,), (2 * A,)])[1]
    np.testing.assert_allclose(outer, jvp(along_one, (A.copy(),), [(A,), (2 * A,)])[1], rtol=1e-13)
    with debug_mode():
        check(program, (A.copy(), S), DIRECTIONS)


def test_exceptions_leave_arguments_as_they_were() -> None:
    def f(a):
        a[0] = 5.0
        raise LookupError("mine")

    a = A.copy()
    with pytest.raises(LookupError, match="mine"):
        jvp(f, (a,), [(A,), (A,)])
    np.testing.assert_array_equal(a, A)


def test_tangents_that_do_not_fit() -> None:
    with pytest.raises(InvalidTangentError, match=r"an array of shape \(2, 3\)"):
        jvp(np.sin, (A,), [(A,), (A[0],)])
    with pytest.raises(InvalidTangentError, match="1 primals but 2 tangents"):
        jvp(np.sin, (A,), [(A,), (A, A)])
    with pytest.raises(InvalidTangentError, match="a list of such tuples"):
        jvp(np.sin, (A,), [A, A])  # type: ignore[list-item]
    with pytest.raises(InvalidTangentError, match="shares memory"):
        jvp(lambda p: p[0] * p[1], ([A, A],), [([A, A],), ([A, 2 * A],)])


def test_what_forward_mode_refuses_is_refused() -> None:
    def unknown(x: Any) -> Any:
        return np.frombuffer(x.tobytes())

    with pytest.raises(MissingRuleError):
        jvp(unknown, (A,), [(A,), (A,)])
