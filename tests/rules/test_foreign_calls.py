"""Every function with rules, each argument in turn an object that is no array: as the plain call.

The result has the value, the classes, the memory and the derivative of the plain call, or the call
is refused, or raises what the plain call raises.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from tests.rules.foreign.calls import FAMILIES, KNOWN, OF_SCIPY, calls_of, difference
from tests.rules.foreign.optional import sparse

MOST = 800
"""So many calls of a family are tried, of all functions, arguments and classes, at random."""
ALL = FAMILIES if sparse is None else (*FAMILIES, *OF_SCIPY)
ONCE_WRONG = {
    "math_functions": ("math.prod-list-0-masked",),
    "polynomials": (
        "poly-f64(3)-0-Converted-active", "mapdomain-number-0-OwnUfuncs",
        "mapdomain-number-1-masked",
    ),
    "selection": ("take-one-1-float32",),
    "norms": ("vector_norm-derived-{'axis': 1}-axis-OwnNumber",),
    "operators": ("setitem-f64(3)-int-float-2-Duck",),
    "scipy.fft": ("fht-(5,)-0.0-0-Converted-active", "fht-(5,)-0.0-0-array.array"),
    "scipy.linalg": (
        "inv-f64(3,3)-0-Unconverted-active", "by_eig-generalized-1-list", "power-f64(3,3)-t-OwnUf",
        "by_blas-f64(4,4)-f64(4,4)-f64(4)-2-memoryview", "solve_toeplitz-symmetric-0-OwnUfuncs",
    ),
    "scipy.ndimage": (
        "maximum_filter-reflect-cval-Converted", "correlate-reflect-1-Unconverted",
        "convolve-reflect-0-generator", "fourier_gaussian--1-1-Converted-active",
    ),
    "scipy.signal": ("by_lfiltic-f64(3)-f64(4)-f64(3)-f64(2)-0-Multiplied",),
    "scipy.spatial_transform": ("by_power-1.0-0-matrix",),
    "scipy.special": ("zeta-1.3-parameters-0-Finalized", "eval_chebyt-order-0-0-float32"),
    "scipy.stats": ("genhyperbolic_pdf-float-float-float-float-2-OwnNumber", "von_mises_cdf"),
    "scipy.sparse_linalg": ("by_triangle-csr-True-True-4-masked", "times-f64(7)-f64(3)-1-Plain"),
    "solvers": (
        "area-f64(3)-float-float-0-OwnUfuncs", "odeint-f64(3)-f64(3)-f64(3)-1-Converted",
        "least-f64(3)-f64(3)-1-masked", "squares-f64(3)-f64(3)-1-masked",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.slow
@pytest.mark.parametrize("family", ALL)
def test_calls_with_foreign_operands(family: str) -> None:
    calls = [call for call in calls_of(family) if not KNOWN.search(call.id)]
    chosen = Random(family).sample(calls, min(len(calls), MOST))
    found = {call.id: difference(call) for call in chosen}
    assert not {name: said for name, said in found.items() if said}


@pytest.mark.parametrize("family", [name for name in ONCE_WRONG if name in ALL])
def test_calls_that_were_wrong(family: str) -> None:
    parts = ONCE_WRONG[family]
    calls = [call for call in calls_of(family) if any(part in call.id for part in parts)]
    assert len(calls) >= len(parts)
    assert not {call.id: said for call in calls[:9] if (said := difference(call))}
