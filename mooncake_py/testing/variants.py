"""Other arguments for the same function: layouts, shapes, dtypes and shared memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooncake_py.tangents import zero_tangent
from mooncake_py.testing.case import Inputs, path
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.layouts import LAYOUTS, RESHAPES, as_broadcast
from mooncake_py.testing.pairing import holds_nothing
from mooncake_py.testing.sharing import overlap
from mooncake_py.testing.structure import is_inexact, walk_all

__all__ = [
    "Variant",
    "accept",
    "aliasing_variants",
    "dtype_variants",
    "layout_variants",
]


class Variant(NamedTuple):
    """Other inputs for the same function.

    Attributes
    ----------
    label : str
        Name of the variant in messages.
    inputs : Inputs
    option : str
        The option of `test_rule` that leaves the variant out; "shapes" is a part of `layouts`.
    """

    label: str
    inputs: Inputs
    option: str


Array = NDArray[Any]


def accept(inputs: Inputs, base: Reference) -> Reference | None:
    """Return the results of the function for a variant; None if it rejects the variant.

    A function accepts a variant if it neither raises nor warns, returns finite results, and has
    variables of differentiation wherever the original arguments have.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            reference = Reference.of(inputs)
    except Exception:
        return None  # the function refuses these arguments, in whatever way it does that
    was_active = not holds_nothing(zero_tangent(base.output))
    if was_active and holds_nothing(zero_tangent(reference.output)):
        return None
    results = [("", reference.output), *reference.inputs.roots()]
    return reference if all(_is_finite(part) for _, part in walk_all(results)) else None


def _is_finite(value: Any) -> bool:
    return not is_inexact(value) or bool(np.all(np.isfinite(value)))


def _active_arrays(inputs: Inputs) -> list[Array]:
    return [part for _, part in walk_all(inputs.roots()) if _is_active(part)]


def _replaced(inputs: Inputs, change: Callable[[Array], Array]) -> Inputs:
    """Return a copy of the inputs with each active array changed."""
    return inputs.copy(
        lambda value: change(value) if _is_active(value) else _plain_copy(value), keep_views=False
    )


def _is_active(value: Any) -> bool:
    return issubclass(type(value), np.ndarray) and is_inexact(value)


def _plain_copy(value: Any) -> Any:
    return value.copy(order="K") if issubclass(type(value), np.ndarray) else value


def _with_argument(inputs: Inputs, i: int, value: Any) -> Inputs:
    values = list(inputs.values)
    values[i] = value
    return Inputs(tuple(values), inputs.kwargs)


def layout_variants(inputs: Inputs) -> Iterator[Variant]:
    """Yield the inputs with their arrays in other layouts, of other shapes, and broadcast."""
    arrays = _active_arrays(inputs)
    if any(overlap(a, b) for i, a in enumerate(arrays) for b in arrays[:i]):
        return  # in another layout they would not overlap in the same way
    for label, change in (*LAYOUTS.items(), *RESHAPES.items()):
        if any(change(array) is not None for array in arrays):
            changed = _replaced(inputs, lambda a, change=change: _changed(a, change))
            yield Variant(label, changed, "layouts" if label in LAYOUTS else "shapes")
    positions = [i for i, value in enumerate(inputs.values) if _is_active(value)]
    for i in positions:
        array = inputs.values[i]
        changed = as_broadcast(array)
        if changed is not None:
            broadcast = _with_argument(inputs, i, changed)
            yield Variant(f"{path(i)} broadcast", broadcast, "layouts")
        if len(inputs.values) > 2:
            for label, change in RESHAPES.items():
                changed = change(array)
                if changed is not None and changed.size:
                    reshaped = _with_argument(inputs, i, changed)
                    yield Variant(f"{path(i)} {label}", reshaped, "shapes")


def _changed(array: Array, change: Callable[[Array], Array | None]) -> Array:
    changed = change(array)
    return array.copy(order="K") if changed is None else changed


def dtype_variants(inputs: Inputs, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield the inputs in single precision and with complex numbers, all and one at a time."""

    def to_single(value: Any) -> Any:
        dtype = getattr(value, "dtype", None)
        single = {"float64": np.float32, "complex128": np.complex64}.get(str(dtype))
        return _cast(value, single)

    def to_complex(value: Any) -> Any:
        if isinstance(value, float) and not isinstance(value, np.generic):
            return complex(value, rng.standard_normal())
        dtype = getattr(value, "dtype", None)
        wide = {"float32": np.complex64, "float64": np.complex128}.get(str(dtype))
        if wide is None:
            return _cast(value, None)
        result = _cast(value, wide)
        return result + wide(1j) * rng.standard_normal(np.shape(value)).astype(wide)

    active = [i for i, value in enumerate(inputs.values) if i and _has_floats(value)]
    for label, change in (("float32", to_single), ("complex", to_complex)):
        yield Variant(label, inputs.copy(change), "dtypes")
        if len(active) > 1:
            for i in active:
                alone = Inputs((inputs.values[i],), {}).copy(change).values[0]
                if type(alone) is not type(inputs.values[i]) or _is_active(alone):
                    one = _with_argument(inputs, i, alone)
                    yield Variant(f"{path(i)} {label}", one, "dtypes")


def _has_floats(value: Any) -> bool:
    return _is_active(value) or isinstance(value, (float, np.floating))


def _cast(value: Any, dtype: Any) -> Any:
    if issubclass(type(value), np.ndarray):
        return np.array(value, dtype=dtype, order="K")
    return value if dtype is None else dtype(value)


def aliasing_variants(inputs: Inputs) -> Iterator[Variant]:
    """Yield the inputs with pairs of array arguments that are one array, or overlap."""
    positions = [i for i, value in enumerate(inputs.values) if _is_active(value)]
    for i in positions:
        for j in positions:
            a, b = inputs.values[i], inputs.values[j]
            if i == j or a.dtype != b.dtype or a.ndim != b.ndim or overlap(a, b):
                continue
            if a.shape == b.shape and i < j:
                same = _with_argument(inputs, j, a)
                yield Variant(f"{path(i)} is {path(j)}", same, "aliasing")
            if a.ndim and a.size and b.size:
                yield from _overlapping(inputs, i, j)


def _overlapping(inputs: Inputs, i: int, j: int) -> Iterator[Variant]:
    """Yield one variant in which argument `j` overlaps argument `i` without being the same."""
    a, b = inputs.values[i], inputs.values[j]
    label = f"{path(j)} overlaps {path(i)}"
    if a.shape == b.shape:
        base = np.concatenate([a, b[-1:]])
        shifted = _with_argument(inputs, i, base[:-1])
        yield Variant(label, _with_argument(shifted, j, base[1:]), "aliasing")
    elif all(m <= n for m, n in zip(b.shape, a.shape, strict=True)):
        window = tuple(slice(n - m, n) for m, n in zip(b.shape, a.shape, strict=True))
        whole = a.copy()
        within = _with_argument(_with_argument(inputs, i, whole), j, whole[window])
        yield Variant(label, within, "aliasing")
