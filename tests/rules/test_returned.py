"""Pullbacks that return something else than a cotangent for each argument are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    NoRData,
    elementwise,
    from_vjp,
    grad,
    hvp,
    jvp,
    linear,
    local_rules,
    rrule,
)
from mooncake_py.errors import InvalidRuleError

# Debug mode checks rules itself, and says it in other words.
pytestmark = pytest.mark.plain

X = np.array([1.0, 2.0])


def product(x, y):
    return x * y


WRONG = {
    "a list": lambda x, y, dy: [dy * y, dy * x],
    "None": lambda x, y, dy: None,
    "3 cotangents instead of 2": lambda x, y, dy: (None, dy * y, dy * x),
    "1 cotangents instead of 2": lambda x, y, dy: (dy * y,),
}


def declare(cotangents: Any) -> None:
    @from_vjp(product)
    def rule(x, y):
        return product(x, y), lambda dy: cotangents(x, y, dy)


@pytest.mark.parametrize("returned", WRONG)
@pytest.mark.parametrize("derive", [
    lambda: grad(lambda x, y: np.sum(product(x, y)), argnums=(0, 1))(X, X),
    lambda: jvp(product, (X, X), (X, X)),
], ids=["reverse", "forward"])  # fmt: skip
def test_is_refused(returned: str, derive: Any) -> None:
    with local_rules():
        declare(WRONG[returned])
        with pytest.raises(InvalidRuleError, match="the rule of") as caught:
            derive()
    assert caught.value.what.endswith(f"product returned {returned}")


def zero(x):
    x[:] = 0.0


FORMS = {
    "from_vjp": lambda: from_vjp(zero)(lambda x: (zero(x), lambda dy: (dy,))),
    "linear": lambda: linear(zero)(lambda dy, x: dy),
    "elementwise": lambda: elementwise(zero, 0.0),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("derive", [
    lambda f: grad(f)(X),
    lambda f: jvp(f, (X,), (X,)),
    lambda f: hvp(f, (X,), X),
    lambda f: grad(lambda x: jvp(f, (x,), (X,))[1])(X),
], ids=["reverse", "forward", "forward over reverse", "reverse over forward"])  # fmt: skip
def test_function_that_changes_its_argument_and_returns_none(form: str, derive: Any) -> None:
    def f(x):
        y = x * x
        zero(y)
        return np.sum(y)

    with local_rules():
        FORMS[form]()
        message = rf"(?s)zero returned None, and its rule is by {form}.*overlay.*rrule\.register"
        with pytest.raises(InvalidRuleError, match=message):
            derive(f)


def test_one_of_several_outputs_may_be_none() -> None:
    def with_note(x):
        return None, x * x

    with local_rules():
        from_vjp(with_note)(lambda x: (with_note(x), lambda dy: (2.0 * dy[1] * x,)))
        np.testing.assert_array_equal(grad(lambda x: np.sum(with_note(x)[1]))(X), 2.0 * X)
        np.testing.assert_array_equal(jvp(lambda x: with_note(x)[1], (X,), (X,))[1], 2.0 * X * X)


@pytest.mark.parametrize("returned", ["a list", "None", "2 cotangents instead of 1"])
def test_so_it_is_for_adjoints(returned: str) -> None:
    def doubled(x):
        return 2.0 * x

    wrong = {
        "a list": lambda dy, x: [2.0 * dy],
        "None": lambda dy, x: None,
        "2 cotangents instead of 1": lambda dy, x: (None, 2.0 * dy),
    }
    with local_rules():
        linear(doubled)(wrong[returned])
        with pytest.raises(InvalidRuleError, match="the rule of") as caught:
            grad(lambda x: np.sum(doubled(x)))(X)
    assert caught.value.what.endswith(f"doubled returned {returned}")


def test_those_at_the_end_may_be_left_out_for_constants() -> None:
    with local_rules():
        declare(lambda x, y, dy: dy * y)
        np.testing.assert_array_equal(grad(lambda x: np.sum(product(x, X)))(X), X)
        np.testing.assert_array_equal(jvp(lambda x: product(x, X), (X,), (X,))[1], X * X)


def test_a_list_for_a_list_and_any_number_for_any_number() -> None:
    def total(values):
        return values[0] * values[1]

    def product_of_all(*values):
        return np.prod(values)

    with local_rules():
        from_vjp(total)(lambda v: (v[0] * v[1], lambda dy: [dy * v[1], dy * v[0]]))
        assert grad(lambda x: total([x, 3.0]))(2.0) == 3.0
        from_vjp(product_of_all)(lambda *v: (np.prod(v), lambda dy: tuple(dy * 6.0 / a for a in v)))
        assert grad(lambda x: product_of_all(x, 2.0, 3.0))(1.0) == 6.0


@pytest.mark.parametrize("rdata", [NoRData(), None])
def test_a_number_needs_its_cotangent_from_a_rule_by_hand(rdata: Any) -> None:
    def doubled(x):
        return 2.0 * x

    def rule(_, x):
        return CoDual(2.0 * x.primal, NoFData()), lambda dy: (NoRData(), rdata)

    with local_rules():
        rrule.register(doubled, mutates=())(rule)
        with pytest.raises(InvalidRuleError, match=r"for argument 0, a number"):
            grad(lambda x: doubled(x))(1.0)
        assert grad(lambda x: doubled(1.0) * x)(3.0) == 2.0  # of a constant it is not asked


def test_none_is_passed_on_from_one_of_several_outputs() -> None:
    def parts(x):
        return 2.0 * x, 3.0 * x

    with local_rules():
        from_vjp(parts)(lambda x: ((2.0 * x, 3.0 * x), lambda dys: dys[0]))
        assert grad(lambda x: parts(x)[1])(1.0) == 0.0
