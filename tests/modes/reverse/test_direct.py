"""The short way through a pullback gives what the general way gives, and harms nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import compile_mode, from_vjp, grad, linear, vjp
from mooncake_py.errors import InvalidTangentError
from mooncake_py.modes.reverse import direct
from mooncake_py.modes.reverse.direct import Direct
from mooncake_py.tangents.equality import value_mismatch
from tests.rules.cases import Case
from tests.rules.test_in_programs import FAMILIES, smooth_cases
from tests.support.marks import each_third
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain

X = np.linspace(0.2, 1.7, 6)
MATRIX = X.reshape(2, 3)
LARGE = np.linspace(0.1, 2.0, direct.LENT // 8 + 7)


@pytest.fixture
def goes(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let pullbacks go one way: "general", or "lent" whatever the size of the cotangent."""

    def choose(way: str) -> None:
        if way == "general":
            monkeypatch.setattr(Direct, "of", classmethod(lambda *_: None))
        monkeypatch.setattr(direct, "LENT", 0)

    return choose


@pytest.fixture(autouse=True)
def by_tape() -> Iterator[None]:
    """Compile nothing: functions that are compiled have pullbacks without a tape."""
    with compile_mode(False):
        yield


def is_direct(pullback: Any) -> bool:
    return pullback.__self__.direct is not None


def with_array(x):
    return np.sin(x) * x + x


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "product": (lambda x, y: x * y, (X, X + 1)),
    "sum": (lambda x, y: x + y, (X, X + 1)),
    "sum of products": (lambda x, y: x * y + x, (X, X + 1)),
    "sine": (with_array, (MATRIX,)),
    "fortran": (with_array, (np.asfortranarray(MATRIX),)),
    "strided": (with_array, (MATRIX[:, ::2],)),
    "identity": (lambda x: x, (X,)),
    "slice": (lambda x: x[1:], (X,)),
    "every second": (lambda x: x[::-2], (X,)),
    "not the last": (lambda x: (np.exp(x), np.sin(x))[0], (X,)),
    "twice": (lambda x: (lambda y: y + y)(x * x), (X,)),
    "constant": (lambda x: np.ones(3), (X,)),
    "unused": (lambda x, y: np.exp(y), (X, X + 1)),
    "single": (lambda x: np.exp(x), (X.astype(np.float32),)),
    "complex": (lambda x: x * x, (X + 1j,)),
    "real part": (lambda x: np.real(x) * 1.5, (X + 1j,)),
    "assigned": (lambda x: _reversed(x), (X,)),
    "in place": (lambda x: _shifted(x), (X,)),
    "in place, read before": (lambda x: x * x + _shifted(x), (X,)),
    "in place, a view of it": (lambda x: _shifted(x)[::2], (X,)),
    "tile": (lambda x: np.tile(x, 3), (X,)),
    "rolled product": (lambda x: np.roll(x * x, 1), (MATRIX,)),
    "reshaped copy": (lambda x: np.reshape(x.T, -1), (MATRIX,)),
    "total": (lambda x: np.sum(x * x), (X,)),
    "number": (lambda x, y: x * x / y, (1.5, 2.5)),
    "element": (lambda x: x[2] * x[3], (X,)),
    "0-d": (lambda x: x * np.asarray(2.0), (np.asarray(1.5),)),
    "matrix and vector": (lambda a, b: a @ b, (MATRIX, X[:3])),
    "broadcast": (lambda a, b: a * b, (MATRIX, X[:3])),
    "one array twice": (lambda a: np.concatenate([a, a]), (X,)),
    "view": (lambda a, b: a * b, (X[1:], X[:-1])),
    "ints": (lambda x, k: x * k, (X, 3)),
}


def _reversed(x):
    y = np.zeros(x.shape)
    y[:] = x[::-1]
    return y


def _shifted(x):
    x[1:] += x[:-1] * x[1:]
    x[0] *= 3.0
    return x


def cotangents_for(y: Any) -> list[Any]:
    """Return cotangents of all types that fit an output."""
    if np.ndim(y) == 0:
        return [1.5, np.float64(1.5), 2, np.float32(0.5), np.array(1.5), True]
    g = np.arange(1.0, np.size(y) + 1).reshape(np.shape(y))
    wide = np.zeros((*g.shape[:-1], 2 * g.shape[-1]))
    wide[..., ::2] = g
    read_only = g.copy()
    read_only.setflags(write=False)
    return [
        g, np.asfortranarray(g), wide[..., ::2], read_only, g.astype(np.float32),
        g.astype(int), np.broadcast_to(2.0, g.shape), g.tolist(), g > 2,
        *([g.astype(complex)] if np.iscomplexobj(y) else []),
    ]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_way_and_general_way_agree(name, goes):
    f, args = FUNCTIONS[name]
    y = f(*copy.deepcopy(args))
    found = [vjp(f, *args)[1](g) for g in cotangents_for(y)]
    assert is_direct(vjp(f, *args)[1])
    goes("lent")
    lent = [vjp(f, *args)[1](g) for g in cotangents_for(y)]
    goes("general")
    assert not is_direct(vjp(f, *args)[1])
    for g, short, with_loan in zip(cotangents_for(y), found, lent, strict=True):
        expected = vjp(f, *args)[1](g)
        assert value_mismatch(short, expected) is None, (g, short, expected)
        assert value_mismatch(with_loan, expected) is None, (g, with_loan, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "way"), rotating(FUNCTIONS, ["short", "lent"]))
def test_gradients_share_no_memory_and_all_is_as_it_was(name, way, goes):
    if way == "lent":
        goes(way)
    f, args = FUNCTIONS[name]
    before = copy.deepcopy(args)
    y, pullback = vjp(f, *args)
    for g in cotangents_for(y):
        given = copy.deepcopy(g)
        gradients = pullback(g)
        assert value_mismatch(pullback(g), gradients) is None
        arrays = [a for a in (*args, y, g) if isinstance(a, np.ndarray)]
        writeable = [g.flags.writeable] if isinstance(g, np.ndarray) else []
        for d in gradients:
            if isinstance(d, np.ndarray):
                assert d.flags.writeable
                assert not any(np.shares_memory(d, a) for a in arrays)
                arrays.append(d)
                d += 1.0
        assert_array_equal(g, given)
        assert value_mismatch(args, before) is None
        if writeable:
            assert [g.flags.writeable] == writeable


def check_cotangent_is_left_alone(case: Case) -> None:
    def call(*args):
        return case.function(*args, **case.kwargs)

    y, pullback = vjp(call, *case.args)
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "fc":
        return
    g = np.asarray(np.random.default_rng(3).standard_normal(y.shape), y.dtype)
    before = g.copy()
    found = pullback(g)
    assert_array_equal(g, before)
    again = pullback(g)  # runs forward again; sums over another layout are rounded otherwise
    for d, e in zip(found, again, strict=True):
        if isinstance(d, np.ndarray):
            assert_allclose(d, e, rtol=1e-2 if d.dtype == np.float16 else 1e-5, atol=1e-6)
    arrays = [d for d in found if isinstance(d, np.ndarray)]
    others = [g, *(a for a in pullback.__self__.args if isinstance(a, np.ndarray))]
    for i, d in enumerate(arrays):
        assert not any(np.shares_memory(d, a) for a in (*others, *arrays[:i])), case.id


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", each_third(FAMILIES))
def test_rules_do_not_write_in_the_cotangent_that_they_are_lent(family, goes):
    goes("lent")
    seen = set()
    for case in smooth_cases(family):
        if case.function not in seen:
            seen.add(case.function)
            check_cotangent_is_left_alone(case)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_no_rule_writes_in_the_cotangent_that_it_is_lent(family, goes):
    goes("lent")
    for case in smooth_cases(family):
        check_cotangent_is_left_alone(case)


def test_what_is_lent_is_not_kept_and_may_not_be_written_in():
    g = np.ones(LARGE.shape)
    _, pullback = vjp(lambda x, y: x + y, LARGE, LARGE + 1)
    assert pullback.__self__.direct.lends
    dx, dy = pullback(g)
    dx *= 2
    dy *= 3
    assert_array_equal(g, 1.0)
    assert g.flags.writeable
    g[:] = 7.0
    assert_array_equal(dx, 2.0)
    assert_array_equal(dy, 3.0)


def doubled(x):
    return 2 * x


@from_vjp(doubled)
def doubled_rule(x):
    def pullback(dy):
        dy *= 2  # its own to write in
        return dy

    return 2 * x, pullback


def tripled(x):
    return 3 * x


@linear(tripled)
def tripled_adjoint(dy, x):
    dy *= 3
    return dy


@pytest.mark.parametrize(("f", "factor"), [(doubled, 2.0), (tripled, 3.0)])
def test_rule_of_a_user_may_write_in_its_cotangent(f, factor):
    g = np.ones(LARGE.shape)
    _, pullback = vjp(f, LARGE)
    assert is_direct(pullback)
    for _ in range(2):
        (dx,) = pullback(g)
        assert_array_equal(dx, factor)
        assert_array_equal(g, 1.0)


def both(x, y):
    return 2 * x + 2 * y


@from_vjp(both)
def both_rule(x, y):
    def pullback(dy):
        g = 2 * dy
        return g, g

    return 2 * x + 2 * y, pullback


def test_rule_may_return_one_array_for_two_arguments():
    def f(x, y):
        three = 3 * x  # adds to the cotangent of x after the rule
        return both(x, y) + three

    dx, dy = vjp(f, X, X + 1)[1](np.ones(6))
    assert_array_equal(dx, 5.0)
    assert_array_equal(dy, 2.0)
    dx, dy = vjp(both, X, X + 1)[1](np.ones(6))
    assert not np.shares_memory(dx, dy)


ONES = np.ones(6)


def plus_one(x):
    return x + 1


@from_vjp(plus_one)
def plus_one_rule(x):
    return x + 1, lambda dy: ONES


@pytest.mark.without_modes("the pullback is no linear function")
def test_rule_may_return_an_array_that_it_keeps():
    for _ in range(2):
        (dx,) = vjp(lambda x: plus_one(x) + plus_one(x), X)[1](np.ones(6))
        assert_array_equal(dx, 2.0)
        dx += 1.0
        assert_array_equal(ONES, 1.0)


def halves(x):
    return x / 2


@from_vjp(halves)
def halves_rule(x):
    def pullback(dy):
        if dy[0] < 0:
            raise ArithmeticError("negative")
        return dy / 2

    return x / 2, pullback


@pytest.mark.without_modes("the pullback raises for some cotangents")
def test_exceptions_are_those_of_the_general_way(goes):
    messages = []
    for way in ("short", "general"):
        if way == "general":
            goes(way)
        for wrong, kind in (
            (-np.ones(6), ArithmeticError),
            (np.ones(5), InvalidTangentError),
            ("text", InvalidTangentError),
        ):
            _, pullback = vjp(halves, X)
            with pytest.raises(kind) as caught:
                pullback(wrong)
            notes = getattr(caught.value, "__notes__", [])
            tail = caught.traceback[-1].path.name
            messages.append((way, str(caught.value), notes, tail))
            assert_array_equal(pullback(np.ones(6))[0], 0.5)  # it runs again
    count = len(messages) // 2
    assert [m[1:] for m in messages[:count]] == [m[1:] for m in messages[count:]]


def test_changes_that_show_and_containers_go_the_general_way():
    table = np.zeros(3)

    def into_table(x):
        table[:] = x
        return table * x

    for f, args in (
        (into_table, (X[:3],)),
        (lambda x: (x, x + 1), (X,)),
        (lambda p: p[0] * p[1], ([X, X],)),
        (lambda x: grad(lambda z: np.sum(z**3))(x), (X,)),
    ):
        assert not is_direct(vjp(f, *args)[1])
    assert not is_direct(vjp(lambda x: x * x, X, debug=True)[1])
    assert_array_equal(table, 0.0)


def test_pullback_inside_a_derivative():
    def f(x):
        _, pullback = vjp(lambda z: z * z, x)
        return np.sum(pullback(x * x)[0])

    np.testing.assert_allclose(grad(f)(X), 6 * X**2, rtol=1e-14)
    _, outside = vjp(lambda z: z**3, X)
    np.testing.assert_allclose(
        grad(lambda g: np.sum(outside(g)[0]))(np.ones(6)), 3 * X**2, rtol=1e-14
    )


@pytest.mark.without_modes("NumPy is told to raise, and does at the root of zero")
def test_settings_of_numpy_hold_before_and_after():
    with np.errstate(all="raise"):
        before = np.geterr()
        _, pullback = vjp(np.sqrt, np.zeros(3))
        with np.errstate(all="ignore"):
            assert_array_equal(pullback(np.array([0.0, 1.0, 0.0]))[0], [0.0, np.inf, 0.0])
        _, pullback = vjp(np.sqrt, np.zeros(3))
        assert_array_equal(pullback(np.array([0.0, 1.0, 0.0]))[0], [0.0, np.inf, 0.0])
        assert np.geterr() == before
