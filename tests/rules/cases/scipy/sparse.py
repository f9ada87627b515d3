"""Cases for `scipy.sparse`: matrices made of active elements, in all formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

sp: Any = scipy.sparse

ROWS = np.array([0, 3, 1, 0, 2, 1, 3])
COLUMNS = np.array([0, 3, 2, 0, 1, 1, 0])  # the first and the fourth are duplicates
FORMATS = ("coo", "csr", "csc", "dia", "bsr", "lil", "dok")
Function = Callable[..., Any]


def matrix(d: Any, form: str = "coo") -> Any:
    """Return a matrix of 4 x 4 with the elements `d`."""
    whole = sp.coo_array((d, (ROWS, COLUMNS)), shape=(4, 4))
    return whole.tocsr().tobsr((2, 2)) if form == "bsr" else whole.asformat(form)


# fmt: off
OPERATIONS: dict[str, Function] = {
    "toarray": lambda a, d: a.toarray(),
    "vector": lambda a, d: (a @ d[:4], d[:4] @ a),
    "vectors": lambda a, d: a @ np.outer(d[:4], d[:3]),
    "matrices": lambda a, d: ((a @ a).toarray(), (a @ a.tocsr()).toarray()),
    "transpose": lambda a, d: (a.T.toarray(), a.transpose().tocsr().toarray()),
    "sum": lambda a, d: (a.sum(), a.sum(axis=0), a.sum(axis=1), a.mean(axis=1)),
    "diagonal": lambda a, d: (a.diagonal(), a.diagonal(1), a.diagonal(-2), a.trace()),
    "plus": lambda a, d: ((a + a.T).toarray(), (2.0 * a - a.tocsr() / (2 + d[0] ** 2)).toarray()),
    "times": lambda a, d: (a.multiply(a.T).toarray(), a.multiply(d[:4]).toarray()),
    "dense": lambda a, d: (a + np.outer(d[:4], d[:4]), -a - np.ones((4, 4))),
    "power": lambda a, d: (a.power(2).toarray(), abs(a).tocsr().sin().toarray()),
    "rows": lambda a, d: a.tocsr()[1:3].toarray() + a.tocsr()[[3, 0]].toarray(),
    "columns": lambda a, d: a.tocsr()[:, :2].toarray() + a.tocsc()[:, [3, 0]].toarray(),
    "steps": lambda a, d: a.tocsr()[::-2, 1:].toarray(),
    "elements": lambda a, d: (a.tocsr()[0, 0], a.tocsr()[[0, 1, -1], [0, 2, 3]].sum()),
    "block": lambda a, d: (sp.tril(a).toarray(), sp.kron(a, a.T).toarray()),
    "scipy": lambda a, d: (sp.block_diag([a, a]).toarray(), sp.triu(a, 1).toarray()),
    "extrema": lambda a, d: (a.tocsr().max(), a.tocsr().maximum(a.T.tocsr()).toarray()),
}
# fmt: on
OF_THE_FORMAT = (
    "toarray",
    "vector",
    "vectors",
    "matrices",
    "transpose",
    "sum",
    "diagonal",
    "plus",
)  # fmt: skip
"""The others turn a matrix into compressed rows first."""


def by(form: str, operation: str, d: Any) -> Any:
    return OPERATIONS[operation](matrix(d, form), d)


def joined(d: Any) -> Any:
    a = matrix(d, "csr")
    blocks = sp.block_array([[a, None], [matrix(d), a.T]], format="csc")
    return (
        sp.hstack([a, a]).toarray(),
        sp.vstack([a, 2 * matrix(d)], format="csr").toarray(),
        blocks.toarray(),
        sp.bmat([[sp.coo_matrix((d[:2], ([0, 1], [1, 0])), shape=(2, 2))], [None]]).toarray(),
    )


def made_of_compressed(d: Any) -> Any:
    """In a row with duplicates that are not sorted."""
    indices, pointers = np.array([2, 0, 2, 1, 0, 1, 0]), np.array([0, 4, 5, 7])
    rows = sp.csr_array((d, indices, pointers), shape=(3, 3))
    columns = sp.csc_matrix((d, indices, pointers), shape=(3, 3))
    blocks = sp.bsr_array((d[:4].reshape(1, 2, 2), [1], [0, 0, 1]), shape=(4, 4))
    rows.sum_duplicates()
    return rows.data, (rows + columns).toarray(), (columns @ rows).toarray(), blocks.toarray()


def made_of_diagonals(d: Any) -> Any:
    a = sp.diags_array([d[:3], d[2:6], d[3:6]], offsets=[-1, 0, 1])
    b = sp.diags([d[:4], 1.0], [0, 2], shape=(4, 4), format="csc")
    c = sp.dia_matrix((d[:6].reshape(2, 3), [0, -1]), shape=(4, 3))
    return a.toarray(), b.toarray(), c.toarray(), (a @ a).toarray(), (a @ c.T.toarray().T)


def made_of_dense(d: Any) -> Any:
    dense = np.outer(d, d[:3])
    return sp.csr_array(dense).T @ d, (sp.csc_matrix(dense).T @ sp.coo_matrix(dense)).toarray()


def made_by_lists(d: Any) -> Any:
    a: Any = sp.lil_array((3, 4))
    a[0, 1] = d[0]
    a[2, 3] = d[1] * d[2]
    a[0, 0] = d[3]
    a[0, 1] = a[0, 1] * d[4]
    a[1, [0, 2]] = d[:2]
    a = sp.hstack([a, d[:3, None]]).tolil()
    a[[0, 2], [0, 4]] = a[1, 2] + d[5]
    a = a.T[1:, ::-1].copy()
    return a.tocsr().toarray(), a.toarray(), a @ d[:3], a[0, 1]


def made_by_keys(d: Any) -> Any:
    a: Any = sp.dok_array((3, 4))
    a[0, 1] = d[0]
    a[2, 3] = d[1] * d[2]
    a[0, 1] += d[3]
    return a.toarray(), a.tocsc() @ d[:4]


def changed(d: Any) -> Any:
    a = matrix(d, "csr")
    a[0, 0] = d[1] * d[2]
    a[1, 1] = d[3]
    a.setdiag(d[:4] ** 2)
    a.data *= d[0]
    return a.toarray()


def compared(d: Any) -> Any:
    a = matrix(d, "csr")
    return a.multiply(a > a.T).toarray(), a.multiply(a != a.T).toarray()


def cases() -> list[Case]:
    """All cases of the family."""
    d, z = draw(7), draw(7, dtype=complex)
    return [
        *(
            Case(by, (form, operation, d), label=f"{form}-{operation}", options=PLAIN)
            for operation in OPERATIONS
            for form in (FORMATS if operation in OF_THE_FORMAT else ("csr",))
        ),
        *(
            Case(by, (form, operation, z), label=f"{form}-{operation}-complex", options=PLAIN)
            for operation in ("toarray", "vector", "vectors", "matrices", "plus", "diagonal")
            for form in ("csr", "bsr", "dia")
        ),
        *(
            Case(f, (d,), options=PLAIN)
            for f in (
                joined, made_of_compressed, made_of_diagonals, made_of_dense, made_by_lists,
                made_by_keys, changed, compared,
            )
        ),
    ]  # fmt: skip
