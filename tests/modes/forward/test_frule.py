"""`frule`: the forward rule of any function over Duals, and handwritten forward rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    DuplicateRuleError,
    InvalidRuleError,
    InvalidTangentError,
    MissingRuleError,
    MutableTangent,
    NestedDerivativeError,
    NoFData,
    NoRData,
    NoTangent,
    OperatorRuleError,
    elementwise,
    frule,
    grad,
    hessian,
    hvp,
    jvp,
    local_rules,
    rrule,
    zero_tangent,
)

pytestmark = pytest.mark.without_modes(
    "handwritten rules for these shapes, some wrong on purpose",
    "forward",
    "inside",
    "other",
    "compiled",
)

NONE = NoTangent()


def constant(value: Any) -> Dual:
    return Dual(value, NONE)


@pytest.fixture(autouse=True)
def block() -> Iterator[None]:
    """Keep the rules of these tests among themselves."""
    with local_rules():
        yield


# The forward rule of any function.


def test_compiled_function() -> None:
    out = frule(constant(math.exp), Dual(0.0, 3.0))
    assert (out.primal, out.tangent) == (1.0, 3.0)


def test_in_place_changes_of_arrays_stay_and_tangents_keep_their_identity() -> None:
    def smooth(u):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])

    u, du = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    out = frule(constant(smooth), Dual(u, du))
    assert out.primal is None
    assert out.tangent is NONE
    np.testing.assert_array_equal(u, [0.0, 0.5, 0.0])
    np.testing.assert_array_equal(du, [1.0, 0.25, 0.0])


def test_output_that_is_memory_of_an_argument_has_its_tangent() -> None:
    def tail(u):
        u *= 2.0
        return u[1:]

    u, du = np.arange(3.0), np.ones(3)
    out = frule(constant(tail), Dual(u, du))
    assert np.shares_memory(out.primal, u)
    assert np.shares_memory(out.tangent, du)
    np.testing.assert_array_equal(out.tangent, [2.0, 2.0])


def test_lists_and_their_tangents_grow_together() -> None:
    def push(s, x):
        s[0] *= x
        s.append(x * x)

    s, ds = [2.0], [1.0]
    frule(constant(push), Dual(s, ds), Dual(3.0, 1.0))
    assert (s, ds) == ([6.0, 9.0], [5.0, 6.0])


class Box:
    def __init__(self, a: Any) -> None:
        self.a = a


def test_objects_are_changed_in_place() -> None:
    def grow(box, x):
        box.a = box.a * x
        return box

    box, dbox = Box(2.0), MutableTangent(a=0.5)
    out = frule(constant(grow), Dual(box, dbox), Dual(3.0, 1.0))
    assert out.primal is box
    assert out.tangent is dbox
    assert (box.a, dbox.a) == (6.0, 3.5)


def test_constant_arguments() -> None:
    out = frule(constant(np.multiply), constant(np.arange(2.0)), Dual(3.0, 1.0))
    np.testing.assert_array_equal(out.tangent, [0.0, 1.0])


def test_a_tangent_that_would_be_lost_is_refused() -> None:
    def store(x, buffer):
        buffer[0] = x

    with pytest.raises(InvalidTangentError, match="argument 1 was given NoTangent"):
        frule(constant(store), Dual(1.0, 1.0), constant(np.zeros(2)))


def test_tangent_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidTangentError, match="of argument 0 does not fit"):
        frule(constant(np.sin), Dual(np.ones(3), np.ones(2)))


def test_keywords_are_constants() -> None:
    out = frule(constant(np.sum), Dual(np.ones((2, 3)), np.ones((2, 3))), axis=0)
    np.testing.assert_array_equal(out.tangent, [2.0, 2.0, 2.0])


def test_on_active_data_inside_a_derivative_is_refused() -> None:
    def f(x):
        return frule(constant(math.sin), Dual(x, 1.0)).tangent

    with pytest.raises(NestedDerivativeError):
        grad(f)(0.5)


# Handwritten rules.


def scale(x, a):
    x *= a


def declare_scale() -> None:
    @rrule.register(scale, mutates=0)
    def scale_rrule(_, x, a):
        old = x.primal.copy()
        x.primal[...] *= a.primal

        def scale_pullback(_):
            x.primal[...] = old
            da = float(np.sum(old * x.fdata))
            x.fdata[...] *= a.primal
            return NoRData(), NoRData(), da

        return CoDual(None, NoFData()), scale_pullback


def declare_scale_forward() -> None:
    @frule.register(scale, mutates=0)
    def scale_frule(_, x, a):
        x.tangent[...] = a.primal * x.tangent + a.tangent * x.primal
        x.primal[...] *= a.primal
        return Dual(None, NoTangent())


def twice(x, a):
    y = x * x
    scale(y[:1], a)
    scale(y, a)
    return np.sum(y)


X = np.array([1.0, 2.0])


def test_a_rule_of_coduals_gets_a_forward_rule() -> None:
    declare_scale()
    with pytest.raises(MissingRuleError, match=r"(?s)reverse mode only.*frule\.register.* overlay"):
        jvp(twice, (X, 3.0), (np.ones(2), 0.0))
    declare_scale_forward()
    for dx, da in [(np.array([1.0, 0.0]), 0.0), (np.array([0.0, 1.0]), 0.0), (np.zeros(2), 1.0)]:
        gx, ga = grad(twice, (0, 1))(X, 3.0)
        _, dy = jvp(twice, (X, 3.0), (dx, da))
        assert dy == pytest.approx(gx @ dx + ga * da, rel=1e-14)


def test_what_the_rule_changes_is_undone() -> None:
    declare_scale_forward()
    x = X.copy()
    _, dy = jvp(lambda x, a: (scale(x, a), x.copy())[1], (x, 3.0), (np.array([1.0, 0.0]), 1.0))
    np.testing.assert_array_equal(dy, [4.0, 2.0])
    np.testing.assert_array_equal(x, X)


def test_a_constant_array_that_the_rule_writes_gets_a_tangent() -> None:
    declare_scale_forward()

    def f(a):
        y = np.ones(2)
        scale(y, a)
        return y

    np.testing.assert_array_equal(jvp(f, (3.0,), (1.0,))[1], [1.0, 1.0])


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.float16, np.longdouble])
def test_the_tangent_of_a_constant_number_is_zero(kind) -> None:
    declare_scale()
    declare_scale_forward()
    f = lambda x: twice(x, kind(3.0))  # noqa: E731
    v = np.array([1.0, 0.0])
    assert jvp(f, (X,), (v,))[1] == 18.0
    assert jvp(f, (X,), [(v,), (X,)])[1] == [18.0, 42.0]
    np.testing.assert_array_equal(hvp(f, (X,), v), [18.0, 0.0])
    assert jvp(lambda x: jvp(f, (x,), (v,))[1], (X,), (v,))[1] == 18.0
    np.testing.assert_array_equal(grad(lambda x: jvp(f, (x,), (v,))[1])(X), [18.0, 0.0])


@pytest.mark.plain
def test_the_tangents_of_constants_have_their_types() -> None:
    seen = []

    @frule.register(scaled, mutates=())
    def scaled_frule(_, x, a):
        seen.append((type(a.tangent), a.tangent))
        return Dual(scaled(x.primal, a.primal), a.primal * x.tangent)

    for a in (2.0, 2j, np.float32(2), np.complex128(2), 2, True):
        jvp(lambda x: abs(scaled(x, a)), (1.0,), (1.0,))  # noqa: B023
    assert seen[:4] == [(float, 0.0), (complex, 0j), (np.float32, 0.0), (np.complex128, 0j)]
    assert seen[4:] == [(NoTangent, NONE)] * 2


def scaled(x, a):
    return a * x


def test_derivatives_of_higher_order_go_through_the_rule() -> None:
    declare_scale()
    declare_scale_forward()
    (xx, xa), (ax, aa) = hessian(twice, (0, 1))(X, 3.0)
    np.testing.assert_array_equal(xx, [[18.0, 0.0], [0.0, 6.0]])
    np.testing.assert_array_equal(xa, [12.0, 4.0])
    np.testing.assert_array_equal(ax, [12.0, 4.0])
    assert aa == 2.0


def area(box):
    return box.a * box.a


@pytest.mark.plain  # debug mode derives forward rules, and undoes what they append
def test_objects_are_handed_over_with_plain_numbers() -> None:
    seen = []

    @frule.register(area, mutates=())
    def area_frule(_, box):
        seen.append(type(box.primal.a))
        return Dual(area(box.primal), 2 * box.primal.a * box.tangent.a)

    assert jvp(lambda a: area(Box(a)) * a, (3.0,), (1.0,)) == (27.0, 27.0)
    assert seen == [float]


def test_constructor_with_a_rule() -> None:
    @frule.register(Box)
    def box_frule(_, a):
        box = Box(a.primal)
        dbox = zero_tangent(box)
        dbox.a = a.tangent
        return Dual(box, dbox)

    assert jvp(lambda a: area(Box(a)) * a, (3.0,), (1.0,)) == (27.0, 27.0)


def first(items):
    items.append(0.0)
    return items[0]


def test_a_rule_that_changes_a_container_is_refused() -> None:
    @frule.register(first)
    def first_frule(_, items):
        return Dual(first(items.primal), items.tangent[0])

    with pytest.raises(MissingRuleError, match="changed a container"):
        jvp(lambda x: first([x]), (1.0,), (1.0,))


def cube(x):
    return x**3


def test_an_output_without_its_tangent_is_refused() -> None:
    frule.register(cube)(lambda _, x: Dual(x.primal**3, NoTangent()))
    with pytest.raises(InvalidTangentError, match=r"(?s)cube returned NoTangent.*test_frule"):
        jvp(cube, (2.0,), (1.0,))


def test_an_output_that_is_no_dual_is_refused() -> None:
    frule.register(cube)(lambda _, x: x.primal**3)
    with pytest.raises(InvalidRuleError, match="cube returned a float"):
        jvp(cube, (2.0,), (1.0,))


def test_a_tangent_that_does_not_fit_is_refused() -> None:
    frule.register(cube)(lambda _, x: Dual(x.primal**3, np.zeros(2)))
    with pytest.raises(InvalidTangentError, match=r"that the forward rule of .*cube returned"):
        jvp(cube, (2.0,), (1.0,))


def test_reverse_mode_takes_no_notice() -> None:
    frule.register(cube)(lambda _, x: Dual(x.primal**3, 100.0 * x.tangent))
    assert jvp(cube, (2.0,), (1.0,))[1] == 100.0
    assert grad(cube)(2.0) == 12.0


def test_frule_runs_the_rule_by_hand_itself() -> None:
    frule.register(cube)(lambda _, x: Dual(x.primal**3, 100.0 * x.tangent))
    assert frule(constant(cube), Dual(2.0, 1.0)).tangent == 100.0


def test_a_second_rule_needs_replace() -> None:
    frule.register(cube)(lambda _, x: Dual(0.0, 0.0))
    with pytest.raises(DuplicateRuleError, match="cube has a forward rule already"):
        frule.register(cube)(lambda _, x: Dual(0.0, 1.0))
    frule.register(cube, replace=True)(lambda _, x: Dual(0.0, 1.0))
    assert jvp(cube, (2.0,), (1.0,))[1] == 1.0


def test_operators_keep_their_rules() -> None:
    with pytest.raises(OperatorRuleError):
        frule.register(np.multiply)(lambda _, a, b: a)


def test_a_rule_of_an_inner_block_hides_the_forward_rule_outside() -> None:
    frule.register(cube)(lambda _, x: Dual(x.primal**3, 100.0 * x.tangent))
    with local_rules():
        elementwise(cube, 7.0)
        assert jvp(cube, (2.0,), (1.0,))[1] == 7.0
    with local_rules(without=cube):
        assert jvp(cube, (2.0,), (1.0,))[1] == 12.0
    assert jvp(cube, (2.0,), (1.0,))[1] == 100.0


def duplicate(x):
    return x.copy()


def test_tangents_of_the_result_are_its_own_memory() -> None:
    frule.register(duplicate, mutates=())(lambda _, x: Dual(x.primal.copy(), x.tangent))

    def f(x):
        y = duplicate(x)
        y *= 2.0
        return x + y

    np.testing.assert_array_equal(jvp(f, (X,), (np.ones(2),))[1], [3.0, 3.0])


def test_a_list_that_contains_itself() -> None:
    def f(s):
        s[1][0] *= 3.0
        return s[0] * s[0]

    s: list[Any] = [2.0]
    s.append(s)
    ds: list[Any] = [1.0]
    ds.append(ds)
    assert jvp(f, (s,), (ds,)) == (36.0, 36.0)
    out = frule(constant(f), Dual(s, ds))
    assert (out.primal, out.tangent) == (36.0, 36.0)
    assert (s[0], ds[0]) == (6.0, 3.0)
    assert ds[1] is ds


def test_a_forward_rule_goes_before_the_rule_of_a_function_of_one_array():
    with local_rules():

        @frule.register(np.sin)
        def doubled_frule(_, x):
            return Dual(np.sin(x.primal), 2.0 * np.cos(x.primal) * x.tangent)

        _, dy = jvp(lambda x: np.sin(x), (np.ones(2),), (np.ones(2),))
        np.testing.assert_allclose(dy, 2.0 * np.cos(np.ones(2)))
    _, dy = jvp(lambda x: np.sin(x), (np.ones(2),), (np.ones(2),))
    np.testing.assert_allclose(dy, np.cos(np.ones(2)))


def test_a_rule_that_moves_a_constant_moves_it_in_one_direction():
    def moving(box):
        return float(box[0])

    @frule.register(moving, mutates=(0,))
    def moving_frule(_, box):
        return Dual(box.primal[0], 1.0)

    f = lambda s: s * moving([3.0])  # noqa: E731
    expected = [jvp(f, (2.0,), (t,))[1] for t in (1.0, -1.0)]
    assert jvp(f, (2.0,), [(1.0,), (-1.0,)])[1] == expected == [5.0, -1.0]
