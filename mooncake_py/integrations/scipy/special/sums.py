"""The logarithm of a sum of exponentials; `softmax` and `log_softmax` are derived.

SciPy's function in Python counts how often its largest term occurs, and the derivative would
take that number for a constant: right to first order only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.axes import Axes, keep
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.exact_zeros import scaled
from mooncake_py.rules.special_functions import difference

__all__: list[str] = []


@from_vjp(ss.logsumexp)
def logsumexp_rule(
    a: Any, axis: Axes = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> tuple[Any, Any]:
    """S = sum b e^a = s e^y:  d log S = sum (b da + db) e^(a - y) / s,  dy + i dphase(s).

    Only a complex sum has a phase that moves.
    """
    result: Any = ss.logsumexp(a, axis, b, keepdims, return_sign)

    def logsumexp_pullback(dy: Any) -> tuple[Any, ...]:
        y, sign = result if return_sign else (result, 1.0)
        g, dsign = dy if return_sign else (dy, None)
        g = 0.0 if g is None else g
        if dsign is not None and np.iscomplexobj(sign):
            g = g - 1j * np.imag(np.conj(dsign) * sign)
        shape = np.broadcast_shapes(np.shape(a), np.shape(b), (1,))
        terms = np.broadcast_to(a, shape)
        y, g, sign = (kept(x, axis, shape) for x in (y, g, sign))
        shares = np.exp(difference(terms, y)) * np.conj(sign)
        if not np.all(np.isfinite(y)):  # terms of the same infinity share equally
            total = np.sum(shares, axis, keepdims=True)
            shares = np.where(np.isinf(y), shares / total, shares)
        db = scaled(g, np.conj(shares))
        return db if b is None else scaled(db, np.conj(b)), None, None if b is None else db

    return result, logsumexp_pullback


def kept(x: Any, axis: Axes, shape: tuple[int, ...]) -> Any:
    """Return an output with the axes kept that were reduced; a number as it is."""
    return keep(x, axis, shape) if np.ndim(x) else x
