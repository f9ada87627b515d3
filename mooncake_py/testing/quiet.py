"""Silence where a function is called near points at which it is not defined."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["quiet"]


class quiet:
    """Silence warnings of NumPy and of Python: differences provoke them."""

    def __enter__(self) -> None:
        self._errors = np.errstate(all="ignore")
        self._warnings = warnings.catch_warnings()
        self._errors.__enter__()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, *exception: Any) -> None:
        self._warnings.__exit__(*exception)
        self._errors.__exit__(*exception)
