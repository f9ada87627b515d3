"""Cases of `scipy.linalg`."""

import numpy as np
from scipy import linalg

from tests.packages.suite import Package

PACKAGE = Package("scipy.linalg")
works = PACKAGE.works

A = np.array([[4.0, 1.0, -0.5], [0.3, 3.0, 0.8], [0.6, -0.2, 2.5]])
B = np.array([[0.5, 1.5], [2.0, -1.0], [0.3, 0.7]])
Q = np.diag([1.0, 2.0, 3.0])


def symmetric(a):
    return a @ a.T


works("solve", linalg.solve, A, B)
works("solve(assume_a='pos')", lambda a, b: linalg.solve(symmetric(a), b, assume_a="pos"), A, B)
works("solve_triangular", lambda a, b: linalg.solve_triangular(a, b, lower=True), A, B)
works("inv", linalg.inv, A)
works("det", linalg.det, A)
works("pinv", linalg.pinv, A)
works("lstsq", lambda a, b: linalg.lstsq(a, b)[0], B, A[:, 0])
works("cholesky", lambda a: linalg.cholesky(symmetric(a), lower=True), A)
works(
    "cho_factor, cho_solve", lambda a, b: linalg.cho_solve(linalg.cho_factor(symmetric(a)), b), A, B
)
works("lu", linalg.lu, A)
works("lu_factor, lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), A, B)
works("qr", linalg.qr, A)
works("ldl", lambda a: linalg.ldl(symmetric(a))[1], A)
works("svd", lambda a: linalg.svd(a)[1], A)
works("svdvals", linalg.svdvals, A)
works("eigh", lambda a: linalg.eigh(symmetric(a))[0], A)
works("eigh(a, b)", lambda a, b: linalg.eigh(symmetric(a), symmetric(b) + Q)[0], A, A)
works("eigvalsh", lambda a: linalg.eigvalsh(symmetric(a)), A)
works("eigvals", lambda a: linalg.eigvals(a), A)
works("eig", lambda a: linalg.eig(a)[0], A)
works("schur", lambda a: linalg.schur(symmetric(a))[0], A)
works("hessenberg", lambda a: linalg.hessenberg(a), A)
works("expm", linalg.expm, A)
works("logm", linalg.logm, A)
works("sqrtm", linalg.sqrtm, A)
works("cosm", linalg.cosm, A)
works("sinm", linalg.sinm, A)
works("tanm", linalg.tanm, A / 9)
works("coshm", linalg.coshm, A)
works("signm", lambda a: linalg.signm(a), np.diag([1.0, -1.0, 1.0]) @ A)
works("fractional_matrix_power", lambda a: linalg.fractional_matrix_power(a, 0.3), A)
works("expm_frechet", lambda a, e: linalg.expm_frechet(a, e), A, Q)
works("polar", linalg.polar, A)
works("norm", linalg.norm, A)
works("norm(ord=2)", lambda a: linalg.norm(a, 2), A)
works("block_diag", linalg.block_diag, A, B)
works("toeplitz", linalg.toeplitz, A[0])
works("circulant", linalg.circulant, A[0])
works("hankel", linalg.hankel, A[0])
works("companion", linalg.companion, A[0])
works("khatri_rao", linalg.khatri_rao, A, A)
works("solve_toeplitz", lambda c, b: linalg.solve_toeplitz(c, b), A[0], B)
works("solve_circulant", linalg.solve_circulant, A[0], B)
works("solve_banded", lambda ab, b: linalg.solve_banded((1, 1), ab, b), A + 2, B)
works(
    "solveh_banded",
    lambda ab, b: linalg.solveh_banded(ab, b),
    np.array([[0.0, 0.3, 0.2], [2.0, 3.0, 4.0]]),
    B,
)
works("cholesky_banded", linalg.cholesky_banded, np.array([[0.0, 0.3, 0.2], [2.0, 3.0, 4.0]]))
works("solve_sylvester", linalg.solve_sylvester, A, A.T, Q)
works("solve_continuous_lyapunov", linalg.solve_continuous_lyapunov, A, Q)
works("solve_discrete_lyapunov", linalg.solve_discrete_lyapunov, A / 9, Q)
works("solve_continuous_are", lambda a: linalg.solve_continuous_are(a, B, Q, np.eye(2)), A)
works("solve_discrete_are", lambda a: linalg.solve_discrete_are(a, B, Q, np.eye(2)), A)
works("null_space projector", lambda a: (lambda n: n @ n.T)(linalg.null_space(a)), B.T)
works("orth projector", lambda a: (lambda q: q @ q.T)(linalg.orth(a)), B)
works("subspace_angles", lambda a, b: linalg.subspace_angles(a, b), B, A[:, :1])
works("matrix_balance", lambda a: linalg.matrix_balance(a, permute=False)[0], A)
works("blas.dgemm", lambda a, b: linalg.blas.dgemm(1.0, a, b), A, B)
works("convolution_matrix", lambda a: linalg.convolution_matrix(a, 4), A[0])
works("orthogonal_procrustes", lambda a, b: linalg.orthogonal_procrustes(a, b), A, Q)
works("bandwidth", lambda a: a * linalg.bandwidth(a)[0], A)
