"""Cases for the wrappers of BLAS and LAPACK, several to a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from tests.rules.cases import PLAIN, Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import definite, regular

__all__ = ["cases"]


def wrapper(module: Any, name: str, a: Any, of_complex: str | None = None) -> Any:
    """Return the wrapper for doubles, or for complex numbers, where it may have another name."""
    if np.iscomplexobj(a):
        return getattr(module, "z" + (of_complex or name))
    return getattr(module, "d" + name)


def vectors(x: Any, y: Any, a: Any) -> Any:
    axpy, scal, copy, swap, dot = (
        wrapper(blas, name, x, of_complex)
        for name, of_complex in (
            ("axpy", None), ("scal", None), ("copy", None), ("swap", None), ("dot", "dotc"),
        )
    )  # fmt: skip
    asum, rot = (blas.dzasum, blas.zdrot) if np.iscomplexobj(x) else (blas.dasum, blas.drot)
    return (
        axpy(x, y.copy(), a=a[0]), axpy(x, y.copy(), 2, a[1], 1, 2, 0, -2), axpy(x, y.copy()),
        scal(a[0], x.copy()), scal(a[1], x.copy(), 2, 1, 2),
        copy(x, y.copy(), 2, 1, 2, 0, -1), swap(x.copy(), y.copy(), 2, 1, 1, 0, 2),
        rot(x, y, 0.6, 0.8), rot(x, y, np.real(a[0]), 0.3, 2, 0, 2, 1, 1),
        asum(x), asum(x, 2, 1, 2), dot(x, y, incx=-1), dot(x, y, 2, 1, 2, 0, -1),
        x * getattr(blas, "izamax" if np.iscomplexobj(x) else "idamax")(x),
    )  # fmt: skip


def updates(x: Any, y: Any, a: Any) -> Any:
    ger, syr2, her = (
        wrapper(blas, *names, of_complex=other)
        for names, other in ((("ger", a), "gerc"), (("syr2", a), "her2"), (("syr", a), "her"))
    )
    found = [
        ger(0.5, x, y), ger(0.5, x, y[:2], a=a[:, :2]), her(0.5, x), her(0.5, x, 1, a=a),
        syr2(0.5, x, y), syr2(0.5, x, y, 1, a=a), wrapper(blas, "syr", a)(0.7, x, 0, 2, 0, 2),
    ]  # fmt: skip
    return [*found, blas.zgeru(0.5j, x, y)] if np.iscomplexobj(a) else found


def symmetric_products(a: Any, b: Any, x: Any) -> Any:
    symv = wrapper(blas, "symv", a, "hemv")
    found = [symv(0.5, a, x), symv(0.5, a, x, 0.3, x, lower=1), symv(2.0, a, x, offy=1, incy=2)]
    for kind in ("sy", "he")[: 2 if np.iscomplexobj(a) else 1]:
        symm, syrk, syr2k = (
            wrapper(blas, f"{kind}{end}", a) for end in ("mm", f"r{'k'}", f"r2{'k'}")
        )
        trans = 2 if kind == "he" else 1
        found += [
            symm(0.5, a, b), symm(0.5, a, b.T, 0.3, b.T, 1, 1),
            syrk(0.5, b), syrk(0.5, b, 0.3, a, lower=1), syrk(0.5, b, trans=trans),
            syr2k(0.5, b, 2 * b), syr2k(0.5, b, b + 1, 0.3, a, lower=1),
            syr2k(0.5, b, b + 1, trans=trans),
        ]  # fmt: skip
    return found


def triangular(a: Any, b: Any, x: Any) -> Any:
    found = []
    trans = 2 if np.iscomplexobj(a) else 1
    for name in ("trmm", "trsm"):
        f = wrapper(blas, name, a)
        found += [
            f(0.5, a, b), f(0.5, a, b, 0, 1, trans), f(0.5, a, b, 0, 0, 0, 1),
            f(0.5, a, b.T, 1, 1), f(2.0, a, b.T, 1, 0, trans), f(2.0, a, b.T, 1, 0, 1, 1),
        ]  # fmt: skip
    for name in ("trmv", "trsv"):
        f = wrapper(blas, name, a)
        found += [f(a, x), f(a, x, lower=1, trans=trans, diag=1), f(a[:2, :2], x, incx=2)]
    trtrs, trtri = wrapper(lapack, "trtrs", a), wrapper(lapack, "trtri", a)
    found += [trtrs(a, b)[0], trtrs(a, x, 1, trans, 1)[0]]
    return [*found, trtri(a)[0], trtri(a, 1)[0], trtri(a, 0, 1)[0]]


def factors(a: Any, b: Any) -> Any:
    lu, piv, _ = wrapper(lapack, "getrf", a)(a)
    getrs = wrapper(lapack, "getrs", a)
    qr, tau, _, _ = wrapper(lapack, "geqrf", a)(a)
    solutions = [getrs(lu, piv, b, trans)[0] for trans in (0, 1, 2)]
    return lu, solutions, wrapper(lapack, "getri", a)(lu, piv)[0], qr, tau


def definite_factors(a: Any, b: Any) -> Any:
    names = "potrf", "potrs", "potri", "posv"
    potrf, potrs, potri, posv = (wrapper(lapack, name, a) for name in names)
    found = []
    for lower in (0, 1):
        c, info = potrf(a, lower)
        assert info == 0
        found += [c, potrf(a, lower, 0)[0], potrs(c, b, lower)[0], potri(c, lower)[0]]
        found += posv(a, b, lower)[:2]
    return found, wrapper(lapack, "sysv", a, "hesv")(a, b)[2], wrapper(lapack, "sysv", a)(a, b)[2]


def definite_bands(ab: Any, b: Any) -> Any:
    pbtrf, pbtrs, pbsv = (wrapper(lapack, name, ab) for name in ("pbtrf", "pbtrs", "pbsv"))
    c, _ = pbtrf(ab, 1)
    upper = np.concatenate([np.zeros_like(ab[:1, :1]), ab[1:, :-1]], axis=1), ab[:1]
    return c, pbtrs(c, b, 1)[0], pbsv(ab, b, 1)[1], pbsv(np.concatenate(upper), b)[1]


def three_diagonals(dl: Any, d: Any, du: Any, b: Any) -> Any:
    gtsv, ptsv = wrapper(lapack, "gtsv", b), wrapper(lapack, "ptsv", b)
    gttrf, gttrs = wrapper(lapack, "gttrf", b), wrapper(lapack, "gttrs", b)
    *factors, ipiv, _ = gttrf(10 * dl, d, du)
    assert len({int(p) - i for i, p in enumerate(ipiv)}) > 1  # some rows change places
    found = [gttrs(*factors, ipiv, b, trans=trans)[0] for trans in "NTC"]
    found += [*factors, gtsv(dl, d, du, b)[3], ptsv(np.abs(d) + 4, dl, b)[2]]
    pttrf, pttrs = wrapper(lapack, "pttrf", b), wrapper(lapack, "pttrs", b)
    d, e, _ = pttrf(np.real(d) + 4, dl)
    found += [d, e, *[pttrs(d, e, b, *lower)[0] for lower in lowers(b)]]
    return found


def lowers(b: Any) -> Any:
    """Return the ways in which complex factors are read."""
    return [(0,), (1,)] if np.iscomplexobj(b) else [()]


def spectra(a: Any) -> Any:
    a = (a + np.conj(a).T) / 2
    found = []
    for name in ("ev", "evd", "evr"):
        f = wrapper(lapack, f"sy{name}", a, f"he{name}")
        found += [f(a, 0, lower=1)[0], f(a, 0)[0]]
        if not np.iscomplexobj(a):  # the phases of complex vectors are not determined
            w, v = f(a)[:2]
            found += [w, np.abs(v)]
    return found


def general_spectra(a: Any) -> Any:
    geev = wrapper(lapack, "geev", a)
    found = [*geev(a)[:-3], *geev(a, 0, 0)[:-3]]
    found += [] if np.iscomplexobj(a) else [geev(a)[3]]
    for name in ("gesdd", "gesvd"):
        f = wrapper(lapack, name, a)
        found.append(f(a, 0)[1])
        if not np.iscomplexobj(a):
            u, s, vh, _ = f(a)
            found += [np.abs(u), s, np.abs(vh)]
    return found


def cases() -> list[Case]:
    """Return the cases."""
    made = []
    for dtype in (float, complex):
        a, b = regular(3, 3, dtype=dtype), draw(3, 2, dtype=dtype)
        x, y, z = draw(3, dtype=dtype), draw(3, dtype=dtype), draw(5, dtype=dtype)
        v, w = draw(4, dtype=dtype) + 1, draw(4, 2, dtype=dtype)
        middle = np.array([4.0, 5.0, 3.0, 6.0])
        p, diagonal = definite(3, 3, dtype=dtype), np.array([4.0, 5.0, 3.0])
        band = np.stack([diagonal.astype(dtype), x])
        spread = np.diag([1.0, 2.5, 4.0]) + 0.3 * a
        made += [
            Case(f, args, label=dtype.__name__, options=PLAIN)
            for f, args in (
                (vectors, (z + 3, z**2, b[0])), (updates, (x, y, a)),
                (symmetric_products, (a, b, x)), (triangular, (a, b, x)), (factors, (a, b)),
                (definite_factors, (p, b)), (definite_bands, (band, y)),
                (three_diagonals, (v[:3], middle, v[1:4], w)), (spectra, (spread,)),
                (general_spectra, (spread,)),
            )
        ]  # fmt: skip
    return made
