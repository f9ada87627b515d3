"""Wrappers of LAPACK for eigenvalues and singular values, by functions of SciPy that have rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from mooncake_py.integrations.scipy.linalg.wrappers import each_kind

__all__: list[str] = []

lapack: Any = scipy.linalg.lapack
sl: Any = scipy.linalg


# Hermitian matrices; without vectors their place holds what has been worked with.


def hermitian_for(driver: str) -> Callable[[Any], Any]:
    """Return a maker of replacements that run that driver."""

    def made_for(dtype: Any) -> Any:
        def spectrum(a: Any, compute_v: int = 1, lower: int = 0, **sizes: Any) -> Any:
            a = np.asarray(a, dtype)
            if not compute_v:
                return sl.eigvalsh(a, lower=bool(lower), driver=driver), None, None
            w, v = sl.eigh(a, lower=bool(lower), driver=driver)
            return w, v, None

        return spectrum

    return made_for


each_kind(lapack, "syev", "sd", into=(None, "a"))(hermitian_for("ev"))
each_kind(lapack, "heev", "cz", into=(None, "a"))(hermitian_for("ev"))
each_kind(lapack, "syevd", "sd", into=(None, "a"))(hermitian_for("evd"))
each_kind(lapack, "heevd", "cz", into=(None, "a"))(hermitian_for("evd"))


def by_range_for(dtype: Any) -> Any:
    """Return a replacement that may be asked for some eigenvalues: no derivative of these."""

    def spectrum(
        a: Any, compute_v: int = 1, range: Any = "A", lower: int = 0, **choice: Any
    ) -> Any:
        if range not in ("A", b"A"):
            return (None,) * 5
        a = np.asarray(a, dtype)
        if not compute_v:
            return sl.eigvalsh(a, lower=bool(lower), driver="evr"), None, None, None, None
        w, v = sl.eigh(a, lower=bool(lower), driver="evr")
        return w, v, None, None, None

    return spectrum


each_kind(lapack, "syevr", "sd")(by_range_for)
each_kind(lapack, "heevr", "cz")(by_range_for)


# General matrices.


@each_kind(lapack, "geev", "sd")
def geev_for(dtype: Any) -> Any:
    def geev(a: Any, compute_vl: int = 1, compute_vr: int = 1, **sizes: Any) -> Any:
        """Return real and imaginary parts; a pair of vectors has those of the first one."""
        a = np.asarray(a, dtype)
        if not compute_vr:
            w = sl.eigvals(a, check_finite=False)
            return w.real, w.imag, None, None, None
        w, v = sl.eig(a, check_finite=False)
        packed = np.where(w.imag < 0, -np.imag(v), np.real(v))
        return w.real, w.imag, None, packed, None

    return geev


@each_kind(lapack, "geev", "cz")
def complex_geev_for(dtype: Any) -> Any:
    def geev(a: Any, compute_vl: int = 1, compute_vr: int = 1, **sizes: Any) -> Any:
        a = np.asarray(a, dtype)
        if not compute_vr:
            return sl.eigvals(a, check_finite=False), None, None, None
        w, v = sl.eig(a, check_finite=False)
        return w, None, v, None

    return geev


# Singular values.


def singular_for(driver: str) -> Callable[[Any], Any]:
    """Return a maker of replacements that run that driver."""

    def made_for(dtype: Any) -> Any:
        def spectrum(a: Any, compute_uv: int = 1, full_matrices: int = 1, **sizes: Any) -> Any:
            a = np.asarray(a, dtype)
            if not compute_uv:
                return None, sl.svdvals(a, check_finite=False), None, None
            u, s, vh = sl.svd(a, bool(full_matrices), check_finite=False, lapack_driver=driver)
            return u, s, vh, None

        return spectrum

    return made_for


each_kind(lapack, "gesdd")(singular_for("gesdd"))
each_kind(lapack, "gesvd")(singular_for("gesvd"))
