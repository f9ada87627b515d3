"""Sparse matrices joined from blocks, which SciPy puts into arrays of objects on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mooncake_py.rules.declare import overlay

__all__ = ["is_array"]


@overlay(sp.hstack)
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return joined([list(blocks)], format, dtype, any(map(is_array, blocks)))


@overlay(sp.vstack)
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return joined([[block] for block in blocks], format, dtype, any(map(is_array, blocks)))


@overlay(sp.bmat)
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    rows = [list(row) for row in blocks]
    return joined(rows, format, dtype, any(is_array(b) for row in rows for b in row))


@overlay(sp.block_array)
def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    return joined([list(row) for row in blocks], format, dtype, True)


def is_array(block: Any) -> bool:
    """Return whether a block is a sparse array, not a sparse matrix."""
    return isinstance(block, sp.sparray)


def joined(rows: list[list[Any]], format: Any, dtype: Any, to_array: bool) -> Any:
    """Join rows of blocks, of which None is zero."""
    if format is None:
        format = common_format([b for row in rows for b in row])
    parts = [[None if b is None else sp.coo_array(b) for b in row] for row in rows]
    heights = [length(row, 0, f"blocks[{i},:]") for i, row in enumerate(parts)]
    columns = zip(*parts, strict=True)
    widths = [length(column, 1, f"blocks[:,{j}]") for j, column in enumerate(columns)]
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    data, i, j = [], [], []
    for row, top in zip(parts, tops[:-1], strict=True):
        for block, left in zip(row, lefts[:-1], strict=True):
            if block is not None:
                data.append(block.data)
                i.append(block.row + top)
                j.append(block.col + left)
    shape = int(tops[-1]), int(lefts[-1])
    whole = sp.coo_array if to_array else sp.coo_matrix
    if not data:
        return whole(shape, dtype=dtype).asformat(format)
    elements = np.concatenate(data)
    if dtype is not None:
        elements = elements.astype(dtype)
    places = np.concatenate(i), np.concatenate(j)
    return whole((elements, places), shape=shape).asformat(format)


def common_format(blocks: list[Any]) -> str | None:
    """Return compressed rows or columns where all blocks have them."""
    formats = {b.format if sp.issparse(b) else None for b in blocks}
    return next((f for f in ("csr", "csc") if formats == {f}), None)


def length(blocks: Sequence[Any], axis: int, where: str) -> int:
    """Return the common length of blocks along an axis, 0 for none."""
    lengths = {b.shape[axis] for b in blocks if b is not None}
    if len(lengths) > 1:
        kind = "column" if axis else "row"
        raise ValueError(f"{where} has incompatible {kind} dimensions")
    return lengths.pop() if lengths else 0
