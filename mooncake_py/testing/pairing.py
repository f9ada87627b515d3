"""The inner product of cotangents and tangents, which counts each memory cell once."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.tangents import NoFData, NoRData, NoTangent
from mooncake_py.tangents.memory import address, owner
from mooncake_py.testing.structure import children, is_number

__all__ = ["Pairing", "cells", "holds_nothing"]

_EMPTY = (NoTangent, NoFData, NoRData)


def holds_nothing(value: Any) -> bool:
    """Return whether `value` is one of the three markers for the absence of a tangent."""
    return isinstance(value, _EMPTY)


def cells(array: NDArray[Any]) -> NDArray[np.intp]:
    """Return the address of each real component of an array, shape ``(*array.shape, 1 or 2)``."""
    parts = 2 if array.dtype.kind == "c" else 1
    addresses = np.full((*array.shape, parts), address(array), dtype=np.intp)
    for axis, (n, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        shape = [1] * (array.ndim + 1)
        shape[axis] = n
        addresses += (np.arange(n, dtype=np.intp) * stride).reshape(shape)
    if parts == 2:
        addresses[..., 1] += array.dtype.itemsize // 2
    return addresses


class Pairing:
    """Accumulates ``sum Re(conj(c) t)`` over pairs of a cotangent and a tangent.

    Cells that several arrays of the cotangents share, and containers that occur twice, count once.

    Attributes
    ----------
    value : float
        The inner product so far.
    magnitude : float
        The sum of the absolute values of its terms.
    """

    def __init__(self) -> None:
        self.value = 0.0
        self.magnitude = 0.0
        self._containers: dict[int, Any] = {}
        self._arrays: dict[int, list[NDArray[Any]]] = defaultdict(list)

    def add(self, cotangent: Any, tangent: Any) -> None:
        """Add the product of two values of matching structure; a missing part counts as zero."""
        if isinstance(cotangent, _EMPTY) or isinstance(tangent, _EMPTY):
            return
        if issubclass(type(cotangent), np.ndarray):
            self._add_arrays(cotangent, tangent)
        elif is_number(cotangent):
            self._add_terms(np.conj(cotangent) * tangent)
        elif issubclass(type(cotangent), tuple) or id(cotangent) not in self._containers:
            self._containers[id(cotangent)] = cotangent
            self._add_parts(cotangent, tangent)

    def _add_parts(self, cotangent: Any, tangent: Any) -> None:
        for (_, part), (_, other) in zip(children(cotangent), children(tangent), strict=True):
            self.add(part, other)

    def _add_arrays(self, cotangent: NDArray[Any], tangent: NDArray[Any]) -> None:
        root = owner(cotangent)
        earlier = self._arrays[id(root)]
        fresh = self._fresh_cells(cotangent, earlier)
        earlier.append(cotangent)
        wide = np.result_type(cotangent, tangent, np.float64)
        left, right = cotangent.astype(wide, copy=False), tangent.astype(wide, copy=False)
        if fresh is None:
            self._add_terms(left.conj() * right)
        else:
            terms = _components(left) * _components(right)
            self._add_terms(terms[..., : fresh.shape[-1]][fresh])

    def _fresh_cells(
        self, array: NDArray[Any], earlier: list[NDArray[Any]]
    ) -> NDArray[np.bool_] | None:
        """Return a mask of the cells not yet counted; None for all of them."""
        overlaps_itself = 0 in array.strides and array.size > 1
        if not earlier and not overlaps_itself:
            return None
        addresses = cells(array)
        _, first = np.unique(addresses, return_index=True)
        fresh = np.zeros(addresses.size, dtype=bool)
        fresh[first] = True
        fresh = fresh.reshape(addresses.shape)
        for other in earlier:
            fresh &= ~np.isin(addresses, cells(other))
        return fresh

    def _add_terms(self, terms: Any) -> None:
        real = terms.real
        self.value += float(real.sum())
        self.magnitude += float(np.abs(real).sum())


def _components(array: NDArray[Any]) -> NDArray[Any]:
    """Return the real and imaginary parts along a new last axis; the real part alone if real."""
    if array.dtype.kind == "c":
        return np.stack([np.real(array), np.imag(array)], axis=-1)
    return array[..., None]
