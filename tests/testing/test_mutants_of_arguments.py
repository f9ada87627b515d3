"""Mutants of user rules that are wrong for some layouts, shapes and dtypes: the option is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    elementwise,
    from_vjp,
    grad,
    increment,
    local_rules,
    rrule,
    zero_codual,
)
from mooncake_py.errors import MooncakeWarning
from mooncake_py.testing import test_rule
from tests.testing.mutants import (
    NONE,
    A,
    B,
    V,
    caught_rule,
    one_argument,
    passes,
    two_arguments,
)

REAL = "for real double precision only: declare the rule with dtypes=np.float64"
ORDER = 'for arrays in C order only: declare the rule with layouts="C"'
SHAPES = "layouts=False leaves this check out: for rules for arrays with as many axes"


def product(a, b):
    return a * b


def square(x):
    return x * x


def filled(x, g):
    """Return the cotangent 2 x g, written element by element in the order of memory."""
    flat = np.empty(x.size, np.result_type(x, g))
    flat[:] = (2 * np.conj(x) * g).ravel(order="K")
    return flat.reshape(x.shape)


# Layouts and shapes.


def test_wrong_for_fortran_order_only() -> None:
    rule = one_argument(square, lambda g, x: filled(x, g))
    caught_rule("derivative", "(Fortran order)", ORDER, rule, square, A)
    passes(rule, square, A, layouts="C")


def test_wrong_for_negative_strides_only() -> None:
    def slope(g, x):
        forward = all(s >= 0 for s in x.strides)
        return 2 * g * np.conj(x if forward else x[::-1])

    rule = one_argument(square, slope)
    caught_rule("derivative", "(negative strides)", ORDER, rule, square, A)
    passes(rule, square, A, layouts="CF")


def test_wrong_for_strided_views_only() -> None:
    def slope(g, x):
        gaps = x.ndim and abs(x.strides[-1]) == 2 * x.itemsize
        return 2 * g * np.conj(x) * (2 if gaps else 1)

    rule = one_argument(square, slope)
    caught_rule("derivative", "(strided views)", ORDER, rule, square, V)


def test_wrong_for_repeated_rows_only() -> None:
    def slope(g, x):
        return 2 * g * np.conj(x) * (2 if 0 in x.strides and x.size > 1 else 1)

    rule = one_argument(square, slope)
    caught_rule("derivative", "(args[0] broadcast)", ORDER, rule, square, A)


def test_wrong_for_no_axes_only() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * np.conj(x) * (1 if np.ndim(x) else 2))
    caught_rule("derivative", "(0-d)", SHAPES, rule, square, A)


def test_wrong_for_one_element_only() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * np.conj(x) * (2 if np.size(x) == 1 else 1))
    caught_rule("derivative", "", SHAPES, rule, square, A)


def test_raises_for_no_elements() -> None:
    def slope(g, x):
        x.flat[0]
        return 2 * g * np.conj(x)

    rule = one_argument(square, slope)
    caught_rule("reverse pass", "(empty)", SHAPES, rule, square, A)


def test_missing_sum_over_broadcast_axes() -> None:
    def rule(_: Any, a: CoDual, b: CoDual) -> Any:
        y = zero_codual(product(a.primal, b.primal))

        def pullback(dy: Any) -> Any:
            increment(a, y.fdata * np.conj(b.primal))
            increment(b, y.fdata * np.conj(a.primal))
            return NONE, NONE, NONE

        return y, pullback

    caught_rule("reverse pass", "(0-d)", SHAPES, rule, product, A, B)


def test_first_row_in_place_of_a_sum_over_rows() -> None:
    def slopes(g, a, b):
        db = g * np.conj(a)
        return g * np.conj(b), db[:1] if np.ndim(b) < np.ndim(db) else db

    caught_rule("derivative", "args[1]", "", two_arguments(product, slopes), product, A, V)


# Dtypes.


def test_conjugate_forgotten() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * x)
    caught_rule("derivative", "(complex)", REAL, rule, square, A)
    passes(rule, square, A, dtypes=np.float64)


def test_conjugate_forgotten_of_one_argument() -> None:
    rule = two_arguments(product, lambda g, a, b: (g * np.conj(b), g * a))
    caught_rule("derivative", "complex", REAL, rule, product, A, B)


def test_real_part_of_a_complex_cotangent() -> None:
    rule = one_argument(square, lambda g, x: np.real(2 * g * np.conj(x)) + 0 * x)
    caught_rule("derivative", "(complex)", REAL, rule, square, A)


def test_wrong_for_single_precision_only() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * np.conj(x) * (1 + 2 * (x.itemsize == 4)))
    caught_rule("derivative", "(float32)", REAL, rule, square, A)
    passes(rule, square, A, dtypes=(np.float64, np.complex128))


def test_output_in_double_precision() -> None:
    rule = one_argument(lambda x: square(x) + np.float64(0), lambda g, x: 2 * g * np.conj(x))
    caught_rule("primal value", "(float32)", REAL, rule, square, A)


def test_a_number_of_another_type() -> None:
    def rule(_: Any, x: CoDual) -> Any:
        y = zero_codual(square(x.primal))
        return y, lambda dy: (NONE, np.float32(2 * dy * x.primal))

    caught_rule("rdata type", "args[0]", "", rule, square, 1.5, dtypes=np.float64)


def test_a_rule_for_complex_numbers_names_their_dtype() -> None:
    rule = one_argument(square, lambda g, x: 2 * g * np.conj(x) * (1 + (x.itemsize == 8)))
    message = caught_rule("derivative", "(float32)", "dtypes=np.complex128", rule, square, A + 1j)
    assert "for complex double precision only" in message


# What is left out in silence.


def wrong_for_complex():
    elementwise(square, lambda x, y: 2 * np.real(x))


def test_leaving_out_what_the_rule_is_wrong_for_is_said() -> None:
    with local_rules():
        wrong_for_complex()
        with pytest.warns(MooncakeWarning, match=r"dtypes=False.*\n.*dtypes=np.float64"):
            test_rule(square, A, dtypes=False)
        assert grad(lambda z: np.abs(np.sum(square(z))))(A + 1j).dtype == np.complex128  # wrong
    with local_rules():
        rrule.register(square, mutates=())(one_argument(square, lambda g, x: filled(x, g)))
        with pytest.warns(MooncakeWarning, match='declare the rule with layouts="C"'):
            test_rule(square, A, layouts=False)


def test_nothing_is_said_of_a_rule_that_is_right_there() -> None:
    with local_rules():
        from_vjp(square)(lambda x: (x * x, lambda dy: 2 * dy * np.conj(x)))
        test_rule(square, A, dtypes=False, layouts=False)
