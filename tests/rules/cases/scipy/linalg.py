"""Cases for `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.linalg as sl

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import definite, regular

__all__ = ["cases"]

REAL = {"dtypes": False}
STACKS = np.lib.NumpyVersion(scipy.__version__) >= "1.15.0"
# Equal rows make matrices singular.
PLAIN = {"layouts": False, "dtypes": False}
SEPARATE = {**PLAIN, "aliasing": False}


def solve_with_factor(a: np.ndarray, b: np.ndarray) -> Any:
    return sl.cho_solve(sl.cho_factor(a), b), sl.lu_solve(sl.lu_factor(a), b, 1)


def lower_factor(a: np.ndarray, b: np.ndarray) -> Any:
    return sl.cho_solve((a, True), b)


def with_pivots(a: np.ndarray, b: np.ndarray) -> Any:
    pivots = np.array([1, 2, 2])
    return [sl.lu_solve((a, pivots), b, trans) for trans in (0, 1, 2)]


def system_cases() -> list[Case]:
    b, z = draw(3, 2), draw(3, 2, dtype=complex)
    a, c = regular(3, 3), regular(3, 3, dtype=complex)
    structures = ["pos", "sym", "her", "gen"]
    column = np.array([3.0, 0.7, -0.4])
    return [
        Case(sl.solve, (a, draw(3)), label="vector", options=PLAIN),
        Case(sl.solve, (a, b), label="matrix"),
        Case(sl.solve, (a, b), {"transposed": True}, "transposed", options=PLAIN),
        Case(sl.solve, (c, z), label="complex"),
        *(
            Case(sl.solve, (definite(3, 3), b), {"assume_a": s, "lower": low}, f"{s}-{low}",
                 options=PLAIN)
            for s in structures for low in (False, True)
        ),
        Case(sl.solve, (definite(3, 3, dtype=complex), z), {"assume_a": "her"}, "complex-her",
             options=PLAIN),
        Case(sl.inv, (a,)),
        Case(sl.det, (a,)),
        Case(sl.det, (c,), label="complex"),
        *(
            Case(sl.solve_triangular, (m, v, trans, low, unit), label=f"{k}-{trans}-{low}-{unit}",
                 options=PLAIN)
            for k, m, v in (("real", a, b), ("complex", c, z), ("vector", a, draw(3)))
            for trans in (0, "T", 2) for low in (False, True) for unit in (False, True)
        ),
        *(
            Case(sl.solve_triangular, (np.stack([m, m.T]), v, trans), {"lower": True},
                 f"stack-{trans}-{np.ndim(v)}", options=PLAIN)
            for m, v in ((a, draw(2, 3, 2)), (c, draw(1, 3, 2)), (a, draw(3)))
            for trans in (0, 1, 2) if STACKS
        ),
        *(
            Case(sl.solve_toeplitz, arguments, label=label, options=PLAIN)
            for label, arguments in {
                "symmetric": (column, draw(3)), "matrix": (column, draw(3, 2)),
                "complex": (column + 0.3j, draw(3, dtype=complex)),
                "both": ((column, draw(3)), draw(3)),
                "both-complex": ((column + 0.3j, draw(3, dtype=complex)), draw(3, 2)),
            }.items()
        ),
        Case(sl.lstsq, (draw(4, 2), draw(4)), label="vector", options=PLAIN),
        Case(sl.lstsq, (draw(4, 2), draw(4, 3)), label="matrix", options=PLAIN),
        Case(sl.pinv, (draw(4, 2),), options=PLAIN),
        Case(sl.norm, (draw(4),), options=REAL),
        Case(sl.norm, (draw(3, 2), 1), {"axis": 0}, "one", options=REAL),
        Case(sl.norm, (draw(3, 2), "fro"), label="fro"),
    ]  # fmt: skip


def factor_cases() -> list[Case]:
    a = definite(3, 3)
    c = definite(3, 3, dtype=complex)
    return [
        *(
            Case(f, (m, low), label=f"{k}-{low}", options=PLAIN)
            for f in (sl.cholesky, sl.cho_factor)
            for k, m in (("real", a), ("complex", c)) for low in (False, True)
        ),
        Case(sl.cho_solve, ((regular(3, 3), False), draw(3)), label="upper", options=PLAIN),
        Case(sl.cho_solve, ((regular(3, 3), True), draw(3, 2)), label="lower", options=PLAIN),
        Case(lower_factor, (regular(3, 3, dtype=complex), draw(3, dtype=complex)), options=PLAIN),
        Case(sl.lu_solve, ((regular(3, 3), np.array([1, 1, 2])), draw(3)), options=PLAIN),
        Case(with_pivots, (regular(3, 3, dtype=complex), draw(3, 2, dtype=complex)), options=PLAIN),
        Case(solve_with_factor, (a, draw(3)), options=PLAIN),
        *(
            Case(f, (draw(*shape, dtype=t),), label=f"{shape}-{t.__name__}", options=PLAIN)
            for f in (sl.lu, sl.lu_factor)
            for shape in ((3, 3), (4, 2), (2, 4)) for t in (float, complex)
        ),
        Case(sl.lu, (draw(3, 3), True), label="permuted", options=PLAIN),
    ]  # fmt: skip


def decomposition_cases() -> list[Case]:
    return [
        *(Case(sl.qr, (draw(3, 3),), {"mode": m}, f"{m}", options=PLAIN)
          for m in ("full", "economic", "r")),
        Case(sl.qr, (draw(4, 2),), {"mode": "economic", "pivoting": True}, "pivot", options=PLAIN),
        Case(sl.svd, (draw(3, 3),), options=PLAIN),
        Case(sl.svd, (draw(4, 2), False), label="thin", options=PLAIN),
        Case(sl.svd, (draw(4, 2), False, False), label="values", options=REAL),
        Case(sl.svdvals, (draw(4, 2),), options=REAL),
        *(
            Case(sl.eigh, (definite(3, 3),), {"lower": low}, f"{low}", options=PLAIN)
            for low in (False, True)
        ),
        Case(sl.eigh, (definite(3, 3),), {"eigvals_only": True, "subset_by_index": [0, 1]},
             "subset", options=PLAIN),
        Case(sl.eigvalsh, (definite(3, 3, dtype=complex),), options=PLAIN),
        *(
            Case(sl.eigh, (draw(3, 3), definite(3, 3)), {"lower": low}, f"generalized-{low}",
                 options={**PLAIN, "aliasing": False})  # eigenvalues of a matrix and itself: 1
            for low in (False, True)
        ),
        Case(sl.eigvalsh, (draw(3, 3, dtype=complex), definite(3, 3, dtype=complex)),
             label="generalized", options=PLAIN),
        Case(sl.eigh, (draw(3, 3), definite(3, 3)), {"eigvals_only": True,
             "subset_by_index": [1, 2]}, "generalized-subset", options=PLAIN),
    ]  # fmt: skip


def equation_cases() -> list[Case]:
    a, b, q = regular(3, 3), regular(2, 2), draw(3, 2)
    c = regular(3, 3, dtype=complex)
    return [
        Case(sl.solve_sylvester, (a, b, q), options=PLAIN),
        Case(sl.solve_sylvester, (c, b, q + 1j), label="complex", options=PLAIN),
        Case(sl.solve_continuous_lyapunov, (a, draw(3, 3)), options=PLAIN),
        Case(sl.solve_continuous_lyapunov, (c, c), label="complex", options=PLAIN),
        Case(sl.solve_discrete_lyapunov, (a / 7, draw(3, 3)), options=PLAIN),
        Case(sl.solve_discrete_lyapunov, (c / 7, c), {"method": "bilinear"}, "complex",
             options=PLAIN),
        Case(sl.expm, (draw(3, 3),)),
        Case(sl.expm, (draw(2, 3, 3, dtype=complex),), label="complex-stack", options=PLAIN),
        Case(sl.logm, (definite(3, 3),), options=PLAIN),
        Case(sl.logm, (definite(3, 3, dtype=complex),), label="complex", options=PLAIN),
        Case(sl.sqrtm, (definite(3, 3),), options=PLAIN),
        Case(sl.sqrtm, (definite(3, 3, dtype=complex),), label="complex", options=PLAIN),
        *(Case(f, (draw(3, 3),), label="derived", options=PLAIN)
          for f in (sl.cosm, sl.sinm, sl.coshm)),
    ]  # fmt: skip


def banded_cases() -> list[Case]:
    ab = draw(4, 5) + 4 * (np.arange(4) == 1)[:, None]
    h = draw(3, 5) + 6 * (np.arange(3) == 2)[:, None]
    return [
        Case(sl.solve_banded, ((2, 1), ab, draw(5)), options=PLAIN),
        Case(sl.solve_banded, ((2, 1), ab + 0.5j, draw(5, 2)), label="complex", options=PLAIN),
        Case(sl.solve_banded, ((1, 1), ab[:3], draw(5)), label="tridiagonal", options=PLAIN),
        Case(sl.solveh_banded, (h, draw(5)), options=PLAIN),
        Case(sl.solveh_banded, (h[::-1], draw(5, 2)), {"lower": True}, "lower", options=PLAIN),
        Case(sl.solveh_banded, (h + 0.2j * (np.arange(3) < 2)[:, None], draw(5)), label="complex",
             options=PLAIN),
        *(
            Case(f, (half, *rest), {"lower": lower}, f"{kind}-{lower}", options=PLAIN)
            for f, rest in ((sl.cholesky_banded, ()), (by_cho_solve_banded, (draw(5, 2),)))
            for kind, v in (("real", h), ("complex", h + 0.2j * (np.arange(3) < 2)[:, None]))
            for lower, half in ((False, v), (True, v[::-1].copy()))
        ),
        Case(by_gesv, (regular(4, 4), draw(4, 2)), options=PLAIN,
             covers=(sl.get_lapack_funcs, sl.get_blas_funcs, sl.cho_solve_banded)),
        Case(by_gbsv, (np.vstack([np.zeros((2, 5)), ab]), draw(5)), options=PLAIN),
    ]  # fmt: skip


def by_cho_solve_banded(ab: Any, b: Any, lower: bool) -> Any:
    return sl.cho_solve_banded((sl.cholesky_banded(ab, lower=lower), lower), b)


def by_gesv(a: Any, b: Any) -> Any:
    (gesv,) = sl.get_lapack_funcs(("gesv",), (a, b))
    lu, _, x, _ = gesv(a, b)
    return lu, x, sl.get_blas_funcs(("gemm",), (a, b))[0].typecode


def by_gbsv(ab: Any, b: Any) -> Any:
    (gbsv,) = sl.get_lapack_funcs(("gbsv",), (ab, b))
    return gbsv(2, 1, ab, b)[2]


def symmetric(a: Any) -> Any:
    return a + np.conj(a).T


def by_eig(a: Any, b: Any = None) -> Any:
    found: Any = sl.eig(a, b)
    return found


def by_eigvals(a: Any, b: Any = None) -> Any:
    return sl.eigvals(a, b)


def schur_of_symmetric(a: Any) -> Any:
    found: Any = sl.schur(symmetric(a))
    t, z = found
    return np.diagonal(t), z


def rebuilt_from_schur(a: Any) -> Any:
    found: Any = sl.schur(a, output="complex")
    t, z = found
    return np.diagonal(t), z @ np.diag(np.diagonal(t)) @ np.conj(z).T


def by_ldl(a: Any, lower: bool) -> Any:
    if np.iscomplexobj(a):
        a = (a + np.conj(a).T) / 2  # SciPy warns where the diagonal is not real
    lu, d, _ = sl.ldl(a, lower=lower)
    return lu, d


def continuous_riccati(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None) -> Any:
    return sl.solve_continuous_are(a, b, symmetric(q), symmetric(r), e, s)


def discrete_riccati(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None) -> Any:
    return sl.solve_discrete_are(a, b, symmetric(q), symmetric(r), e, s)


def balanced(a: Any) -> Any:
    b, (scale, perm) = sl.matrix_balance(a, separate=True)
    return b, b * scale, sl.matrix_balance(a, permute=False)[0], perm * 2.0


def with_structure(a: Any) -> Any:
    return a * sl.bandwidth(a)[0] if not (sl.issymmetric(a) or sl.ishermitian(a)) else a


def by_blas(a: Any, b: Any, x: Any) -> Any:
    gemm, gemv = sl.get_blas_funcs(("gemm", "gemv"), (a, b))
    dot, nrm2 = sl.get_blas_funcs(("dotc" if np.iscomplexobj(a) else "dot", "nrm2"), (a,))
    product = gemm(0.5, a, b, beta=0.3, c=a, trans_b=1)
    vector = gemv(2.0, a, x, beta=0.7, y=x, trans=1)
    return product, gemm(1.0, a, b, trans_a=2), vector, gemv(1.0, a, x), dot(x, vector), nrm2(x)


def general_cases() -> list[Case]:
    a, c, d = regular(4, 4), regular(3, 3, dtype=complex), np.diag([1.0, 2.5, 4.0, 6.0])
    spread = 0.3 * draw(4, 4) + d
    return [
        Case(by_eig, (spread,), label="real", options=SEPARATE, covers=(sl.eig,)),
        Case(by_eig, (np.array([[1.0, 2.0], [-1.5, 0.7]]),), label="pair", options=SEPARATE),
        Case(by_eig, (c,), label="complex", options=SEPARATE),
        Case(by_eig, (spread, definite(4, 4)), label="generalized", options=SEPARATE),
        Case(by_eigvals, (a,), label="real", options=SEPARATE, covers=(sl.eigvals,)),
        Case(by_eigvals, (c, definite(3, 3, dtype=complex)), label="generalized", options=SEPARATE),
        Case(sl.schur, (spread,), label="real", options=SEPARATE),
        Case(schur_of_symmetric, (draw(3, 3),), options=SEPARATE),
        Case(rebuilt_from_schur, (c,), options={**SEPARATE, "forward": False}),
        Case(sl.hessenberg, (a,), options=SEPARATE),
        Case(sl.hessenberg, (a,), {"calc_q": True}, "with-q", options=SEPARATE),
        Case(sl.hessenberg, (regular(4, 4, dtype=complex),), {"calc_q": True}, "complex",
             options=SEPARATE),
        *(
            Case(by_ldl, (v, lower), label=f"{kind}-{lower}", options=SEPARATE, covers=(sl.ldl,))
            for kind, v in (("one", draw(4, 4) + d), ("two", draw(4, 4) + 9 * np.eye(4)[::-1]),
                            ("complex", draw(3, 3, dtype=complex) + 5 * np.eye(3)))
            for lower in (True, False)
        ),
        Case(balanced, (spread * np.array([1.0, 90.0, 0.02, 3.0]),), options=SEPARATE,
             covers=(sl.matrix_balance,)),
        Case(with_structure, (a,), options=SEPARATE,
             covers=(sl.bandwidth, sl.issymmetric, sl.ishermitian)),
        Case(sl.signm, (np.array([[2.0, 1.0, 0.3], [0.2, -1.5, 0.4], [0.5, 0.1, 3.0]]),),
             options=SEPARATE),
        Case(sl.fractional_matrix_power, (definite(3, 3),), {"t": 0.3}, options=SEPARATE),
        Case(sl.fractional_matrix_power, (c @ c, 2), label="int", options=SEPARATE),
        Case(by_blas, (a, a + 1, draw(4)), options=SEPARATE),
        Case(by_blas, (c, c + 1j, draw(3, dtype=complex)), label="complex", options=SEPARATE),
    ]  # fmt: skip


def riccati_cases() -> list[Case]:
    a, b, q, r = draw(3, 3), draw(3, 2), 2 * np.eye(3) + 0.1 * draw(3, 3), np.eye(2)
    s, e, z = 0.1 * draw(3, 2), np.eye(3) + 0.1 * draw(3, 3), 0.2j * draw(3, 3)
    return [
        case
        for f in (continuous_riccati, discrete_riccati)
        for case in (
            Case(f, (a, b, q, r), label="plain", options=SEPARATE,
                 covers=(sl.solve_continuous_are, sl.solve_discrete_are)),
            Case(f, (a, b, q, r, e, s), label="general", options=SEPARATE),
            Case(f, (a + z, b + 0.1j, q + z / 4, r), label="complex", options=SEPARATE),
        )
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases of the family."""
    return [
        *system_cases(), *factor_cases(), *decomposition_cases(), *equation_cases(),
        *banded_cases(), *general_cases(), *riccati_cases(),
    ]  # fmt: skip
