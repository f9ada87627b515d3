"""Ufuncs of one input and several outputs, such as ``sici``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.several_outputs import scaled

__all__ = ["outputs"]


def outputs(ufunc: np.ufunc, slopes: Callable[[Any, Any], tuple[Any, ...]]) -> None:
    """Declare a ufunc by ``slopes(x, ys)``, the derivative of each output."""

    @from_vjp(ufunc)
    def rule(x: Any) -> tuple[Any, Any]:
        ys = ufunc(x)
        x = np.asarray(x) if isinstance(x, (list, tuple)) else x

        def pullback(dys: tuple[Any, ...]) -> Any:
            pairs = zip(dys, slopes(x, ys), strict=True)
            return sum(scaled(dy, slope) for dy, slope in pairs if dy is not None)

        return ys, pullback
