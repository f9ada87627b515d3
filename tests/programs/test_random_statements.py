"""Random statements on arrays: those that are one entry, against operation by operation."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, jvp
from mooncake_py.compiler.statements import gathers, masks, row_forms
from tests.programs.comparing import assert_as_unfused, function_of
from tests.programs.outcomes import (
    Outcome,
    assert_agrees,
    assert_close,
    assert_equal,
    derivatives,
    outcome,
)
from tests.programs.random_masks import masked_text
from tests.programs.random_statements import (
    STATE,
    arguments,
    random_text,
    special_arguments,
)

WITH_STEPS = re.compile(r"np\.(sin|tanh|arctan|arctan2)\(.*out=")
"""Of such functions NumPy has other loops, with other last bits, for results in steps."""
IN_DEBUG_MODE = "DifferentResultError", "UntrackedWriteError", "InvalidRuleError"


Write = Callable[..., str]


def compare(seed: int, write: Write = random_text) -> None:
    compare_gradients(seed, write)
    compare_every_mode(seed, write)
    compare_directions(seed, write)


def compare_gradients(seed: int, write: Write = random_text) -> None:
    f = function_of(write(seed), f"<random statements {seed}>")
    assert_as_unfused(f, list(arguments(seed)), ((0, 1, 2), (0,), (2,)))


def compare_every_mode(seed: int, write: Write = random_text) -> None:
    """Compare values, state, exceptions and derivatives; every second program is an odd one."""
    to_the_bit = not WITH_STEPS.search(write(seed, odd=seed % 2 == 1))
    with sizes_for(seed):
        assert_agrees(*program(seed, write), seed, to_the_bit)


def compare_directions(seed: int, write: Write = random_text) -> None:
    """Compare derivatives along several directions at once with those along each."""
    number, state, given = program(seed, write)
    random = np.random.default_rng(seed)
    moving = random.random(len(given)) < 0.7
    directions = [
        tuple(
            random.normal(size=a.shape) if on else None for a, on in zip(given, moving, strict=True)
        )
        for _ in range(3)
    ]
    with warnings.catch_warnings(), sizes_for(seed):
        warnings.simplefilter("ignore")
        for f in (number, state):
            found = along(f, given, directions)
            each = [along(f, given, d) for d in directions]
            assert found.raised in [one.raised for one in each]
            if found.raised is None:
                assert_equal(found.values, each[0].values, "value")
                assert_equal(found.arguments, each[0].arguments, "arguments")
                assert_close(found.parts, [part for one in each for part in one.parts], "tangents")


def along(f: Any, given: tuple[Any, ...], directions: Any) -> Outcome:
    """Return what comes out of forward mode."""
    return outcome("jvp", lambda *a: jvp(f, a, directions), given, lambda y: ([y[0]], [y[1]]))


def check_in_debug_mode(seed: int, write: Write = random_text) -> None:
    """Let debug mode compare each statement, in all derivatives."""
    with warnings.catch_warnings(), sizes_for(seed), debug_mode(check_finite=False):
        warnings.simplefilter("ignore")
        for found in derivatives(*program(seed, write), seed):
            assert found.raised is None or found.raised[0] not in IN_DEBUG_MODE, found.raised


def program(seed: int, write: Write = random_text) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return a function that returns a number, the same with its state, and arguments."""
    odd = seed % 2 == 1
    number = function_of(write(seed, odd=odd), f"<statements {seed}>")
    state = function_of(write(seed, odd=odd, tail=STATE), f"<state of statements {seed}>")
    to_the_bit = not WITH_STEPS.search(write(seed, odd=odd))
    finite = seed % 8 < 4 or not to_the_bit  # the sine of a huge number tells its last bit
    given = special_arguments(seed, finite) if seed % 4 >= 2 else arguments(seed)
    return number, state, given


@contextmanager
def sizes_for(seed: int) -> Iterator[None]:
    """Take small arrays for large ones in every third program."""
    with pytest.MonkeyPatch.context() as patch:
        if seed % 3 == 0:
            patch.setattr(masks, "SMALL", 2)  # masks are kept as bits
            patch.setattr(gathers, "SMALL", 2)  # index arrays are kept as they are
            patch.setattr(row_forms, "SMALL", 2)  # tangents are computed one after the other
        yield


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize("seed", range(4))
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_few_by_masks(seed):
    compare(seed, masked_text)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20, 24))
def test_few_in_every_mode(seed):
    compare_every_mode(seed)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(30, 36))
def test_few_along_several_directions(seed):
    compare_directions(seed)


@pytest.mark.thorough
@pytest.mark.plain
@pytest.mark.parametrize("write", [random_text, masked_text])
@pytest.mark.parametrize("seed", range(2))
def test_few_in_debug_mode(seed, write):
    check_in_debug_mode(seed, write)


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize(
    ("check", "write", "end"),
    [
        (compare, random_text, 1300), (check_in_debug_mode, random_text, 1060),
        (compare, masked_text, 1100), (check_in_debug_mode, masked_text, 1010),
    ],
)  # fmt: skip
def test_many(check, write, end):
    for seed in (*range(40), *range(1000, end)):
        try:
            check(seed, write)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{write(seed, odd=seed % 2 == 1)}")
            raise
