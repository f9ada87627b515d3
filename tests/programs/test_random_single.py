"""Random statements on float32 arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from mooncake_py.modes.reverse.context import ReverseContext
from tests.programs.comparing import function_of
from tests.programs.outcomes import Outcome, assert_equal, derivatives
from tests.programs.random_masks import masked_text
from tests.programs.random_statements import STATE, TAIL, random_text
from tests.programs.test_random_statements import WITH_STEPS, arguments, sizes_for

NEW = ("np.ones((3, 3)", "np.zeros((2, 3, 3)", "np.ones(5")
STEPS = "(3, 3), (8, 8))"  # in bytes


def single_text(seed: int, tail: str) -> str:
    """Return the text of a function whose arrays are of float32, some numbers of float64."""
    write: Callable[..., str] = masked_text if seed % 3 == 0 else random_text
    text = write(seed, odd=seed % 4 == 1, tail=tail)
    for made in NEW:
        text = text.replace(made + ")", made + ", np.float32)")
    text = text.replace(STEPS, STEPS.replace("8", "4"))
    numbers = "a = float(x[4])" if seed % 2 else "a = x[4]"
    return text.replace("a = x[4]", numbers)


def compare(seed: int) -> None:
    """Compare values and state to the bit, and derivatives to the rounding of float32."""
    given = tuple(a.astype(np.float32) for a in arguments(seed))
    number, state = (
        function_of(single_text(seed, tail), f"<single {seed} {len(tail)}>")
        for tail in (TAIL, STATE)
    )
    with warnings.catch_warnings(), sizes_for(seed):
        warnings.simplefilter("ignore")
        found = list(derivatives(number, state, given, seed))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            expected = list(derivatives(number, state, given, seed))
    to_the_bit = not WITH_STEPS.search(single_text(seed, TAIL))
    for a, b in zip(found, expected, strict=True):
        assert a.raised == b.raised, a.name
        if to_the_bit:
            assert_equal(a.values, b.values, a.name)
            assert_equal(a.arguments, b.arguments, f"arguments of {a.name}")
        assert_near(a, b)


def assert_near(a: Outcome, b: Outcome) -> None:
    """Check that derivatives have the same types, and agree to the rounding of float32."""
    numbers = [np.asarray(y) for y in b.parts if isinstance(y, np.ndarray | float | np.floating)]
    sizes = [np.abs(y[np.isfinite(y)]).max(initial=0.0) for y in numbers]
    scale = 1.0 + max(sizes, default=0.0)
    for x, y in zip(a.parts, b.parts, strict=True):
        assert type(x) is type(y), (a.name, x, y)
        if isinstance(y, np.ndarray | float | np.floating):
            assert np.asarray(x).dtype == np.asarray(y).dtype, a.name
            at = np.isfinite(y)
            np.testing.assert_allclose(
                np.asarray(x)[at], np.asarray(y)[at], rtol=1e-4, atol=1e-4 * scale, err_msg=a.name
            )


def test_cotangents_are_of_float32() -> None:
    def statement(u: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.logaddexp(u, w) * w + 0.5 * u

    ctx = ReverseContext()
    u, w = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    nodes = [ctx.registry.activate(a) for a in (u, w)]
    y = ctx.call(statement, u, w)
    assert len(ctx.tape) == 1
    ctx.registry.activate(y).shadow()[...] = 1.0
    ctx.run_backwards()
    assert [node.grad.dtype for node in nodes] == [np.float32, np.float32]


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(6))
def test_few(seed):
    compare(seed)


@pytest.mark.slow
def test_many():
    for seed in range(1000, 1100):
        compare(seed)
