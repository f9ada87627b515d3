"""One derivative, taken in every mode and compared."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from mooncake_py import vjp
from mooncake_py.boundary.arguments import choose_arguments
from mooncake_py.errors import MooncakeError
from mooncake_py.runtime.compilation import compiles
from mooncake_py.tangents.memory import has_overlaps
from tests.support.modes import nested, variants
from tests.support.modes.compiled import compiled
from tests.support.modes.outside import taken_as_plain
from tests.support.modes.problem import (
    ModeError,
    NotANumber,
    Problem,
    Skipped,
    pose,
    require_close,
    require_value,
)
from tests.support.modes.recording import Record
from tests.support.modes.refusals import is_documented
from tests.support.modes.snapshots import arrays_of, snapshot
from tests.support.modes.text import in_parts, in_text

LONG = 0.1  # seconds of a gradient that is taken some fifty times

__all__ = ["MODES", "Mode", "ModeError", "Skipped", "check_record"]

Mode = Callable[[Problem, Any, np.random.Generator, Counter[str]], None]


@in_parts()
def check_record(record: Record, modes: list[Mode], seed: int, counts: Counter[str]) -> None:
    """Take a recorded derivative in other modes.

    Raises
    ------
    Skipped
        If it cannot be taken again as the test took it.
    ModeError
        If a mode gives something else, or refuses in a way that is not documented.
    """
    if record.gradient is None:
        record = of_output(record, seed)
    if snapshot((record.args, record.kwargs)) != record.before:
        raise Skipped("the test has changed the arguments")
    problem = pose(record)
    if any(map(overlap, problem.args)):
        raise Skipped("views within an argument overlap")
    expected = again(problem, record)
    for mode in modes:
        counts[f"tried {mode.__name__}"] += 1
        rng = np.random.default_rng((seed, *mode.__name__.encode()))
        try:
            mode(problem, expected, rng, counts)
        except MooncakeError as error:
            if not is_documented(error):
                raise ModeError(f"{mode.__name__} is refused: {error}") from error
            counts[f"refused as documented, {mode.__name__}"] += 1
        except Skipped as reason:
            counts[f"left out: {mode.__name__}, {reason}"] += 1
        except ModeError as error:
            if isinstance(error, NotANumber) and not np.isfinite(expected[0]):
                # There is no derivative, and modes sum the same infinities in other orders, or
                # multiply nan by the zeros of a tangent and not by those of a cotangent.
                counts[f"left out: {mode.__name__}, nan where the value is not finite"] += 1
                continue
            raise ModeError(f"{mode.__name__}: {error}") from error
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            raise ModeError(f"{mode.__name__} fails with {failure}") from error
    if snapshot((record.args, record.kwargs)) != record.before:
        raise ModeError("the arguments are not as they were")


def again(problem: Problem, record: Record) -> tuple[Any, tuple[Any, ...]]:
    """Return value and gradient, taken once more: they must be those that the test has got."""
    start = time.process_time()
    value, g = taken_as_plain(problem, lambda: taken_again(problem.value_and_grad))
    if snapshot(taken_again(problem.value_and_grad)) != snapshot((value, g)):
        raise Skipped("each call gives something else")
    if time.process_time() - start > LONG:
        raise Skipped("it takes long")
    recorded = g if isinstance(record.argnums, tuple) else g[0]
    if snapshot(value) != record.value or snapshot(recorded) != record.gradient:
        raise Skipped("what the function reads has changed")
    if isinstance(record.argnums, tuple):  # once where the test has named an argument twice
        g = tuple(dict(zip(choose_arguments(*record.call), g, strict=True)).values())
    return value, g


def taken_again(take: Callable[[], Any]) -> Any:
    """Return a derivative, unless it depends on what the test has changed since."""
    try:
        return take()
    except Exception as error:
        raise Skipped(f"it cannot be taken again: {type(error).__name__}") from error


def of_output(record: Record, seed: int) -> Record:
    """Return the record of the product of the output with a random cotangent."""
    rng = np.random.default_rng(seed)
    f = record.f
    y = taken_again(lambda: vjp(f, *record.args)[0])
    if snapshot(y) != record.value:
        raise Skipped("what the function reads has changed")
    numeric = isinstance(y, (float, complex, np.inexact, np.ndarray))
    if not numeric or np.asarray(y).dtype.kind not in "fc":
        raise Skipped(f"the output is a {type(y).__name__}")
    weight = rng.standard_normal(np.shape(y))
    if np.iscomplexobj(y):
        weight = weight + 1j * rng.standard_normal(np.shape(y))

    def product(*args: Any) -> Any:
        return np.sum(np.real(f(*args) * weight))

    argnums = tuple(i for i, a in enumerate(record.args) if differentiable(a))
    if not argnums:
        raise Skipped("no argument has a derivative")
    value, g = taken_again(Problem(product, record.args, argnums).value_and_grad)
    return Record(
        product, record.args, {}, argnums, False, snapshot(value), snapshot(g), record.before,
        record.context,
    )  # fmt: skip


def differentiable(a: Any) -> bool:
    if isinstance(a, (float, complex, np.inexact)):
        return True
    return any(part.dtype.kind in "fc" for part in arrays_of(a))


def overlap(arg: Any) -> bool:
    """Whether an argument holds views that overlap; one array may be there twice."""
    arrays = {id(a): a for a in arrays_of(arg)}.values()
    if any(map(has_overlaps, arrays)):
        return True
    return any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))


def forward(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Compare the derivative along a random direction with the gradient."""
    value, g = expected
    tangents = problem.directions(rng)
    y, slope = taken_as_plain(problem, lambda: problem.slope(tangents))
    require_value(y, value, problem.rtol(), "in forward mode")
    along, size = problem.paired(tangents, g)
    require_close(slope, along, size, problem.rtol(), "the derivative along a direction")


def twice(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Pull back twice."""
    if problem.has_aux:
        raise Skipped("with more than a number as output")
    value, g = expected

    def pulled() -> Any:
        y, pullback = problem.pullback()
        c = np.ones(y.shape) if isinstance(y, np.ndarray) else 1.0
        return y, pullback(c), pullback(c)

    y, first, second = taken_as_plain(problem, pulled)
    require_value(y, value, problem.rtol(), "of vjp")
    if compiles():  # some calls run as compiled code, some in Python, which round otherwise
        tangents = problem.directions(rng)
        along, size = problem.paired(tangents, g)
        for h in (first, second):
            got, _ = problem.paired(tangents, h)
            require_close(got, along, size, problem.rtol(), "what a pullback gives")
        return
    if snapshot(first) != snapshot(second):
        raise ModeError(f"a second call of the pullback gives {second!r}, not {first!r}")
    if snapshot(first) != snapshot(g):
        raise ModeError(f"the pullback gives {first!r}, not {g!r}")


MODES: list[Mode] = [
    forward, twice, compiled, in_text, nested.inside_forward, nested.inside_reverse,
    variants.other_shapes, variants.other_dtypes,
]  # fmt: skip
