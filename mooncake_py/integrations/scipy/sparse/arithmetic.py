"""Kernels for sums, quotients and similar of two sparse matrices, and for scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.integrations.scipy.sparse.patterns import find, kernels, replaces, rows_of, written
from mooncake_py.rules.declare import zero_derivative

__all__: list[str] = []

OPERATIONS = {
    "plus": np.add,
    "minus": np.subtract,
    "elmul": np.multiply,
    "eldiv": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS = ("ne", "lt", "gt", "le", "ge")


def union(n_row: int, n_col: int, A: Any, B: Any, both: bool) -> tuple[Any, ...]:
    """Return the pattern of all elements of A or B, or of both, and their places in it."""
    (Ap, Aj), (Bp, Bj) = A, B
    nnz = len(Aj) + len(Bj)
    pointers, indices = np.empty(n_row + 1, Ap.dtype), np.empty(nnz, Ap.dtype)
    kernel = kernels.csr_elmul_csr if both else kernels.csr_plus_csr
    ones = [np.ones(len(j)) for j in (Aj, Bj)]
    kernel(n_row, n_col, Ap, Aj, ones[0], Bp, Bj, ones[1], pointers, indices, np.empty(nnz))
    indices = indices[: pointers[-1]]
    places = [find(n_col, (pointers, indices), rows_of(p), j) for p, j in (A, B)]
    return pointers, indices, *places


zero_derivative(union, because="of indices")


def spread(n: int, places: ndarray, x: Any) -> Any:
    """Return `n` elements, or blocks, with those given at their places and zero elsewhere."""
    spread_out = np.zeros((n, *x.shape[1:]), x.dtype)
    if places.size and places.min() < 0:
        known = places >= 0
        places, x = places[known], x[known]
    np.add.at(spread_out, places, x)
    return spread_out


def combine(name: str, sizes: tuple[int, int], *operands: Any) -> None:
    """Write A combined with B to C; `operands` are pointers, indices and elements of each."""
    (Ap, Aj, Ax), (Bp, Bj, Bx), (Cp, Cj, Cx) = operands
    n_row, n_col = sizes
    pointers, indices, of_a, of_b = union(n_row, n_col, (Ap, Aj), (Bp, Bj), name == "elmul")
    n = len(indices)
    Cp[...] = pointers
    Cj[:n] = indices
    with np.errstate(all="ignore"):  # as SciPy, which never warns
        Cx[:n] = OPERATIONS[name](spread(n, of_a, Ax), spread(n, of_b, Bx))


def declare(name: str) -> None:
    """Declare the kernels of an operation, for rows of elements and for rows of blocks."""
    of_elements, of_blocks = f"csr_{name}_csr", f"bsr_{name}_bsr"

    @replaces(of_elements)
    def by_elements(n_row: int, n_col: int, *arrays: Any) -> None:
        if has_no_derivative(arrays[-1]):
            write(of_elements, n_row, n_col, *arrays)
        else:
            combine(name, (n_row, n_col), arrays[:3], arrays[3:6], arrays[6:])

    @replaces(of_blocks)
    def by_blocks(n_row: int, n_col: int, height: int, width: int, *arrays: Any) -> None:
        if has_no_derivative(arrays[-1]):
            write(of_blocks, n_row, n_col, height, width, *arrays)
            return
        operands = []
        for k in (0, 3, 6):
            pointers, indices, elements = arrays[k : k + 3]
            operands.append((pointers, indices, elements.reshape(-1, height, width)))
        combine(name, (n_row, n_col), *operands)


def has_no_derivative(elements: Any) -> bool:
    """Return whether elements are integers or booleans, as of comparisons."""
    return elements.dtype.kind not in "fc"


def write(name: str, *args: Any) -> None:
    """Run a kernel, and write what it writes to its last three arguments."""
    n = len(args)
    arrays, _ = written(name, args, n - 3, n - 2, n - 1)
    for array, values in zip(args[n - 3 :], arrays, strict=True):
        array[...] = values


for name in (*OPERATIONS, *COMPARISONS):
    declare(name)


@replaces("csr_scale_rows")
def csr_scale_rows(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any) -> None:
    Ax *= Xx[rows_of(Ap)]


@replaces("csr_scale_columns")
def csr_scale_columns(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Xx: Any) -> None:
    Ax *= Xx[Aj]
