"""Cases of `scipy.sparse`."""

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from tests.packages.suite import Package

PACKAGE = Package("scipy.sparse")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7, 1.9])
P = np.array([[0.1, 0.3], [1.2, -0.4], [0.5, 1.6], [2.0, 0.9]])

ROWS, COLUMNS = np.array([0, 1, 2, 3, 0, 1]), np.array([0, 1, 2, 3, 2, 0])
DATA = np.array([4.0, 3.0, 5.0, 2.0, 0.5, -0.7])
S = sparse.csr_array((DATA, (ROWS, COLUMNS)), shape=(4, 4))


def matrix(data):
    return sparse.csr_array((data, (ROWS, COLUMNS)), shape=(4, 4))


works("constant @ x", lambda x: S @ x, X[:4])
works("constant.T @ x", lambda x: S.T @ x, X[:4])
works("constant @ dense", lambda x: S @ x, P)
works("coo_array.toarray", lambda d: sparse.coo_array((d, (ROWS, COLUMNS))).toarray(), DATA)
works("csr_array @ x", lambda d, x: matrix(d) @ x, DATA, X[:4])
works("csc_array @ x", lambda d, x: sparse.csc_array((d, (ROWS, COLUMNS))) @ x, DATA, X[:4])
works("csr_matrix * x", lambda d, x: sparse.csr_matrix((d, (ROWS, COLUMNS))) * x, DATA, X[:4])
works("csr_array.T", lambda d, x: matrix(d).T @ x, DATA, X[:4])
works("csr_array.sum", lambda d: matrix(d).sum(), DATA)
works("csr_array.diagonal", lambda d: matrix(d).diagonal(), DATA)
works("csr_array * number", lambda d, k: (matrix(d) * k).toarray(), DATA, 1.3)
works("csr_array + csr_array", lambda d: (matrix(d) + S).toarray(), DATA)
works("csr_array @ csr_array", lambda d: (matrix(d) @ matrix(d)).toarray(), DATA)
works("csr_array[i]", lambda d: matrix(d)[1:3].toarray(), DATA)
works("diags", lambda d: sparse.diags([d, d[:-1]], [0, 1]).toarray(), DATA)
works("kron", lambda d: sparse.kron(matrix(d), sparse.eye_array(2)).toarray(), DATA)
works("vstack", lambda d: sparse.vstack([matrix(d), S]).toarray(), DATA)
works("lil_array", lambda d: lil(d), DATA)
works("linalg.spsolve(a, x)", lambda x: sparse_linalg.spsolve(S.tocsc(), x), X[:4])
works(
    "linalg.spsolve of an active matrix",
    lambda d, x: sparse_linalg.spsolve(matrix(d).tocsc(), x),
    DATA,
    X[:4],
)
works("linalg.splu.solve", lambda x: sparse_linalg.splu(S.tocsc()).solve(x), X[:4])
works(
    "linalg.cg",
    lambda d, x: sparse_linalg.cg((m := matrix(d)) @ m.T, x, rtol=1e-13)[0],
    DATA,
    X[:4],
    rtol=1e-3,
)
works("linalg.expm_multiply", lambda x: sparse_linalg.expm_multiply(S, x), X[:4])
works("linalg.norm", lambda d: sparse_linalg.norm(matrix(d)), DATA)


def lil(d):
    m = sparse.lil_array((4, 4))
    m[0, 1] = d[0]
    m[2, 3] = d[1] * d[2]
    return m.toarray()
