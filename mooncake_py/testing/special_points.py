"""Special arguments, at which formulas have separate cases: zeros, ones, ties, equal rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.testing.case import Inputs, path
from mooncake_py.testing.compare import largest_number
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.structure import is_inexact
from mooncake_py.testing.variants import Variant

__all__ = ["is_singular", "special_points"]

Change = Callable[[Any], Any]
HUGE = 1e6


def special_points(inputs: Inputs) -> Iterator[Variant]:
    """Yield the inputs with special values in their arrays and numbers, all and one at a time."""
    positions = [i for i, value in enumerate(inputs.values) if i and holds_floats(value)]
    for label, change in CHANGES.items():
        changed = {i: replaced(inputs.values[i], change) for i in positions}
        changed = {i: value for i, value in changed.items() if value is not None}
        if not changed:
            continue
        yield special(label, inputs, changed)
        if label in ALONE and len(changed) > 1:
            for i, value in changed.items():
                yield special(f"{path(i)} {label}", inputs, {i: value})
    for j, k in pairwise(positions):
        a, b = inputs.values[j], inputs.values[k]
        if type(a) is type(b) and np.shape(a) == np.shape(b) and dtype_of(a) == dtype_of(b):
            same = (
                a.copy(order="K") if issubclass(type(a), np.ndarray) else a + 0.0
            )  # another object
            yield special(f"{path(j)} equal to {path(k)}", inputs, {k: same})


def is_singular(there: Reference, given: Reference) -> bool:
    """Return whether the results at a special point are so large that rounding caused them.

    A matrix with equal rows is singular, but its numerical inversion may succeed.
    """
    return results_size(there) > HUGE * max(1.0, results_size(given))


def results_size(reference: Reference) -> float:
    """Return the size of the largest number in the results of a function."""
    return largest_number([("", reference.output), ("", reference.inputs.values)])


def special(label: str, inputs: Inputs, changed: dict[int, Any]) -> Variant:
    """Return the inputs with other values at some positions."""
    values = tuple(changed.get(i, value) for i, value in enumerate(inputs.values))
    return Variant(label, Inputs(values, inputs.kwargs), "special_points")


def holds_floats(value: Any) -> bool:
    """Return True for a number, or an array with elements, of floats or complex numbers."""
    return is_inexact(value) and np.size(value) > 0


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array, None for a number of Python."""
    return getattr(value, "dtype", None)


def replaced(value: Any, change: Change) -> Any:
    """Return a changed copy of an array or a number; None if the change makes no sense for it."""
    if issubclass(type(value), np.ndarray):
        return change(value)
    changed = change(np.asarray(value))
    return None if changed is None else type(value)(changed[()])


def filled(number: float) -> Change:
    """Return a change of all elements to one number."""

    def change(value: NDArray[Any]) -> NDArray[Any]:
        return np.full_like(value, number, subok=False)

    return change


def one_zero(value: NDArray[Any]) -> NDArray[Any] | None:
    """Set the first element to zero."""
    if value.size < 2:
        return None
    changed = value.copy(order="K")
    changed[(0,) * value.ndim] = 0.0
    return changed


def tied(value: NDArray[Any]) -> NDArray[Any] | None:
    """Set the second element to the first along the last axis that has two."""
    axes = [axis for axis, n in enumerate(value.shape) if n > 1]
    if not axes:
        return None
    changed = value.copy(order="K")
    moved = np.moveaxis(changed, axes[-1], 0)
    moved[1] = moved[0]
    return changed


def equal_rows(value: NDArray[Any]) -> NDArray[Any] | None:
    """Set all rows of a matrix to the first one."""
    if value.ndim < 2 or value.shape[-2] < 2:
        return None
    changed = value.copy(order="K")
    changed[..., :, :] = value[..., :1, :]
    return changed


CHANGES: dict[str, Change] = {
    "zeros": filled(0.0),
    "ones": filled(1.0),
    "with a zero": one_zero,
    "with ties": tied,
    "with equal rows": equal_rows,
}
ALONE = ("zeros", "ones")
