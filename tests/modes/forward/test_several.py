"""`jvp` along several directions: the tangents are those of one direction at a time."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import numpy as np
import pytest

from mooncake_py import NoTangent, debug_mode, from_vjp, frule, grad, jvp
from mooncake_py.errors import InvalidTangentError, MissingRuleError
from mooncake_py.modes.forward import several
from mooncake_py.tangents import Dual
from tests.modes.forward.several_programs import ONE_BY_ONE, TOGETHER, arithmetic, loops, views
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
    """Compare values or tangents up to rounding: types, structures, dtypes."""
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


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("program", TOGETHER, ids=lambda f: f.__name__)
def test_one_run_has_the_tangents_of_all_directions(program: Any, runs: list[str]) -> None:
    check(program, (A.copy(), S), DIRECTIONS)
    assert runs == ["along_each"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_of_every_kind(program: Any) -> None:
    x = np.array([0.3, -1.2, 0.7, 0.5])
    check(program, (x,), [(v,) for v in np.eye(4)])


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # np.matrix
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


@pytest.mark.plain
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


@pytest.mark.thorough
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


CALLS = [
    "np.sin(s)", "math.exp(s)", "math.hypot(s, 2.0)", "math.hypot(s, a[0, 0])",
    "np.maximum(s, 0.5)",
    "np.power(s, 1.5)", "np.clip(s, 0.0, 3.0)", "max(s, 0.5)", "sum([s, 1])", "sum([s, s])",
    "np.array([s, 1.0])", "np.interp(s, [0.0, 2.0], [1.0, 3.0])", "np.where(s > 1, s, 2.0)",
    "s**2.5", "round(s, 1) * s", "abs(s)", "float(s)", "np.sum(a)", "a.sum(axis=0)", "np.max(a)",
    "np.stack([s, s])", "np.hstack([s, a[0]])", "math.fsum([s, 1.0])", "sorted([s, 1.0])[0]",
    "np.full(3, s)", "np.atleast_1d(s)", "math.prod([s, s])", "np.linspace(0.0, s, 3)",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_numbers_made_before_there_was_one_direction(call: str, define: Any) -> None:
    def doubled(x: Any) -> Any:
        return 2.0 * x

    from_vjp(doubled)(lambda x: (2.0 * x, lambda dy: (2.0 * dy,)))  # takes one direction
    program = define(
        "import math\nimport numpy as np\ndef f(a, s, doubled):\n    a, s = a * 1.0, s * 1.0\n"
        f"    z = doubled(s)\n    return z + np.sum({call})\n"
    )
    check(lambda a, s: program(a, s, doubled), (A, S), DIRECTIONS)


def test_sums_of_numbers_along_an_axis() -> None:
    check(lambda a, s: np.sum(np.vdot(a, a), axis=0) * s, (A, S), DIRECTIONS)


@pytest.mark.parametrize("debug", [False, True])
def test_errors_name_the_direction(debug):
    x = np.array([0.3, 0.7])
    directions = [(x, 1.0)] * several.AT_ONCE + [(x, 1.0), (x[:1], 1.0)]
    with debug_mode() if debug else contextlib.nullcontext():
        with pytest.raises(InvalidTangentError, match=r"tangents\[17\]\[0\] does not fit"):
            jvp(lambda x, c: c * x, (x, 2.0), directions)
        with pytest.raises(InvalidTangentError, match=r"tangents\[1\] does not fit"):
            jvp(lambda x, c: c * x, (x, 2.0), (x, x))
