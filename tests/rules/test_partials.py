"""Every elementwise, operator and math rule against central differences, without the engine."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule, LinearRule, VjpRule
from tests.rules.cases import Case, elementwise, math_functions, nondifferentiable, operators
from tests.rules.partials import cotangents, difference, is_active, random_like
from tests.support.pairs import of_each_kind

FAMILIES = (elementwise, operators, math_functions, nondifferentiable)
ALL = [case for family in FAMILIES for case in family.cases()]


def direct(case: Case) -> bool:
    """Tell whether the rule of a case can be checked without the engine."""
    rule = registry.find(case.function)
    out = {"out", "where", "dtype"} & set(case.kwargs)
    return isinstance(rule, (ElementwiseRule, LinearRule, VjpRule)) and not out


DIRECT = [case for case in ALL if direct(case)]
SMOOTH = of_each_kind((c for c in DIRECT if not c.interface_only), lambda c: c.function)
KINKS = of_each_kind((c for c in DIRECT if c.interface_only), lambda c: c.function)

# Functions or partials that compute in float64.
LEAVE_FLOAT32 = (np.float_power, np.ldexp)


def identify(case: Case) -> str:
    kinds = (f"{np.asarray(x).dtype}{np.shape(x)}" for x in case.args if x is not None)
    return "-".join([case.id, *kinds])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", SMOOTH, ids=identify)
def test_partial_matches_differences(case: Case) -> None:
    if any(np.asarray(x).dtype == np.float32 for x in case.args if is_active(x)):
        pytest.skip("differences need float64; test_float32_stays covers float32")
    rng = np.random.default_rng(3)
    dy = random_like(rng, case.function(*case.args, **case.kwargs))
    for position, g in enumerate(cotangents(case, dy)):
        if g is None:
            continue
        assert np.isfinite(g).all()
        for _ in range(3):
            dx = random_like(rng, np.asarray(case.args[position]))
            expected = difference(case, position, dx, dy)
            scale = np.abs(np.vdot(g, g)) ** 0.5 * np.abs(np.vdot(dx, dx)) ** 0.5 + 1e-3
            assert_allclose(np.real(np.vdot(g, dx)), expected, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("case", KINKS, ids=identify)
def test_zero_cotangent_gives_zero_at_kinks(case: Case) -> None:
    with np.errstate(all="ignore"):
        y = case.function(*case.args, **case.kwargs)
    zero = (
        tuple(0.0 * np.zeros(np.shape(p)) for p in y)
        if isinstance(y, tuple)
        else np.zeros(np.shape(y), np.asarray(y).dtype)
    )
    for g in cotangents(case, zero):
        if g is not None:
            assert_allclose(g, np.zeros(g.shape, g.dtype))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "case",
    of_each_kind(
        (c for c in DIRECT if any(isinstance(x, np.ndarray) for x in c.args)),
        lambda c: c.function,
    ),
    ids=identify,
)
def test_float32_stays(case: Case) -> None:
    rule = registry.find(case.function)
    if not isinstance(rule, ElementwiseRule) or case.function in LEAVE_FLOAT32:
        pytest.skip("only elementwise rules with float32 results")
    args = tuple(
        x.astype({"f": "f4", "c": "c8"}.get(x.dtype.kind, x.dtype.str))
        if isinstance(x, np.ndarray)
        else x
        for x in case.args
    )
    with np.errstate(all="ignore"):
        y = case.function(*args, **case.kwargs)
        if y.dtype not in (np.float32, np.complex64):
            pytest.skip("the function itself leaves float32")
        for partial, x in zip(rule.partials, args, strict=False):
            if callable(partial) and is_active(x):
                value = partial(*args, y)
                for part in (getattr(value, "dz", value), getattr(value, "dzbar", value)):
                    assert np.result_type(part, y) in (np.float32, np.complex64)
