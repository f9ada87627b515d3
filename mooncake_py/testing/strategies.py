"""Hypothesis strategies for the arguments of rules; needs the package `hypothesis`.

>>> import numpy as np
>>> from hypothesis import given, settings
>>> from mooncake_py.testing import strategies, test_rule
>>> @settings(max_examples=10, deadline=None, derandomize=True)
... @given(strategies.aliased(2))
... def check_product(arrays):
...     test_rule(np.multiply, *arrays, layouts=False, dtypes=False, aliasing=False)
>>> check_product()
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import DTypeLike, NDArray

from mooncake_py.testing.layouts import LAYOUTS

__all__ = ["aliased", "arrays", "numbers"]

Strategy = st.SearchStrategy[Any]
Bounds = tuple[float, float]


def numbers(bounds: Bounds = (-2.0, 2.0)) -> Strategy:
    """Return a strategy for floats that are short to read: multiples of 1/64 within bounds."""
    low, high = bounds
    return st.integers(int(np.ceil(low * 64)), int(np.floor(high * 64))).map(lambda k: k / 64)


@st.composite
def arrays(
    draw: st.DrawFn,
    shape: Any = None,
    dtypes: tuple[DTypeLike, ...] = (np.float64,),
    bounds: Bounds = (-2.0, 2.0),
    layouts: bool = True,
) -> NDArray[Any]:
    """Draw an array in some layout of memory.

    Parameters
    ----------
    shape : tuple of int or strategy, optional
        By default up to three axes of up to four elements, axes of length 0 and 0-d included.
    dtypes : tuple of dtype
        Float and complex dtypes, of which one is drawn.
    bounds : tuple of float
        Bounds of the elements, or of their real and imaginary parts.  Choose them so that they
        exclude poles and kinks.
    layouts : bool
        Whether the array may be a transpose, a strided view, a reversed view or in Fortran order.

    Returns
    -------
    strategy
    """
    if shape is None:
        shape = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    sizes = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    elements = numbers(bounds)
    if dtype.kind == "c":
        elements = st.builds(complex, elements, elements)
    array = np.asarray(draw(hnp.arrays(dtype, sizes, elements=elements)))
    if layouts:
        change = draw(st.sampled_from([None, *LAYOUTS.values()]))
        changed = None if change is None else change(array)
        array = array if changed is None else changed
    return array


@st.composite
def aliased(
    draw: st.DrawFn,
    count: int,
    shape: Any = None,
    dtype: DTypeLike = np.float64,
    bounds: Bounds = (-2.0, 2.0),
) -> tuple[NDArray[Any], ...]:
    """Draw arrays of one shape that may share memory: one array, overlapping views, or neither.

    Parameters
    ----------
    count : int
        The number of arrays.
    shape : tuple of int or strategy, optional
        Shape of each array; by default one to three axes of up to four elements.
    dtype, bounds
        As for :func:`arrays`.

    Returns
    -------
    strategy
        Strategy for tuples of arrays.
    """
    if shape is None:
        shape = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
    sizes = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    long = (sizes[0] + count, *sizes[1:])
    base = draw(arrays(long, (dtype,), bounds, layouts=False))
    found: list[NDArray[Any]] = []
    for _ in range(count):
        alone = draw(st.booleans())
        start = draw(st.integers(0, count))
        window = base[start : start + sizes[0]]
        reverse = draw(st.booleans())
        window = window[::-1] if reverse else window
        found.append(window.copy() if alone else window)
    return tuple(found)
