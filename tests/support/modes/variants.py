"""The same function just before with operands of other shapes and dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import MooncakeError
from mooncake_py.modes.reverse.context import ReverseContext
from tests.support.limited import TimedOut, limited
from tests.support.modes.mentions import names_in
from tests.support.modes.problem import ModeError, Problem, Skipped, require_close, require_value
from tests.support.modes.snapshots import snapshot

__all__ = ["other_dtypes", "other_shapes"]

DEPTH = 20  # of structures
MOST = 4  # variants of a problem
LAST_BITS = 1e-12
SECONDS = 3.0  # with other numbers a loop may not end


def other_shapes(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Call the function with arguments of other shapes and layouts, then as it was called."""
    between(problem, list(reshaped(problem.args)), expected, rng, counts)


def other_dtypes(problem: Problem, expected: Any, rng: Any, counts: Any) -> None:
    """Call the function with arguments of other dtypes, then as it was called."""
    between(problem, list(recast(problem.args)), expected, rng, counts)


def between(problem: Problem, found: list[Any], expected: Any, rng: Any, counts: Any) -> None:
    """Check some variants, and the original after each that the function accepts."""
    if "as_strided" in names_in(problem.f):
        raise Skipped("explicit strides look beyond smaller arrays and elements")
    for k in rng.permutation(len(found))[:MOST]:
        name, args = found[k]
        try:
            accepted = check_variant(problem.at(args), rng)
        except ModeError as error:
            raise type(error)(f"{name}: {error}") from error
        counts["variants accepted" if accepted else "variants not accepted"] += 1
        if accepted:
            require_same(problem, name, expected, rng)


def require_same(problem: Problem, name: str, expected: Any, rng: Any) -> None:
    """Raise if the next value is another, or the gradient differs by more than its last bits.

    A loop that has met few elements may run by its statements from then on.
    """
    value, g = problem.value_and_grad()
    if snapshot(value) != snapshot(expected[0]):
        raise ModeError(f"{name}: the next value of the original arguments is another")
    tangents = problem.directions(rng)
    along, size = problem.paired(tangents, expected[1])
    found, _ = problem.paired(tangents, g)
    require_close(found, along, size, LAST_BITS, f"the next gradient after {name}")


def check_variant(problem: Problem, rng: Any) -> bool:
    """Compare a gradient with that of the general way and with forward mode, if there is one."""
    failure = None
    value = g = None
    try:
        with limited(SECONDS):
            value, g = problem.value_and_grad()
    except TimedOut:
        return False
    except (Exception, SystemExit) as error:  # as of argparse
        failure = error
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            slow_value, slow = problem.value_and_grad()
    except (Exception, SystemExit):
        if failure is None:
            raise
        return False
    if failure is not None:
        raise ModeError(f"quick forms raise {type(failure).__name__}: {failure}") from failure
    rtol = problem.rtol()
    require_value(value, slow_value, rtol, "by quick forms")
    tangents = problem.directions(rng)
    along, size = problem.paired(tangents, g)
    slowly, _ = problem.paired(tangents, slow)
    require_close(along, slowly, size, rtol, "the gradient by quick forms, along a direction")
    try:
        y, slope = problem.slope(tangents)
    except MooncakeError:
        return True
    require_value(y, value, rtol, "in forward mode")
    require_close(slope, along, size, rtol, "the derivative along a direction")
    return True


def reshaped(args: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield arguments of which one part, or all, have another shape or layout."""
    parts = dict(places(args, ()))
    arrays = [a for a in parts.values() if is_array(a)]
    largest = max((a.shape for a in arrays), key=lambda s: (len(s), s), default=())
    for path, a in parts.items():
        for name, variant in ways_to_reshape(a, largest):
            yield f"argument {path} {name}", with_parts(args, {path: variant})
    longer = {p: np.concatenate([a, a]) for p, a in parts.items() if is_array(a) and a.ndim}
    if longer:
        columns = {p: parts[p][..., None].copy() for p in longer}
        yield "all arguments twice as long", with_parts(args, longer)
        yield "all arguments as columns", with_parts(args, columns)


def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the numbers and arrays in tuples, lists and dicts, with the keys that lead there."""
    if len(path) > DEPTH:
        raise Skipped("a structure is deep, or contains itself")
    if type(value) in (tuple, list):
        for i, part in enumerate(value):
            yield from places(part, (*path, i))
    elif type(value) is dict:
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, (float, np.floating)) or is_array(value):
        yield path, value


def with_parts(value: Any, new: dict[tuple[Any, ...], Any], path: tuple[Any, ...] = ()) -> Any:
    """Return a copy of tuples, lists and dicts with other parts at some places."""
    if path in new:
        return new[path]
    if type(value) in (tuple, list):
        return type(value)(with_parts(part, new, (*path, i)) for i, part in enumerate(value))
    if type(value) is dict:
        return {key: with_parts(part, new, (*path, key)) for key, part in value.items()}
    return value


def ways_to_reshape(a: Any, largest: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """Yield other arguments in place of one."""
    if isinstance(a, (float, np.floating)):
        yield "as an array without axes", np.array(a)
        yield "as an array of one element", np.array([a])
        if largest:
            yield "as a full array", np.full(largest, a)
        return
    if not is_array(a) or a.size == 0:
        return
    yield "its first element", float(a.flat[0]) if a.dtype == float else a.flat[0]
    yield "without axes", np.array(a.flat[0])
    if a.ndim:
        yield "of one element", a.reshape(-1)[:1].reshape((1,) * a.ndim).copy()
        yield "twice as long", np.concatenate([a, a])
        yield "strided", np.repeat(a, 2, axis=-1)[..., ::2]
        yield "backwards in memory", a[::-1].copy()[::-1]
    if a.ndim > 1:
        yield "in the order of Fortran", np.asfortranarray(a)
        yield "with a first axis of one", a[:1].copy()
    if a.shape != largest:
        with suppress(ValueError):
            yield "full", np.broadcast_to(a, largest).copy()


def recast(args: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield arguments of which one part, or all, have another dtype.

    Not half precision: its rounding and its range hide what is compared.
    """
    parts = dict(places(args, ()))
    for dtype in (np.float32, np.complex128, np.int64):
        changed = {path: cast(a, dtype) for path, a in parts.items()}
        changed = {path: a for path, a in changed.items() if a is not parts[path]}
        for path, a in changed.items():
            yield f"argument {path} {dtype.__name__}", with_parts(args, {path: a})
        if len(changed) > 1 and dtype is not np.int64:
            yield f"all arguments {dtype.__name__}", with_parts(args, changed)


def cast(a: Any, dtype: Any) -> Any:
    """Return a number or an array with another dtype; the same object if that is its own."""
    if is_array(a):
        if a.dtype == dtype or (a.dtype.kind == "c" and dtype != np.complex64):
            return a
        return a.astype(dtype)
    if isinstance(a, float):
        if dtype is np.int64:
            return int(a) if np.isfinite(a) else a
        return dtype(a)
    return a


def is_array(a: Any) -> bool:
    return type(a) is np.ndarray and a.dtype.kind in "fc"
