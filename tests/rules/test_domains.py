"""Rules that are declared for some dtypes and layouts: outside of these they are not used."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    bilinear,
    debug_mode,
    elementwise,
    from_vjp,
    frule,
    grad,
    hvp,
    ignore_derivatives,
    increment,
    jvp,
    linear,
    local_rules,
    overlay,
    rrule,
    vjp,
    zero_codual,
)
from mooncake_py.errors import MissingRuleError, RuleTestError
from mooncake_py.testing import test_rule

X = np.array([[1.0, 2.0], [3.0, 4.0]])
used: list[str] = []


def square(x):
    return x * x


def total(x):
    return np.sum(x)


def times(a, b):
    return a * b


def noted(value: Any) -> Any:
    ignore_derivatives(used.append, "rule")  # not undone
    return value


def by_elementwise(**domain: Any) -> Any:
    elementwise(square, lambda x, y: noted(2 * x), **domain)
    return square


def by_from_vjp(**domain: Any) -> Any:
    from_vjp(square, **domain)(lambda x: (noted(x * x), lambda dy: 2 * dy * np.conj(x)))
    return square


def by_rrule(**domain: Any) -> Any:
    @rrule.register(square, mutates=(), **domain)
    def rule(_, x):
        noted(x)
        y = zero_codual(square(x.primal))

        def pullback(dy):
            dy = y.fdata if isinstance(y.primal, np.ndarray) else dy  # a number, of no dimensions
            dx = 2 * dy * np.conj(x.primal)
            if isinstance(x.primal, np.ndarray):
                increment(x, dx)
                return NoRData(), NoRData()
            return NoRData(), dx

        return y, pullback

    frule.register(square, mutates=(), **domain)(
        lambda _, x: Dual(noted(x.primal * x.primal), 2 * x.primal * x.tangent)
    )
    return square


def by_overlay(**domain: Any) -> Any:
    overlay(square, **domain)(lambda x: noted(x) * x)
    return square


def by_linear(**domain: Any) -> Any:
    linear(total, **domain)(lambda dy, x: noted(np.full(x.shape, dy)))
    return total


def by_bilinear(**domain: Any) -> Any:
    bilinear(
        times,
        left=lambda dy, a, b: noted(dy * np.conj(b)),
        right=lambda dy, a, b: noted(dy * np.conj(a)),
        **domain,
    )
    return lambda x: times(x, x)


FORMS = [by_elementwise, by_from_vjp, by_rrule, by_overlay, by_linear, by_bilinear]


@pytest.fixture(autouse=True)
def block():
    used.clear()
    with local_rules():
        yield


def loss(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum(np.abs(f(x)) ** 2)


def is_used(run: Callable[[], Any]) -> bool:
    used.clear()
    run()
    return bool(used)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("declare", FORMS)
def test_used_for_its_dtypes_and_no_others(declare: Callable[..., Any]) -> None:
    f = declare(dtypes=np.float64)
    assert is_used(lambda: grad(loss(f))(X))
    for other in (X.astype(np.float32), X + 1j):
        assert not is_used(lambda x=other: grad(loss(f))(x))
    f = loss(f)
    expected = {by_linear: lambda x: 2 * np.sum(x) * np.ones_like(x)}.get(
        declare, lambda x: 4 * np.abs(x) ** 2 * x
    )
    for x in (X, X.astype(np.float32), X + 1j):
        np.testing.assert_allclose(grad(f)(x), expected(x), rtol=1e-5)
        slope = np.sum(np.real(np.conj(expected(x)) * x))
        np.testing.assert_allclose(jvp(f, (x,), (x,))[1], slope, rtol=1e-5)
        with debug_mode():
            np.testing.assert_allclose(grad(f)(x), expected(x), rtol=1e-5)


@pytest.mark.parametrize("declare", FORMS)
def test_used_for_its_layouts_and_no_others(declare: Callable[..., Any]) -> None:
    f = loss(declare(layouts="C"))
    assert is_used(lambda: grad(f)(X))
    for other in (X.T, np.asfortranarray(X), X[::-1], np.broadcast_to(X[:1], (2, 2))):
        assert not is_used(lambda x=other: vjp(f, x)[1](1.0))


def test_forward_rules_have_a_domain_of_their_own() -> None:
    by_rrule(dtypes=np.float64)
    assert is_used(lambda: jvp(square, (X,), (X,)))
    assert not is_used(lambda: jvp(square, (X + 1j,), (X + 1j,)))
    assert is_used(lambda: hvp(loss(square), (X,), X))
    np.testing.assert_allclose(hvp(loss(square), (X,), X), 12 * X**3)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(loss(square))(x)))(X), 12 * X**2)


def test_rrule_called_by_itself_goes_by_the_domain() -> None:
    by_rrule(dtypes=np.float64)
    for value, expected in ((X, True), (X + 1j, False)):
        used.clear()
        x = zero_codual(value)
        y, pullback = rrule(CoDual(square, NoFData()), x)
        y.fdata[...] = 1.0
        pullback(NoRData())
        assert bool(used) is expected
        np.testing.assert_allclose(x.fdata, 2 * np.conj(value))


def test_several_layouts_and_dtypes() -> None:
    f = loss(by_from_vjp(dtypes=(np.float64, np.complex128), layouts="CF"))
    assert is_used(lambda: grad(f)(X.T))
    assert is_used(lambda: grad(f)(X + 1j))
    assert not is_used(lambda: grad(f)(X[:, :1]))
    assert not is_used(lambda: grad(f)(X.astype(np.float32)))


def test_numbers_of_python_are_in_double_precision() -> None:
    f = by_from_vjp(dtypes=np.float64)
    assert is_used(lambda: grad(f)(2.0))
    assert not is_used(lambda: grad(lambda z: np.real(f(z)))(2.0 + 1j))
    assert not is_used(lambda: grad(lambda x: f(x * 2))(np.float32(2.0)))


@dataclass
class Model:
    w: Any


def apply(model, items, x):
    return model.w * items[0] * x


@pytest.mark.parametrize("place", ["model", "items", "keyword"])
def test_what_arguments_hold_is_asked_too(place: str) -> None:
    from_vjp(apply, dtypes=np.float64)(
        lambda model, items, x: (
            noted(apply(model, items, x)),
            lambda dy: ({"w": dy * items[0] * x}, [dy * model.w * x], dy * model.w * items[0]),
        )
    )

    def run(x):
        model, items = Model(x * 2.0), [x * 3.0]
        assert is_used(lambda: None) is False
        if place == "model":
            model = Model(np.float32(2.0))
        elif place == "items":
            items = [np.float32(3.0)]
        return (
            apply(model, items, x=np.float32(5.0)) * x
            if place == "keyword"
            else apply(model, items, x)
        )

    value = grad(run)(1.5)
    assert not used
    assert value == pytest.approx({"keyword": 3 * 30 * 1.5**2}.get(place, 2 * 6 * 1.5))


def test_ints_are_within_every_domain() -> None:
    def power(x, n):
        return x**n

    from_vjp(power, dtypes=np.float64)(
        lambda x, n: (noted(x**n), lambda dy: (dy * n * x ** (n - 1), None))
    )
    assert is_used(lambda: grad(power)(2.0, 3))
    assert is_used(lambda: grad(lambda x: np.sum(power(x, np.array([1, 2]))))(X))


def test_a_compiled_function_says_which_rule_is_for_what() -> None:
    from_vjp(np.linalg.slogdet, dtypes=np.float64, replace=True)(
        lambda a: (np.linalg.slogdet(a), lambda dy: dy[1] * np.linalg.inv(a).T)
    )
    elementwise(math.erf, lambda x, y: 2 * math.exp(-x * x) / math.sqrt(math.pi), dtypes=np.float64)
    assert grad(math.erf)(0.0) == pytest.approx(2 / math.sqrt(math.pi))
    for run in (
        lambda: grad(lambda x: math.erf(x))(np.float32(1.0)),
        lambda: jvp(lambda x: math.erf(x), (np.float32(1.0),), (np.float32(1.0),)),
    ):
        with pytest.raises(MissingRuleError) as info:
            run()
        assert "no rule for math.erf" in str(info.value)
        assert "test_domains.py" in info.value.why
        assert "is for float64;\nargument 0 is a float32" in info.value.why


def test_the_reason_is_given_where_the_source_fails() -> None:
    def opaque(x):
        return np.frompyfunc(lambda v: v * 2, 1, 1)(x)

    from_vjp(opaque, layouts="F")(lambda x: (2 * x, lambda dy: 2 * dy))
    with pytest.raises(MissingRuleError) as info:
        grad(lambda x: np.sum(opaque(x)))(X)
    assert "is for arrays in F order" in info.value.why
    assert "argument 0 is an array that is not contiguous in F order" in info.value.why


def test_a_method_says_so_too() -> None:
    from_vjp(np.ndarray.trace, dtypes=np.float64, replace=True)(
        lambda x: (np.trace(x), lambda dy: dy * np.eye(len(x)))
    )
    np.testing.assert_array_equal(grad(lambda x: x.trace())(X), np.eye(2))
    with pytest.raises(MissingRuleError, match="is for float64;\n"):
        grad(lambda x: x.trace().real)(X + 1j)


def test_the_tester_tests_what_is_declared() -> None:
    """Right in double precision only, and passes without options."""
    # fmt: off
    from_vjp(square, dtypes=np.float64)(lambda x: (x * x, lambda dy: 2 * np.float64(dy * x)
                                                  if np.ndim(x) == 0 else 2 * np.real(dy * x)))
    # fmt: on
    test_rule(square, X)
    with pytest.raises(RuleTestError) as info:
        test_rule(square, X + 1j)
    assert "check 'domain' failed" in info.value.what
    assert "argument 0 is a complex128 array" in str(info.value)
