"""Rules for `scipy.sparse`: products of a constant sparse matrix with arrays.

The adjoint of x -> A x is dy -> A^H dy.  What a sparse matrix holds is constant: build the dense
matrix, or write the product out, for a derivative with respect to its elements.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from numpy import ndarray

from mooncake_py.rules.declare import linear
from mooncake_py.rules.kinds import Like

__all__: list[str] = []

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
CLASSES = [getattr(sp, f"{form}_{kind}") for form in FORMATS for kind in ("array", "matrix")]


# One function serves all formats: the set has few.
@linear(*{c.__matmul__ for c in CLASSES}, wrt=1)
def matmul_adjoint(dy: ndarray, self: Any, other: Like) -> ndarray:
    return self.conj().T @ dy


@linear(*{c.__rmatmul__ for c in CLASSES}, wrt=1)
def rmatmul_adjoint(dy: ndarray, self: Any, other: Like) -> ndarray:
    return dy @ self.conj().T
