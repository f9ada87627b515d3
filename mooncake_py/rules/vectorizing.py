"""NumPy's functions that apply a Python function many times, as Python that can be derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.sources import without_rule

__all__: list[str] = []


# np.vectorize: NumPy makes a ufunc of the function, which calls back from compiled code and
# returns arrays of objects.  With a signature it runs a loop in Python, which is derived.

original: Any = np.vectorize.__call__
call_in_python = without_rule(original)


@overlay(original)
def vectorize_call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function for each element of the arguments that are not excluded."""
    if self.signature is not None or not callable(self.pyfunc):  # or about to be given it
        return call_in_python(self, *args, **kwargs)
    places = [i for i in range(len(args)) if i not in self.excluded]
    names = [name for name in kwargs if name not in self.excluded]
    arrays = [args[i] for i in places] + [kwargs[name] for name in names]
    if len(places) == len(args) and not kwargs:
        return called(self, self.pyfunc, arrays)
    given = list(args)

    def with_excluded(*values: Any) -> Any:
        for i, value in zip(places, values, strict=False):
            given[i] = value
        kwargs.update(zip(names, values[len(places) :], strict=True))
        return self.pyfunc(*given, **kwargs)

    return called(self, with_excluded, arrays)


def called(vectorized: Any, func: Callable[..., Any], args: Any) -> Any:
    """Call `func` for each element, with the options of an instance of `np.vectorize`."""
    if not args:
        return func()
    arrays = [np.asanyarray(a) for a in args]
    if vectorized.otypes is not None:
        types = vectorized.otypes
        return called_for_each(func, arrays, types, len(types), [])
    if any(a.size == 0 for a in arrays):
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    # The types are those of one call more than there are elements.
    first = func(*[a.flat[0] for a in arrays])
    outputs = first if isinstance(first, tuple) else (first,)
    types = [np.asarray(y).dtype.char for y in outputs]
    return called_for_each(func, arrays, types, len(types), [first] if vectorized.cache else [])


def called_for_each(func: Any, arrays: Any, types: Any, count: int, known: list[Any]) -> Any:
    """Return one array for each of `count` outputs of `func`; `known` results are used first."""
    arrays = [a if a.dtype == object else a.copy("K") for a in arrays]  # `func` may write to them
    indices, like = path(arrays)
    arrays = np.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays
    if count == 1 and like.flags.c_contiguous and are_floats(arrays, types[0]):
        y = np.empty(like.shape)
        fill(func, [a.flatten() for a in arrays], y.reshape(-1), known)
        return y
    results = []
    for index in indices:
        result = known.pop() if known else func(*[a.item(index) for a in arrays])
        results.append(result if count > 1 else (result,))
    made = []
    for k in range(count):
        dtype = np.dtype(types[k])
        flexible = dtype.itemsize == 0  # text: the width depends on the elements
        y = np.empty_like(like, dtype=object if flexible else dtype)
        for index, result in zip(indices, results, strict=True):
            y[index] = result[k]
        made.append(y.astype(dtype) if flexible else y)
    return tuple(made) if count > 1 else made[0]


def are_floats(arrays: list[ndarray], result: Any) -> bool:
    """Return True for arrays that a function of floats takes to such an array."""
    return np.dtype(result) == float and all(a.dtype == float for a in arrays)


def fill(func: Any, items: list[Any], y: Any, known: list[Any]) -> None:
    """Write what `func` returns for the elements of vectors, in loops that are one entry."""
    first = len(known)
    if known:
        y[0] = known[0]
    if len(items) == 1:
        (a,) = items
        for k in range(first, len(y)):
            y[k] = func(float(a[k]))
    elif len(items) == 2:
        a, b = items
        for k in range(first, len(y)):
            y[k] = func(float(a[k]), float(b[k]))
    else:
        for k in range(first, len(y)):
            y[k] = func(*[float(a[k]) for a in items])


def path(arrays: list[ndarray]) -> tuple[list[tuple[int, ...]], ndarray]:
    """Return the indices of all elements in the order of a ufunc, and an array laid out alike."""
    operands: Any = [*(np.empty_like(a, dtype=bool) for a in arrays), None]
    access: Any = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    like = np.nditer(operands, flags=["multi_index", "zerosize_ok"], op_flags=access)
    with like:
        return [like.multi_index for _ in like], like.operands[-1]


zero_derivative(path, because="returns indices")


# np.apply_along_axis.


@overlay(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `func1d` for each vector along an axis; of vectors and matrices without indices."""
    is_common = type(arr) is ndarray and 0 < arr.ndim < 3 and arr.size and type(axis) is int
    if not is_common or not -arr.ndim <= axis < arr.ndim:
        return along_any_axis(func1d, axis, arr, *args, **kwargs)
    if arr.ndim == 1:
        found = np.asanyarray(func1d(arr[...], *args, **kwargs))
        results = room_for(found, ())
        results[...] = found
        return np.transpose(results, range(results.ndim))
    lines = arr if axis % 2 else arr.T
    found = np.asanyarray(func1d(lines[0, ...], *args, **kwargs))
    results = room_for(found, lines.shape[:1])
    results[0, ...] = found
    for i in range(1, len(lines)):
        results[i, ...] = np.asanyarray(func1d(lines[i, ...], *args, **kwargs))
    order = range(results.ndim)
    return np.transpose(results, order if axis % 2 else (*order[1:], 0))


def along_any_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Do the same for any array and axis, or raise."""
    arr = np.asanyarray(arr)
    axis = np.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    vectors = np.moveaxis(arr, axis, -1)
    indices = [(*index, Ellipsis) for index in np.ndindex(vectors.shape[:-1])]
    if not indices:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asanyarray(func1d(vectors[indices[0]], *args, **kwargs))
    results = room_for(first, vectors.shape[:-1])
    results[indices[0]] = first
    for index in indices[1:]:
        results[index] = np.asanyarray(func1d(vectors[index], *args, **kwargs))
    order = list(range(results.ndim))
    stop = results.ndim - first.ndim
    return np.transpose(results, order[:axis] + order[stop:] + order[axis:stop])


def room_for(found: Any, lines: tuple[int, ...]) -> Any:
    """Return an array for the results of all lines, given that for one."""
    if issubclass(type(found), np.matrix):
        return np.zeros(lines + found.shape, found.dtype)
    return np.zeros_like(found, shape=lines + found.shape)
