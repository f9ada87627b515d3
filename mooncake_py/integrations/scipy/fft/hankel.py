"""Fast Hankel transforms, which are symmetric: a correlation, with the same weights on both sides.

With C the convolution, J the reversal and D the weights of the bias, they are a number times
D J C D; and J C = C' J.
"""

from __future__ import annotations

from typing import Any

import scipy.fft as sf
from numpy import ndarray

from mooncake_py.rules.declare import linear
from mooncake_py.rules.kinds import Like

__all__: list[str] = []


@linear(sf.fht)
def fht_adjoint(
    dy: ndarray, a: Like, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0
) -> ndarray:
    dx: Any = sf.fht(dy, dln, mu, offset, bias)
    return dx


@linear(sf.ifht)
def ifht_adjoint(
    dy: ndarray, A: Like, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0
) -> ndarray:
    dx: Any = sf.ifht(dy, dln, mu, offset, bias)
    return dx
