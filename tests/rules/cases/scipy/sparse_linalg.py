"""Cases for `scipy.sparse.linalg`: systems whose matrix is active."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

sp: Any = scipy.sparse
spl: Any = scipy.sparse.linalg

ROWS, COLUMNS = np.array([0, 1, 2, 0, 1, 2, 0]), np.array([0, 1, 2, 1, 2, 0, 0])
HERMITIAN = ("cg", "minres")
OTHERS = ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr")


def matrix(d: Any, form: str = "csc") -> Any:
    """Return a matrix of 3 x 3 that is far from singular."""
    a = sp.coo_array((d, (ROWS, COLUMNS)), shape=(3, 3)) + 5 * sp.eye_array(3)
    return a.asformat(form)


def by_spsolve(form: str, d: Any, b: Any) -> Any:
    return spl.spsolve(matrix(d, form), b)


def by_sparse(d: Any) -> Any:
    return spl.spsolve(matrix(d), matrix(d).T.tocsc()).toarray(), spl.inv(matrix(d)).toarray()


def by_factors(trans: str, d: Any, b: Any) -> Any:
    factors = spl.splu(matrix(d))
    return factors.solve(b, trans), factors.shape[0] * factors.solve(b)


def by_factorized(d: Any, b: Any) -> Any:
    return spl.factorized(matrix(d))(b)


def by_triangle(form: str, lower: bool, unit: bool, d: Any, b: Any) -> Any:
    a = sp.tril(matrix(d)) if lower else sp.triu(matrix(d))
    return spl.spsolve_triangular(a.asformat(form), b, lower=lower, unit_diagonal=unit)


def by_iterations(name: str, d: Any, b: Any) -> Any:
    a = matrix(d, "csr")
    if name in HERMITIAN:
        a = a + a.T
    return getattr(spl, name)(a, b, rtol=1e-13)[0]


def by_preconditioned(d: Any, b: Any) -> Any:
    rough = spl.splu(sp.csc_array(np.diag([5.0, 6.0, 7.0])))
    operator = spl.LinearOperator((3, 3), matvec=rough.solve)
    options = {"rtol": 1e-13, "restart": 2, "x0": np.ones(3)}
    a = matrix(d)
    with_adjoint, without = (
        spl.gmres(a, b, M=m, **options)[0] for m in (sp.diags_array([0.1, 0.3, 0.2]), operator)
    )
    return with_adjoint, without, spl.cg((a + a.T).toarray(), b, M=operator, rtol=1e-13)[0]


def by_operators(b: Any) -> Any:
    a = np.array([[4.0, 1.0, 0.0], [0.5, 5.0, -1.0], [0.0, 2.0, 6.0]])
    squared = spl.LinearOperator((3, 3), matvec=lambda x: a.T @ (a @ x))
    return (
        spl.cg(squared, b, rtol=1e-13)[0],
        spl.gmres(spl.aslinearoperator(a), b, rtol=1e-13)[0],
        spl.bicgstab(spl.aslinearoperator(sp.csr_array(a)), b * b, rtol=1e-13)[0],
    )


def by_exponential(d: Any) -> Any:
    return spl.expm(matrix(d) / 10).toarray(), spl.expm(matrix(d).toarray() / 10)


def by_exponential_times(d: Any, b: Any) -> Any:
    return spl.expm_multiply(matrix(d) / 10, b)


def cases() -> list[Case]:
    """All cases of the family."""
    d, b, z = draw(7), draw(3), draw(7, dtype=complex)
    several, complex_b = draw(3, 2), draw(3, dtype=complex)
    return [
        *(Case(by_spsolve, (form, d, b), label=form, options=PLAIN)
          for form in ("csc", "csr")),
        Case(by_spsolve, ("csc", d, several), label="several", options=PLAIN),
        Case(by_spsolve, ("csr", z, complex_b), label="complex", options=PLAIN),
        Case(by_sparse, (d,), options=PLAIN),
        *(Case(by_factors, (trans, *args), label=f"{trans}-{label}", options=PLAIN)
          for trans in "NTH"
          for label, args in (("real", (d, several)), ("complex", (z, complex_b)))),
        Case(by_factorized, (d, b), options=PLAIN),
        *(Case(by_triangle, (form, lower, unit, d, b), label=f"{form}-{lower}-{unit}",
               options=PLAIN)
          for form in ("csr", "csc") for lower in (True, False) for unit in (True, False)),
        Case(by_triangle, ("csc", True, False, z, draw(3, 2, dtype=complex)), label="complex",
             options=PLAIN),
        *(Case(by_iterations, (name, d, b), label=name, options=PLAIN)
          for name in HERMITIAN + OTHERS),
        *(Case(by_iterations, (name, z, complex_b), label=f"{name}-complex", options=PLAIN)
          for name in OTHERS),
        Case(by_preconditioned, (d, b), options=PLAIN),
        Case(by_operators, (b,), options=PLAIN),
        Case(by_operators, (complex_b,), label="complex", options=PLAIN),
        Case(by_exponential, (d,), options=PLAIN),
        Case(by_exponential_times, (d, b), options=PLAIN),
        Case(by_exponential_times, (z, draw(3, 2, dtype=complex)), label="complex", options=PLAIN),
    ]  # fmt: skip
