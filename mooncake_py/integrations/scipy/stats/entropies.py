"""Entropies by quadrature, or by a sum: of densities that are zero as numbers in the tails.

There the slope of -p log p is infinite and that of p zero; the product of both tends to zero.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from scipy import special as ss
from scipy.stats import rv_continuous, rv_discrete

from mooncake_py.rules.declare import elementwise, overlay

__all__ = ["entropy_term"]


def entropy_term(p: Any) -> Any:
    """Return -p log p of a density."""
    return ss.entr(p)


def entropy_slope(p: Any, y: Any) -> Any:
    """Return its derivative where there is a density."""
    nowhere = np.equal(p, 0)
    return np.where(nowhere, 0.0, -np.log(np.where(nowhere, 1.0, p)) - 1)


elementwise(entropy_term, entropy_slope)


for _method in (rv_continuous._entropy, rv_discrete._entropy):
    _names = {**_method.__globals__, "entr": entropy_term}
    overlay(_method)(FunctionType(_method.__code__, _names, _method.__name__))
