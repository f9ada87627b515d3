"""Rules for `scipy.sparse.linalg`: systems with a constant sparse matrix.

The adjoint of b -> A^-1 b is dx -> A^-H dx.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg as spl
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, linear, refused
from mooncake_py.rules.kinds import Like

__all__: list[str] = []


refused(
    spl.splu, spl.spilu, spl.factorized,
    why="what a sparse matrix holds is constant",
    fix="factorize a constant matrix; for a derivative with respect to elements use a dense one",
)  # fmt: skip


@from_vjp(spl.spsolve)
def spsolve_rule(A: Any, b: Any, *options: Any, **named: Any) -> Any:
    """Solve with the conjugate transpose, of the same format as A is factorized in."""
    x: Any = spl.spsolve(A, b, *options, **named)

    def spsolve_pullback(dx: ndarray) -> tuple[Any, Any]:
        db: Any = spl.spsolve(A.conj().T.tocsc(), dx, *options, **named)
        return None, np.reshape(db, np.shape(b))

    return x, spsolve_pullback


@linear(spl.SuperLU.solve, wrt=1)
def solve_adjoint(dy: ndarray, self: Any, rhs: Like, trans: str = "N") -> ndarray:
    """Solve with the conjugate transpose of the matrix, its transpose or itself."""
    if trans == "T":
        return conj(self.solve(conj(dy)))
    return self.solve(dy, "H" if trans == "N" else "N")
