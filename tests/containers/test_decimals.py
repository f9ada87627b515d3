"""Contexts of decimal numbers: flags that operations set are put back."""

import decimal
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad

OWN = decimal.Context(prec=5, traps=[])


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with decimal.localcontext() as context:
        context.clear_flags()
        OWN.clear_flags()
        yield


def state() -> Any:
    contexts = decimal.getcontext(), OWN
    return [(c.prec, c.Emax, dict(c.flags), dict(c.traps)) for c in contexts]


def divides(x):
    assert Decimal(1) / 3
    return x * (2.0 if decimal.getcontext().flags[decimal.Inexact] else 1.0)


def divides_in_a_context(x):
    OWN.divide(Decimal(1), Decimal(3))
    return x * (1.0 + OWN.flags[decimal.Rounded])


def passes_a_context(x):
    Decimal(2).sqrt(context=OWN)
    return x * (1.0 + OWN.flags[decimal.Inexact])


def sets_flags(x):
    OWN.flags[decimal.Overflow] = True
    OWN.clear_traps()
    OWN.prec, OWN.Emax = 7, 99
    return x * (1.0 + OWN.flags[decimal.Overflow])


def divides_in_a_block(x):
    with decimal.localcontext() as context:
        context.prec = 4
        assert Decimal(1) / 7
        return x * (1.0 + context.flags[decimal.Inexact])


@pytest.mark.parametrize(
    "f", [divides, divides_in_a_context, passes_a_context, sets_flags, divides_in_a_block]
)
def test_flags(f: Any) -> None:
    before = state()
    assert value_and_grad(f)(3.0) == (6.0, 2.0)
    assert state() == before
    assert value_and_grad(f, debug=True)(3.0) == (6.0, 2.0)
    assert jvp(f, (3.0,), (1.0,)) == (6.0, 2.0)
    assert value_and_grad(lambda x: checkpoint(f, x) * 1.0)(3.0) == (6.0, 2.0)
    assert grad(lambda x: value_and_grad(f)(x)[1] * x)(3.0) == 2.0
    assert state() == before


def test_errors() -> None:
    before = state()

    def f(x):
        OWN.divide(Decimal(1), Decimal(3))
        assert Decimal(1) / 3
        raise ValueError

    with pytest.raises(ValueError):
        grad(f)(3.0)
    assert state() == before
