"""Mutants of user rules whose formula is wrong, everywhere or at some points only."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import (
    Dual,
    bilinear,
    elementwise,
    from_vjp,
    frule,
    ignore_derivatives,
    linear,
    local_rules,
    rrule,
)
from mooncake_py.testing import test_rule
from tests.testing.mutants import (
    A,
    B,
    V,
    caught,
    caught_rule,
    one_argument,
    passes,
    two_arguments,
)

pytestmark = pytest.mark.without_modes("derivatives are wrong here on purpose")

SPECIAL = "special_points=False leaves this check out: for rules that nothing calls at such points"
ORDER = "order=1 leaves this check out: for rules without second derivatives"


def product(a, b):
    return a * b


def square(x):
    return x * x


def total(x):
    return np.sum(x)


def quotient(a, b):
    return a / b


# Everywhere.


def test_right_ones_pass() -> None:
    passes(two_arguments(product, lambda g, a, b: (g * np.conj(b), g * np.conj(a))), product, A, B)
    passes(one_argument(square, lambda g, x: 2 * g * np.conj(x)), square, A)


def test_wrong_sign() -> None:
    rule = two_arguments(quotient, lambda g, a, b: (g / b, g * a / b**2))
    caught_rule("derivative", "args[1]", "", rule, quotient, A, B)


def test_wrong_factor() -> None:
    rule = one_argument(square, lambda g, x: g * x)
    caught_rule("derivative", "args[0]", "", rule, square, A)


def test_swapped_arguments() -> None:
    rule = two_arguments(product, lambda g, a, b: (g * a, g * b))
    caught_rule("derivative", "args[0]", "", rule, product, A, B)


def test_an_argument_forgotten() -> None:
    rule = two_arguments(product, lambda g, a, b: (g * b, 0 * g))
    caught_rule("derivative", "args[1]", "", rule, product, A, B)


def test_wrong_sign_of_a_partial() -> None:
    with local_rules():
        elementwise(quotient, lambda a, b, y: 1 / b, lambda a, b, y: y / b)
        caught("derivative", "args[1]", "", quotient, A, B)


def test_wrong_adjoint_of_a_linear_map() -> None:
    def shift(x):
        return np.concatenate([x[1:], x[:1]])

    with local_rules():
        linear(shift)(lambda dy, x: np.concatenate([dy[1:], dy[:1]]))
        caught("derivative", "args[0]", "", shift, V)


def test_wrong_side_of_a_bilinear_map() -> None:
    def apply(a, x):
        return a @ x

    with local_rules():
        bilinear(apply, left=lambda dy, a, x: np.outer(dy, x), right=lambda dy, a, x: a.T @ dy * 2)
        caught("derivative", "args[1]", "", apply, A, V)


def test_wrong_tangent_of_from_vjp() -> None:
    with local_rules():
        from_vjp(square, jvp=lambda tangents, y, x: tangents[0] * x)(
            lambda x: (x * x, lambda dy: dy * 2 * np.conj(x))
        )
        caught("forward mode", "", "forward=False", square, A)


def test_wrong_forward_rule() -> None:
    with local_rules():
        frule.register(square, mutates=())(
            lambda _, x: Dual(x.primal * x.primal, x.primal * x.tangent)
        )
        caught("forward rule", "", "forward=False", square, A)


def test_right_for_one_output_of_two_only() -> None:
    def both(x):
        return np.sin(x), np.cos(x)

    def rule(x):
        def pullback(dy):
            s, c = (0.0 if d is None else d for d in dy)
            return s * np.cos(x) - (0.0 if dy[0] is None else c * np.sin(x))

        return both(x), pullback

    with local_rules():
        from_vjp(both)(rule)
        caught("each output alone", "args[0]", "", both, A)


# At some points.


def test_wrong_at_zeros_only() -> None:
    def smooth(x):
        return np.exp(x)

    with local_rules():
        elementwise(smooth, lambda x, y: np.where(x == 0, 0.0, y))
        caught("derivative at a special point", "(zeros)", SPECIAL, smooth, A)


def test_wrong_at_ones_only() -> None:
    with local_rules():
        elementwise(square, lambda x, y: np.where(x == 1, 1.0, 2 * x))
        caught("derivative at a special point", "(ones)", SPECIAL, square, A)


def test_wrong_where_one_element_is_zero() -> None:
    def prod(x):
        y = 1.0
        for e in x:
            y = y * e
        return y

    with local_rules():
        from_vjp(prod)(
            lambda x: (
                prod(x),
                lambda dy: np.divide(dy * prod(x), x, np.zeros_like(x), where=x != 0),
            )
        )
        caught(
            "derivative at a special point",
            "(with a zero)",
            SPECIAL,
            prod,
            V,
            dtypes=False,
            layouts=False,
        )


def test_wrong_at_ties_only() -> None:
    def soft(x):
        return np.log(np.sum(np.exp(x)))

    def rule(x):
        w = np.exp(x - soft(x))
        tied = (x == np.roll(x, 1)) & (x != 0) & (x != 1)
        return soft(x), lambda dy: dy * np.where(tied, 0.0, w)

    with local_rules():
        from_vjp(soft, dtypes=np.float64)(rule)
        caught("derivative at a special point", "(with ties)", SPECIAL, soft, V, layouts=False)


def test_wrong_where_two_arguments_are_equal() -> None:
    def mean(a, b):
        return a + b

    with local_rules():
        elementwise(mean, lambda a, b, y: np.where(a == b, 0.5, 1.0), 1.0)
        caught("derivative at a special point", "args[0]", SPECIAL, mean, A, B, aliasing=False)


def test_nan_at_zeros() -> None:
    def length(x):
        return np.sqrt(np.sum(x * x))

    with local_rules():
        from_vjp(length, dtypes=np.float64)(lambda x: (length(x), lambda dy: dy * x / length(x)))
        with np.errstate(all="ignore"):
            caught("no nan at kinks", "(zeros)", SPECIAL, length, V, layouts=False)


def test_exception_at_zeros() -> None:
    def cube(x):
        return x**3

    with local_rules():
        from_vjp(cube)(lambda x: (x**3, lambda dy: dy * 3 * x**3 / float(x)))
        caught("reverse pass", "(zeros)", SPECIAL, cube, 1.5, dtypes=False)


def test_a_choice_at_a_kink_passes() -> None:
    def clipped(x):
        return np.maximum(x, 0.0)

    with local_rules():
        elementwise(clipped, lambda x, y: (x > 0) * 1.0)
        test_rule(clipped, A - 1.0, dtypes=False)


# In second derivatives.


def test_detached_factor() -> None:
    """The factor of the pullback is a constant for whoever differentiates the pullback."""

    def rule(x):
        factor = 2 * ignore_derivatives(np.conj, x)
        return x * x, lambda dy: dy * factor

    with local_rules():
        from_vjp(square)(rule)
        message = caught("second derivative", "args[0]", ORDER, square, A)
        test_rule(square, A, order=1)
    assert "order" in message


def test_detached_partial() -> None:
    with local_rules():
        elementwise(square, lambda x, y: 2 * ignore_derivatives(np.copy, x))
        caught("second derivative", "args[0]", ORDER, square, A)


def test_second_derivative_of_a_branch_at_zero() -> None:
    """The value is right at zero, and the derivative of the branch is not."""

    def sinc(x):
        return np.sinc(x / np.pi)

    def slope(x, y):
        safe = np.where(x == 0, 1.0, x)
        return np.where(x == 0, 0.0, (np.cos(safe) - np.sin(safe) / safe) / safe)

    with local_rules():
        elementwise(sinc, slope, dtypes=np.float64)
        message = caught("second derivative", "(zeros)", ORDER, sinc, A)
    assert "differences of the gradient" in message
    assert "np.where(x == 0, constant, ...)" in message


def test_detached_factor_of_a_forward_rule() -> None:
    def rule(_, x):
        factor = 2 * ignore_derivatives(np.copy, x.primal)
        return Dual(x.primal * x.primal, factor * x.tangent)

    with local_rules():
        frule.register(square, mutates=(), dtypes=np.float64)(rule)
        caught("second derivative", "args[0]", ORDER, square, A)


def test_no_second_derivative_is_said_if_it_is_required() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * np.conj(x))
    passes(rule, square, A)
    with local_rules():
        rrule.register(square, mutates=())(rule)
        message = caught("second derivative", "", "order=1", square, A, order=2)
    assert "frule.register" in message


def test_infinite_numbers_are_no_variables() -> None:
    """As the order of a norm."""

    def norm(x, order):
        return np.sum(x * x) if order == np.inf else np.sum(x)

    test_rule(norm, A, np.inf, order=2, interface_only=False, constants=False)
