"""Which arguments a derivative is taken with respect to."""

from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from mooncake_py import NonDifferentiableArgumentError, grad, hessian_diagonal, hvp, jacobian

X = np.array([0.3, -1.2, 0.7])


def weighted(x: Any, y: Any) -> Any:
    return np.sum(x**2) + np.sum(x * y)


@pytest.mark.parametrize("one", [np.int64(1), np.uint8(1), np.int64(-1)])
def test_positions_are_ints_of_numpy(one: Any) -> None:
    x, y = X.copy(), X + 1.0
    np.testing.assert_allclose(grad(weighted, one)(x, y), x)
    np.testing.assert_allclose(grad(weighted, (0, one))(x, y)[1], x)
    np.testing.assert_allclose(grad(weighted, one).prepare(x, y)(x, y), x)
    np.testing.assert_allclose(grad(grad(weighted, one), 0)(2.0, 3.0), 1.0)
    np.testing.assert_allclose(jacobian(weighted, one)(x, y), x)
    np.testing.assert_allclose(hvp(weighted, (x, y), x, argnums=one), np.zeros(3))


@pytest.mark.parametrize("argnums", [True, np.True_, (0, True), 1.0, None, ()])
def test_what_is_neither_int_nor_name_is_refused(argnums: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="does not name arguments"):
        grad(weighted, argnums)


@pytest.mark.parametrize(
    "v",
    [
        3,
        True,
        np.int64(3),
        np.arange(3),
        np.array([True, False]),
        [1, 2],
        (1, 2),
        range(2),
        {"a": 1, "b": 2},
        Fraction(1, 2),
        Decimal("1.5"),
        np.array([1, 2], "m8[s]"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("of", [grad, jacobian, hessian_diagonal], ids=lambda f: f.__name__)
def test_the_fix_for_an_argument_without_floats_works_word_for_word(of, v):
    def total(v):
        return np.sum(list(v.values()) if isinstance(v, dict) else v)

    with pytest.raises(NonDifferentiableArgumentError, match=r"argument 0 \('v'\)") as caught:
        of(total)(v)
    _, _, fix = caught.value.fix.partition(": ")
    of(total)(eval(fix, {"np": np, "v": v}))


@pytest.mark.parametrize("v", ["abc", None, [], {}, np.array(["a"]), np.array(["2020"], "M8[Y]")])
def test_no_floats_are_asked_for_where_there_are_none(v):
    with pytest.raises(NonDifferentiableArgumentError) as caught:
        grad(np.sum)(v)
    assert caught.value.fix == "choose other argnums"


def test_partials_have_the_name_of_their_function():
    def product(a, b):
        return a * b

    with pytest.raises(
        NonDifferentiableArgumentError, match=r"a partial of .*\.product was"
    ) as caught:
        grad(partial(product, 3.0), argnums=1)(2.0)
    assert caught.value.fix.startswith("pass the argument, or choose other argnums: a position in")
