"""Rules for functions that count or add up by bins."""

from __future__ import annotations

import numpy as np

from mooncake_py.rules.declare import linear

__all__: list[str] = []


@linear(np.bincount, wrt=1)
def bincount_adjoint(dy, x, weights, minlength=0):
    """Return for each weight the cotangent of its bin."""
    return dy[np.asarray(x)]
